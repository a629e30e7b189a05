import { activationCodeDays } from '../../../contract/limits.ts';
import { need } from '../../ask.ts';
import { command } from '../../define.ts';
import { pluggedFlag } from '../../flags.ts';
import { present } from '../../present.ts';
import { safe } from '../../terminal/text.ts';
import { timeAndDistance } from '../../terminal/when.ts';
import { deviceArg, resolveDevice } from './device.ts';

/** Replaces the activation code: `POST /api/devices/generate-activation-code`. */
export const code = command({
  description: 'The previous code becomes invalid at once.',
  args: [deviceArg],
  flags: {
    reason: { value: 'TEXT', help: 'reason, for the audit log' },
    days: {
      value: 'N',
      field: 'validityDays',
      whole: activationCodeDays,
      help: `days until the new code expires (default: ${activationCodeDays.default})`,
    },
    ...pluggedFlag,
  },
  examples: [{ does: 'a code that is valid for a month', line: 'code DEV-1 --reason "letter was lost" --days 30' }],
  async run({ args, flags }, context) {
    const deviceId = await resolveDevice(context, args[0], flags.plugged);
    const reason = await need(context, flags.reason, { flag: '--reason', question: 'Reason', field: 'reason' });
    const body = { deviceId, reason, ...(flags.days === undefined ? {} : { validityDays: flags.days }) };
    const data = await context.registry.call('generateActivationCode', { body });
    await present(context, {
      data,
      id: data.activationCode,
      title: `New activation code of ${safe(data.deviceId)}`,
      rows: [
        ['code', safe(data.activationCode)],
        ['valid until', timeAndDistance(data.expiresAt)],
        ['replaces', safe(data.oldActivationCode)],
      ],
    });
  },
});
