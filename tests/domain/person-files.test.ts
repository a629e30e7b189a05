/** Files of persons, in the shapes in which systems write them: who is read from which column, and who is marked as gone. */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseMap } from '../../src/tables/choices.ts';
import { InvalidInput } from '../../src/tables/fault.ts';
import type { PersonField } from '../../src/tables/fields.ts';
import { personFields } from '../../src/tables/fields.ts';
import { isGone, openPersons, type PersonReading } from '../../src/tables/persons.ts';
import { previewOf } from '../../src/tables/preview.ts';

const folder = join(import.meta.dirname, '../files/persons');
const usual: PersonReading = { file: 'people.csv', encoding: null, map: [], where: [], columns: null };
type Read = readonly [userId: string, name: string | null, email: string | null, gone?: string];

async function read(bytes: AsyncIterable<Uint8Array>, more: Partial<PersonReading> = {}): Promise<Read[]> {
  const { rows } = await openPersons(bytes, { ...usual, ...more });
  const found: Read[] = [];
  for await (const { userId, name, email, gone } of rows)
    found.push(gone === null ? [userId, name, email] : [userId, name, email, gone]);
  return found;
}
const ofFile = (file: string, more: Partial<PersonReading> = {}) =>
  read(createReadStream(join(folder, file)), { file, ...more });
async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}
const faultOf = async (text: string) => {
  const error = await read(bytesOf(text)).catch(error => error);
  return error instanceof InvalidInput ? error.fault : error;
};
const mary = (userId: string, email: string | null, name: string | null = 'Mary Jackson'): Read => [
  userId,
  name,
  email,
];

