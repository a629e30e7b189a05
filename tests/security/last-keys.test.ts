/** Two daemons on one store: each decides on the keys that it has read, while the other one changes them. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Context } from '../../daemon/requests/context.ts';
import { create } from '../../daemon/sign-in/passkey.ts';
import { PasskeyService } from '../../daemon/sign-in/passkeys.ts';
import { SignInPolicies } from '../../daemon/sign-in/policies.ts';
import { policyIn, requireOfRoles } from '../../daemon/sign-in/policy.ts';
import { SignedChallenges } from '../../daemon/sign-in/signed-challenges.ts';
import type { Store } from '../../daemon/store/store.ts';
import { addUser, commit, newPasskey, type OpenStore } from '../contract/store/fixtures.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { openTemporary } from '../support/sqlite.ts';

const now = () => 1_700_000_000_000;

/** The services of a daemon. */
function daemonOn(store: Store) {
  const policies = new SignInPolicies({ store, now });
  return {
    policies,
    keys: new PasskeyService({ store, policies, now, challenges: new SignedChallenges(new Uint8Array(32)) }),
  };
}

/** The store as a daemon sees it whose first read of keys is followed by what another daemon does. */
function behind(store: Store, between: () => Promise<unknown>): Store {
  let isFirst = true;
  const passkeysOf = async (owner: number) => {
    const found = await store.passkeysOf(owner);
    if (!isFirst) return found;
    isFirst = false;
    await between();
    return found;
  };
  return { ...store, passkeysOf };
}

/** An administrator who signed in with one of these keys. */
async function withKeys(open: OpenStore, credentials: readonly string[]) {
  const { store, cleanup } = await open();
  onTestFinished(cleanup);
  await commit(store, [addUser('alice', { role: 'ADMIN' })]);
  await commit(
    store,
    credentials.map(id => create(newPasskey(1, id), { username: 'alice' })),
  );
  const session = { signedInAt: 0, console: true, withKey: true, mustRegisterKey: false };
  const user = (await store.user(1))!;
  const caller = { role: user.role, user, serviceToken: null, expiresAt: 0, loginAt: 0, session };
  const context: Context = { caller, requestId: 'r', address: '192.0.2.1' };
  return { store, context, left: async () => (await store.passkeysOf(1)).map(({ credentialId }) => credentialId) };
}

function suite(name: string, open: OpenStore): void {
  describe(`the last key of an administrator in ${name}`, () => {
    it('stays if two daemons remove the last two at once', async () => {
      const { store, context, left } = await withKeys(open, ['one', 'two']);
      await commit(store, [requireOfRoles(policyIn(null), ['ADMIN'])]);
      const other = () => daemonOn(store).keys.remove(context, 'USR-1', 'PSK-1');
      const late = daemonOn(behind(store, other)).keys.remove(context, 'USR-1', 'PSK-2');
      await expect(late).rejects.toMatchObject({ code: 1001, message: expect.stringContaining('your last key') });
      expect(await left()).toEqual(['two']);
    });

    it('stays if another daemon requires a key at the same time', async () => {
      const { store, context, left } = await withKeys(open, ['one']);
      const other = () => daemonOn(store).policies.set(context, { requireKey: ['ADMIN'] });
      const late = daemonOn(behind(store, other)).keys.remove(context, 'USR-1', 'PSK-1');
      await expect(late).rejects.toMatchObject({ code: 1001 });
      expect(await left()).toEqual(['one']);
    });

    it.each([
      ['of the role', (policies: SignInPolicies, context: Context) => policies.set(context, { requireKey: ['ADMIN'] })],
      [
        'of the user',
        (policies: SignInPolicies, context: Context) => policies.require(context, 'USR-1', { required: true }),
      ],
    ])('is not required %s if another daemon removes it at the same time', async (_, require) => {
      const { store, context, left } = await withKeys(open, ['one']);
      const other = () => daemonOn(store).keys.remove(context, 'USR-1', 'PSK-1');
      const late = require(daemonOn(behind(store, other)).policies, context);
      await expect(late).rejects.toMatchObject({ code: 1001, message: expect.stringContaining('register') });
      expect(await left()).toEqual([]);
      expect(await store.document('sign-in-policy')).toBeNull();
    });
  });
}

suite('SQLite', openTemporary);

needsPostgres('the last key of an administrator', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());
  suite('PostgreSQL', () => openPostgres(server));
});
