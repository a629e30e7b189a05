/**
 * Two daemons on one store: each decides on what it has read, while the other one changes it. What is committed must be what one
 * daemon would have made of one request after the other.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Guessing } from '../../daemon/accounts/guessing.ts';
import { hashPassword, Passwords } from '../../daemon/accounts/passwords.ts';
import { UserService } from '../../daemon/accounts/user-service.ts';
import { DeviceService } from '../../daemon/devices/service.ts';
import { ProofPolicies } from '../../daemon/proofs/policies.ts';
import { TrustedRoots } from '../../daemon/proofs/trusted.ts';
import type { Context } from '../../daemon/requests/context.ts';
import { Limiter } from '../../daemon/requests/limiter.ts';
import type { CommitNotice, Store } from '../../daemon/store/store.ts';
import { addDevice, addUser, commit, setDevice } from '../contract/store/fixtures.ts';
import { answerOf } from '../contract/store/proof-rules.ts';
import { openTemporary } from '../support/sqlite.ts';

let opened: Awaited<ReturnType<typeof openTemporary>>;
beforeEach(async () => {
  opened = await openTemporary();
});
afterEach(() => opened.cleanup());

const context: Context = {
  caller: { role: 'ADMIN', user: null, serviceToken: null, expiresAt: 0, loginAt: 0 },
  requestId: 'r',
  address: '192.0.2.1',
};
const password = 'correct horse battery';
const cost = { N: 16, r: 1, p: 1 };

function daemonOn(store: Store) {
  const guessing = new Guessing({ enabled: false });
  const limiter = new Limiter({ login: null, query: null, modify: null, upload: null });
  const passwords = new Passwords(store, limiter, guessing, cost);
  const now = () => 1_700_000_000_000;
  const parts = {
    store,
    guessing,
    passwords,
    policies: new ProofPolicies({ store, roots: new TrustedRoots(store), now }),
    now,
  };
  return {
    devices: new DeviceService(parts),
    users: new UserService({ ...parts, registrations: async () => () => null }),
  };
}

/** The store as a daemon sees it whose first read of a record is followed by what another daemon does. */
function behind(read: 'device' | 'user', between: () => Promise<unknown>): Store {
  let isFirst = true;
  const late = async <T>(found: Promise<T>): Promise<T> => {
    const record = await found;
    if (!isFirst) return record;
    isFirst = false;
    await between();
    return record;
  };
  const { device, user } = opened.store;
  return {
    ...opened.store,
    ...(read === 'device' ? { device: number => late(device(number)) } : { user: number => late(user(number)) }),
  };
}

const lastDetail = async () => (await opened.store.events({ after: 0, before: 1e9, limit: 1 }))[0]!.detail;

describe('a device that another daemon changes between the read and the commit', () => {
  const other = () => daemonOn(opened.store).devices;
  const one = (between: () => Promise<unknown>) => daemonOn(behind('device', between)).devices;
  beforeEach(async () => {
    await commit(opened.store, [addDevice('A', { tags: { box: '1' } })]);
    await commit(opened.store, [setDevice(1, { status: 'ACTIVE' })]);
  });
  const update = (devices: DeviceService, body: Parameters<DeviceService['update']>[2]) =>
    devices.update(context, 'DEV-1', body, body);

  it('keeps the tags of both', async () => {
    const devices = one(() => update(other(), { tags: { lot: '7' } }));
    const shown = await update(devices, { tags: { shelf: 'b' } });
    expect(shown.tags).toEqual({ box: '1', lot: '7', shelf: 'b' });
    expect((await opened.store.device(1))?.tags).toEqual(shown.tags);
    expect(await lastDetail()).toMatchObject({ before: { tags: { box: '1', lot: '7' } } });
  });

  it('has at most 16 tags', async () => {
    const many = (name: string) => Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`${name}-${i}`, 'x']));
    const devices = one(() => update(other(), { tags: many('a') }));
    await expect(update(devices, { tags: many('b') })).rejects.toMatchObject({ code: 1001 });
    expect(Object.keys((await opened.store.device(1))!.tags)).toHaveLength(9);
  });

  it('is shown with the note and the firmware version of the other', async () => {
    const devices = one(() => update(other(), { note: 'theirs', firmwareVersion: '2' }));
    expect(await update(devices, { tags: { lot: '7' } })).toMatchObject({ note: 'theirs', firmwareVersion: '2' });
  });

  it('replaces the note that the journal names', async () => {
    await update(
      one(() => update(other(), { note: 'theirs' })),
      { note: 'ours' },
    );
    expect(await lastDetail()).toMatchObject({ before: { note: 'theirs' }, after: { note: 'ours' } });
  });

  it('is unlocked from the lock that the journal names', async () => {
    await other().lock(context, 'DEV-1', { reason: 'first' });
    const devices = one(async () => {
      await other().unlock(context, 'DEV-1', {});
      await other().lock(context, 'DEV-1', { reason: 'second' });
    });
    await devices.unlock(context, 'DEV-1', {});
    expect(await lastDetail()).toMatchObject({ wasLockedFor: 'second' });
  });

  it('is deactivated from the state that the journal names', async () => {
    await commit(opened.store, [addUser('root', { role: 'ADMIN', passwordHash: await hashPassword(password, cost) })]);
    let reads = 0;
    const { device } = opened.store;
    const store: Store = {
      ...opened.store,
      // The first read is for the refusal before the password is compared.
      async device(number) {
        const found = await device(number);
        if (++reads === 2) await other().lock(context, 'DEV-1', { reason: 'lost' });
        return found;
      },
    };
    await daemonOn(store).devices.deactivate(context, 'DEV-1', { reason: 'lost', confirmPassword: password });
    expect(await lastDetail()).toMatchObject({ before: 'LOCKED' });
  });

  it('is locked once: the later one is refused', async () => {
    const devices = one(() => other().lock(context, 'DEV-1', { reason: 'theirs' }));
    await expect(devices.lock(context, 'DEV-1', { reason: 'ours' })).rejects.toMatchObject({ code: 2004 });
    expect((await opened.store.device(1))?.lockReason).toBe('theirs');
  });

  it('has one code: the later one reports that of the other as the old one', async () => {
    let theirs = '';
    const devices = one(async () => {
      theirs = (await other().generateCode(context, { deviceId: 'DEV-1', reason: 'x' })).activationCode;
    });
    const ours = await devices.generateCode(context, { deviceId: 'DEV-1', reason: 'y' });
    expect(ours.oldActivationCode).toBe(theirs);
  });
});

