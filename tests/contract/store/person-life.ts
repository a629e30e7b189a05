/** All that happens to a person, in the words of the registry. */
import * as devices from '../../../daemon/devices/decisions.ts';
import * as persons from '../../../daemon/people/decisions.ts';
import type { Change } from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { addDevice, commit } from './fixtures.ts';

/** Texts about the person that the journal must not have. Some digests have the letters of the first name, but not as a word. */
export const secretNames = /\bada\b|lovelace|countess|example\.com/i;

/** A person is added and changed, gets a key, is renamed, has it locked, leaves and comes back. Another key belongs to no person. */
export async function liveOnce(store: Store): Promise<void> {
  const details = { names: { givenName: 'Ada' }, email: 'ada@example.com', externalId: 'ext-lovelace', groups: [] };
  const present = () => store.person(1).then(person => person!);
  const now = 1_900_000_000_000;
  const changed = (decided: object) => (decided as { change: Change }).change;
  await commit(store, [persons.create({ userName: 'ada', name: 'Ada Lovelace', source: 'scim', ...details })]);
  await commit(store, [persons.edit(await present(), { name: 'Countess' })!]);
  await commit(store, [addDevice('SN-1'), addDevice('SN-2')]);
  const activate = async (number: number, userId: string) => {
    const device = (await store.device(number))!;
    await commit(store, [changed(devices.activate(device, device.activationCode, userId, now))]);
  };
  await activate(1, 'ada');
  await activate(2, 'warehouse');
  await commit(store, [persons.edit(await present(), { userName: 'ada.lovelace' })!]);
  await commit(store, [changed(devices.lock((await store.device(1))!, 'lost', null, now))]);
  await commit(store, [changed(devices.unlock((await store.device(1))!, null))]);
  const rule = { action: 'lock', delayMs: 0 } as const;
  const leave = { kind: 'person.leave', step: 'leave', person: 1, userName: 'ada.lovelace', rule } as const;
  await commit(store, [{ ...leave, reason: 'left (scim)', endedBy: 'source', activeDevices: 1000, isRemoved: true }]);
  await commit(store, [persons.comesBack(await present(), [1])!]);
}

/** The user names in the entries of that life. */
export async function shownNames(store: Pick<Store, 'events'>): Promise<unknown[]> {
  const entries = await store.events({ after: 0, limit: 99 });
  return entries.flatMap(({ data, detail: { before, after } }) => [
    ...(data.userId === undefined ? [] : [data.userId]),
    ...(after === undefined ? [] : [{ before, after }]),
  ]);
}
export const expectedNames = [
  'ada',
  'warehouse',
  { before: { userId: 'ada' }, after: { userId: 'ada.lovelace' } },
] as const;
