/** The text of an input that arrives in chunks, where something is in it, and why it cannot be read. */

/** Where a row or its result is in the input. */
export interface Position {
  /** Counted from 1. */
  readonly line: number;
  /** Which element of a JSON array, counted from 1: a whole array may be on one line. */
  readonly item?: number;
}

/** `line 7`, or `item 7` of an array. */
export const positionText = ({ line, item }: Position): string =>
  item === undefined ? `line ${line}` : `item ${item}`;

/** UTF-16 units of a line or value. One with a device has a few thousand; a longer one has no end, as in /dev/zero. */
const maxLength = 2 ** 20;

/** A part of an input is too long to be read. */
export class TooLong extends Error {
  constructor(what: string) {
    super(`${what} has more than 1 MiB`);
  }
}

/** Throws `TooLong`, which names `what`, if the text is too long for a line or value. */
export function checkLength(text: string, what: string): void {
  if (text.length > maxLength) throw new TooLong(what);
}

/** The first chunk that holds more than white space, and the rest. */
export async function peek(text: AsyncGenerator<string>): Promise<[string, AsyncGenerator<string>]> {
  let first = '';
  for (;;) {
    const { value, done } = await text.next();
    if (done) return [first, text];
    first += value;
    if (value.trim() !== '') return [first, text];
    checkLength(first, 'the white space at its start');
  }
}

/** Whether the text has no further chunk. */
export async function isAtEnd(text: AsyncGenerator<string>): Promise<boolean> {
  const { done } = await text.next();
  return done === true;
}

/** The text again, after its first chunk was read. */
export async function* concatenated(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}
