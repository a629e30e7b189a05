import type { EventRecord } from '../../domain/journal.ts';
import { type JournalRow, toEvent } from '../chain.ts';
import type { EventFilter } from '../queries.ts';
import { Conditions } from './conditions.ts';
import type { Readers } from './readers.ts';

const columns = 'id, at, type, device, subject, actor, request_id, data, detail';

/** The entries that match, in the order of the filter. */
export async function readEvents(readers: Readers, filter: EventFilter): Promise<EventRecord[]> {
  const { after, before, through, limit, types, device, actor, from, to } = filter;
  const conditions = new Conditions();
  conditions.add('id >', after);
  if (before !== undefined && before !== Number.POSITIVE_INFINITY) conditions.add('id <', before);
  if (through !== undefined && through !== Number.POSITIVE_INFINITY) conditions.add('id <=', through);
  if (types !== undefined) conditions.addOneOf('type', types);
  if (device !== undefined) conditions.add('device =', device);
  if (actor !== undefined) conditions.add('actor =', actor);
  if (from !== undefined) conditions.add('at >=', from);
  if (to !== undefined) conditions.add('at <=', to);
  const order = before === undefined ? 'ASC' : 'DESC';
  const sql = `SELECT ${columns} FROM event ${conditions.where} ORDER BY id ${order} LIMIT ${conditions.value(limit)}`;
  const isPlain = [types, device, actor, from, to].every(value => value === undefined);
  // A stream reads the same statement again and again.
  const { rows } = isPlain
    ? await readers.run(sql, conditions.values, 'long')
    : await readers.runOnce(sql, conditions.values);
  return (rows as unknown as JournalRow[]).map(toEvent);
}
