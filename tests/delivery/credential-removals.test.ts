/** Credentials of lost keys, removed in the background. */
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { DueWork } from '../../daemon/background/due-work.ts';
import { ProviderUnavailable } from '../../daemon/base/errors.ts';
import { lock } from '../../daemon/devices/decisions.ts';
import { beginCredential, noteStep } from '../../daemon/issuing/credential.ts';
import { pinIn, setPin } from '../../daemon/issuing/pin.ts';
import type { ProviderRecord } from '../../daemon/issuing/provider.ts';
import { CredentialRemovals } from '../../daemon/issuing/work.ts';
import { create } from '../../daemon/people/decisions.ts';
import type { Store } from '../../daemon/store/store.ts';
import { addDevice, commit, setDevice } from '../contract/store/fixtures.ts';
import { openTemporary } from '../support/sqlite.ts';

const NOON = 1_800_000_000_000;

/** Removals that tell which credential they would remove. */
function removalsOf(store: Store, removed: (credential: number) => void | Promise<void> = () => {}): DueWork {
  const log = pino({ level: 'silent' });
  const removals = new CredentialRemovals({
    store,
    providers: { find: async () => ({ number: 1 }) as ProviderRecord },
    remoteCredentials: {
      remove: async (_, { number }) => {
        await removed(number);
        return null;
      },
    },
    log,
    now: () => NOON,
  });
  return new DueWork({ store, log }, removals);
}

/** An ACTIVE device with a credential of the same number. */
async function addIssued(store: Store, number: number): Promise<void> {
  await commit(store, [addDevice(`SN-${number}`)]);
  await commit(store, [setDevice(number, { status: 'ACTIVE', userId: 'ada' })]);
  const begun = { challenge: 'A'.repeat(22), origin: 'https://a.example', rpId: 'a.example', handle: null };
  const label = `devmgr ${number}`;
  await commit(store, [beginCredential({ device: number, provider: 1, account: 'ada', label, begun }, null)]);
  await commit(store, [noteStep((await store.credential(number))!, { credentialId: 'AAAA' })]);
}

async function lockDevice(store: Store, number: number): Promise<void> {
  const decided = lock((await store.device(number))!, 'lost', null, NOON);
  if ('change' in decided) await commit(store, [decided.change]);
}

it('removes the credential of a lost key soon, also if the provider keeps failing to remove another one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { store, cleanup } = await openTemporary();
  for (const number of [1, 2]) await addIssued(store, number);
  const tried: number[] = [];
  const removals = removalsOf(store, async number => {
    tried.push(number);
    if (number === 1) throw new ProviderUnavailable('the provider does not respond');
  });
  removals.start();
  await lockDevice(store, 1);
  const until = async (isDone: () => boolean) => {
    for (const start = performance.now(); !isDone() && performance.now() < start + 60_000; await setImmediate())
      await vi.advanceTimersByTimeAsync(100);
  };
  await until(() => tried.length === 5);
  const lostAt = performance.now();
  await lockDevice(store, 2);
  await until(() => tried.includes(2));
  expect(performance.now() - lostAt).toBeLessThan(2000);
  await removals.stop();
  await cleanup();
});

it('removes the credential of a device that is locked while it looks for others', async () => {
  const { store, cleanup } = await openTemporary();
  await addIssued(store, 1);
  const events = store.events.bind(store);
  vi.spyOn(store, 'events').mockImplementationOnce(async query => {
    const found = await events(query);
    await lockDevice(store, 1);
    return found;
  });
  const removed = Promise.withResolvers<number>();
  const removals = removalsOf(store, removed.resolve);
  removals.start();
  expect(await removed.promise).toBe(1);
  await removals.stop();
  await cleanup();
});

it('removes the PIN of a device that a leaver retired before the daemon was killed', async () => {
  const { store, cleanup } = await openTemporary();
  const ada = {
    userName: 'ada',
    name: null,
    names: null,
    email: null,
    externalId: null,
    groups: [],
    source: 'local',
  } as const;
  await commit(store, [create(ada), addDevice('SN-1')]);
  await commit(store, [setDevice(1, { status: 'ACTIVE', userId: 'ada' })]);
  const pin = { sealed: 'YWdl', storedAt: NOON, openedAt: null, earlier: [] };
  await commit(store, [setPin(1, 0, pin, { type: 'PIN_STORED' })]);
  const rule = { action: 'retire', delayMs: 0 } as const;
  const leaver = { person: 1, userName: 'ada', reason: 'left (local)', rule, activeDevices: 1000, isRemoved: false };
  await commit(store, [{ kind: 'person.leave', step: 'leave', endedBy: 'source', ...leaver }]);
  expect(await store.device(1)).toMatchObject({ status: 'DEACTIVATED' });
  const removals = removalsOf(store);
  removals.start();
  await vi.waitFor(async () => expect(pinIn(await store.document('pin:1'))).toBe(null));
  await removals.stop();
  await cleanup();
});

it('reads an entry that ends nothing once, not again at each look', async () => {
  const { store, cleanup } = await openTemporary();
  const read = vi.spyOn(store, 'events');
  const removals = removalsOf(store);
  removals.start();
  await vi.waitFor(() => expect(read).toHaveBeenCalledTimes(1));
  await commit(store, [addDevice('SN-1'), addDevice('SN-2')]);
  await vi.waitFor(() => expect(read).toHaveBeenCalledTimes(2));
  await commit(store, [addDevice('SN-3')]);
  await vi.waitFor(() => expect(read).toHaveBeenCalledTimes(3));
  await removals.stop();
  expect(read.mock.calls.map(([{ after, through }]) => [after, through])).toEqual([
    [0, 0],
    [0, 2],
    [2, 3],
  ]);
  await cleanup();
});