describe('a file of persons', () => {
  test.each<readonly [string, readonly Read[]]>([
    [
      'okta-users.csv',
      [
        mary('mary.jackson@example.org', 'mary.jackson@example.org'),
        ['katherine.johnson@example.org', 'Katherine Johnson', 'katherine.johnson@example.org'],
        ['dorothy.vaughan@example.org', 'Dorothy Vaughan', 'dorothy.vaughan@example.org', 'Status: DEPROVISIONED'],
      ],
    ],
    [
      'google-workspace-users.csv',
      [
        mary('mary.jackson@example.org', 'mary.jackson@example.org'),
        [
          'dorothy.vaughan@example.org',
          'Dorothy Vaughan',
          'dorothy.vaughan@example.org',
          'Status [READ ONLY]: Suspended',
        ],
      ],
    ],
    [
      'entra-id-users.csv',
      [
        mary('mary.jackson@example.org', 'mary@example.org'),
        ['dorothy.vaughan@example.org', 'Dorothy Vaughan', null, 'accountEnabled: False'],
      ],
    ],
    [
      'active-directory.csv',
      [mary('mjackson@example.org', null), ['dvaughan@example.org', 'Dorothy Vaughan', null, 'Enabled: False']],
    ],
    [
      'active-directory.ldif',
      [mary('mjackson', 'mary@example.org'), ['dvaughan', 'Dorothy Vaughan', null, 'userAccountControl: 514']],
    ],
    ['people.ldif', [mary('mary', 'mary@example.org'), ['evelyn', 'Evelyn Boyd Granville', null]]],
    [
      'bamboohr.csv',
      [
        mary('mary.jackson@example.org', 'mary.jackson@example.org'),
        ['katherine.johnson@example.org', 'Katherine Johnson', 'katherine.johnson@example.org'],
      ],
    ],
    ['snipe-it-users.csv', [mary('mary', 'mary@example.org')]],
    ['sep-line.csv', [mary('mary', null)]],
    ['active-and-leaver.csv', [mary('mary', null), ['dorothy', 'Dorothy Vaughan', null, 'status: Terminated']]],
  ])('is read as its system means it: %s', async (file, persons) => {
    expect(await ofFile(file)).toEqual(persons);
  });

  test('of Windows is read in the encoding that is named', async () => {
    expect(await ofFile('personal-cp1252.csv', { encoding: 'windows-1252' })).toEqual([
      ['mjäger', 'Märta Jäger', 'maerta@example.org'],
      ['dvogel', 'Dörte Vogel', null, 'Zustand: ausgeschieden'],
    ]);
  });

  test('takes the columns that a person names, also a name in two of them', async () => {
    const text = 'Pers.-Nr.,Rufname,Familie,Kürzel\n17,Mary,Jackson,mj\n';
    const map = parseMap<PersonField>(['userId=Kürzel,givenName=Rufname', 'familyName=Familie'], personFields);
    expect(await read(bytesOf(text), { map })).toEqual([mary('mj', null)]);
    const numbers = parseMap<PersonField>(['userId=Pers.-Nr.'], personFields);
    expect(await read(bytesOf(text), { map: numbers })).toEqual([['17', null, null]]);
  });

  test.each([
    ['User Id,Name\n00u7k2m1,Mary\n', ['User Id']],
    ['User Id,Name\n8d0c2f6e-3b0e-4f7e-9a43-0d8d5ac5d0f1,Mary\n', ['User Id']],
    ['User Id,Name\n1042,Mary\n', ['User Id']],
    ['Id,Name\n1042,Mary\n', []],
    ['Name,Department\nMary,Tunnels\n', []],
  ])('without a column of logins is not guessed (%#)', async (text, rejected) => {
    const fault = await faultOf(text);
    expect(fault).toMatchObject({ what: 'fields missing', fields: ['userId'] });
    expect(fault.rejected.map(({ column }: { column: string }) => column)).toEqual(rejected);
  });

  test('refuses a row whose login is an id of a system, unless a person has chosen the column', async () => {
    const text = 'userId\nmary\n00u7k2m3\n';
    const problems = async (map: PersonReading['map']) => {
      const { rows } = await openPersons(bytesOf(text), { ...usual, map });
      const found: (string | null)[] = [];
      for await (const { problem } of rows) found.push(problem);
      return found;
    };
    expect(await problems([])).toEqual([null, expect.stringContaining('not a login')]);
    expect(await problems([{ field: 'userId', column: 'userId' }])).toEqual([null, null]);
  });

  test('takes numbers of the personnel for logins in a column that is named userId, and no ids of systems', async () => {
    expect(await read(bytesOf('userId,name\n1042,Mary\n1043,\n'))).toEqual([
      ['1042', 'Mary', null],
      ['1043', null, null],
    ]);
    expect(await faultOf('userId\n8d0c2f6e-3b0e-4f7e-9a43-0d8d5ac5d0f1\n')).toMatchObject({ what: 'fields missing' });
  });

  test('is marked as gone by every column of a state, and each of them is in the preview', async () => {
    const text = 'userId,Status,Suspended\na,Active,False\nb,Active,True\nc,Terminated,False\n';
    expect(await read(bytesOf(text))).toEqual([
      ['a', null, null],
      ['b', null, null, 'Suspended: True'],
      ['c', null, null, 'Status: Terminated'],
    ]);
    const json = [{ userId: 'd', status: 'ACTIVE', suspended: true }];
    expect(await read(bytesOf(JSON.stringify(json)), { file: 'people.json' })).toEqual([
      ['d', null, null, 'suspended: true'],
    ]);
    const { table } = await openPersons(bytesOf(text), usual);
    expect(previewOf(table, {}).columns.slice(1)).toEqual([
      { field: 'status', column: 'Status', values: ['Active', 'Active', 'Terminated'] },
      { field: 'status', column: 'Suspended', values: ['False', 'True', 'False'] },
    ]);
  });

  test('is read as LDIF whatever the file is named', async () => {
    const text = 'version: 1\ndn: uid=ada,dc=x\nuid: ada\ncn: Ada\n';
    expect(await read(bytesOf(text), { file: 'people.csv' })).toEqual([['ada', 'Ada', null]]);
  });

  test('marks leavers by a column that has no other meaning', async () => {
    const leavers = { column: 'Contract', values: ['ended', 'void'] };
    const { rows } = await openPersons(bytesOf('userId,Contract\na,Ended\nb,running\nc,void\n'), { ...usual, leavers });
    const marked: string[] = [];
    for await (const { userId, isLeaver } of rows) if (isLeaver) marked.push(userId);
    expect(marked).toEqual(['a', 'c']);
  });
});

test.each<readonly [string, string, boolean]>([
  ['Status', 'Active', false],
  ['Status', 'LOCKED_OUT', false],
  ['Status', 'Désactivé', true],
  ['Enabled', 'FALSE', true],
  ['Enabled', 'true', false],
  ['Suspended', 'TRUE', true],
  ['Suspended', 'False', false],
  ['Aktiv', 'nein', true],
  ['userAccountControl', '66050', true],
  ['userAccountControl', '66048', false],
  ['nsAccountLock', 'TRUE', true],
  ['Status', '', false],
])('the column %s with %j marks a person as gone: %s', (column, value, isMarked) => {
  expect(isGone(column, value)).toBe(isMarked);
});
