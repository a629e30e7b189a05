#!/usr/bin/env node
// `npm test`: everything that must hold, from a fresh clone. What follows `--` goes to vitest (`npm test -- tests/api`).
// The last line is the sum: `N passed, N failed, N skipped`. Under CI a skipped test is a failure.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareMachine } from './lib/machine.mjs';
import { modules, node, run, say } from './lib/project.mjs';
import { setup } from './setup.mjs';

const underCi = Boolean(process.env.CI);
// Tests must not find what belongs to the person or the machine that runs them.
const env = { ...process.env, PATH: `${join(modules, '.bin')}:${process.env.PATH}` };
for (const name of Object.keys(env)) if (/^DEVMGR_/.test(name)) delete env[name];

setup();
await run(node, ['tests/tools/setup.mjs'], { env });
await prepareMachine(underCi);

const sum = { passed: 0, failed: 0, skipped: 0 };
await check('lint', ['node_modules/.bin/biome', 'ci', '--colors=off']);
await check('imports', [node, 'scripts/import-boundaries.ts']);
await check('regular expressions', [node, 'scripts/regex.ts']);
await check('words', [node, 'scripts/words.ts']);
await check('types', ['node_modules/.bin/tsc', '--noEmit', '-p', '.']);
await check('types of the console', ['node_modules/.bin/tsc', '--noEmit', '-p', 'console']);
await check('build', [node, 'scripts/build.mjs']);
await tests(process.argv.slice(2));

const broken = sum.failed > 0 || (underCi && sum.skipped > 0);
if (underCi && sum.skipped > 0) say('a skipped test is a failure here (CI is set): each names what it lacks');
process.stdout.write(`\n${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped\n`);
process.exitCode = broken ? 1 : 0;

async function check(name, [command, ...args]) {
  process.stdout.write(`\n── ${name}\n`);
  const code = await run(command, args, { env });
  if (code >= 128) process.exit(code);
  sum[code === 0 ? 'passed' : 'failed'] += 1;
  process.stdout.write(code === 0 ? `${name}: good\n` : `${name}: FAILED (exit code ${code})\n`);
}

async function tests(args) {
  process.stdout.write('\n── tests\n');
  const folder = mkdtempSync(join(tmpdir(), 'devmgr-test-'));
  const report = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const code = await run(node, [join(modules, 'vitest', 'vitest.mjs'), 'run', ...reporters, ...args], { env });
    if (code >= 128) process.exit(code);
    count(report, code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Adds vitest's results. A file that could not be loaded, or an error outside every test, has no test to its name. */
function count(report, code) {
  let failed = 0;
  try {
    for (const file of JSON.parse(readFileSync(report, 'utf8')).testResults) {
      const states = file.assertionResults.map(({ status }) => status);
      sum.passed += states.filter(status => status === 'passed').length;
      sum.skipped += states.filter(status => status !== 'passed' && status !== 'failed').length;
      failed += states.filter(status => status === 'failed').length;
      if (file.status === 'failed' && !states.includes('failed')) failed += 1;
    }
  } catch (error) {
    say(`vitest left no report (${error.message})`);
  }
  sum.failed += code !== 0 && failed === 0 ? 1 : failed;
}
