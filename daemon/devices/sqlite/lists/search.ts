/** The devices that a word of a search finds. */
import type { SearchWord } from '../../../../src/contract/search-words.ts';
import type { Statements } from '../../../store/sqlite/statements.ts';
import { type FoundText, type TextKind, textsWith } from '../search-texts.ts';
import { type Bits, setBit } from './bits.ts';
import type { IndexedSets } from './indexed-sets.ts';

/** Most texts whose devices are taken from their sets; those of more texts are read together, unless they are many. */
const fewTexts = 20;
/** Devices that are read together. */
const mostRead = 5000;

const ofTexts: Readonly<Record<Exclude<TextKind, 'note'>, string>> = {
  user: 'SELECT d.number FROM json_each(?) AS k CROSS JOIN device AS d ON d.user_key = k.value',
  name: 'SELECT d.number FROM json_each(?) AS k CROSS JOIN device AS d ON d.person = CAST(k.value AS INTEGER)',
  tag: `SELECT t.device FROM json_each(?) AS k CROSS JOIN device_tag AS t
    ON t.name = substr(k.value, 1, instr(k.value, ':') - 1) AND t.value = substr(k.value, instr(k.value, ':') + 1)`,
};

/** The sets of devices with a text, by its kind. */
export type TextSetsByKind = Readonly<Record<Exclude<TextKind, 'note'>, IndexedSets>>;

/** Adds the devices up to `last` whose user, name of the person, note or tags contain the word. Yields regularly. */
export function* addDevicesWith(
  word: SearchWord,
  statements: Statements,
  sets: TextSetsByKind,
  { bits, last }: { readonly bits: Bits; readonly last: number },
): Generator<void, void> {
  const addAll = (numbers: Iterable<number>) => {
    for (const n of numbers) if (n <= last) setBit(bits, n);
  };
  for (const found of textsWith(statements, word)) {
    yield;
    for (const [kind, texts] of Map.groupBy(found, text => text.kind)) {
      if (kind === 'note') addAll(keysOf(texts).map(Number));
      else {
        const numbers = texts.length > fewTexts ? readTogether(statements, kind, texts) : null;
        if (numbers) addAll(numbers);
        else for (const key of keysOf(texts)) (sets[kind].find(key) ?? (yield* sets[kind].read(key))).addTo(bits);
      }
    }
  }
}

const keysOf = (texts: readonly FoundText[]) => texts.map(({ key }) => key);

/** The devices with these texts; null if they are many. */
function readTogether(
  statements: Statements,
  kind: Exclude<TextKind, 'note'>,
  texts: readonly FoundText[],
): readonly number[] | null {
  const numbers = statements.values<number>(`${ofTexts[kind]} LIMIT ${mostRead}`, JSON.stringify(keysOf(texts)));
  return numbers.length < mostRead ? numbers : null;
}
