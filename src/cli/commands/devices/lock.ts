import { need } from '../../ask.ts';
import { command } from '../../define.ts';
import { pluggedFlag } from '../../flags.ts';
import { present } from '../../present.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { deviceArg, resolveDevice } from './device.ts';

/** Flag for a note in the audit log. */
export const noteFlag = { note: { value: 'TEXT', help: 'note, for the audit log' } } as const;

/** Locks a device: `POST /api/devices/{deviceId}/lock`. */
export const lock = command({
  args: [deviceArg],
  flags: {
    reason: { value: 'TEXT', help: 'reason, for the audit log; shown with the device' },
    ...noteFlag,
    ...pluggedFlag,
  },
  examples: [{ does: 'a lost key', line: 'lock UK-2026-000001 --reason "reported lost"' }],
  async run({ args, flags }, context) {
    const deviceId = await resolveDevice(context, args[0], flags.plugged, 'ACTIVE');
    const reason = await need(context, flags.reason, { flag: '--reason', question: 'Reason', field: 'reason' });
    const body = { reason, ...(flags.note === undefined ? {} : { note: flags.note }) };
    const data = await context.registry.call('lock', { params: { deviceId }, body });
    await present(context, {
      data,
      id: data.deviceId,
      title: `${safe(data.deviceId)} is ${safe(data.status)}`,
      rows: [
        ['reason', safe(data.lockReason)],
        ['locked', localTime(data.lockedAt)],
      ],
      next: `devmgr unlock ${safe(data.deviceId)} if it is found`,
    });
  },
});

/** Unlocks a device: `POST /api/devices/{deviceId}/unlock`. */
export const unlock = command({
  args: [deviceArg],
  flags: { ...noteFlag, ...pluggedFlag },
  examples: [{ does: 'a key that was found', line: 'unlock DEV-1 --note "was in the drawer"' }],
  async run({ args, flags }, context) {
    const deviceId = await resolveDevice(context, args[0], flags.plugged, 'LOCKED');
    const body = flags.note === undefined ? {} : { note: flags.note };
    const data = await context.registry.call('unlock', { params: { deviceId }, body });
    await present(context, {
      data,
      id: data.deviceId,
      title: `${safe(data.deviceId)} is ${safe(data.status)}`,
      rows: [['unlocked', localTime(data.unlockedAt)]],
    });
  },
});
