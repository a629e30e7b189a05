import { command } from '../../define.ts';
import { usage } from '../../fault.ts';
import { pluggedFlag } from '../../globals.ts';
import { present } from '../../present.ts';
import { safe, safeProse } from '../../terminal/text.ts';
import { deviceArg, resolveDevice } from './device.ts';

export const update = command({
  name: 'update',
  summary: 'change firmware version or note',
  description: 'An empty value clears: --note "".',
  args: [deviceArg],
  flags: {
    firmware: { value: 'VERSION', aliases: ['firmware-version'], help: 'firmware version' },
    note: { value: 'TEXT', help: 'remark' },
    ...pluggedFlag,
  },
  examples: [
    { does: 'after an update of its firmware', line: 'update DEV-1 --firmware 1.0.4' },
    { does: 'clear the note', line: 'update DEV-1 --note ""' },
  ],
  async run({ args, flags }, context) {
    if (flags.firmware === undefined && flags.note === undefined)
      throw usage('there is nothing to change', 'give --firmware VERSION, --note TEXT, or both');
    const deviceId = await resolveDevice(context, args[0], flags.plugged);
    const body = {
      ...(flags.firmware === undefined ? {} : { firmwareVersion: flags.firmware.trim() || null }),
      ...(flags.note === undefined ? {} : { note: flags.note.trim() || null }),
    };
    const data = await context.registry.call('updateDevice', { params: { deviceId }, body });
    await present(context, {
      data,
      id: data.deviceId,
      title: `${safe(data.deviceId)} is updated`,
      rows: [
        ['firmware version', data.firmwareVersion === null ? '-' : safe(data.firmwareVersion)],
        ['note', data.note === null ? '-' : safeProse(data.note)],
      ],
    });
  },
});
