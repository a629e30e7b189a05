import { pastEventTypes } from '../../../contract/event-types.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { deviceArg, resolveDevice } from '../../framework/devices/device.ts';
import { eventFlags, notifiedFlags, type PastEvents, pastEvents } from '../../framework/devices/event-selection.ts';
import { pluggedFlag } from '../../framework/flags.ts';
import { eventLine } from './event-lines.ts';

/** Shows past events: `GET /api/events`. */
export const events = command({
  isPaged: true,
  description:
    'Shows the latest events, the newest last. With --since, shows the first events after that event or time. An ADMIN also sees who did it, and the changes of administration. history shows all events of one device; watch shows events as they happen.',
  args: [
    { name: 'DEVICE', help: 'only events of this device (deviceId or serial number)', optional: true, offer: 'device' },
  ],
  flags: {
    ...eventFlags,
    type: { ...eventFlags.type, choices: pastEventTypes },
    limit: { ...eventFlags.limit, default: 20 },
  },
  examples: {
    'what happened last': 'events',
    'who has changed accounts and service tokens':
      'events --type USER_CREATED,USER_UPDATED,TOKEN_CREATED,TOKEN_REVOKED',
    'what one user has done today': 'events --by admin --since 24h --limit 100',
    'all locks, page by page, for a program': 'events --type DEVICE_LOCKED --since 0 --limit 1000 --json',
  },
  async run({ args: [name], flags }, context) {
    const named = name ?? flags.device;
    const deviceId = named === undefined ? undefined : await resolveDevice(context, named, false);
    const past = await pastEvents(context, deviceId, flags);
    await show(context, past, true);
    const { list, hasMore } = past;
    if (!hasMore || context.out.json) return;
    const next = flags.since === undefined ? `--until ${list[0]!.id}` : `--since ${list.at(-1)!.id}`;
    context.out.notice(`More: ${next}`);
  },
});

/** Shows all events of a device. */
export const history = command({
  isPaged: true,
  description:
    'Shows every event of the device, the oldest first: the time, what happened, and what an update has changed. An ADMIN also sees who did it. Uses of a device are not events: see devmgr show.',
  args: [deviceArg],
  flags: { ...notifiedFlags, ...pluggedFlag },
  examples: {
    'by serial number': 'history UK-2026-000001',
    'who has changed the note or the firmware': 'history DEV-1 --type DEVICE_UPDATED',
    'for a program': 'history DEV-1 --json',
  },
  async run({ args: [name], flags }, context) {
    const deviceId = await resolveDevice(context, name ?? flags.device, flags.plugged);
    await show(context, await pastEvents(context, deviceId, { ...flags, since: flags.since ?? '0' }), false);
  },
});

async function show(context: Context, { list, head }: PastEvents, withDevice: boolean): Promise<void> {
  const { out } = context;
  if (out.json) return out.document({ list, head });
  if (out.quiet) return out.text(list.map(event => `${event.id}\n`).join(''));
  if (list.length === 0) return out.notice('No event matches.');
  await out.text(list.map(event => `${eventLine(context, event, withDevice)}\n`).join(''));
}
