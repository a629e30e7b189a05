/** The text of an input file, in pieces. */
import type { Readable } from 'node:stream';

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

/** UTF-16 units per piece, which limits the error of `Input.consumed`. */
const pieceLength = 1024;

/**
 * The text of an input in UTF-8, or in UTF-16 with a byte order mark, as Excel saves "Unicode text". `count` gets the bytes of each
 * piece once it is consumed.
 */
export async function* decode(stream: Readable, count: (bytes: number) => void): AsyncGenerator<string> {
  let decoder: TextDecoder | null = null;
  let head = Buffer.alloc(0);
  for await (const chunk of stream) {
    let bytes = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
    if (decoder === null) {
      head = Buffer.concat([head, bytes]);
      // A byte order mark has two bytes in UTF-16.
      if (head.length < 2) continue;
      decoder = new TextDecoder(encodingOf(head));
      bytes = head;
    }
    const text = decoder.decode(bytes, { stream: true });
    for (let at = 0; at < text.length; at += pieceLength) {
      const piece = text.slice(at, at + pieceLength);
      yield piece;
      count((bytes.length * piece.length) / text.length);
    }
  }
  const rest = decoder === null ? new TextDecoder().decode(head) : decoder.decode();
  if (rest !== '') yield rest;
}

function encodingOf([first, second]: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}
