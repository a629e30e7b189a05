import { command } from '../../framework/define.ts';
import { deviceArg, resolveDevice } from '../../framework/devices/device.ts';
import { pluggedFlag } from '../../framework/flags.ts';
import { present } from '../../framework/present.ts';
import { safe } from '../../terminal/text.ts';
import { timeAndDistance } from '../../terminal/when.ts';

/** Records that a device was sent: `POST /api/devices/{deviceId}/shipped`. */
export const ship = command({
  description:
    'Records that the device is on its way to its person, until a touch of the key confirms its arrival: in the console, or at a desk with devmgr receipts add. The device must be ACTIVE. A second shipment replaces the time.',
  args: [deviceArg],
  flags: pluggedFlag,
  examples: {
    'a key that goes to its person by mail': 'ship DEV-1',
    'by its serial number, in a script': 'ship UK-2026-000001 --json | jq -r .shippedAt',
  },
  async run({ args, flags }, context) {
    const deviceId = await resolveDevice(context, args[0], flags.plugged, ['ACTIVE']);
    const data = await context.registry.call('shipDevice', { params: { deviceId } });
    await present(context, {
      data,
      id: data.deviceId,
      title: `${safe(data.deviceId)} is on its way to its person`,
      rows: [['sent', timeAndDistance(data.shippedAt)]],
    });
  },
});
