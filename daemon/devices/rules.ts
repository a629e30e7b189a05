/** Rules for the changes and guards of devices. */
import { personKey } from '../../src/contract/person-key.ts';
import { type ChangeResult, Conflict } from '../store/commit.ts';
import type { EntryContext } from '../store/journal-end.ts';
import type { Draft } from '../store/write/draft.ts';
import { type ChangeRules, type GuardRules, withFields } from '../store/write/rule.ts';
import type { WantedRows } from '../store/write/source.ts';
import { DeviceCounts } from './counts.ts';
import { registeredLater } from './decisions.ts';
import { activatedDevice, brokenBy, type DeviceChange, type DeviceGuard, registeredDevice } from './records.ts';
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
    apply(draft, { device, owner, entry }, context) {
      const { record, isNew } = draft.add(devices, n => {
        const registered = registeredDevice(device, n, context.at);
        return owner ? activatedDevice(registered, owner) : registered;
      });
      const { number, status } = record;
      if (!isNew) return { kind: 'duplicate', number, status };
      draft.part(DeviceCounts).count(record, 1);
      draft.enter(context, entry, number, null);
      if (owner) draft.enter(context, owner.entry, number, null);
      return { kind: 'added', number };
    },
  },
  'device.set': {
    ...ofDevice,
    apply(draft, change, context) {
      return setDevice(draft, change, context);
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
      return { kind: 'used', usageCount, usageSeconds, version: before.version };
    },
  },
};

/** Sets fields of a device, without what follows from them elsewhere. A name without a person is that of no person. */
export function setDevice(
  draft: Draft,
  { device, set, entry }: DeviceSetChange,
  context: EntryContext,
): Extract<ChangeResult, { kind: 'set' }> {
  const before = draft.of(devices).get(device)!;
  const isBound = set.userId !== undefined || set.person !== undefined;
  const named = { ...withFields(before, set), ...(isBound && { person: set.person ?? null }) };
  // Without a change of the binding, a device of an earlier version stays one whose person is still looked for.
  const userKey = isBound ? named.userId && personKey(named.userId) : before.userKey;
  const after = { ...named, userKey, version: before.version + 1 };
  if (after.status !== before.status) {
    draft.part(DeviceCounts).count(before, -1);
    draft.part(DeviceCounts).count(after, 1);
  }
  draft.of(devices).change(after);
  draft.enter(context, entry, device, null);
  return { kind: 'set', version: after.version };
}

export const deviceGuards: GuardRules<DeviceGuard['kind']> = {
  device: {
    needs: ofDevice.needs,
    broken: (draft, guard) => brokenBy(guard, draft.of(devices).get(guard.device)),
  },
};
