/** Rules about the sessions that came from the provider of single sign-on. */
import { expect } from 'vitest';
import { linkAccount, type SsoSession, setSessions } from '../../../daemon/domain/sso.ts';
import { createFirst } from '../../../daemon/domain/user.ts';
import { Conflict } from '../../../daemon/store/commit.ts';
import { commit, type Rule, rule } from './fixtures.ts';

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
      await commit(store, [createFirst('ana', 'hash'), linkAccount(0, 'key', 'ana')]);
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
];
