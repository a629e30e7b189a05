/**
 * The file of a lot as makers of SIM cards write it (`.out`, `.inp`): lines with the order, `var_out:` with the names of variables, and a
 * line of values for each card. An order has the first values and the quantity instead: they are a range.
 */
import { checkDigitsLike } from '../contract/iccid.ts';
import type { RawRow, RawRows } from './raw.ts';
import { eachLine } from './text.ts';

const variables = /^ ?var_?(out|in)\s?:(.*)$/i;

/** Whether the start of a text is that of such a file. */
export const isSimFile = (start: string): boolean => start.split('\n').some(line => variables.test(line));

/** The cards. */
export async function* readSimFile(text: AsyncIterable<string>): RawRows {
  const order: Record<string, string> = {};
  let names: readonly string[] | null = null;
  let cards = 0;
  let last = 1;
  for await (const { line, text: written } of eachLine(text)) {
    last = line;
    const content = written.trim();
    const [, kind, list] = variables.exec(content) ?? [];
    if (content === '' || content.startsWith('*')) continue;
    if (kind !== undefined) names = namesOf(list!) ?? names;
    else if (/^[\w .-]{1,60}:/.test(content)) order[keyOf(content)] = content.slice(content.indexOf(':') + 1).trim();
    else if (names !== null) {
      cards++;
      yield [cardOf(names, content.split(/\s+/), line)];
    }
  }
  if (cards === 0) yield orderedCards(order, last);
}

const keyOf = (content: string): string =>
  content
    .slice(0, content.indexOf(':'))
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '');

/** The names of variables; null for a line without any: they are in the lines below it. */
function namesOf(list: string): readonly string[] | null {
  const names = list.split('/').map(name => name.trim());
  return names.length > 1 || names[0] !== '' ? names : null;
}

function cardOf(names: readonly string[], values: readonly string[], line: number): RawRow {
  const position = { line };
  if (values.length !== names.length)
    return { position, problem: `the line has ${values.length} values, var_out names ${names.length}` };
  return {
    position,
    object: { deviceType: 'SIMKEY', ...Object.fromEntries(names.map((name, i) => [name, values[i]])) },
  };
}

/** The cards of an order: the first number, and how many. */
function orderedCards(
  { iccid, sernb = iccid, quantity = '' }: Readonly<Record<string, string>>,
  line: number,
): RawRow[] {
  const count = /^\d{1,12}$/.test(quantity) ? Number(quantity) : 0;
  if (sernb === undefined || !/^\d{5,30}$/.test(sernb) || count === 0) return [];
  const digitOf = checkDigitsLike(sernb);
  const body = digitOf === null ? sernb : sernb.slice(0, -1);
  const end = String(BigInt(body) + BigInt(count - 1)).padStart(body.length, '0');
  const lastSerial = end + (digitOf?.(end) ?? '');
  return [{ position: { line }, object: { deviceType: 'SIMKEY', firstSerial: sernb, lastSerial } }];
}
