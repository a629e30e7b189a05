/** Saves events as a file. Loaded when it is asked for. */

import type { FieldChange, Notification } from '../../src/contract/events.ts';
import { eventPage } from '../../src/contract/limits.ts';
import { call } from '../api/request.ts';
import { subjectIn } from '../parts/events.tsx';
import { saveCsv } from '../parts/save.ts';

/** Most events in a file: each 1,000 are one request, and requests are limited. */
const MOST = 20_000;

const header = ['id', 'time', 'type', 'subject', 'actor', 'changes', 'data'];

const written = ({ field, before, after }: FieldChange) =>
  `${field}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`;

/** Saves the newest events that a query selects. Returns how many, and whether there are more. */
export async function exportEvents(query: object): Promise<{ count: number; hasMore: boolean }> {
  const events: Notification[] = [];
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const { list } = await call('listEvents', { query: { ...query, before, limit: eventPage.max } });
    events.push(...(list as readonly Notification[]));
    before = events.at(-1)?.id ?? 0;
    if (list.length < eventPage.max || events.length >= MOST) break;
  }
  await saveCsv(`devmgr-events-${new Date().toISOString().slice(0, 10)}.csv`, header, events, event => {
    const { id = null, timestamp, type, data, actor, changes = [] } = event;
    return [
      id,
      timestamp,
      type,
      subjectIn(data),
      actor?.name ?? null,
      changes.map(written).join('; '),
      JSON.stringify(data),
    ];
  });
  return { count: events.length, hasMore: events.length >= MOST };
}
