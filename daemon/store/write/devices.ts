/** What the changes and guards of devices and their backups mean. */
import type { BackupChange } from '../../domain/backup.ts';
import { brokenBy, type DeviceChange, type DeviceGuard, registeredDevice } from '../../domain/device.ts';
import { personKey } from '../../domain/person.ts';
import { pinDocument, setPin } from '../../domain/pin.ts';
import { sealedEntry } from '../../domain/sealed-names.ts';
import { Conflict } from '../commit.ts';
import type { EntryContext } from '../journal-end.ts';
import { backups, devices, documentVersion, people } from '../tables.ts';
import { Documents, documentChanges } from './documents.ts';
import type { Draft } from './draft.ts';
import { type ChangeRules, done, type GuardRules, withFields } from './rule.ts';
import type { WantedRows } from './source.ts';

type DeviceSetChange = Extract<DeviceChange, { readonly kind: 'device.set' }>;

/** The device must exist. */
const ofDevice = {
  needs: ({ device }: { readonly device: number }, wanted: WantedRows) => wanted.add(devices.byKey, device),
  check(draft: Draft, { device }: { readonly device: number }): void {
    if (!draft.of(devices).get(device)) throw new Conflict(`device ${device} does not exist`);
  },
};

export const deviceChanges: ChangeRules<(DeviceChange | BackupChange)['kind']> = {
  'device.add': {
    needs: ({ device }, wanted) => wanted.add(devices.unique, device.serialNumber),
    apply(draft, { device, entry }, context) {
      const { record, isNew } = draft.add(devices, number => registeredDevice(device, number, context.at));
      const { number, status } = record;
      if (!isNew) return { kind: 'duplicate', number, status };
      draft.count(record, 1);
      draft.enter(context, entry, number, null);
      return { kind: 'added', number };
    },
  },
  'device.set': {
    needs(change, wanted) {
      ofDevice.needs(change, wanted);
      if (change.set.userId) wanted.add(people.unique, personKey(change.set.userId));
      if (change.set.status === 'DEACTIVATED') wanted.add(documentVersion, pinDocument(change.device));
    },
    check: ofDevice.check,
    apply(draft, change, context) {
      setDevice(draft, change, context);
      if (change.set.status === 'DEACTIVATED') removePin(draft, change.device, context);
      return done;
    },
  },
  'device.use': {
    ...ofDevice,
    apply(draft, { device, seconds, entry }, context) {
      const before = draft.of(devices).get(device)!;
      const usageCount = before.usageCount + 1;
      const usageSeconds = before.usageSeconds + seconds;
      draft.of(devices).change({ ...before, usageCount, usageSeconds, lastUsedAt: context.at });
      draft.enter(context, entry, device, null);
      return { kind: 'used', usageCount, usageSeconds };
    },
  },
  'backup.add': {
    needs: ({ backup }, wanted) => ofDevice.needs(backup, wanted),
    check: (draft, { backup }) => ofDevice.check(draft, backup),
    apply(draft, { backup, entry }, context) {
      const { at } = context;
      const device = draft.of(devices).get(backup.device)!;
      const { number } = draft.add(backups, number => ({ ...backup, number, createdAt: at })).record;
      const { backupCount, version } = device;
      draft.of(devices).change({ ...device, backupCount: backupCount + 1, lastBackupAt: at, version: version + 1 });
      draft.enter(context, entry, backup.device, number);
      return { kind: 'added', number };
    },
  },
  'backup.restore': {
    needs: ({ backup }, wanted) => wanted.add(backups.byKey, backup),
    check(draft, { device, backup }) {
      if (draft.of(backups).get(backup)?.device !== device)
        throw new Conflict(`device ${device} has no backup ${backup}`);
    },
    apply(draft, { device, backup, entry }, context) {
      draft.enter(context, entry, device, backup);
      return done;
    },
  },
};

/** Sets fields of a device, without what follows from them elsewhere. */
export function setDevice(draft: Draft, { device, set, entry }: DeviceSetChange, context: EntryContext): void {
  const before = draft.of(devices).get(device)!;
  const after = { ...withFields(before, set), version: before.version + 1 };
  if (after.status !== before.status) {
    draft.count(before, -1);
    draft.count(after, 1);
  }
  draft.of(devices).change(after);
  const person = set.userId ? draft.of(people).withKey(personKey(set.userId)) : undefined;
  draft.enter(context, person ? sealedEntry(entry, person) : entry, device, null);
}

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
