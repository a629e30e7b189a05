/** The texts by which a search finds devices beside their ids, serial numbers, manufacturers and models. */
import { personKey } from '../../../src/contract/person-key.ts';
import type { SearchWord } from '../../../src/contract/search-words.ts';
import { noTags, type Tags } from '../../../src/contract/tags.ts';
import type { Statements } from '../../store/sqlite/statements.ts';
import type { DeviceRecord } from '../records.ts';

/** What a text belongs to: see `searchTexts`. */
export type TextKind = 'user' | 'tag' | 'note' | 'name';

const add = 'INSERT OR IGNORE INTO search_text (kind, key, text) VALUES (?, ?, ?)';
const remove = 'DELETE FROM search_text WHERE kind = ? AND key = ?';
const setNote = `INSERT INTO search_text (kind, key, text) VALUES ('note', ?, ?)
  ON CONFLICT (kind, key) DO UPDATE SET text = excluded.text`;
const unusedUser = `${remove} AND NOT EXISTS (SELECT 1 FROM device WHERE user_key = ?)`;
const unusedTag = `${remove} AND NOT EXISTS (SELECT 1 FROM device_tag WHERE name = ? AND value = ?)`;

type Searched = Pick<DeviceRecord, 'number' | 'userKey' | 'tags' | 'note'>;
const nothing: Omit<Searched, 'number'> = { userKey: null, tags: noTags, note: null };

/** Keeps the texts of a device that was written. To be called after its row and its tags. */
export function writeSearched(statements: Statements, earlier: Searched | null, after: Searched): void {
  const before = earlier ?? nothing;
  if (after.userKey !== before.userKey) {
    if (after.userKey !== null) statements.run(add, 'user', after.userKey, after.userKey);
    if (before.userKey !== null) statements.run(unusedUser, 'user', before.userKey, before.userKey);
  }
  if (after.tags !== before.tags) writeTags(statements, before.tags, after.tags);
  if (after.note === before.note) return;
  if (after.note === null) statements.run(remove, 'note', String(after.number));
  else statements.run(setNote, String(after.number), personKey(after.note));
}

function writeTags(statements: Statements, before: Tags, after: Tags): void {
  for (const [name, value] of Object.entries(after))
    if (before[name] !== value) statements.run(add, 'tag', `${name}:${value}`, personKey(`${name}:${value}`));
  for (const [name, value] of Object.entries(before))
    if (after[name] !== value) statements.run(unusedTag, 'tag', `${name}:${value}`, name, value);
}

/** A text that contains a word. */
export interface FoundText {
  readonly number: number;
  readonly kind: TextKind;
  readonly key: string;
}

/** Texts that are found between two yields. */
const portion = 200;
/** Texts that are read between two yields, to find a word that is too short for the index: 1 ms. */
const stretch = 4000;

const indexed = `SELECT s.number, kind, key FROM
  (SELECT rowid FROM search_trigram WHERE search_trigram MATCH ? AND rowid > ? ORDER BY rowid LIMIT ${portion}) AS found
  CROSS JOIN search_text AS s ON s.number = found.rowid ORDER BY s.number`;
const read = 'SELECT number, kind, key FROM search_text WHERE number > ? AND number <= ? AND instr(text, ?) > 0';

/** The texts that contain the word, in portions, each of which is read when it is asked for. */
export function* textsWith(statements: Statements, { text, in: fields }: SearchWord): Generator<readonly FoundText[]> {
  const ofFields = (found: readonly FoundText[]) => found.filter(({ kind }) => fields.includes(kind));
  if ([...text].length < 3) {
    const last = statements.value<number | null>('SELECT max(number) FROM search_text') ?? 0;
    for (let after = 0; after < last; after += stretch)
      yield ofFields(statements.all<FoundText>(read, after, after + stretch, text));
    return;
  }
  const phrase = `"${text.replaceAll('"', '""')}"`;
  for (let after = 0; ; ) {
    const found = statements.all<FoundText>(indexed, phrase, after);
    if (found.length > 0) yield ofFields(found);
    if (found.length < portion) return;
    after = found.at(-1)!.number;
  }
}
