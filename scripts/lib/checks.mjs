// The checks of `npm test` and `npm run check` beside the tests: programs that succeed or fail as a whole.
import { node, run } from './project.mjs';

/** The parts of `npm run lint`: `[name, [program, ...arguments]]`. The longest come first. */
export const lintChecks = [
  ['regular expressions', [node, 'scripts/regex.ts']],
  ['format and rules', ['node_modules/.bin/biome', 'ci', '--colors=off']],
  ['words', [node, 'scripts/words.ts']],
  ['imports', [node, 'scripts/import-boundaries.ts']],
];

/** One checker of types takes half of the processor time of the default of four: each works out the types of all operations again. */
export const staticChecks = [
  ...lintChecks,
  ['types', ['node_modules/.bin/tsc', '--checkers', '1', '-p', '.']],
  ['types of the console', ['node_modules/.bin/tsc', '--checkers', '1', '-p', 'console']],
];

/**
 * Runs the checks in their order, `width` at a time; `checks` is a list of `[name, [program, ...arguments]]`. Writes the output of
 * each as one block when it ends. Resolves to the names of those that failed. A signal ends this process with its exit code.
 */
export async function runChecks(checks, { env, width = 2 }) {
  const waiting = [...checks];
  const failed = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (!(await check(next, env))) failed.push(next[0]);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return checks.map(([name]) => name).filter(name => failed.includes(name));
}

async function check([name, [command, ...args]], env) {
  let output = '';
  const code = await run(command, args, { env, onOutput: text => (output += text) });
  const verdict = code === 0 ? 'good' : `FAILED (exit code ${code})`;
  process.stdout.write(`\n── ${name}\n${output}${name}: ${verdict}\n`);
  if (code >= 128) process.exit(code);
  return code === 0;
}
