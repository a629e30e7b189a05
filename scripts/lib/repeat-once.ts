/** The result of a run of tests; `failed` and `skipped` are names. */
export interface Counts {
  readonly passed: number;
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
}

/**
 * Runs something that depends on the machine. If it fails, it runs once more, with the same seed if it has one; the second result counts.
 * `print` receives a line about each outcome.
 */
export async function repeatOnce(
  name: string,
  run: () => Promise<Counts>,
  print: (line: string) => void,
): Promise<Counts> {
  const first = await run();
  if (first.failed.length === 0) {
    print(`${name}: passed`);
    return first;
  }
  print(`${name}: FAILED the first time (${first.failed.join('; ')}); it runs once more`);
  const second = await run();
  print(`${name}: FAILED the first time, ${second.failed.length === 0 ? 'passed' : 'FAILED'} the second time`);
  return second;
}

/** The plain sum, as the last line of all runs: `N passed, N failed, N skipped`. */
export function sumOf(all: readonly Counts[]): string {
  const sum = (count: (one: Counts) => number) => all.reduce((total, one) => total + count(one), 0);
  return `${sum(one => one.passed)} passed, ${sum(one => one.failed.length)} failed, ${sum(one => one.skipped.length)} skipped`;
}
