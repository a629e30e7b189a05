/** How this very program is started again. A single executable has no script. */
export function selfCommand(): { readonly file: string; readonly args: readonly string[] } {
  const script = process.argv[1];
  return { file: process.execPath, args: script ? [...process.execArgv, script] : [] };
}
