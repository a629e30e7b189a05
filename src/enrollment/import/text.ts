/** The text of an input that arrives in chunks, and why it cannot be read. */
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

/** The start of a text, up to the first chunk that holds more than white space, and the whole text. */
export async function peek(text: AsyncGenerator<string>): Promise<[start: string, text: AsyncGenerator<string>]> {
  let start = '';
  for (;;) {
    const { value, done } = await text.next();
    if (!done) start += value;
    if (done || value.trim() !== '') return [start, concatenated(start, text)];
    checkLength(start, 'the white space at its start');
  }
}

async function* concatenated(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}
