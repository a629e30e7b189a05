/** Rules for the changes and guards of devices. */
import { personIds } from '../../src/contract/ids.ts';
import { personKey } from '../../src/contract/person-key.ts';
import {
  brokenBy,
  type DeviceChange,
  type DeviceGuard,
  type DeviceRecord,
  type DeviceSet,
  type DevicesBind,
  registeredDevice,
} from '../domain/device.ts';
import { registeredLater } from '../domain/device-decisions.ts';
import type { Entry } from '../domain/journal.ts';
import { holderOf, type PersonRecord } from '../domain/person.ts';
import { pinDocument, setPin } from '../domain/pin.ts';
import { sealedEntry } from '../domain/sealed-names.ts';
import { people, peopleNamed } from '../people/tables.ts';
import { Conflict } from '../store/commit.ts';
import type { EntryContext } from '../store/journal-end.ts';
import { documentVersion } from '../store/tables.ts';
import { Documents, documentChanges } from '../store/write/documents.ts';
import type { Draft } from '../store/write/draft.ts';
import { type ChangeRules, done, type GuardRules, withFields } from '../store/write/rule.ts';
import type { WantedRows } from '../store/write/source.ts';
import { DeviceCounts } from './counts.ts';
import { devices } from './tables.ts';

type DeviceSetChange = Extract<DeviceChange, { readonly kind: 'device.set' }>;

/** The device must exist. */
export const ofDevice = {
  needs: ({ device }: { readonly device: number }, wanted: WantedRows) => wanted.add(devices.byKey, device),
  check(draft: Draft, { device }: { readonly device: number }): void {
    if (!draft.of(devices).get(device)) throw new Conflict(`device ${device} does not exist`);
  },
};

export const deviceChanges: ChangeRules<DeviceChange['kind']> = {
  'device.add': {
    later: registeredLater,
    needs: ({ device }, wanted) => wanted.add(devices.unique, device.serialNumber),
    apply(draft, { device, entry }, context) {
      const { record, isNew } = draft.add(devices, number => registeredDevice(device, number, context.at));
      const { number, status } = record;
      if (!isNew) return { kind: 'duplicate', number, status };
      draft.part(DeviceCounts).count(record, 1);
      draft.enter(context, entry, number, null);
      return { kind: 'added', number };
    },
  },
  'device.set': {
    needs(change, wanted) {
      ofDevice.needs(change, wanted);
      const { userId, person } = change.set;
      if (typeof person === 'number') wanted.add(people.byKey, person);
      else if (userId) wanted.add(peopleNamed, personKey(userId));
      if (change.set.status === 'DEACTIVATED') wanted.add(documentVersion, pinDocument(change.device));
    },
    check(draft, change) {
      ofDevice.check(draft, change);
      const { personVersion, set } = change;
      if (personVersion !== undefined && draft.of(people).get(set.person!)?.version !== personVersion)
        throw new Conflict(`person ${set.person} has another version now`);
    },
    apply(draft, change, context) {
      setDevice(draft, change, context);
      if (change.set.status === 'DEACTIVATED') removePin(draft, change.device, context);
      return done;
    },
  },
  'device.use': {
    ...ofDevice,
    tellsTime: true,
    apply(draft, { device, seconds, entry }, context) {
      const before = draft.of(devices).get(device)!;
      const usageCount = before.usageCount + 1;
      const usageSeconds = before.usageSeconds + seconds;
      draft.of(devices).change({ ...before, usageCount, usageSeconds, lastUsedAt: context.at });
      draft.enter(context, entry, device, null);
      return { kind: 'used', usageCount, usageSeconds };
    },
  },
  'devices.bind': {
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
  },
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

/** Whom the device belongs to afterwards. */
function personAfter(draft: Draft, before: DeviceRecord, { userId, person }: DeviceSet): PersonRecord | undefined {
  if (person === undefined && userId) return holderOf(draft.of(people).all(peopleNamed, personKey(userId)));
  const number = person === undefined ? (userId === null ? null : before.person) : person;
  return number === null ? undefined : draft.of(people).get(number);
}

/** Sets fields of a device, without what follows from them elsewhere. */
export function setDevice(draft: Draft, { device, set, entry }: DeviceSetChange, context: EntryContext): void {
  const before = draft.of(devices).get(device)!;
  const isBound = set.userId !== undefined || set.person !== undefined;
  const person = isBound ? personAfter(draft, before, set) : undefined;
  const owner = isBound ? { person: person?.number ?? null } : {};
  const named = { ...withFields(before, set), ...owner };
  // Without a change of the binding, a device of an earlier version stays one whose person is still looked for.
  const userKey = isBound ? named.userId && personKey(named.userId) : before.userKey;
  const after = { ...named, userKey, version: before.version + 1 };
  if (after.status !== before.status) {
    draft.part(DeviceCounts).count(before, -1);
    draft.part(DeviceCounts).count(after, 1);
  }
  draft.of(devices).change(after);
  const proved = after.person === before.person ? entry : withPerson(entry, after.person);
  draft.enter(context, person ? sealedEntry(proved, person) : proved, device, null);
}

/** The entry, which proves to whom the device belongs. */
const withPerson = (entry: Entry, person: number | null): Entry => ({
  ...entry,
  detail: { ...entry.detail, personId: person === null ? null : personIds.format(person) },
});

/** A device that is retired needs no PIN. */
function removePin(draft: Draft, device: number, context: EntryContext): void {
  const version = draft.part(Documents).version(pinDocument(device));
  if (version === 0) return;
  const removed = setPin(device, version, null, { type: 'PIN_REMOVED', detail: { reason: 'deactivated' } });
  documentChanges['document.set'].apply(draft, removed, context);
}

export const deviceGuards: GuardRules<DeviceGuard['kind']> = {
  device: {
    needs: ofDevice.needs,
    broken: (draft, guard) => brokenBy(guard, draft.of(devices).get(guard.device)),
  },
};
