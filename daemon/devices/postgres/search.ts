/** The words of a search: what they find is looked up first, so that the statement of the page names values that its indexes have. */
import type { SearchField, SearchWord } from '../../../src/contract/search-words.ts';
import { Conditions, likeAnywhere } from '../../store/postgres/conditions.ts';
import type { Readers } from '../../store/postgres/readers.ts';
import { tagArray } from '../../store/postgres/tags.ts';
import type { DeviceFilter } from '../queries.ts';
import { keywordTerm } from './keyword.ts';

/** The values that contain a word, and the devices that a note or a name of a person leads to. */
type FoundValues = Readonly<Partial<Record<FoundKind, readonly string[]>>>;
type FoundKind = 'maker' | 'model' | 'user' | 'tag' | 'device';

interface FoundWord extends SearchWord {
  /** Absent if they are too many to be named: each statement looks them up. */
  readonly found?: FoundValues;
}

/** Values of a word that a statement names. */
const mostFound = 2000;

const foundOf = (word: SearchWord): FoundValues | undefined => (word as FoundWord).found;

/** Whether a word has found too many values. */
export const isBroad = ({ search = [] }: DeviceFilter): boolean => search.some(word => foundOf(word) === undefined);

/** The words with what they have found. */
export async function findWords(readers: Readers, words: readonly SearchWord[]): Promise<readonly FoundWord[]> {
  const conditions = new Conditions();
  const parts = words.flatMap((word, i) =>
    valuesOf(conditions, word).map(sql => `(SELECT ${i} AS word, v.* FROM (${sql}) AS v LIMIT ${mostFound + 1})`),
  );
  if (parts.length === 0) return words.map(word => ({ ...word, found: {} }));
  const { rows } = await readers.runOnce(parts.join(' UNION ALL '), conditions.values);
  const byWord = Map.groupBy(rows as unknown as readonly FoundRow[], ({ word }) => word);
  return words.map((word, i) => {
    const some = byWord.get(i) ?? [];
    if (some.length > mostFound) return word;
    const kinds = [...Map.groupBy(some, ({ kind }) => kind)];
    return { ...word, found: Object.fromEntries(kinds.map(([kind, of]) => [kind, of.map(({ key }) => key).sort()])) };
  });
}

interface FoundRow {
  readonly word: number;
  readonly kind: FoundKind;
  readonly key: string;
}

const inModels = (line: 1 | 2) => `split_part(value, E'\\n', ${line})`;
const described = { maker: inModels(1), model: inModels(2) };

/** Queries of the values that contain the word, with columns kind and key. */
function valuesOf(conditions: Conditions, { text, in: fields }: SearchWord): string[] {
  const like = conditions.value(likeAnywhere(text));
  const has = (field: SearchField) => fields.includes(field);
  const kinds = fields.filter(field => field === 'user' || field === 'tag').map(kind => `'${kind}'`);
  return [
    ...(['maker', 'model'] as const).filter(has).map(
      field => `SELECT DISTINCT '${field}' AS kind, ${described[field]} AS key FROM tally
        WHERE subject = 'model' AND search_fold(${described[field]}) LIKE ${like}`,
    ),
    ...(kinds.length > 0
      ? [`SELECT kind, key FROM search_text WHERE kind IN (${kinds.join(', ')}) AND text LIKE ${like}`]
      : []),
    ...(has('note') ? [`SELECT 'device', key FROM search_text WHERE kind = 'note' AND text LIKE ${like}`] : []),
    ...(has('name')
      ? [
          `SELECT 'device', device.number::text FROM search_text AS s JOIN device ON person = s.key::int8
            WHERE s.kind = 'name' AND s.text LIKE ${like}`,
        ]
      : []),
  ];
}

/** The term of devices with one of these tags: an expression for their array. */
type Tagged = (tags: string) => string;
/** Of present devices: their marks are looked up. */
export const taggedNow: Tagged = tags =>
  `number = ANY (ARRAY(SELECT m.number FROM device_mark AS m WHERE m.mark IN (SELECT 'tag:' || tag FROM unnest(${tags}) AS tag)))`;
/** Of rows that can be earlier ones. */
export const taggedThen: Tagged = tags => `tags IS NOT NULL AND ${tagArray} && ${tags}`;

/** The term of a word. */
export function wordTerm(conditions: Conditions, word: SearchWord, tagged: Tagged): string {
  const found = foundOf(word);
  const terms = found ? termsOf(conditions, found, tagged) : broadTerms(conditions, word);
  if (word.in.includes('id')) terms.push(keywordTerm(conditions, word.text));
  return terms.length === 0 ? 'false' : `(${terms.map(term => `(${term})`).join(' OR ')})`;
}

const columns = { maker: 'manufacturer', model: 'model', user: 'user_key' } as const;

function termsOf(conditions: Conditions, found: FoundValues, tagged: Tagged): string[] {
  const texts = (values: readonly string[]) => `${conditions.value(values)}::text[]`;
  return [
    ...(['maker', 'model', 'user'] as const).flatMap(kind =>
      found[kind] ? [`${columns[kind]} = ANY (${texts(found[kind])})`] : [],
    ),
    ...(found.tag ? [tagged(texts(found.tag))] : []),
    ...(found.device ? [`number = ANY (${conditions.value(found.device.map(Number))}::int8[])`] : []),
  ];
}

/** Terms that find the values while they are evaluated. */
function broadTerms(conditions: Conditions, { text, in: fields }: SearchWord): string[] {
  const like = conditions.value(likeAnywhere(text));
  const keys = (kind: string) => `SELECT key FROM search_text WHERE kind = '${kind}' AND text LIKE ${like}`;
  const makes = (field: 'maker' | 'model') =>
    `${columns[field]} IN (SELECT ${described[field]} FROM tally WHERE subject = 'model' AND search_fold(${described[field]}) LIKE ${like})`;
  const terms: Readonly<Record<Exclude<SearchField, 'id'>, string>> = {
    maker: makes('maker'),
    model: makes('model'),
    user: `user_key LIKE ${like}`,
    name: `person IN (SELECT key::int8 FROM (${keys('name')}) AS s)`,
    note: `number IN (SELECT key::int8 FROM (${keys('note')}) AS s)`,
    tag: `tags IS NOT NULL AND number IN (SELECT m.number FROM (${keys('tag')}) AS s JOIN device_mark AS m ON m.mark = 'tag:' || s.key)`,
  };
  return fields.filter(field => field !== 'id').map(field => terms[field]);
}
