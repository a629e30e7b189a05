import { usage } from '../../fault.ts';
import { noteFlag, readPassword, reasonOf } from '../../framework/ask.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields } from '../../framework/define.ts';
import { passwordFlags, pluggedFlag } from '../../framework/flags.ts';
import { present, stateTitle } from '../../framework/present.ts';
import { askText } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { bulkDescription, bulkFlags, devicesArg } from '../many/bulk/flags.ts';
import { changeTargets } from '../many/bulk/targets.ts';
import { noteRemovals } from './credentials.ts';

/** Retires a device: `POST /api/devices/{deviceId}/deactivate`. The id is confirmed by typing it, or with --yes. */
export const deactivate = command({
  description:
    "This cannot be undone. To confirm, type the id of the device or, for several devices, their number; --yes skips this. An administrator's password is always required.\n" +
    bulkDescription,
  args: [devicesArg('DEACTIVATE')],
  flags: {
    reason: { value: 'TEXT', help: 'reason, for the journal' },
    ...noteFlag,
    ...bulkFlags,
    yes: { short: 'y', help: 'do not ask for the id, or the number of devices' },
    ...passwordFlags,
    ...pluggedFlag,
  },
  examples: {
    'asks for the id and the password': 'deactivate DEV-1 --reason "worn out"',
    'in a script': 'deactivate DEV-1 --reason "worn out" --yes --password-file ./password',
  },
  async run({ args, flags }, context) {
    if (!flags.yes && !flags.dryRun && !context.canAsk)
      throw usage('deactivation is permanent and must be confirmed', 'name the device and add --yes');
    if (flags.file === '-' && (flags.passwordStdin || flags.passwordFile === '-'))
      throw usage('standard input cannot be both the devices and the password', 'give --password-file FILE');
    const fields = async () => definedFields({ reason: await reasonOf(context, flags.reason), note: flags.note });
    const password = () => readPassword(context, flags, "An administrator's password");
    const change = { operation: 'DEACTIVATE', names: args, flags, fields, password } as const;
    return changeTargets(context, change, async deviceId => {
      const given = await fields();
      if (!flags.yes) await confirm(context, deviceId);
      const body = { ...given, confirmPassword: await password() };
      const data = await context.registry.call('deactivateDevice', { params: { deviceId }, body });
      await present(context, {
        data,
        id: data.deviceId,
        title: stateTitle(context, data),
        rows: [['deactivated', localTime(data.deactivatedAt)]],
      });
      return noteRemovals(context, data.deviceId);
    });
  },
});

async function confirm(context: Context, deviceId: string): Promise<void> {
  const device = await context.registry.call('getDevice', { params: { deviceId } });
  const bound = device.userId ? `, bound to ${device.userId}` : '';
  context.io.say(
    `${safe(`${device.deviceId} (${device.deviceType} ${device.serialNumber}, ${device.status}${bound})`)} will be retired. This cannot be undone.\n`,
  );
  const typed = await askText(context.out, `Type ${deviceId} to continue`);
  if (typed !== deviceId) throw usage('that is not the id of the device: nothing was changed');
}
