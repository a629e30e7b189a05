/** Tags of devices: as one text in the row of the device, and one row for each tag for lists that filter by them. */
import type { Tag, Tags } from '../../../src/contract/tags.ts';
import { hasTags, noTags } from '../../domain/device.ts';
import type { Statements } from './statements.ts';

/** Whether the database has tags: an older one is read as it is, by a check. */
export const storesTags = (statements: Statements): boolean =>
  statements.value(`SELECT 1 FROM sqlite_schema WHERE name = 'device_tag'`) !== undefined;

/** A record as SQLite stores it: tags are JSON, null if there are none. */
export type WithTagText<T extends { readonly tags: Tags }> = Omit<T, 'tags'> & { tags: string | null };

/** Turns a row into a record, in place: lists read hundreds of them. */
export function withTags<T extends { readonly tags: Tags }>(row: WithTagText<T>): T {
  (row as { tags: Tags | string | null }).tags = tagsOf(row.tags);
  return row as unknown as T;
}

/** The tags in a column. */
export const tagsOf = (text: string | null): Tags => (text === null ? noTags : (JSON.parse(text) as Tags));

/** The column for tags. */
export const tagText = (tags: Tags): string | null => (hasTags(tags) ? JSON.stringify(tags) : null);

/** Writes the rows of a new device's tags. */
export function addTagRows(statements: Statements, device: number, tags: Tags): void {
  if (tags === noTags) return;
  for (const [name, value] of Object.entries(tags))
    statements.run('INSERT INTO device_tag (name, value, device) VALUES (?, ?, ?)', name, value, device);
}

/** Replaces the tags of a device. */
export function setTags(statements: Statements, device: number, tags: Tags): void {
  const before = tagsOf(statements.value<string | null>('SELECT tags FROM device WHERE number = ?', device) ?? null);
  for (const [name, value] of without(before, tags))
    statements.run('DELETE FROM device_tag WHERE name = ? AND value = ? AND device = ?', name, value, device);
  addTagRows(statements, device, Object.fromEntries(without(tags, before)));
  statements.run('UPDATE device SET tags = ? WHERE number = ?', tagText(tags), device);
}

/** The tags that are not in `others` with the same value. */
const without = (tags: Tags, others: Tags) => Object.entries(tags).filter(([name, value]) => others[name] !== value);

/** The numbers of the devices with a tag, ascending: at most `limit` of them after the number `after`. */
export const devicesWithTag = (statements: Statements, { name, value }: Tag, after: number, limit: number): number[] =>
  statements.values<number>(
    'SELECT device FROM device_tag WHERE name = ? AND value = ? AND device > ? ORDER BY device LIMIT ?',
    name,
    value,
    after,
    limit,
  );

/** Every name that a tag has, sorted; at most `limit`. Jumps from name to name in the index, however many devices have one. */
export const tagNames = (statements: Statements, limit: number): string[] =>
  statements.values<string>(
    `WITH RECURSIVE names (name) AS (
       SELECT min(name) FROM device_tag
       UNION ALL
       SELECT (SELECT min(name) FROM device_tag WHERE name > names.name) FROM names WHERE names.name IS NOT NULL
     )
     SELECT name FROM names WHERE name IS NOT NULL LIMIT ?`,
    limit,
  );
