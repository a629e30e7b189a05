// Runs vitest with a JSON report, and reads it: the counts, and the names of what a person must look at.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root, say } from './project.mjs';

/**
 * Has `start` run vitest with arguments that make it write a report. Prints what passed only in a second attempt. Resolves with its exit
 * code and the results of the report.
 */
export async function reported(start) {
  const folder = mkdtempSync(join(tmpdir(), 'devmgr-test-'));
  const report = join(folder, 'report.json');
  try {
    const code = await start(['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]);
    const results = resultsIn(report);
    process.stdout.write(listOf('second attempt', results.repeated));
    return { code, results };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Nothing if the run ended before its report. */
function resultsIn(report) {
  try {
    return resultsOf(JSON.parse(readFileSync(report, 'utf8')), root);
  } catch (error) {
    say(`vitest left no report (${error.message})`);
    return { passed: 0, failed: [], repeated: [], skipped: [] };
  }
}

/**
 * Summarizes a report; `root` is the folder that the names of files start from. A file that could not be loaded has no test to its
 * name: it counts as one failure. `failed`, `repeated` and `skipped` are names, the first two with the reason of each attempt that failed;
 * `passed` is a number, which includes those that were repeated.
 */
export function resultsOf(report, root) {
  const results = { passed: 0, failed: [], repeated: [], skipped: [] };
  for (const { name, status, message, assertionResults } of report.testResults) {
    const file = relative(root, name);
    for (const test of assertionResults) addTest(results, file, test);
    const isKnown = assertionResults.some(test => test.status === 'failed');
    if (status === 'failed' && !isKnown) results.failed.push(`${file}: ${firstLine(message)}`);
  }
  return results;
}

function addTest(results, file, { status, ancestorTitles, title, failureMessages = [] }) {
  const name = [file, ...ancestorTitles, title].join(' > ');
  const reasons = [name, ...failureMessages.map(reasonOf)].join('\n    ');
  if (status === 'passed') {
    results.passed += 1;
    if (failureMessages.length > 0) results.repeated.push(reasons);
  } else if (status === 'failed') results.failed.push(reasons);
  else results.skipped.push(name);
}

/** The failure of an attempt, in one line: the end of a long log must show the cause of each attempt. */
function reasonOf(message) {
  return message
    .split(/\n\s+at /, 1)[0]
    .replace(/\s+/g, ' ')
    .slice(0, 500);
}

function firstLine(message) {
  return (message ?? '').trim().split('\n', 1)[0] || 'failed outside of a test';
}

/** A line for each name, at most `limit`, then the number of the others; empty without names. */
export function listOf(word, names, limit = 20) {
  const lines = names.slice(0, limit).map(name => `${word}: ${name}\n`);
  if (names.length > limit) lines.push(`${word}: and ${names.length - limit} more\n`);
  return lines.join('');
}
