import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { engines, optional } from '../../scripts/lib/import-rules.ts';
import { foldersOf, lists, withNeeders, without } from '../../scripts/lib/left-out.ts';

test('those that need a subject leave with it, and those that need them', () => {
  expect(withNeeders('console')).toEqual(['console']);
  expect(withNeeders('people').toSorted()).toEqual(['directory', 'holders', 'issuing', 'people', 'receipts', 'scim']);
  expect(withNeeders('proofs').toSorted()).toEqual(['holders', 'identity', 'issuing', 'proofs', 'receipts']);
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

test('an engine has a line in the list of the composition, and subjects theirs in the files beside its folders', () => {
  const listed = readFileSync('daemon/start/engines.ts', 'utf8').split('\n');
  for (const name of Object.keys(engines))
    expect(without(listed.join('\n'), [name]).split('\n')).toHaveLength(listed.length - 1);
  const named = globSync(lists).filter(file => /postgres\//.test(readFileSync(file, 'utf8')));
  expect(named.toSorted()).toEqual([
    ...['devices', 'people', 'proofs'].map(name => `daemon/${name}/index.ts`),
    'daemon/start/engines.ts',
  ]);
  for (const file of named) expect(without(readFileSync(file, 'utf8'), ['store/postgres'])).not.toMatch(/postgres\//);
});

test('the console leaves with its pages', () => {
  expect(foldersOf('console')).toEqual(['daemon/console/', 'console/']);
  expect(foldersOf('scim')).toEqual(['daemon/scim/']);
});
