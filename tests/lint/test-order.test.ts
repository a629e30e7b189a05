import { existsSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { sourceFiles } from '../../scripts/import-boundaries.ts';
import { sharing } from '../../vitest.config.ts';
import { busy, firstFiles, waiting } from '../support/longest-first.ts';
import { isChosen, otherRuns } from '../support/runs.ts';

it('names only files that exist', () => {
  const tests = join(import.meta.dirname, '..');
  expect(firstFiles.filter(file => !existsSync(join(tests, file)))).toEqual([]);
});

it('contains all busy and all waiting files', () => {
  expect(firstFiles).toHaveLength(busy.length + waiting.length);
});

it('names each file once', () => {
  expect(firstFiles).toHaveLength(new Set(firstFiles).size);
});

it('lets files share a process only if they change nothing in it', () => {
  const root = join(import.meta.dirname, '..', '..');
  const files = sourceFiles(root).filter(file => matchesGlob(file, sharing));
  expect(files.length).toBeGreaterThan(100);
  const changes =
    /vi\.(mock|stubEnv|stubGlobal)\(|process\.env\.\w+ \?*=|process\.(chdir|umask)\(|usePostgres\(|(startPcscd|pcscTests)\(/;
  expect(files.filter(file => changes.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});

it('has each file in one run, and each pattern of a run finds some', () => {
  const root = join(import.meta.dirname, '..', '..');
  const files = sourceFiles(root).filter(file => file.endsWith('.test.ts'));
  const patterns = Object.values(otherRuns).flat();
  expect(patterns.filter(pattern => !files.some(file => matchesGlob(file, pattern)))).toEqual([]);
  const runs = ['ordinary', ...Object.keys(otherRuns)];
  for (const file of files)
    expect(
      runs.filter(run => isChosen(file, run)),
      file,
    ).toHaveLength(1);
  expect(isChosen('tests/faults/persons.test.ts', 'ordinary')).toBe(true);
  expect(isChosen('tests/faults/copy.test.ts', 'exhaustive')).toBe(true);
  expect(isChosen('tests/faults/copy.test.ts', null)).toBe(true);
});
