import type { Notification } from '../../../contract/events.ts';
import { eventPage } from '../../../contract/limits.ts';
import { journalEventTypes } from '../../../contract/values.ts';
import { command, definedFields } from '../../framework/define.ts';
import { resolveDevice } from '../../framework/devices/device.ts';
import { safe } from '../../terminal/text.ts';
import { eventLine } from './event-lines.ts';

/** Shows past events: `GET /api/events`. */
export const events = command({
  isPaged: true,
  description:
    'Shows the newest events, the newest last. With --after they are the oldest after that event. watch shows events as they happen.',
  args: [
    { name: 'DEVICE', help: 'only events of this device (deviceId or serial number)', optional: true, offer: 'device' },
  ],
  flags: {
    type: { value: 'TYPE', field: 'types', many: true, choices: journalEventTypes, help: 'only these types' },
    after: { value: 'ID', whole: { min: 0 }, help: 'events after this one', conflicts: ['before'] },
    before: { value: 'ID', whole: { min: 1 }, help: 'events before this one' },
    limit: {
      value: 'N',
      short: 'n',
      whole: { min: 1, max: eventPage.max },
      default: 20,
      help: 'number of events',
    },
  },
  examples: [
    { does: 'what happened last', line: 'events' },
    { does: 'the history of a device', line: 'events UK-2026-000001 --limit 100' },
    {
      does: 'all locks, page by page, for a program',
      line: 'events --type DEVICE_LOCKED --after 0 --limit 1000 --json',
    },
  ],
  async run({ args, flags }, context) {
    const { out, registry, globals } = context;
    const deviceId = args[0] === undefined ? undefined : await resolveDevice(context, args[0], false);
    const isForward = flags.after !== undefined;
    const query = definedFields<Parameters<typeof registry.call<'listEvents'>>[1]['query'] & object>({
      deviceId,
      types: flags.type.length ? flags.type.join(',') : undefined,
      after: flags.after,
      before: isForward ? undefined : (flags.before ?? Number.MAX_SAFE_INTEGER),
      limit: flags.limit,
    });
    const found = await registry.call('listEvents', { query });
    const list = (isForward ? found.list : found.list.toReversed()) as readonly Notification[];
    if (globals.json) return out.document({ list, head: found.head });
    if (globals.quiet) return out.text(list.map(event => `${event.id}\n`).join(''));
    if (list.length === 0) return out.notice('No event matches.');
    await out.text(list.map(event => `${eventLine(context, event)}\n`).join(''));
    if (list.length < flags.limit) return undefined;
    const next = isForward ? `--after ${list.at(-1)!.id}` : `--before ${list[0]!.id}`;
    out.notice(`More: devmgr events${deviceId ? ` ${safe(deviceId)}` : ''} ${next}`);
  },
});
