/** Rules about the sessions that came from the provider of single sign-on. */
import { expect } from 'vitest';
import { create, createFirst } from '../../../daemon/accounts/user.ts';
import {
  claimPerson,
  endingSessions,
  linkAccount,
  type SsoConfig,
  type SsoSession,
  setSessions,
} from '../../../daemon/single-sign-on/records.ts';
import { CallerRefused, Conflict } from '../../../daemon/store/commit.ts';
import { addDevice, commit, type Rule, rule } from './fixtures.ts';

const session = (id: string): SsoSession => ({
  id,
  provider: 'p',
  sid: null,
  sealed: 'sealed',
  checkedAt: 1,
  confirmedAt: 1,
  endsAt: 1000,
});

export const ssoRules: readonly Rule[] = [
  rule(
    'sessions of a provider are replaced from the version that was read, without an entry',
    async ({ store, reopen }) => {
      await commit(store, [createFirst('ana', 'hash'), linkAccount(0, 'key', { username: 'ana' })]);
      expect(await store.ssoSessions(1)).toBeNull();
      const none = { number: 1, version: 0 };
      await commit(store, [setSessions(none, [session('a')], 1)]);
      await expect(commit(store, [setSessions(none, [session('b')], 1)])).rejects.toThrow(Conflict);
      await commit(store, [setSessions({ ...none, version: 1 }, [session('a'), session('b')], 1)]);
      const again = await reopen();
      const row = { number: 1, version: 2, sessions: [session('a'), session('b')] };
      expect(await again.ssoSessions(1)).toEqual(row);
      expect(await again.allSsoSessions()).toEqual([row]);
      expect(await again.lastEventId()).toBe(2);
      expect(JSON.parse((await again.document('sso-account:key'))!.value)).toEqual({ username: 'ana' });
    },
  ),
  rule('accounts have the role HOLDER, and the person whom they are that of', async ({ store, reopen }) => {
    await commit(store, [createFirst('ana', 'hash')]);
    const holder = { username: 'ben', passwordHash: 'sso$key', role: 'HOLDER', email: null, disabled: false } as const;
    const link = linkAccount(0, 'key', { username: 'ben', person: 7 });
    await commit(store, [create(holder), link, claimPerson(0, 7, { key: 'key', issuer: 'https://a.example' })]);
    const again = await reopen();
    expect(await again.userByName('ben')).toMatchObject({ role: 'HOLDER' });
    expect(JSON.parse((await again.document('sso-account:key'))!.value)).toEqual({ username: 'ben', person: 7 });
    expect((await again.document('sso-holder:7'))!.version).toBe(1);
  }),
  rule('a commit for a session of single sign-on is refused if all of them have ended', async ({ store }) => {
    await commit(store, [createFirst('ana', 'hash')]);
    const write = (serial: string, ssoSessions: number) => {
      const caller = { kind: 'user', user: 1, tokenEpoch: 0, role: 'ADMIN', ssoSessions } as const;
      return commit(store, [addDevice(serial)], { caller });
    };
    await write('A', 0);
    const notices: unknown[] = [];
    const stop = store.onCommit(({ everything }) => void notices.push(everything));
    await commit(store, endingSessions({} as SsoConfig, null, 0));
    stop();
    expect(notices).toEqual([true]);
    await expect(write('B', 0)).rejects.toThrow(CallerRefused);
    await write('C', 1);
    await expect(commit(store, endingSessions({} as SsoConfig, null, 0))).rejects.toThrow(Conflict);
  }),
];
