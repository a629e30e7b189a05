// `npm run check`: the static checks, and the tests that are closest to what changed since main, in about a minute. `npm test` runs
// everything.
//   --all   every related test
//   --list  prints the related tests, the closest first, and runs nothing
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourceFiles } from './import-boundaries.ts';
import { runChecks, staticChecks } from './lib/checks.mjs';
import { modules, node, root, run, say } from './lib/project.mjs';
import { importsOfAll, relatedTests, withinBudget } from './lib/related-tests.ts';

/** The sum over the chosen test files, of which two run at a time. */
const budgetMs = 60_000;
/** How long a file takes that has not run here before: the mean of all. */
const unknownMs = 4000;

const env = { ...process.env, PATH: `${join(modules, '.bin')}:${process.env.PATH}` };
const options = process.argv.slice(2);
const changed = changedFiles();
const related = relatedTests(
  changed,
  importsOfAll(sourceFiles(root), file => readFileSync(join(root, file), 'utf8')),
);
if (options.includes('--list')) process.stdout.write(related.map(test => `${test}\n`).join(''));
else process.exitCode = await check();

async function check() {
  const failed = await runChecks(staticChecks, { env });
  const chosen = options.includes('--all') ? related : withinBudget(related, lastDurations(), budgetMs);
  if (chosen.length > 0) {
    const code = await run(node, [join(modules, 'vitest', 'vitest.mjs'), 'run', '--reporter=dot', ...chosen], { env });
    if (code !== 0) failed.push('tests');
  }
  say(`${changed.length} changed files; ${chosen.length} of ${related.length} related test files have run`);
  if (chosen.length < related.length) say('to run the others as well: npm run check -- --all');
  say(failed.length === 0 ? 'good' : `FAILED: ${failed.join(', ')}`);
  return failed.length === 0 ? 0 : 1;
}

/** Files that differ from the commit that this branch has in common with main, uncommitted ones included. */
function changedFiles() {
  const base = ['origin/main', 'main'].map(branch => git('merge-base', 'HEAD', branch)[0]).find(Boolean) ?? 'HEAD';
  return [...new Set([...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')])];
}

/** The lines that git prints; none if it fails. */
function git(...args) {
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('git', args, options).split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

/** The duration of each test file in its last run here, in milliseconds, from the cache of vitest. */
function lastDurations() {
  const folder = join(modules, '.vite', 'vitest');
  const files = {};
  try {
    for (const name of readdirSync(folder)) {
      const { projects } = JSON.parse(readFileSync(join(folder, name, 'results.json'), 'utf8'));
      for (const project of Object.values(projects)) Object.assign(files, project.files);
    }
  } catch {
    // Nothing has run here, or vitest has changed the format of its cache: the order alone decides.
  }
  return test => files[test]?.duration ?? unknownMs;
}
