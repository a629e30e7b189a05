/** Devices of persons who have left: only an ADMIN unlocks them, also if the person leaves at the same moment. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Refusal } from '../../daemon/base/decision.ts';
import { deviceOperations } from '../../daemon/devices/operations.ts';
import { create } from '../../daemon/people/decisions.ts';
import { PeoplePolicies } from '../../daemon/people/policies.ts';
import type { Context } from '../../daemon/requests/context.ts';
import { Conflict } from '../../daemon/store/commit.ts';
import type { Store } from '../../daemon/store/store.ts';
import { addDevice, commit, type OpenStore, setDevice } from '../contract/store/fixtures.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import { activation, data, register } from '../support/fleet.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { serviceToken } from '../support/service-token.ts';
import { openTemporary } from '../support/sqlite.ts';

describe('a locked device of a person who has left', () => {
  const daemon = daemonOfTests();
  let people = 0;
  const refused = { status: 403, code: 2007, message: expect.stringContaining('has left') };

  /** A locked device whose person has left. */
  async function locked(bindFirst = false): Promise<{ deviceId: string; personId: string; userName: string }> {
    const userName = `leaver-${++people}`;
    const add = async () => data(await daemon.call('POST', '/api/people', { userName })).personId as string;
    let personId = bindFirst ? '' : await add();
    const { deviceId } = data(
      await daemon.call('POST', '/api/devices/activate', activation(await register(daemon), userName)),
    );
    if (bindFirst) {
      data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' }));
      personId = await add();
    }
    data(await daemon.call('POST', `/api/people/${personId}/leave`, { reason: 'has left' }));
    expect(data(await daemon.call('GET', `/api/devices/${deviceId}`)).status).toBe('LOCKED');
    return { deviceId, personId, userName };
  }
  const unlock = (deviceId: string, token?: string) =>
    daemon.call('POST', `/api/devices/${deviceId}/unlock`, {}, token === undefined ? {} : { token });
  const unlockAll = async (deviceIds: readonly string[], token?: string) => {
    const body = { operation: 'UNLOCK', items: deviceIds.map(deviceId => ({ deviceId })) };
    const options = token === undefined ? {} : { token };
    return data(await daemon.call('POST', '/api/devices/batch-update', body, options)).results;
  };

  it('is not unlocked by a DEALER or a service token with that role, alone or in a batch', async () => {
    const { deviceId } = await locked();
    const other = data(
      await daemon.call('POST', '/api/devices/activate', activation(await register(daemon), 'present')),
    );
    data(await daemon.call('POST', `/api/devices/${other.deviceId}/lock`, { reason: 'lost' }));
    const tokens = [(await daemon.user('dealer', 'DEALER')).token, (await serviceToken(daemon)).token];
    for (const token of tokens) {
      expect(await unlock(deviceId, token)).toMatchObject(refused);
      const results = await unlockAll([deviceId, other.deviceId], token);
      expect(results).toMatchObject([{ code: 2007, message: refused.message }, { status: 'success' }]);
      data(await daemon.call('POST', `/api/devices/${other.deviceId}/lock`, { reason: 'lost' }));
    }
    expect(data(await daemon.call('GET', `/api/devices/${deviceId}`)).status).toBe('LOCKED');
  });

  it('is unlocked by an ADMIN and by a service token with that role', async () => {
    const [one, two] = [await locked(), await locked()];
    data(await unlock(one.deviceId));
    const { token } = await serviceToken(daemon, { role: 'ADMIN' });
    expect(await unlockAll([two.deviceId], token)).toMatchObject([{ status: 'success' }]);
  });

  it('is unlocked by a DEALER once the person is back', async () => {
    const { deviceId, personId } = await locked();
    const { token } = await serviceToken(daemon);
    expect(await unlock(deviceId, token)).toMatchObject(refused);
    data(await daemon.call('POST', `/api/people/${personId}/return`));
    data(await unlock(deviceId, token));
  });

  it('is recognized by the user name if it was bound before the person was added', async () => {
    const { deviceId } = await locked(true);
    expect(await unlock(deviceId, (await serviceToken(daemon)).token)).toMatchObject(refused);
  });
});

/** The store as a daemon sees it whose reads of persons are followed by a leave on another one. */
function behind(store: Store): Store {
  let hasLeft = false;
  const leave = async () => {
    if (hasLeft) return;
    hasLeft = true;
    const rule = { action: 'lock', delayMs: 0 } as const;
    const step = { kind: 'person.leave', step: 'leave', person: 1, userName: 'ann', reason: 'left (scim)' } as const;
    await commit(store, [{ ...step, endedBy: 'source', rule, activeDevices: 1000, isRemoved: false }]);
  };
  const after = async <T>(read: Promise<T>) => {
    const found = await read;
    await leave();
    return found;
  };
  return {
    ...store,
    person: number => after(store.person(number)),
    personByName: userName => after(store.personByName(userName)),
  };
}

function suite(name: string, open: OpenStore): void {
  it(`in ${name}, an unlock and a leave at the same moment end with a locked device`, async () => {
    const { store, cleanup } = await open();
    onTestFinished(cleanup);
    const details = { userName: 'ann', name: null, names: null, email: null, externalId: null, groups: [] };
    await commit(store, [create({ ...details, source: 'scim' }), addDevice('A')]);
    await commit(store, [setDevice(1, { status: 'LOCKED', userId: 'ann', lockReason: 'lost', lockedAt: 5 })]);
    const owners = new PeoplePolicies({ store: behind(store), now: () => 0 });
    const { UNLOCK } = deviceOperations({ guessing: null as never, owners });
    const decide = async (role: 'ADMIN' | 'DEALER') =>
      UNLOCK.decide((await store.device(1))!, { note: null }, 0, { caller: { role } } as Context);
    const decided = await decide('DEALER');
    if (decided instanceof Refusal) throw new Error('the person had not left');
    await expect(commit(store, [decided.change], { guards: decided.guards })).rejects.toThrow(Conflict);
    expect(await decide('DEALER')).toMatchObject({ code: 2007 });
    expect((await store.device(1))?.status).toBe('LOCKED');
    const allowed = await decide('ADMIN');
    if (allowed instanceof Refusal) throw new Error('an ADMIN unlocks it');
    await commit(store, [allowed.change], { guards: allowed.guards });
    expect((await store.device(1))?.status).toBe('ACTIVE');
  });
}

suite('SQLite', openTemporary);

needsPostgres('an unlock and a leave at the same moment', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());
  suite('PostgreSQL', () => openPostgres(server));
});
