import { command } from '../../define.ts';
import { usage } from '../../fault.ts';
import { pluggedFlag } from '../../flags.ts';
import { present } from '../../present.ts';
import { safe, safeProse } from '../../terminal/text.ts';
import { deviceArg, resolveDevice } from './device.ts';

/** Changes firmware version and note: `PUT /api/devices/{deviceId}`. */
export const update = command({
  description: 'An empty value clears the field: --note "".',
  args: [deviceArg],
  flags: {
    firmware: { value: 'VERSION', field: 'firmwareVersion', aliases: ['firmware-version'], help: 'firmware version' },
    note: { value: 'TEXT', help: 'note' },
    ...pluggedFlag,
  },
  examples: [
    { does: 'after a firmware update', line: 'update DEV-1 --firmware 1.0.4' },
    { does: 'clear the note', line: 'update DEV-1 --note ""' },
  ],
  async run({ args, flags }, context) {
    if (flags.firmware === undefined && flags.note === undefined)
      throw usage('nothing to change', 'add --firmware VERSION or --note TEXT');
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
