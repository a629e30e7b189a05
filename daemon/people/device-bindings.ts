/** To whom devices belong: the person whom a name means, beside the changes of devices. */
import { personIds } from '../../src/contract/ids.ts';
import { personKey } from '../../src/contract/person-key.ts';
import type { DeviceChange, DeviceRecord, DeviceSet } from '../devices/records.ts';
import { setDevice } from '../devices/rules.ts';
import { devices } from '../devices/tables.ts';
import { Conflict } from '../store/commit.ts';
import type { Entry } from '../store/journal.ts';
import type { EntryContext } from '../store/journal-end.ts';
import type { Draft } from '../store/write/draft.ts';
import { type ChangeAddition, type ChangeRule, done } from '../store/write/rule.ts';
import { holderOf } from './decisions.ts';
import type { DevicesBind, PersonRecord } from './records.ts';
import { sealedEntry } from './sealed-names.ts';
import { people, peopleNamed } from './tables.ts';

type DeviceSetChange = Extract<DeviceChange, { readonly kind: 'device.set' }>;

/** The person to whom the device belongs afterwards. */
function personAfter(draft: Draft, before: DeviceRecord, { userId, person }: DeviceSet): PersonRecord | undefined {
  if (person === undefined && userId) return holderOf(draft.of(people).all(peopleNamed, personKey(userId)));
  const number = person === undefined ? (userId === null ? null : before.person) : person;
  return number === null ? undefined : draft.of(people).get(number);
}

/** The change with the person to whom the device belongs afterwards; its entry proves that, and its names are sealed. */
export function withPerson(draft: Draft, change: DeviceSetChange): DeviceSetChange {
  const { set } = change;
  if (set.userId === undefined && set.person === undefined) return change;
  const before = draft.of(devices).get(change.device)!;
  const person = personAfter(draft, before, set);
  const number = person?.number ?? null;
  const proved = number === before.person ? change.entry : entryWith(change.entry, number);
  return { ...change, set: { ...set, person: number }, entry: person ? sealedEntry(proved, person) : proved };
}

const entryWith = (entry: Entry, person: number | null): Entry => ({
  ...entry,
  detail: { ...entry.detail, personId: person === null ? null : personIds.format(person) },
});

/** Sets fields of a device, with its person. */
export const setOwned = (draft: Draft, change: DeviceSetChange, context: EntryContext): ReturnType<typeof setDevice> =>
  setDevice(draft, withPerson(draft, change), context);

/** Every device that is set gets its person. */
export const personAddition: ChangeAddition<DeviceSetChange> = {
  needs({ set: { userId, person } }, wanted) {
    if (typeof person === 'number') wanted.add(people.byKey, person);
    else if (userId) wanted.add(peopleNamed, personKey(userId));
  },
  check(draft, { personVersion, set }) {
    if (personVersion !== undefined && draft.of(people).get(set.person!)?.version !== personVersion)
      throw new Conflict(`person ${set.person} has another version now`);
  },
  complete: withPerson,
};

type DeviceAddChange = Extract<DeviceChange, { readonly kind: 'device.add' }>;

/** Every device that is bound when it is added gets its person. */
export const firstPersonAddition: ChangeAddition<DeviceAddChange> = {
  needs({ owner }, wanted) {
    if (owner) wanted.add(peopleNamed, personKey(owner.userId));
  },
  complete(draft, change) {
    const { owner } = change;
    const person = owner && holderOf(draft.of(people).all(peopleNamed, personKey(owner.userId)));
    if (!person) return change;
    const { number } = person;
    const entry = sealedEntry(entryWith(owner.entry, number), person);
    return { ...change, owner: { ...owner, person: number, entry } };
  },
};

/** Devices of an earlier version become those of persons. */
export const bindingRule: ChangeRule<DevicesBind> = {
  needs({ bound }, wanted) {
    for (const { device, person, userKey } of bound) {
      wanted.add(devices.byKey, device);
      if (person !== null) wanted.add(people.byKey, person);
      else wanted.add(peopleNamed, userKey);
    }
  },
  check(draft, { bound }) {
    for (const { person, userKey } of bound)
      if (person !== null && draft.of(people).get(person)?.userKey !== userKey)
        throw new Conflict(`person ${person} has another user name now`);
      else if (person === null && draft.of(people).all(peopleNamed, userKey).length === 1)
        throw new Conflict('a person who has the user name was added');
  },
  apply: bindDevices,
};

/** One entry has all devices that become those of a person. */
function bindDevices(draft: Draft, { bound }: DevicesBind, context: EntryContext): typeof done {
  const persons: (readonly [device: number, person: number])[] = [];
  for (const { device, userKey, person } of bound) {
    const before = draft.of(devices).get(device);
    if (!before || before.userKey !== null) continue;
    const version = before.version + Number(person !== null);
    draft.of(devices).change({ ...before, userKey, person, version });
    if (person !== null) persons.push([device, person]);
  }
  if (persons.length > 0) draft.enter(context, { type: 'DEVICES_BOUND', detail: { bound: persons } }, null, null);
  return done;
}
