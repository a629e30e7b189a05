import { activationCodeDays } from '../../../contract/limits.ts';
import { need } from '../../ask.ts';
import { command } from '../../define.ts';
import { pluggedFlag } from '../../globals.ts';
import { present } from '../../present.ts';
import { safe } from '../../terminal/text.ts';
import { relative } from '../../terminal/when.ts';
import { deviceArg, resolveDevice } from './device.ts';

export const code = command({
  name: 'code',
  summary: 'replace the activation code',
  description: 'The previous code stops being valid at once.',
  args: [deviceArg],
  flags: {
    reason: { value: 'TEXT', help: 'why; kept in the audit log' },
    days: {
      value: 'N',
      whole: activationCodeDays,
      help: `days the new code is good for (${activationCodeDays.default})`,
    },
    ...pluggedFlag,
  },
  examples: [{ does: 'a code for a month', line: 'code DEV-1 --reason "letter was lost" --days 30' }],
  async run({ args, flags }, context) {
    const deviceId = await resolveDevice(context, args[0], flags.plugged);
    const reason = await need(context, flags.reason, '--reason', 'Reason');
    const body = { deviceId, reason, ...(flags.days === undefined ? {} : { validityDays: flags.days }) };
    const data = await context.registry.call('generateActivationCode', { body });
    await present(context, {
      data,
      id: data.activationCode,
      title: `New activation code of ${safe(data.deviceId)}`,
      rows: [
        ['code', safe(data.activationCode)],
        ['good until', `${safe(data.expiresAt)} (${relative(data.expiresAt)})`],
        ['no longer', safe(data.oldActivationCode)],
      ],
    });
  },
});
