import { describe, expect, it } from 'vitest';
import { findingsIn, rules } from '../../scripts/words.ts';

/** One line for each rule of the list, in its order. */
const examples = [
  'it begins anew',
  'what is written therein',
  'whoever asks',
  'nobody listens',
  'the driver is told of it',
  'two keys are told apart',
  'mend the line',
  'users set the own one',
  'everybody sets a password',
  'the serial stands in line 2',
  'the file stood in the folder',
  'this is no JSON',
  'the run goes on after a reload',
  'no node writes meanwhile',
  'the log says why',
  'bytes received so far',
  'a user is disabled for good',
  'the receiver wants no more events',
  'an entry that sums up a minute',
  'a frame has come',
  'the daemon recovers by itself',
  'a note goes along',
  'other fields are passed over',
  'the old file is set aside',
  'a key is pulled out of the port',
  'the text in any case',
  'the file lies in the home folder',
  'where there is no terminal',
  'the place the system has for data',
  'keys want four libraries',
  'what is to be had',
  'a change brought about by the user',
  'a package by its name',
  'the token stays good until midnight',
  'has the system start the daemon',
  'the function hands over a file',
  'makings of a store',
  'the diary of the daemon',
  'a client knocks at the port',
  'half of a record',
  'what has come of the batch',
  'the one that is there',
  'what has become of a key',
  'the provider has signed no one in',
  'another person is perhaps meant',
  'the server answers as it should',
  'a provider that hears of the key',
  'What the service works with.',
  'ten keys, which is the most',
  'a file of age',
  'an entry of the audit log',
  'a receipt of a hand-over',
];

it('has an example for every rule, and finds it', () => {
  expect(examples).toHaveLength(rules.length);
  for (const [i, rule] of rules.entries())
    expect(findingsIn('page.md', examples[i]!).map(finding => finding.rule)).toContain(rule);
});

it('names file, line and words', () => {
  const [finding] = findingsIn('docs/page.md', 'a good line\nthis begins anew\n');
  expect(finding).toMatchObject({ file: 'docs/page.md', line: 2, found: 'anew' });
});

it.each([
  'a key is no longer attached',
  'in any case of doubt',
  'the file is in the home folder',
  'if there is no terminal',
  'the folder where files are stored',
  'the token is valid until midnight',
])('accepts: %s', line => {
  expect(findingsIn('page.md', line)).toEqual([]);
});

describe('a comment', () => {
  const found = (text: string) => findingsIn('daemon/a.ts', text).map(({ line }) => line);

  it.each([
    ['/** The same for a user. */', 1],
    ['const a = 1;\n// Those of a user.', 2],
    ['/**\n * See `b`.\n */', 2],
    [`// ${'long '.repeat(28)}`, 1],
    [` * ${'long '.repeat(28)}`, 1],
  ])('is refused without a subject, or with a long line: %s', (text, line) => {
    expect(found(text)).toEqual([line]);
  });

  it.each([
    '// A sentence may continue here:\n// See is a verb.',
    `const a = '${'long '.repeat(30)}';`,
    `// ${'x'.repeat(137)}`,
  ])('is accepted: %s', text => {
    expect(found(text)).toEqual([]);
  });

  it('is judged in code alone', () => {
    expect(findingsIn('docs/page.md', `// ${'long '.repeat(30)}`)).toEqual([]);
  });
});
