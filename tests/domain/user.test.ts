import { describe, expect, it } from 'vitest';
import { changePassword, differences, edit, logOut, rehash } from '../../daemon/accounts/user.ts';
import { Refusal } from '../../daemon/base/decision.ts';
import type { UserRecord } from '../../daemon/requests/callers.ts';

const user = (set: Partial<UserRecord> = {}): UserRecord => ({
  number: 4,
  username: 'alice',
  userKey: 'alice',
  passwordHash: 'old',
  role: 'ADMIN',
  email: null,
  disabled: false,
  createdAt: 1,
  tokenEpoch: 3,
  ...set,
});
const unchanged = (before: Partial<UserRecord> = {}) => {
  const { role, email, disabled } = user(before);
  return { kind: 'user', user: 4, tokenEpoch: 3, fields: { role, email, disabled } };
};
const anotherAdmin = { kind: 'another-admin', beside: 4 };

describe('an edit of a user', () => {
  it('contains only the fields that differ', () => {
    expect(differences(user(), { role: 'ADMIN', email: 'a@example.com' })).toEqual({ email: 'a@example.com' });
    expect(differences(user(), { role: 'ADMIN', disabled: false, email: null })).toEqual({});
  });

  const cases: readonly [string, Partial<UserRecord>, object, boolean, boolean][] = [
    // what, user, set, loses an administrator, revokes tokens
    ['a new e-mail address', {}, { email: 'a@example.com' }, false, false],
    ['another role for an administrator', {}, { role: 'VIEWER' }, true, false],
    ['disabling an administrator', {}, { disabled: true }, true, true],
    ['disabling a dealer', { role: 'DEALER' }, { disabled: true }, false, true],
    ['another role for a disabled administrator', { disabled: true }, { role: 'VIEWER' }, false, false],
    ['enabling an administrator', { disabled: true }, { disabled: false }, false, false],
  ];

  it.each(cases)('%s: guards and revocation', (_, before, set, losesAdmin, revoke) => {
    expect(edit(user(before), set, true)).toMatchObject({
      change: { user: 4, set, revoke },
      guards: losesAdmin ? [unchanged(before), anotherAdmin] : [unchanged(before)],
    });
  });

  it.each(cases)('%s: with no other enabled administrator', (_, before, set, losesAdmin) => {
    const decided = edit(user(before), set, false);
    if (!losesAdmin) expect(decided).not.toBeInstanceOf(Refusal);
    else expect(decided).toMatchObject({ code: 1001, message: expect.stringContaining('last enabled ADMIN') });
  });
});

describe('tokens', () => {
  it.each([
    ['revokes', 'a new password', changePassword(user(), 'new'), true],
    ['revokes', 'a logout', logOut(user()), true],
    ['keeps', 'the same password at another cost', rehash(user(), 'new'), false],
  ])('%s: %s', (_, __, decision, revoke) => {
    expect(decision).toMatchObject({ change: { user: 4, revoke }, guards: [unchanged()] });
  });

  it('and password hashes never reach the journal', () => {
    for (const { change } of [changePassword(user(), 'secret-hash'), rehash(user(), 'secret-hash')])
      expect(JSON.stringify(change.entry)).not.toContain('secret-hash');
  });
});
