/** Which events of the journal a command is about: for events, history, show, watch and daemon audit. */

import { type EventType, journalEventTypes } from '../../../contract/event-types.ts';
import type { Notification } from '../../../contract/events.ts';
import { eventPage } from '../../../contract/limits.ts';
import type { JournalPlace } from '../../../contract/programs.ts';
import { isServerRefusal } from '../../client/failures.ts';
import type { Context } from '../context.ts';
import { definedFields } from '../define.ts';
import type { FlagShapes, FlagValues } from '../flags.ts';
import { timeOrAge } from './filter.ts';

/** Flags that select events. */
export const eventFlags = {
  since: {
    value: 'WHEN',
    aliases: ['after', 'from'],
    help: 'after the event with this id, or since this time: 1h, 7d, 2026-03-01',
  },
  until: { value: 'WHEN', aliases: ['before', 'to'], help: 'before the event with this id, or before this time' },
  type: { value: 'TYPE', field: 'types', many: true, help: 'only these types' },
  by: {
    value: 'NAME',
    aliases: ['user'],
    field: 'actor',
    offer: 'username',
    help: 'only what this user or token:NAME has done (for an ADMIN)',
  },
  device: { value: 'DEVICE', offer: 'device', help: 'only this device (deviceId or serial number)' },
  limit: { value: 'N', short: 'n', aliases: ['count'], whole: { min: 1 }, help: 'at most N events' },
} as const satisfies FlagShapes;

/** Flags that select notified events. */
export const notifiedFlags = { ...eventFlags, type: { ...eventFlags.type, choices: journalEventTypes } } as const;

/** The place that a flag names; null if it is absent. Throws a usage fault. */
export function placeOf(flag: '--since' | '--until', text: string): JournalPlace;
export function placeOf(flag: '--since' | '--until', text: string | undefined): JournalPlace | null;
export function placeOf(flag: '--since' | '--until', text: string | undefined): JournalPlace | null {
  if (text === undefined) return null;
  return /^\d{1,15}$/.test(text) ? { id: Number(text) } : { time: timeOrAge(flag, text) };
}

/** The id after which events are since the place: that id, or that of the last event before the time. */
export const sinceId = (context: Context, place: JournalPlace): Promise<number> | number =>
  'id' in place ? place.id : lastBefore(context, place.time);

async function lastBefore(context: Context, time: Date): Promise<number> {
  try {
    const { list, head } = await context.registry.call('listEvents', { query: { from: time, limit: 1 } });
    const [event] = list;
    if (event?.id === undefined) return head;
    // An earlier version ignores what it does not know.
    if (new Date(event.timestamp) >= time) return event.id - 1;
  } catch (error) {
    if (!isServerRefusal(error)) throw error;
  }
  return search(context, time);
}

/** For roles that may not select by time: times ascend, unless the clock was set back, so about 20 reads find the place. */
async function search({ registry }: Context, time: Date): Promise<number> {
  const next = (after: number) => registry.call('listEvents', { query: { after, limit: 1 } });
  let low = 0;
  let { head: high } = await next(0);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [event] = (await next(middle)).list;
    if (event?.id !== undefined && new Date(event.timestamp) < time) low = event.id;
    else high = middle;
  }
  return low;
}

/** Events of the past, in the order of the journal. */
export interface PastEvents {
  readonly list: readonly Notification[];
  /** Whether more events match: later ones with `--since`, earlier ones without. */
  readonly hasMore: boolean;
  /** Id of the last event of the journal. */
  readonly head: number;
}

type EventValues = Omit<FlagValues<typeof eventFlags>, 'type' | 'device'> & {
  readonly type: readonly EventType[];
};

/** The events that the flags select: with `--since` the first ones, else the last ones; all of them if `limit` is absent. */
export async function pastEvents(
  context: Context,
  deviceId: string | undefined,
  { since, until, type, by, limit = Number.POSITIVE_INFINITY }: EventValues,
): Promise<PastEvents> {
  const [from, to] = [placeOf('--since', since), placeOf('--until', until)];
  const after = from === null ? undefined : await sinceId(context, from);
  const end = to === null ? Number.MAX_SAFE_INTEGER : 'id' in to ? to.id : (await lastBefore(context, to.time)) + 1;
  const list: Notification[] = [];
  for (;;) {
    const size = Math.min(eventPage.max, limit + 1 - list.length);
    const last = list.at(-1)?.id;
    const query = definedFields({
      deviceId,
      types: type.length ? type.join(',') : undefined,
      actor: by,
      ...(after === undefined ? { before: last ?? end } : { after: last ?? after }),
      limit: size,
    });
    const page = await context.registry.call('listEvents', { query });
    const found = (page.list as readonly Notification[]).filter(({ id = 0 }) => id < end);
    list.push(...found);
    if (list.length <= limit && found.length === size) continue;
    const kept = list.slice(0, limit);
    return { list: after === undefined ? kept.toReversed() : kept, hasMore: list.length > limit, head: page.head };
  }
}
