/** The stream of `watch`, with its messages on standard error. */
import { Code } from '../../../contract/codes.ts';
import type { EventType } from '../../../contract/event-types.ts';
import type { Notification } from '../../../contract/events.ts';
import { sleep } from '../../../delivery/wait.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { followNotifications, type StreamState } from '../../client/stream.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { definedFields } from '../../framework/define.ts';
import { placeOf } from '../../framework/devices/event-selection.ts';
import { safe } from '../../terminal/text.ts';

/** Which events, and when the stream ends. */
interface Options {
  readonly types: readonly EventType[];
  readonly deviceId: string | undefined;
  /** Only what this person has done. */
  readonly by: string | undefined;
  /** The event or the time at which the stream ends. */
  readonly until: string | undefined;
  /** Id of the last event seen; null starts with the next event. */
  readonly since: number | null;
  /** Advice if the journal has no such event. */
  readonly sinceHint: string;
  /** Seconds without an event after which the stream ends. The time in which its reader works does not count. */
  readonly timeout: number | undefined;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** Called once if `since` is null, with the id of the last event before the stream. */
  readonly onStart?: (after: number) => void;
}

/** Events until the stream times out or is interrupted. Throws a usage fault if the journal does not have the start. */
export async function* watchedEvents(context: Context, options: Options): AsyncGenerator<Notification> {
  const { io, registry } = context;
  const { types, deviceId, by, since, timeout, signal, onStart } = options;
  const idle = new AbortController();
  const end = await endOf(context, options, idle);
  const rearm = timeout === undefined ? () => undefined : idleTimer(idle, timeout * 1000);
  const stream = followNotifications({
    client: registry,
    types,
    deviceId,
    since,
    signal: AbortSignal.any([io.interrupt, idle.signal, ...(signal ? [signal] : [])]),
    onState: (state, detail) => reportState(context, types, state, detail),
    ...(onStart ? { onStart } : {}),
  });
  try {
    for await (const event of stream) {
      if (event.id !== undefined && event.id >= end) return;
      if (by !== undefined && event.actor?.name !== by) continue;
      rearm(true);
      yield event;
      rearm();
    }
  } catch (error) {
    // After a restore the journal may end before the last event seen.
    if (since === null || !isServerRefusal(error, Code.parameterError)) throw error;
    throw usage(error.message, options.sinceHint);
  } finally {
    rearm(true);
    idle.abort();
  }
}

/**
 * Id of the first event that is not wanted. A time ends the stream itself. Throws a usage fault for an end that has passed, and the
 * refusal of the server if the user may not select by person.
 */
async function endOf(context: Context, { by, until }: Options, ending: AbortController): Promise<number> {
  const place = placeOf('--until', until);
  if (by === undefined && place === null) return Number.POSITIVE_INFINITY;
  const query = definedFields({ limit: 1, actor: by });
  const { head } = await context.registry.call('listEvents', { query });
  if (place === null) return Number.POSITIVE_INFINITY;
  if ('id' in place ? place.id <= head : place.time <= new Date())
    throw usage(`--until ${until} is in the past`, 'for past events: devmgr events --since ID --until ID');
  if ('id' in place) return place.id;
  void abortAt(place.time, ending);
  return Number.POSITIVE_INFINITY;
}

async function abortAt(time: Date, ending: AbortController): Promise<void> {
  while (!ending.signal.aborted && new Date() < time) await sleep(time.getTime() - Date.now(), ending.signal);
  ending.abort();
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
    out.notice('keys that were attached or detached during that time are not shown; see: devmgr keys');
}
