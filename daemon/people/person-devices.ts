/** Which devices are those of a person, and how they become so. */
import { personIds } from '../../src/contract/ids.ts';
import { personKey } from '../../src/contract/person-key.ts';
import type { DeviceRecord, DeviceSet, DeviceUpdate } from '../devices/records.ts';
import { activeDevicesOf, devices, unkeyedNamed, unmatchedNamed } from '../devices/tables.ts';
import type { EntryContext } from '../store/journal-end.ts';
import type { Draft } from '../store/write/draft.ts';
import type { WantedRows } from '../store/write/source.ts';
import { holderOf } from './decisions.ts';
import { setOwned } from './device-bindings.ts';
import type { PersonRecord } from './records.ts';
import { people, peopleNamed } from './tables.ts';

/** Rows that `holds` and `activeOf` look up. */
export function wantNamed(wanted: WantedRows, userName: string): void {
  wanted.add(peopleNamed, personKey(userName));
  wanted.add(unkeyedNamed, userName);
}

/** Whether a person is the one whom a name means, and with it devices that have only the name. */
export const holds = (draft: Draft, person: PersonRecord, userName: string): boolean =>
  holderOf(draft.of(people).all(peopleNamed, personKey(userName)))?.number === person.number;

/** Devices that end with a person: also those bound without a person to the name, or to an account's id, that means this person. */
export function activeOf(draft: Draft, person: PersonRecord, accountIds: readonly string[] = []): DeviceRecord[] {
  const records = draft.of(devices);
  const { number, userName, userKey } = person;
  const named = holds(draft, person, userName)
    ? [...accountIds.map(personKey), userKey]
        .flatMap(key => records.all(unmatchedNamed, key))
        .concat(records.all(unkeyedNamed, userName))
    : [];
  const active = named.filter(({ status }) => status === 'ACTIVE');
  return [...records.all(activeDevicesOf, number), ...active].sort((a, b) => a.number - b.number);
}

/** Gives the device to the person with its name. */
export function bind(device: DeviceRecord, { number }: PersonRecord): DeviceUpdate {
  const after = { personId: personIds.format(number) };
  return updateOf(device, { person: number }, { personId: null }, after);
}

/** Binds a device without a person to the person with whom it ends: only an ADMIN unlocks it, also if the name is reused. */
export function bindToLeaver(
  draft: Draft,
  device: DeviceRecord,
  { userName, number }: PersonRecord,
  context: EntryContext,
) {
  const set = { userId: userName, person: number, updatedAt: context.at };
  const after = { userId: userName, personId: personIds.format(number) };
  setOwned(draft, updateOf(device, set, { userId: device.userId, personId: null }, after), context);
}

/** Changes to whom a device belongs. */
export const updateOf = (
  { number, deviceType }: DeviceRecord,
  set: DeviceSet,
  before: object,
  after: object,
): DeviceUpdate => ({
  kind: 'device.set',
  device: number,
  set,
  entry: { type: 'DEVICE_UPDATED', data: { deviceType }, detail: { before, after } },
});
