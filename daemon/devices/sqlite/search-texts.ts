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

/** Texts that are looked up in the index between two yields: to continue after a text, it reads its lists from their beginning. */
const portion = 1000;
/** Texts that are returned together. */
const together = 200;
/** Texts that are read between two yields, to find a word that is too short for the index: 1 ms. */
const stretch = 4000;

const indexed = `SELECT s.number, kind, key, instr(text, ?) > 0 AS isFound FROM
  (SELECT rowid FROM search_trigram WHERE search_trigram MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?) AS found
  CROSS JOIN search_text AS s ON s.number = found.rowid ORDER BY s.number`;
const read = 'SELECT number, kind, key FROM search_text WHERE number > ? AND number <= ? AND instr(text, ?) > 0';

const quoted = (part: readonly string[]): string => `"${part.join('').replaceAll('"', '""')}"`;

/** The texts that contain the word, in portions, each of which is read when it is asked for. */
export function* textsWith(statements: Statements, word: SearchWord): Generator<readonly FoundText[]> {
  const letters = [...word.text];
  for (const found of letters.length < 3 ? textsOfFew(statements, word) : textsOfMany(statements, word, letters)) {
    const some = found.filter(({ kind }) => word.in.includes(kind));
    for (let i = 0; i < some.length; i += together) yield some.slice(i, i + together);
  }
}

function* textsOfFew(statements: Statements, { text }: SearchWord): Generator<readonly FoundText[]> {
  const last = statements.value<number | null>('SELECT max(number) FROM search_text') ?? 0;
  for (let after = 0; after < last; after += stretch)
    yield statements.all<FoundText>(read, after, after + stretch, text);
}

/**
 * The last trigram of the word is the rarest in most texts. If many texts have it, the first one is looked up too; all trigrams would read
 * the long lists of those that most texts have. The texts that are found are compared with the whole word.
 */
function* textsOfMany(
  statements: Statements,
  { text }: SearchWord,
  letters: readonly string[],
): Generator<readonly FoundText[]> {
  const look = (parts: string, after: number, limit = portion) =>
    statements.all<FoundText & { readonly isFound: number }>(indexed, text, parts, after, limit);
  const last = quoted(letters.slice(-3));
  const both = `${last} AND ${quoted(letters.slice(0, 3))}`;
  let some = look(last, 0, together);
  if (some.length === together) some = look(both, 0);
  for (;;) {
    yield some.filter(({ isFound }) => isFound === 1);
    if (some.length < portion) return;
    some = look(both, some.at(-1)!.number);
  }
}
