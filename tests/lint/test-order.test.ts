import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
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
