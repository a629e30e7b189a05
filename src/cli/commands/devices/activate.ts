import { writtenActivationCode } from '../../../contract/ids.ts';
import { need } from '../../ask.ts';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { usage } from '../../fault.ts';
import { pluggedFlag } from '../../flags.ts';
import { present } from '../../present.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { type BulkFlags, bulkDescription, bulkFlags, devicesArg, isBulk } from '../bulk/flags.ts';
import { resolveDevice } from './device.ts';

/** Binds a device to a user: `POST /api/devices/activate`. Prompts for a missing code and user. */
export const activate = command({
  description: `With several devices or --filter, the codes come from the registry. CSV needs the columns activationCode and, without --user, userId.\n${bulkDescription}`,
  args: [devicesArg('ACTIVATE')],
  flags: {
    code: {
      value: 'CODE',
      field: 'activationCode',
      conflicts: ['file', 'filter'],
      help: 'activation code, in upper or lower case, with or without hyphens',
    },
    user: {
      value: 'USER',
      field: 'userId',
      aliases: ['user-id'],
      offer: 'holder',
      help: 'id of the user to bind the device to',
    },
    ...bulkFlags,
    ...pluggedFlag,
  },
  examples: [
    { does: 'by deviceId', line: 'activate DEV-1 --code 7KQM-2XWD-H9TB-C4RE --user alice' },
    { does: 'the attached key', line: 'activate --plugged --code 7KQM-2XWD-H9TB-C4RE --user alice' },
    {
      does: 'the keys of a box, all for one user',
      line: 'activate --file codes.csv --user alice --yes --out done.csv',
    },
  ],
  async run({ args, flags }, context) {
    if (isBulk(args, flags)) return activateMany(context, args, flags);
    const deviceId = await resolveDevice(context, args[0], flags.plugged, 'INACTIVE');
    const typed = await need(context, flags.code, { flag: '--code', question: 'Activation code' });
    const activationCode = writtenActivationCode(typed);
    const userId = await userOf(context, flags.user);
    const data = await context.registry.call('activate', { body: { deviceId, activationCode, userId } });
    return present(context, {
      data,
      id: data.deviceId,
      title: `${safe(data.deviceId)} is ${safe(data.status)}`,
      rows: [
        ['user', safe(data.userId)],
        ['activated', localTime(data.activatedAt)],
      ],
    });
  },
});

const userOf = (context: Context, given: string | undefined): Promise<string> =>
  need(context, given, { flag: '--user', question: 'User to bind it to', field: 'userId' });

type Flags = BulkFlags & {
  readonly code: string | undefined;
  readonly user: string | undefined;
  readonly plugged: boolean;
};

async function activateMany(context: Context, names: readonly string[], flags: Flags): Promise<number> {
  if (flags.code !== undefined) throw usage('--code is for one device', 'omit it: the codes come from the registry');
  const { changeMany } = await import('../bulk/change.ts');
  return changeMany(context, {
    operation: 'ACTIVATE',
    names,
    flags,
    // The lines of a file may name their users.
    fields: async () => {
      if (flags.file === undefined) return { userId: await userOf(context, flags.user) };
      return flags.user === undefined ? {} : { userId: flags.user };
    },
  });
}
