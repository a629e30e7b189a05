/** Names of the accounts of people whom a provider signs in. */
import { expect, it } from 'vitest';
import { usernamesFor } from '../../daemon/single-sign-on/records.ts';

const first = (wanted: string | null) => usernamesFor(wanted, 'Some-key')[0];
const own = 'sso-Somekey';

it.each([
  ['ana', 'ana'],
  ['Ana.Müller@example.com', 'Ana.Muller@example.com'],
  ['jose\u0301', 'jose'],
  ['José', 'Jose'],
  ['Øystein Ærø', 'OysteinAEro'],
  ['Straße', 'Strasse'],
  ['ﬁona', 'fiona'],
  ['Ａna', 'Ana'],
])('%s keeps its letters without accents: %s', (wanted, name) => {
  expect(first(wanted)).toBe(name);
});

it.each([null, '', '  ', 'Иван@example.com', '山田', 'ana\u0430'])(
  '%s, which has other letters or none, is not cut',
  wanted => {
    expect(usernamesFor(wanted, 'Some-key')).toEqual([own]);
  },
);

it.each([
  'ADMIN',
  'admin',
  'Daemon',
  'dealer',
  'viewer',
  'holder',
  'local',
  'token',
  'directory',
  'scim',
  'DEV-3',
  'usr-1',
  'Per-12',
  'TOK-1',
  'ＤＥＶ-3',
  'D E V-3',
  'ädmin',
])('no account gets the name %s', wanted => {
  for (const name of usernamesFor(wanted, 'Some-key'))
    expect(name).not.toMatch(/^(admin|daemon|dealer|viewer|holder|local|token|directory|scim|[a-z]{3}-\d+)$/i);
});

it('the colon of a service token is in no name', () => {
  expect(usernamesFor('token:line-3', 'Some-key').join()).not.toContain(':');
});
