import { existsSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { sourceFiles } from '../../scripts/import-boundaries.ts';
import { sharing } from '../../vitest.config.ts';
import { exhaustive, isChosen } from '../support/exhaustive.ts';
import { busy, firstFiles, waiting } from '../support/longest-first.ts';

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
  const changes = /vi\.(mock|stubEnv|stubGlobal)\(|process\.env\.\w+ \?*=|process\.(chdir|umask)\(|usePostgres\(/;
  expect(files.filter(file => changes.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});

it('has each file in one of two runs, and each pattern of the exhaustive files finds some', () => {
  const root = join(import.meta.dirname, '..', '..');
  const files = sourceFiles(root).filter(file => file.endsWith('.test.ts'));
  expect(exhaustive.filter(pattern => !files.some(file => matchesGlob(file, pattern)))).toEqual([]);
  for (const file of files) expect(isChosen(file, 'ordinary'), file).toBe(!isChosen(file, 'exhaustive'));
  expect(isChosen('tests/faults/crash.test.ts', 'ordinary')).toBe(true);
  expect(isChosen('tests/faults/copy.test.ts', 'ordinary')).toBe(false);
  expect(isChosen('tests/faults/copy.test.ts', undefined)).toBe(true);
});
