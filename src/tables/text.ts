/** The text of an input that arrives in chunks, its lines, and why it cannot be read. */
import { InvalidInput } from './fault.ts';

/** UTF-16 units of a line or value. One with a device has a few thousand; a longer one has no end, as in /dev/zero. */
const maxLength = 2 ** 20;

/** A part of an input is too long to be read. */
export class TooLong extends InvalidInput {
  constructor(what: string) {
    super({ what: 'too long', problem: `${what} has more than 1 MiB` });
  }
}

/** Throws `TooLong`, which names `what`, if the text is too long for a line or value. */
export function checkLength(text: string, what: string): void {
  if (text.length > maxLength) throw new TooLong(what);
}

/** The start of a text that holds more than white space and `isEnough` accepts, or all of it; and the whole text. */
export async function peek(
  chunks: AsyncIterable<string>,
  isEnough: (start: string) => boolean = () => true,
): Promise<{ readonly start: string; readonly isAll: boolean; readonly text: AsyncGenerator<string> }> {
  const text = chunks[Symbol.asyncIterator]();
  let start = '';
  let hasText = false;
  for (;;) {
    const { value, done } = await text.next();
    if (!done) start += value;
    hasText ||= !done && value.trim() !== '';
    if (done || (hasText && isEnough(start))) return { start, isAll: done === true, text: concatenated(start, text) };
    if (!hasText) checkLength(start, 'the white space at its start');
  }
}

async function* concatenated(first: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  try {
    yield first;
    for (let part = await rest.next(); !part.done; part = await rest.next()) yield part.value;
  } finally {
    await rest.return?.();
  }
}

/** A line of a text, without its end. */
export interface Line {
  readonly line: number;
  readonly text: string;
}

/** The lines that each chunk completes. Throws `TooLong`. */
export async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<readonly Line[]> {
  let rest = '';
  let line = 1;
  for await (const chunk of chunks) {
    const parts = chunk.split('\n');
    const last = parts.pop()!;
    if (parts.length > 0) {
      parts[0] = rest + parts[0]!;
      rest = '';
      yield parts.map(text => ({ line: line++, text }));
    }
    rest += last;
    checkLength(rest, `line ${line}`);
  }
  if (rest !== '') yield [{ line, text: rest }];
}

/** The lines that are not blank, one by one. Throws `TooLong`. */
export async function* eachLine(chunks: AsyncIterable<string>): AsyncGenerator<Line> {
  for await (const lines of linesOf(chunks)) yield* lines.filter(({ text }) => text.trim() !== '');
}

const mostListed = 50;
const longestListed = 100;

/** Names for a message: the first ones, and the number of the others. */
export function fewOf(names: readonly string[]): string {
  const shown = names.slice(0, mostListed).map(name => name.slice(0, longestListed));
  const others = names.length - shown.length;
  return others === 0 ? shown.join(', ') : `${shown.join(', ')} and ${others} more`;
}

/** A text without the parts between these marks, such as remarks in brackets. A mark without its end stays. */
export function withoutParts(text: string, ends: Readonly<Record<string, string>>): string {
  let rest = '';
  for (let at = 0; at < text.length; at++) {
    const end = ends[text[at]!];
    const close = end === undefined ? -1 : text.indexOf(end, at + 1);
    if (close < 0) rest += text[at];
    else at = close;
  }
  return rest;
}

/** The name of an element of XML without its prefix. */
export const localName = (name: string): string => name.slice(name.indexOf(':') + 1);
