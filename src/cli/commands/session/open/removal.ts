/** Removes a file later. Imports no command: the program loads it at every start. */

/** First argument of the process that removes a file; `bin/devmgr.ts` runs it. */
export const removalCommand = '__remove-after';

/** Removes a file after so many seconds, or when the process is asked to end. Resolves to the exit code. */
export async function runRemoval([seconds, file]: readonly string[]): Promise<number> {
  if (file === undefined) return 2;
  await new Promise<void>(resolve => {
    setTimeout(resolve, Number(seconds) * 1000);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
  process.getBuiltinModule('node:fs').rmSync(file, { force: true });
  return 0;
}
