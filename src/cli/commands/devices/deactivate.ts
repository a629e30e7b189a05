import { usage } from '../../fault.ts';
import { type PasswordFlags, readPassword } from '../../framework/ask.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { resolveDevice } from '../../framework/devices/device.ts';
import { noteFlag, noteOf, reasonOf } from '../../framework/devices/reason.ts';
import { passwordFlags, pluggedFlag } from '../../framework/flags.ts';
import { present, stateTitle } from '../../framework/present.ts';
import { askText } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { type BulkFlags, bulkDescription, bulkFlags, devicesArg } from '../many/bulk/flags.ts';
import { targetsOf } from '../many/bulk/targets.ts';

/** Retires a device: `POST /api/devices/{deviceId}/deactivate`. The id is confirmed by typing it, or with --yes. */
export const deactivate = command({
  description:
    "This cannot be undone. You confirm it by typing the id of the device, or with --yes, and with an administrator's password. For several devices you type their number.\n" +
    bulkDescription,
  args: [devicesArg('DEACTIVATE')],
  flags: {
    reason: { value: 'TEXT', help: 'reason, for the audit log' },
    ...noteFlag,
    ...bulkFlags,
    yes: { short: 'y', help: 'do not ask for the id, or the number of devices' },
    ...passwordFlags,
    ...pluggedFlag,
  },
  examples: [
    { does: 'asks for the id and the password', line: 'deactivate DEV-1 --reason "worn out"' },
    { does: 'in a script', line: 'deactivate DEV-1 --reason "worn out" --yes --password-file ./password' },
  ],
  async run({ args, flags }, context) {
    if (!flags.yes && !flags.dryRun && !context.canAsk)
      throw usage('deactivation is permanent and must be confirmed', 'name the device and add --yes');
    const { names, isBatch } = await targetsOf(context, 'DEACTIVATE', args, flags);
    if (isBatch) return deactivateMany(context, names, flags);
    const deviceId = await resolveDevice(context, names[0], flags.plugged);
    const reason = await reasonOf(context, flags.reason);
    if (!flags.yes) await confirm(context, deviceId);
    const confirmPassword = await readPassword(context, flags, question);
    const body = { reason, confirmPassword, ...noteOf(flags.note) };
    const data = await context.registry.call('deactivateDevice', { params: { deviceId }, body });
    return present(context, {
      data,
      id: data.deviceId,
      title: stateTitle(context, data),
      rows: [['deactivated', localTime(data.deactivatedAt)]],
    });
  },
});

const question = "An administrator's password";

type DeactivateFlags = BulkFlags &
  PasswordFlags & {
    readonly reason: string | undefined;
    readonly note: string | undefined;
    readonly plugged: boolean;
  };

async function deactivateMany(context: Context, names: readonly string[], flags: DeactivateFlags): Promise<number> {
  if (flags.file === '-' && (flags.passwordStdin || flags.passwordFile === '-'))
    throw usage('standard input cannot be both the devices and the password', 'give --password-file FILE');
  const { changeMany } = await import('../many/bulk/change.ts');
  return changeMany(context, {
    operation: 'DEACTIVATE',
    names,
    flags,
    fields: async () => ({ reason: await reasonOf(context, flags.reason), ...noteOf(flags.note) }),
    password: () => readPassword(context, flags, question),
  });
}

async function confirm(context: Context, deviceId: string): Promise<void> {
  const device = await context.registry.call('getDevice', { params: { deviceId } });
  const bound = device.userId ? `, bound to ${device.userId}` : '';
  context.io.say(
    `${safe(`${device.deviceId} (${device.deviceType} ${device.serialNumber}, ${device.status}${bound})`)} will be retired. This cannot be undone.\n`,
  );
  const typed = await askText(context.out, `Type ${deviceId} to continue`);
  if (typed !== deviceId) throw usage('that is not the id of the device: nothing was changed');
}
