import { writtenActivationCode } from '../../../contract/ids.ts';
import { need } from '../../ask.ts';
import { command } from '../../define.ts';
import { pluggedFlag } from '../../flags.ts';
import { present } from '../../present.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { deviceArg, resolveDevice } from './device.ts';

/** Binds a device to a user: `POST /api/devices/activate`. Prompts for a missing code and user. */
export const activate = command({
  args: [deviceArg],
  flags: {
    code: {
      value: 'CODE',
      field: 'activationCode',
      help: 'activation code, in upper or lower case, with or without hyphens',
    },
    user: { value: 'USER', field: 'userId', aliases: ['user-id'], help: 'id of the user to bind the device to' },
    ...pluggedFlag,
  },
  examples: [
    { does: 'by deviceId', line: 'activate DEV-1 --code 7KQM-2XWD-H9TB-C4RE --user alice' },
    { does: 'the attached key', line: 'activate --plugged --code 7KQM-2XWD-H9TB-C4RE --user alice' },
  ],
  async run({ args, flags }, context) {
    const deviceId = await resolveDevice(context, args[0], flags.plugged, 'INACTIVE');
    const typed = await need(context, flags.code, { flag: '--code', question: 'Activation code' });
    const activationCode = writtenActivationCode(typed);
    const userId = await need(context, flags.user, { flag: '--user', question: 'User to bind it to', field: 'userId' });
    const data = await context.registry.call('activate', { body: { deviceId, activationCode, userId } });
    await present(context, {
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
