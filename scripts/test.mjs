#!/usr/bin/env node
// `npm test`: the checks and tests from a fresh clone, without those of `npm run test:exhaustive` and `test:browser`. What follows
// `--` goes to vitest (`npm test -- tests/api`). The last line is the sum: `N passed, N failed, N skipped`; what failed is named
// above it. Under CI a skipped test is a failure.
import { join } from 'node:path';
import { runChecks, staticChecks } from './lib/checks.mjs';
import { prepareMachine } from './lib/machine.mjs';
import { modules, node, run, say } from './lib/project.mjs';
import { listOf, reported } from './lib/test-results.mjs';
import { setup } from './setup.mjs';

const underCi = Boolean(process.env.CI);
// Tests must not find what belongs to the person or the machine that runs them.
const ownEnv = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DEVMGR_')));
const named = process.argv.slice(2);
// Files that are named run also if they belong to another run (tests/support/runs.ts).
const chosen = named.length > 0 ? {} : { DEVMGR_TESTS: 'ordinary' };
const env = { ...ownEnv, ...chosen, PATH: `${join(modules, '.bin')}:${process.env.PATH}` };

const checks = [['build', [node, 'scripts/build.mjs']], ...staticChecks];

// These packages have a folder and a lock file of their own: both installations run at the same time.
const tools = run(process.execPath, ['tests/tools/setup.mjs'], { env: ownEnv });
setup();
if ((await tools) !== 0) process.exit(1);
await prepareMachine(underCi);

const [build, ...others] = checks;
const failedBuild = await runChecks([build], { env });
// The first test files wait for readers most of their time.
const [failedChecks, { passed, failed: failedTests, skipped }] = await Promise.all([
  runChecks(others, { env, width: 1 }),
  tests(named),
]);

const failedPrograms = [...failedBuild, ...failedChecks];
const failed = [...failedPrograms.map(name => `${name} (check)`), ...failedTests];
process.stdout.write(`\n${listOf('FAILED', failed)}`);
if (underCi && skipped.length > 0) {
  say('a skipped test is a failure here (CI is set): each names what it lacks');
  process.stdout.write(listOf('skipped', skipped));
}
process.stdout.write(`${checks.length - failedPrograms.length + passed} passed, ${failed.length} failed, `);
process.stdout.write(`${skipped.length} skipped\n`);
process.exitCode = failed.length > 0 || (underCi && skipped.length > 0) ? 1 : 0;

async function tests(args) {
  process.stdout.write('\n── tests\n');
  const { code, results } = await reported(async flags => {
    const code = await run(node, [join(modules, 'vitest', 'vitest.mjs'), 'run', ...flags, ...args], { env });
    if (code >= 128) process.exit(code);
    return code;
  });
  // An error outside of every test has no place in the report: only the exit code shows it.
  if (code !== 0 && results.failed.length === 0)
    results.failed.push(`vitest (exit code ${code}; see its output above)`);
  return results;
}
