import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { optional } from '../../scripts/lib/import-rules.ts';
import { withNeeders, without } from '../../scripts/lib/left-out.ts';

test('those that need a subject leave with it, and those that need them', () => {
  expect(withNeeders('console')).toEqual(['console']);
  expect(withNeeders('people').toSorted()).toEqual(['directory', 'issuing', 'people', 'receipts', 'scim']);
  expect(withNeeders('proofs').toSorted()).toEqual(['issuing', 'proofs', 'receipts']);
});

test('each subject that can be left out has lines in the lists, and leaves none', () => {
  const started = readFileSync('daemon/start/services.ts', 'utf8');
  for (const name of optional)
    expect(without(started, [name]).split('\n')).toHaveLength(started.split('\n').length - 2);
  const stored = readFileSync('daemon/start/subjects.ts', 'utf8');
  for (const list of [started, stored])
    expect(without(list, optional)).not.toMatch(new RegExp(optional.map(name => `\\.\\./${name}/`).join('|')));
  expect(without(stored, optional)).toContain(
    'const stated = [\n  accounts,\n  devices,\n  files,\n  signIn,\n] as const;',
  );
});
