import { command } from '../../framework/define.ts';
import { resolveDevice } from '../../framework/devices/device.ts';
import { noteFlag, noteOf, reasonOf } from '../../framework/devices/reason.ts';
import { pluggedFlag } from '../../framework/flags.ts';
import { present, stateTitle } from '../../framework/present.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { bulkDescription, bulkFlags, devicesArg } from '../many/bulk/flags.ts';
import { targetsOf } from '../many/bulk/targets.ts';

/** Locks devices: `POST /api/devices/{deviceId}/lock`. */
export const lock = command({
  description: bulkDescription,
  args: [devicesArg('LOCK')],
  flags: {
    reason: { value: 'TEXT', help: 'reason, for the audit log; shown with the device' },
    ...noteFlag,
    ...bulkFlags,
    ...pluggedFlag,
  },
  examples: [
    { does: 'a lost key', line: 'lock UK-2026-000001 --reason "reported lost"' },
    { does: 'all keys of a user', line: 'lock --filter user=alice --filter status=ACTIVE --reason "left the company"' },
  ],
  async run({ args, flags }, context) {
    const { names, isBatch } = await targetsOf(context, 'LOCK', args, flags);
    if (isBatch) {
      const { changeMany } = await import('../many/bulk/change.ts');
      const fields = async () => ({ reason: await reasonOf(context, flags.reason), ...noteOf(flags.note) });
      return changeMany(context, { operation: 'LOCK', names, flags, fields });
    }
    const deviceId = await resolveDevice(context, names[0], flags.plugged);
    const body = { reason: await reasonOf(context, flags.reason), ...noteOf(flags.note) };
    const data = await context.registry.call('lockDevice', { params: { deviceId }, body });
    return present(context, {
      data,
      id: data.deviceId,
      title: stateTitle(context, data),
      rows: [
        ['reason', safe(data.lockReason)],
        ['locked', localTime(data.lockedAt)],
      ],
      next: `devmgr unlock ${safe(data.deviceId)} if it is found`,
    });
  },
});

/** Unlocks devices: `POST /api/devices/{deviceId}/unlock`. */
export const unlock = command({
  description: bulkDescription,
  args: [devicesArg('UNLOCK')],
  flags: { ...noteFlag, ...bulkFlags, ...pluggedFlag },
  examples: [
    { does: 'a key that was found', line: 'unlock DEV-1 --note "was in the drawer"' },
    { does: 'the devices in a file, in a script', line: 'unlock --file found.txt --yes --out unlocked.csv' },
  ],
  async run({ args, flags }, context) {
    const { names, isBatch } = await targetsOf(context, 'UNLOCK', args, flags);
    if (isBatch) {
      const { changeMany } = await import('../many/bulk/change.ts');
      return changeMany(context, { operation: 'UNLOCK', names, flags, fields: async () => noteOf(flags.note) });
    }
    const deviceId = await resolveDevice(context, names[0], flags.plugged);
    const data = await context.registry.call('unlockDevice', { params: { deviceId }, body: noteOf(flags.note) });
    return present(context, {
      data,
      id: data.deviceId,
      title: stateTitle(context, data),
      rows: [['unlocked', localTime(data.unlockedAt)]],
    });
  },
});
