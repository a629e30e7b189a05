/** The term of a keyword, in an index of ids and serial numbers. */
import { type Conditions, likeAnywhere } from '../../store/postgres/conditions.ts';
import { likeId } from '../../store/postgres/list-tables.ts';
import { searchText } from '../../store/postgres/migrations.ts';
import type { DeviceFilter } from '../queries.ts';

const idPrefix = 'dev-';

/** The term of a part of an id or serial number. */
export function keywordTerm(conditions: Conditions, keyword: string): string {
  const lower = keyword.replace(/[A-Z]+/g, letters => letters.toLowerCase());
  // Every id contains it.
  if (idPrefix.includes(lower)) return 'true';
  // Only the separator between id and serial number has a line break.
  if (lower.includes('\n')) return 'false';
  return /^dev-\d{1,15}$/.test(lower) ? startOfIds(conditions, lower) : searchedTerm(conditions, lower);
}

/**
 * The index is searched for a few parts of the keyword, and the rows that it finds for all of it: each part is a list of devices that the
 * index reads. It goes through the list of the first part, and looks its entries up in the others.
 */
function searchedTerm(conditions: Conditions, keyword: string): string {
  const parts = searchParts(keyword);
  const like = (part: string) => `${searchText} LIKE ${conditions.value(likeAnywhere(part))}`;
  if (parts.length < 2) return like(keyword);
  return [...parts.map(like), `position(${conditions.value(keyword)} in ${searchText}) > 0`].join(' AND ');
}

/** Parts that the index is searched for. Each further one reads a list more, and excludes next to nothing. */
const mostParts = 6;

/** Trigrams of a keyword in lower case, the last one first: many serial numbers have their beginning in common. */
export function searchParts(keyword: string): string[] {
  const words = keyword.match(/[a-z\d]{3,}/g) ?? [];
  return words.flatMap(trigramsOf).reverse().slice(0, mostParts);
}

/** As few trigrams as have all of a word, but three of one that has them: two find many other devices. */
function trigramsOf(word: string): string[] {
  const last = word.length - 3;
  const count = Math.min(last + 1, Math.max(3, Math.ceil(word.length / 3)));
  return Array.from({ length: count }, (_, i) => Math.round((i * last) / Math.max(count - 1, 1))).map(at =>
    word.slice(at, at + 3),
  );
}

/** The numbers whose digits begin with those of the keyword, and serial numbers that have it: an index of its own for each part. */
function startOfIds(conditions: Conditions, keyword: string): string {
  const digits = keyword.slice(idPrefix.length);
  const inSerial = `${likeId} AND lower(serial_number COLLATE "C") LIKE ${conditions.value(likeAnywhere(keyword))}`;
  return `(${[...rangesOf(digits), inSerial].join(' OR ')})`;
}

/** Ids have no zeros in front. */
function* rangesOf(digits: string): Generator<string> {
  if (digits.startsWith('0')) return;
  for (
    let [first, count] = [Number(digits), 1];
    first < Number.MAX_SAFE_INTEGER;
    [first, count] = [first * 10, count * 10]
  )
    yield `number BETWEEN ${first} AND ${first + count - 1}`;
}

/** Whether a keyword has three letters or digits in a row, which the index for keywords needs to find few devices fast; or a search. */
export const isSelective = ({ keyword = '', search = [] }: DeviceFilter): boolean =>
  [keyword, ...search.map(({ text }) => text)].some(text => /[a-z\d]{3}/i.test(text));
