/** Entries of directories as persons. */
import { expect, it } from 'vitest';
import { fieldsOf, pageOf, timestampOf } from '../../daemon/directory/ldap/person-entry.ts';

const unnamed = { userName: null, name: null, email: null, id: null, disabled: null, groups: null };
const guid = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
const active = {
  dn: 'CN=Ada,CN=Users,DC=example,DC=com',
  objectGUID: guid,
  sAMAccountName: 'ada',
  displayName: 'Ada Lovelace',
  mail: 'ada@example.com',
  userAccountControl: '512',
  memberOf: ['CN=Staff, OU=Groups,DC=Example,DC=com', 'CN=Other,DC=example,DC=com'],
};
const read = (entry: object, named = unnamed, isActiveDirectory = true) =>
  pageOf([{ dn: '', ...entry }], fieldsOf(named, isActiveDirectory), [
    { name: 'staff', dn: 'cn=staff,ou=groups,dc=example,dc=com' },
  ]);

it('reads an account of Active Directory, with the id as its tools write it', async () => {
  expect((await read(active)).entries).toEqual([
    {
      id: '33221100-5544-7766-8899-aabbccddeeff',
      userName: 'ada',
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      isDisabled: false,
      groups: ['staff'],
    },
  ]);
});

it.each([
  ['514', true],
  ['66050', true],
  ['66048', false],
  ['not a number', false],
])('userAccountControl %s: disabled is %s', async (userAccountControl, isDisabled) => {
  expect((await read({ ...active, userAccountControl })).entries).toMatchObject([{ isDisabled }]);
});

it.each([
  [[], false],
  ['FALSE', false],
  ['no', false],
  ['true', true],
  ['000001010000Z', true],
])('a named attribute with the value %s: disabled is %s', async (value, isDisabled) => {
  const entry = { entryUUID: 'id-1', UID: 'ada', pwdAccountLockedTime: value };
  expect((await read(entry, { ...unnamed, disabled: 'pwdaccountlockedtime' } as never, false)).entries).toMatchObject([
    { isDisabled },
  ]);
});

it.each([
  ['0', false],
  ['9223372036854775807', false],
  ['never', false],
  // 29 November 2026, 09:00 and 11:00 UTC.
  ['134404164000000000', true],
  ['134404236000000000', false],
])('accountExpires %s at 10:00: disabled is %s', async (accountExpires, isDisabled) => {
  const now = Date.UTC(2026, 10, 29, 10);
  const entry = { ...active, accountExpires };
  expect((await pageOf([entry], fieldsOf(unnamed, true), [], now)).entries).toMatchObject([{ isDisabled }]);
});

it.each([
  [true, { primaryGroupID: '513' }],
  [false, { gidNumber: '513' }],
])('counts a primary group (Active Directory: %s)', async (isActiveDirectory, primary) => {
  const entry = { ...active, entryUUID: 'id-1', uid: 'ada', memberOf: [], ...primary };
  const groups = [
    { name: 'users', dn: 'cn=users,dc=x', number: '513' },
    { name: 'others', dn: 'cn=others,dc=x', number: '514' },
    { name: 'without', dn: 'cn=without,dc=x' },
  ];
  const { entries } = await pageOf([entry], fieldsOf(unnamed, isActiveDirectory), groups);
  expect(entries).toMatchObject([{ groups: ['users'] }]);
});

it('takes the same of several values each time', async () => {
  const one = await read(
    { entryUUID: 'id-1', uid: ['b', 'a'], mail: ['y@example.com', 'x@example.com'] },
    unnamed,
    false,
  );
  const other = await read(
    { entryUUID: 'id-1', uid: ['a', 'b'], mail: ['x@example.com', 'y@example.com'] },
    unnamed,
    false,
  );
  expect(one).toEqual(other);
});

it('leaves out what is not valid: an address alone, or an entry that cannot be a person', async () => {
  const entry = { entryUUID: 'id-1', uid: 'ada', cn: 'Ada', mail: 'no address' };
  expect(await read(entry, unnamed, false)).toMatchObject({
    entries: [{ userName: 'ada', name: 'Ada', email: null }],
    left: [{ userName: 'ada', field: 'email', reason: expect.any(String) }],
  });
  expect(await read({ ...entry, uid: 'a\u0000b' }, unnamed, false)).toMatchObject({
    entries: [],
    skipped: [{ id: 'id-1' }],
  });
  expect((await read({ ...entry, uid: 'a'.repeat(129) }, unnamed, false)).skipped).toMatchObject([{ id: 'id-1' }]);
  expect((await read({ ...entry, entryUUID: [] }, unnamed, false)).skipped).toMatchObject([
    { id: null, userName: 'ada' },
  ]);
  expect((await read({ ...active, objectGUID: guid.subarray(1) })).skipped).toMatchObject([{ id: null }]);
  expect((await read({ ...active, ['__proto__']: ['x'] })).entries).toHaveLength(1);
});

it('knows when entries changed last', async () => {
  const at = (modifyTimestamp: string) => ({ dn: '', entryUUID: 'id', uid: 'a', modifyTimestamp });
  const page = await pageOf([at('20261123101500Z'), at('20261123113000.0Z'), at('soon')], fieldsOf(unnamed, false), []);
  expect(page.changedAt).toBe('20261123113000.0Z');
  expect(timestampOf('20261123000100Z', 5 * 60_000)).toBe('20261122235600Z');
});

it('lets others run while it reads a page of many long values', async () => {
  const memberOf = Array.from({ length: 5000 }, (_, i) => `${'ou=x,'.repeat(100)}cn=${i}`);
  const entry = { ...active, memberOf: [...memberOf, 'x'.repeat(5000), ...active.memberOf] };
  let turns = 0;
  let next = setImmediate(function turn() {
    turns++;
    next = setImmediate(turn);
  });
  const page = await pageOf(Array(10).fill(entry), fieldsOf(unnamed, true), [
    { name: 'staff', dn: 'cn=staff,ou=groups,dc=example,dc=com' },
  ]);
  clearImmediate(next);
  expect(page.entries.map(({ groups }) => groups)).toEqual(Array(10).fill(['staff']));
  expect(turns).toBeGreaterThan(2);
});
