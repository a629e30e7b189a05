import { activationCodeDays } from '../../../contract/limits.ts';
import { reasonOf } from '../../framework/ask.ts';
import { command, definedFields } from '../../framework/define.ts';
import { pluggedFlag } from '../../framework/flags.ts';
import { present } from '../../framework/present.ts';
import { safe } from '../../terminal/text.ts';
import { timeAndDistance } from '../../terminal/when.ts';
import { bulkDescription, bulkFlags, devicesArg } from '../many/bulk/flags.ts';
import { changeTargets } from '../many/bulk/targets.ts';

/** Replaces the activation code: `POST /api/devices/generate-activation-code`. */
export const code = command({
  description: `The previous code becomes invalid at once.\n${bulkDescription}`,
  args: [devicesArg('GENERATE_CODE')],
  flags: {
    reason: { value: 'TEXT', help: 'reason, for the journal' },
    'expires-in-days': {
      value: 'N',
      aliases: ['days'],
      field: 'validityDays',
      whole: activationCodeDays,
      help: `days until the new code expires (default: ${activationCodeDays.default})`,
    },
    ...bulkFlags,
    ...pluggedFlag,
  },
  examples: {
    'a code that is valid for a month': 'replace-code DEV-1 --reason "letter was lost" --expires-in-days 30',
    'codes that expire soon':
      'replace-code --filter code-expires-before=2027-01-01 --reason "codes expire" --out codes.csv',
  },
  async run({ args, flags }, context) {
    const fields = async () =>
      definedFields({ reason: await reasonOf(context, flags.reason), validityDays: flags.expiresInDays });
    return changeTargets(context, { operation: 'GENERATE_CODE', names: args, flags, fields }, async deviceId => {
      const body = { deviceId, ...(await fields()) };
      const data = await context.registry.call('generateActivationCode', { body });
      return present(context, {
        data,
        id: data.activationCode,
        title: `New activation code of ${safe(data.deviceId)}`,
        rows: [
          ['code', safe(data.activationCode)],
          ['valid until', timeAndDistance(data.expiresAt)],
          ['replaces', safe(data.oldActivationCode)],
        ],
      });
    });
  },
});
