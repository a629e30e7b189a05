/** What the changes and guards of devices mean. */
import { brokenBy, type DeviceChange, type DeviceGuard, registeredDevice } from '../../domain/device.ts';
import { Conflict } from '../commit.ts';
import { devices } from '../tables.ts';
import type { Draft } from './draft.ts';
import { type ChangeRules, done, type GuardRules, withFields } from './rule.ts';
import type { Wanted } from './source.ts';

/** The device must exist. */
export const ofDevice = {
  needs: ({ device }: { readonly device: number }, wanted: Wanted) => wanted.add(devices.byKey, device),
  check(draft: Draft, { device }: { readonly device: number }): void {
    if (!draft.of(devices).get(device)) throw new Conflict(`device ${device} does not exist`);
  },
};

export const deviceChanges: ChangeRules<DeviceChange['kind']> = {
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
    ...ofDevice,
    apply(draft, { device, set, entry }, context) {
      const before = draft.of(devices).get(device)!;
      const after = { ...withFields(before, set), version: before.version + 1 };
      if (after.status !== before.status) {
        draft.count(before, -1);
        draft.count(after, 1);
      }
      draft.of(devices).change(after);
      draft.enter(context, entry, device, null);
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
};

export const deviceGuards: GuardRules<DeviceGuard['kind']> = {
  device: {
    needs: ofDevice.needs,
    broken: (draft, guard) => brokenBy(guard, draft.of(devices).get(guard.device)),
  },
};
