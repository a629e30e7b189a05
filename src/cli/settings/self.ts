/** How this very program is started again. A single executable has no script; Node repeats the name of the program there. */
export function selfCommand(): { readonly file: string; readonly args: readonly string[] } {
  const script = process.argv[1];
  const isExecutable = process.getBuiltinModule('node:sea').isSea();
  return { file: process.execPath, args: script && !isExecutable ? [...process.execArgv, script] : [] };
}
