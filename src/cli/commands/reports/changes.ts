/** What happened to the devices since they were registered, from the events of the registry. */
import type { Notification } from '../../../contract/events.ts';
import { eventPage } from '../../../contract/limits.ts';
import { isServerRefusal } from '../../client/failures.ts';
import type { Context } from '../../context.ts';
import { IdSet } from './id-set.ts';

/** Devices that were locked, unlocked or retired at least once. */
export interface Changes {
  readonly locked: number;
  readonly unlocked: number;
  readonly deactivated: number;
}

const types = ['DEVICE_LOCKED', 'DEVICE_UNLOCKED', 'DEVICE_DEACTIVATED'] as const;

/** Reads the events, the newest first, back to `since`. Null if the server refuses them: an earlier version has none. */
export async function changesOf(context: Context, devices: IdSet, since: string | null): Promise<Changes | null> {
  const found = new Map<string, IdSet>(types.map(type => [type, new IdSet()]));
  let before = since === null ? null : Number.MAX_SAFE_INTEGER;
  while (before !== null) {
    const list = await page(context, before);
    if (list === null) return null;
    for (const { type, data } of list) if (devices.has(data?.deviceId)) found.get(type)?.add(data.deviceId);
    before = next(list, before, since!);
  }
  const [locked, unlocked, deactivated] = types.map(type => found.get(type)!.size);
  return { locked: locked!, unlocked: unlocked!, deactivated: deactivated! };
}

/** The event before which the next page is; null if this was the last one. */
function next(list: readonly Notification[], before: number, since: string): number | null {
  const last = list.at(-1);
  if (list.length < eventPage.max || !last?.id || last.id >= before || last.timestamp < since) return null;
  return last.id;
}

async function page({ registry }: Context, before: number): Promise<readonly Notification[] | null> {
  try {
    const query = { types: types.join(), before, limit: eventPage.max };
    return (await registry.call('events', { query })).list as readonly Notification[];
  } catch (error) {
    if (isServerRefusal(error)) return null;
    throw error;
  }
}