describe('a user whom another daemon changes between the read and the commit', () => {
  const other = () => daemonOn(opened.store).users;
  const one = (between: () => Promise<unknown>) => daemonOn(behind('user', between)).users;
  beforeEach(async () => {
    await commit(opened.store, [addUser('root', { role: 'ADMIN' }), addUser('second', { role: 'VIEWER' })]);
  });

  it('stays if they became the last administrator', async () => {
    const users = one(async () => {
      await other().update(context, 'USR-2', { role: 'ADMIN' });
      await other().update(context, 'USR-1', { role: 'VIEWER' });
    });
    await expect(users.update(context, 'USR-2', { disabled: true })).rejects.toMatchObject({ code: 1001 });
    expect(await opened.store.admins()).toHaveLength(1);
  });

  it('is shown as both changes have left them', async () => {
    const users = one(() => other().update(context, 'USR-2', { role: 'DEALER' }));
    expect(await users.update(context, 'USR-2', { email: 'b@example.com' })).toMatchObject({
      role: 'DEALER',
      email: 'b@example.com',
    });
    const late = one(() => other().update(context, 'USR-2', { email: 'c@example.com' }));
    expect(await late.logout(context, 'USR-2')).toMatchObject({ email: 'c@example.com' });
  });
});

describe('a policy for proofs that another daemon sets', () => {
  const register = (devices: DeviceService, serialNumber: string) =>
    devices.register(context, { deviceType: 'UKEY', serialNumber, manufacturer: 'Maker', model: 'M1' });
  const policies = () => {
    const { store } = opened;
    return new ProofPolicies({ store, roots: new TrustedRoots(store), now: () => 1_700_000_000_000 });
  };
  const setPolicy = (requiredGrade: 'none' | 'model') =>
    policies().set(context, { requiredGrade, allowedAaguids: [], leastFirmware: [] });

  it('counts from the next registration on, in either direction', async () => {
    const { devices } = daemonOn(opened.store);
    await register(devices, 'A');
    await register(devices, 'B');
    await setPolicy('model');
    await expect(register(devices, 'C')).rejects.toMatchObject({ code: 1001 });
    await setPolicy('none');
    await register(devices, 'C');
    expect((await opened.store.devicesBySerial(['A', 'B', 'C'])).size).toBe(3);
  });

  it('and an answer that it stores are looked for by registrations that read nothing else', async () => {
    const { devices } = daemonOn(opened.store);
    await register(devices, 'A');
    const answer = answerOf('P1', 'B', { createdAt: 1_700_000_000_000, evidence: null });
    await commit(opened.store, [
      { kind: 'proof.add', proof: answer, isRegistered: false, entry: { type: 'PROOF_RECEIVED' } },
    ]);
    await register(devices, 'B');
    expect((await opened.store.device(2))?.proof).toBe(answer.proof);
  });

  it('is read for one registration, and not for those after it', async () => {
    let reads = 0;
    const { document, latestProofs } = opened.store;
    const counted = <T extends unknown[], R>(read: (...input: T) => R) => {
      return (...input: T): R => {
        reads++;
        return read(...input);
      };
    };
    const store = { ...opened.store, document: counted(document), latestProofs: counted(latestProofs) };
    const { devices } = daemonOn(store);
    for (const serial of ['A', 'B', 'C']) await register(devices, serial);
    expect(reads).toBe(2);
  });

  it('is read again if the store has another server', async () => {
    let changed: (notice: CommitNotice) => void = () => {};
    const onCommit: Store['onCommit'] = listener => {
      changed = listener;
      return () => {};
    };
    // A failover has lost the first policy and its version is that of another one.
    let value = JSON.stringify({ requiredGrade: 'none', allowedAaguids: [], leastFirmware: [] });
    const document: Store['document'] = async name => ({ name, version: 1, value });
    const { devices } = daemonOn({ ...opened.store, onCommit, document });
    await setPolicy('none');
    await register(devices, 'A');
    value = JSON.stringify({ requiredGrade: 'model', allowedAaguids: [], leastFirmware: [] });
    changed({ lastEventId: 1, users: [], serviceTokens: [], everything: true });
    await expect(register(devices, 'B')).rejects.toMatchObject({ code: 1001 });
  });
});
