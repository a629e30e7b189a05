import { need, readPassword } from '../../ask.ts';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { usage } from '../../fault.ts';
import { passwordFlags, pluggedFlag } from '../../flags.ts';
import { present } from '../../present.ts';
import { askText } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { deviceArg, resolveDevice } from './device.ts';
import { noteFlag } from './lock.ts';

/** Retires a device: `POST /api/devices/{deviceId}/deactivate`. The id is confirmed by typing it, or with --yes. */
export const deactivate = command({
  description:
    "This cannot be undone. You confirm it by typing the id of the device, or with --yes, and with an administrator's password.",
  args: [deviceArg],
  flags: {
    reason: { value: 'TEXT', help: 'reason, for the audit log' },
    ...noteFlag,
    yes: { short: 'y', help: 'do not ask for the id' },
    ...passwordFlags,
    ...pluggedFlag,
  },
  examples: [
    { does: 'asks for the id and the password', line: 'deactivate DEV-1 --reason "worn out"' },
    { does: 'in a script', line: 'deactivate DEV-1 --reason "worn out" --yes --password-file ./password' },
  ],
  async run({ args, flags }, context) {
    if (!flags.yes && !context.canAsk)
      throw usage('deactivation is permanent and must be confirmed', 'name the device and add --yes');
    const deviceId = await resolveDevice(context, args[0], flags.plugged);
    const reason = await need(context, flags.reason, { flag: '--reason', question: 'Reason', field: 'reason' });
    if (!flags.yes) await confirm(context, deviceId);
    const confirmPassword = await readPassword(context, flags, "An administrator's password");
    const body = { reason, confirmPassword, ...(flags.note === undefined ? {} : { note: flags.note }) };
    const data = await context.registry.call('deactivate', { params: { deviceId }, body });
    await present(context, {
      data,
      id: data.deviceId,
      title: `${safe(data.deviceId)} is ${safe(data.status)}`,
      rows: [['deactivated', localTime(data.deactivatedAt)]],
    });
  },
});

async function confirm(context: Context, deviceId: string): Promise<void> {
  const device = await context.registry.call('deviceDetail', { params: { deviceId } });
  const bound = device.userId ? `, bound to ${device.userId}` : '';
  context.io.say(
    `${safe(`${device.deviceId} (${device.deviceType} ${device.serialNumber}, ${device.status}${bound})`)} will be retired. This cannot be undone.\n`,
  );
  const typed = await askText(context.out, `Type ${deviceId} to continue`);
  if (typed !== deviceId) throw usage('that is not the id of the device: nothing was changed');
}
