/** Changes of the devices since their registration, from the events of the registry. */
import type { Notification } from '../../../contract/events.ts';
import { eventPage } from '../../../contract/limits.ts';
import { IdSet } from '../../../fleet/id-set.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { followNotifications } from '../../client/stream.ts';
import { failure, interrupted } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';

/** Devices that were locked, unlocked or retired at least once. */
export interface Changes {
  readonly locked: number;
  readonly unlocked: number;
  readonly deactivated: number;
}

const types = ['DEVICE_LOCKED', 'DEVICE_UNLOCKED', 'DEVICE_DEACTIVATED'] as const;

/**
 * Reads the events since `first` was registered, the oldest of the devices; null without a device. Null if the server refuses them:
 * an earlier version has none.
 */
export async function changesOf(context: Context, devices: IdSet, first: string | null): Promise<Changes | null> {
  const found = new Map<string, IdSet>(types.map(type => [type, new IdSet()]));
  const count = ({ type, data }: Notification) => {
    if (devices.has(data?.deviceId)) found.get(type)?.add(data.deviceId);
  };
  if (first !== null && !(await eachChange(context, first, count))) return null;
  const [locked, unlocked, deactivated] = types.map(type => found.get(type)!.size);
  return { locked: locked!, unlocked: unlocked!, deactivated: deactivated! };
}

/**
 * Calls `take` with each event, some twice. A page has the newest events. If there are more, the stream sends all of them over one
 * connection: pages would take a request for each 1,000, and requests are limited. False if the server has no pages.
 */
async function eachChange(context: Context, first: string, take: (event: Notification) => void): Promise<boolean> {
  const after = await registrationEvent(context, first);
  const newest = await page(context, { types: types.join(), after, before: Number.MAX_SAFE_INTEGER });
  if (newest === null) return false;
  newest.forEach(take);
  if (newest.length < eventPage.max) return true;
  for await (const event of replayed(context, after, newest[0]!.id!)) take(event);
  return true;
}

/** Id of the event with which the device was registered. 0 if the journal lacks it: then all events are read. */
async function registrationEvent(context: Context, deviceId: string): Promise<number> {
  const list = await page(context, { deviceId, types: 'DEVICE_REGISTERED' });
  return list?.[0]?.id ?? 0;
}

/** The events from the stream, up to the one with the id `last`. */
async function* replayed(context: Context, after: number, last: number): AsyncGenerator<Notification> {
  const { io, out, registry } = context;
  let count = 0;
  const onState = (state: string, detail: string) => {
    if (state === 'gap') throw failure(`the events could not be read: ${detail}`, 'try again');
  };
  try {
    for await (const event of followNotifications({ client: registry, types, since: after, onState })) {
      yield event;
      out.progress.show('Reading events', ++count, null);
      if ((event.id ?? 0) >= last) return;
    }
  } finally {
    out.progress.clear();
  }
  if (io.interrupt.aborted) throw interrupted();
}

interface EventQuery {
  readonly types: string;
  readonly deviceId?: string;
  readonly after?: number;
  readonly before?: number;
}

async function page({ registry }: Context, query: EventQuery): Promise<readonly Notification[] | null> {
  const found = await nullIfRefused(registry.call('listEvents', { query: { ...query, limit: eventPage.max } }));
  return found && (found.list as readonly Notification[]);
}
