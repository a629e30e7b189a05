import { join } from 'node:path';
import type { Notification } from '../../../contract/events.ts';
import { type EventType, eventTypes } from '../../../contract/values.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { followNotifications, type StreamState } from '../../client/stream.ts';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { exitCodes } from '../../exit-codes.ts';
import { usage } from '../../fault.ts';
import { readJsonFile, writeJsonFile } from '../../settings/files.ts';
import { safe } from '../../terminal/text.ts';
import { resolveDevice } from '../devices/device.ts';
import { EventLines } from './lines.ts';

/** Follows the notification stream. Remembers the last event, for --since last. */
export const watch = command({
  description:
    'Shows one line per event: the time, the serial number, what happened, and the id of the event. On a terminal the date is shown when it changes. After a lost connection it reconnects, and no event of the journal is missed or repeated; keys that are attached or detached meanwhile are not shown.\n--since last continues after the last event of an earlier watch; --since 0 starts with the first event.',
  flags: {
    type: { value: 'TYPE', many: true, choices: eventTypes, help: 'only these types' },
    device: { value: 'DEVICE', help: 'only events of this device (deviceId or serial number)', offer: 'device' },
    since: { value: 'ID', help: 'start after this event; or: last' },
    count: { value: 'N', short: 'n', whole: { min: 1 }, help: 'end after N events' },
    timeout: { value: 'SECONDS', whole: { min: 1 }, help: 'end if there is no event for this long' },
    utc: { help: 'show times in UTC instead of local time' },
  },
  examples: [
    { does: 'all events from now on', line: 'watch' },
    {
      does: 'activations as JSON lines, without a gap between two runs',
      line: 'watch --type DEVICE_ACTIVATED --since last --json',
    },
  ],
  async run({ flags }, context) {
    const seen = new Seen(context);
    const since = flags.since === undefined ? null : startOf(flags.since, seen);
    const deviceId = flags.device === undefined ? undefined : await resolveDevice(context, flags.device, false);
    return follow(context, flags.type, since, seen, {
      deviceId,
      count: flags.count,
      timeout: flags.timeout,
      utc: flags.utc,
      isFirst: flags.since === 'last' && since === null,
    });
  },
});

function startOf(text: string, seen: Seen): number | null {
  if (text === 'last') return seen.last();
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usage(`--since must be the id of an event or "last", not "${text}"`);
}

interface Run {
  readonly deviceId: string | undefined;
  readonly count: number | undefined;
  readonly timeout: number | undefined;
  readonly utc: boolean;
  /** The first run with `--since last`: if nothing happens in it, the next run starts where this one started. */
  readonly isFirst: boolean;
}

async function follow(
  context: Context,
  types: readonly EventType[],
  since: number | null,
  seen: Seen,
  { deviceId, count, timeout, utc, isFirst }: Run,
): Promise<number> {
  const { io, out, globals, registry } = context;
  const idle = new AbortController();
  const signal = AbortSignal.any([io.interrupt, idle.signal]);
  const rearm = timeout === undefined ? () => undefined : idleTimer(idle, timeout * 1000);
  const lines = new EventLines(context, utc);
  let shown = 0;
  const stream = followNotifications({
    client: registry,
    types,
    deviceId,
    since,
    signal,
    onState: (state, detail) => reportState(context, types, state, detail),
    ...(isFirst ? { onStart: id => seen.note(id) } : {}),
  });
  try {
    for await (const event of sinceGiven(stream, since)) {
      rearm();
      if (globals.json) await out.row(event);
      else if (globals.quiet)
        await out.text(
          `${safe(String(event.data.deviceId ?? event.data.versionId ?? event.data.serialNumber ?? ''))}\n`,
        );
      else await out.text(await lines.of(event));
      if (event.id !== undefined) seen.note(event.id);
      if (++shown === count) break;
    }
  } finally {
    rearm(true);
    seen.save();
  }
  if (!io.interrupt.aborted) return exitCodes.done;
  summarize(context, shown, seen);
  return exitCodes.interrupted;
}

/** Ctrl-C is how watching ends: what was shown is its result, not an error. */
function summarize({ io, out, globals }: Context, shown: number, seen: Seen): void {
  if (globals.json) return;
  // The terminal wrote ^C at the cursor.
  if (io.stderrIsTerminal && !globals.quiet) io.say('\n');
  const next = seen.isEmpty ? '' : '. To continue after the last one: devmgr watch --since last';
  out.notice(`${shown} ${shown === 1 ? 'event' : 'events'} shown${next}`);
}

/** Explains a start that the journal does not have: after a restore it may end before the last event seen. */
async function* sinceGiven(stream: AsyncIterable<Notification>, since: number | null): AsyncGenerator<Notification> {
  try {
    yield* stream;
  } catch (error) {
    if (since === null || !isServerRefusal(error, 1001)) throw error;
    throw usage(error.message, 'omit --since to start with new events, or use --since 0 to start with the first event');
  }
}

function idleTimer(idle: AbortController, milliseconds: number): (end?: true) => void {
  let timer = setTimeout(() => idle.abort(), milliseconds);
  return end => {
    clearTimeout(timer);
    if (!end) timer = setTimeout(() => idle.abort(), milliseconds);
  };
}

function reportState({ out, globals }: Context, types: readonly EventType[], state: StreamState, detail: string): void {
  if (globals.json && state !== 'lost' && state !== 'gap' && state !== 'resumed') return;
  const words = `${state}${detail ? `: ${safe(detail)}` : ''}`;
  if (state === 'gap') out.warn(`gap: ${safe(detail)}`);
  else out.notice(out.tint(state === 'lost' ? 'yellow' : 'dim', words));
  const keys = types.length === 0 || types.some(type => type.startsWith('KEY_'));
  if (state === 'resumed' && keys && types.length > 0)
    out.notice('keys that were attached or detached meanwhile are not shown; see: devmgr keys');
}

const saveEveryMs = 2_000;

/** The last event seen from each server, stored in the home folder. */
class Seen {
  readonly #file: string;
  readonly #name: string;
  #id: number | null = null;
  #savedAt = Date.now();

  constructor(context: Context) {
    this.#file = join(context.settings.home, 'watched.json');
    this.#name = `${context.settings.profile}@${context.identity()}`;
  }

  /** Whether this run has no event to continue after. */
  get isEmpty(): boolean {
    return this.#id === null;
  }

  /** Null if there is none. */
  last(): number | null {
    const id = readJsonFile(this.#file)?.[this.#name];
    return typeof id === 'number' && Number.isSafeInteger(id) ? id : null;
  }

  note(id: number): void {
    this.#id = id;
    if (Date.now() - this.#savedAt > saveEveryMs) this.save();
  }

  save(): void {
    if (this.#id === null) return;
    this.#savedAt = Date.now();
    writeJsonFile(this.#file, { ...readJsonFile(this.#file), [this.#name]: this.#id });
  }
}
