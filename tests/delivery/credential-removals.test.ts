/** Credentials of lost keys, removed in the background. */
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { CredentialRemovals } from '../../daemon/background/credential-removals.ts';
import { beginCredential, noteStep } from '../../daemon/domain/credential.ts';
import { lock } from '../../daemon/domain/device-decisions.ts';
import { create } from '../../daemon/domain/person.ts';
import { pinIn, setPin } from '../../daemon/domain/pin.ts';
import type { ProviderRecord } from '../../daemon/domain/provider.ts';
import type { Store } from '../../daemon/store/store.ts';
import { addDevice, commit, setDevice } from '../contract/store/fixtures.ts';
import { openTemporary } from '../support/sqlite.ts';

const NOON = 1_800_000_000_000;

/** Removals that tell which credential they would remove. */
function removalsOf(store: Store, removed: (credential: number) => void = () => {}): CredentialRemovals {
  return new CredentialRemovals({
    store,
    providers: { find: async () => ({ number: 1 }) as ProviderRecord },
    credentials: {
      removeThere: async (_, { number }) => {
        removed(number);
        return null;
      },
    },
    log: pino({ level: 'silent' }),
    now: () => NOON,
  });
}

it('removes the credential of a device that is locked while it looks for others', async () => {
  const { store, cleanup } = await openTemporary();
  await commit(store, [addDevice('SN-1')]);
  await commit(store, [setDevice(1, { status: 'ACTIVE', userId: 'ada' })]);
  const begun = { challenge: 'A'.repeat(22), origin: 'https://a.example', rpId: 'a.example', handle: null };
  await commit(store, [beginCredential({ device: 1, provider: 1, account: 'ada', label: 'devmgr 1', begun }, null)]);
  await commit(store, [noteStep((await store.credential(1))!, { credentialId: 'AAAA' })]);
  const events = store.events.bind(store);
  vi.spyOn(store, 'events').mockImplementationOnce(async query => {
    const found = await events(query);
    const decided = lock((await store.device(1))!, 'lost', null, NOON);
    if ('change' in decided) await commit(store, [decided.change]);
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
  await commit(store, [{ kind: 'person.leave', step: 'leave', ...leaver }]);
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
