import { counted } from '../../count.ts';
import { exitCodes } from '../../exit-codes.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { resolveDevice } from '../../framework/devices/device.ts';
import { readerGone } from '../../terminal/io.ts';
import { onReaderLeft } from '../../terminal/reader-left.ts';
import { safe } from '../../terminal/text.ts';
import { subjectOf, text } from '../devices/event-lines.ts';
import { type WatchValues, watchFlags } from './flags.ts';
import { EventLines } from './lines.ts';
import { SeenEvents, startOf } from './seen.ts';
import { watchedEvents } from './stream.ts';

/** Follows the notification stream. Remembers the last event, for --since last. */
export const watch = command({
  description:
    'Shows one line per event: the time, the serial number, what happened, and the id of the event. On a terminal the date is shown when it changes. After a lost connection it reconnects, and no event of the journal is missed or repeated; keys that are attached or detached during that time are not shown.\n--since last continues after the last event of an earlier watch with the same --type, --device and --by; --since 0 starts with the first event. --limit and --until end the watch. An ADMIN also sees who did it.',
  flags: watchFlags,
  args: [{ name: 'ARG', help: 'arguments of the program of --exec, after --', optional: true, rest: true }],
  examples: {
    'all events from now on': 'watch',
    'activations as JSON lines, without a gap between two runs': 'watch --type DEVICE_ACTIVATED --since last --json',
    'a program for each lock, with arguments of its own': 'watch --type DEVICE_LOCKED --exec ./notify -- --team ops',
    'a webhook for all events, without a gap between two runs':
      'watch --forward-to https://hooks.example.com/devmgr --secret-file secret',
  },
  async run({ args, flags }, context) {
    const deviceId = flags.device === undefined ? undefined : await resolveDevice(context, flags.device, false);
    if (flags.forwardTo !== undefined && args.length > 0) checkPlain(args, flags);
    if (flags.exec !== undefined || flags.forwardTo !== undefined) {
      const { deliverTo } = await import('./targets.ts');
      return deliverTo(context, { ...flags, args, deviceId });
    }
    checkPlain(args, flags);
    const seen = new SeenEvents(context, { types: flags.type, deviceId, by: flags.by });
    const since = flags.since === undefined ? null : await startOf(context, flags.since, seen);
    return follow(context, flags, { deviceId, since, seen });
  },
});

/** Flags without a meaning if events are shown. */
function checkPlain(args: readonly string[], flags: WatchValues): void {
  if (args.length > 0) throw usage(`"${args[0]}" is unexpected: arguments belong to the program of --exec`);
  const given = {
    '--retries': flags.retries,
    '--cursor': flags.cursor,
    '--skip-failed': flags.skipFailed || undefined,
  };
  const [flag] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (flag !== undefined) throw usage(`${flag} needs --exec or --forward-to`);
}

/** Where the stream starts, and where its last event is kept. */
interface Start {
  readonly deviceId: string | undefined;
  readonly since: number | null;
  readonly seen: SeenEvents;
}

async function follow(context: Context, flags: WatchValues, { deviceId, since, seen }: Start): Promise<number> {
  const { io, out, globals } = context;
  const { type: types, by, until, timeout } = flags;
  const lines = new EventLines(context, flags.utc);
  // The first run with `--since last`: if nothing happens in it, the next run starts where this one started.
  const isFirst = flags.since === 'last' && since === null;
  const sinceHint = 'omit --since to start with new events, or use --since 0 to start with the first event';
  const onStart = (id: number) => seen.note(id);
  let shown = 0;
  const left = new AbortController();
  const stopLooking = onReaderLeft(() => left.abort());
  try {
    const options = {
      ...{ types, deviceId, by, until, since, sinceHint, timeout, signal: left.signal },
      ...(isFirst ? { onStart } : {}),
    };
    for await (const event of watchedEvents(context, options)) {
      if (globals.json) await out.row(event);
      else if (globals.quiet) await out.text(`${safe(subjectOf(event.data) || text(event.data.serialNumber))}\n`);
      else await out.text(await lines.of(event));
      if (event.id !== undefined) seen.note(event.id);
      if (++shown === flags.limit) break;
    }
  } finally {
    stopLooking();
    seen.save();
  }
  if (left.signal.aborted) throw readerGone();
  if (!io.interrupt.aborted) return exitCodes.done;
  summarize(context, shown, seen);
  return exitCodes.interrupted;
}

/** Ctrl-C is how watching ends: what was shown is its result, not an error. */
function summarize({ io, out, globals }: Context, shown: number, seen: SeenEvents): void {
  if (globals.json) return;
  // The terminal wrote ^C at the cursor.
  if (io.stderrIsTerminal && !globals.quiet) io.say('\n');
  const next = seen.isEmpty ? '' : '. The same watch with --since last continues after the last one';
  out.notice(`${counted(shown, 'event')} shown${next}`);
}
