/** The kind of a file by its bytes: text in some encoding, a workbook, or something that a person must convert first. */
import { TextFileDecoder } from '../contract/text-file.ts';
import type { ForeignKind } from './fault.ts';

/** UTF-16 units of a piece of text, which limits the error of `consumed`. */
const PIECE = 2 * 1024;

const starts: readonly (readonly [kind: 'zip' | ForeignKind, bytes: readonly number[]])[] = [
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ['xls', [0xd0, 0xcf, 0x11, 0xe0]],
  ['gzip', [0x1f, 0x8b]],
  ['pdf', [0x25, 0x50, 0x44, 0x46]],
];

/** The kind of a file by its first bytes; null for text. `zip` may be a workbook. */
export const binaryKind = (head: Uint8Array): 'zip' | ForeignKind | null =>
  starts.find(([, bytes]) => bytes.every((byte, at) => head[at] === byte))?.[0] ?? null;

/** The name of an encrypted stream in a workbook with a password, in UTF-16. */
const encrypted = [...'EncryptedPackage'].flatMap(letter => [letter.charCodeAt(0), 0]);

/** Whether an OLE file is a workbook with a password. Only its first 64 KiB are searched. */
export function isLocked(head: Uint8Array): boolean {
  const last = Math.min(head.length, 2 ** 16) - encrypted.length;
  for (let at = 0; at <= last; at++) if (encrypted.every((byte, index) => head[at + index] === byte)) return true;
  return false;
}

const marks = [
  [0xef, 0xbb, 0xbf],
  [0xff, 0xfe],
  [0xfe, 0xff],
];

/** The encoding of UTF-16 without a mark, by the zero bytes of its first letters; null for any other text. */
export function encodingWithoutMark(head: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (marks.some(mark => mark.every((byte, at) => head[at] === byte))) return null;
  const zeros = [0, 0];
  const length = Math.min(head.length, 64) & ~1;
  for (let at = 0; at < length; at++) if (head[at] === 0) zeros[at % 2]!++;
  const pairs = length / 2;
  if (pairs === 0) return null;
  if (zeros[1]! > pairs * 0.7 && zeros[0] === 0) return 'utf-16le';
  return zeros[0]! > pairs * 0.7 && zeros[1] === 0 ? 'utf-16be' : null;
}

/** The bytes of an input, as text in pieces. */
export class TextInput {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #decoder: TextFileDecoder;
  /** Bytes of the pieces that were consumed. */
  consumed = 0;

  constructor(chunks: AsyncIterator<Uint8Array>, encoding: string | null) {
    this.#chunks = chunks;
    this.#decoder = new TextFileDecoder(encoding);
  }

  /** Name of the encoding in lower case. */
  get encoding(): string {
    return this.#decoder.encoding;
  }

  /** Line of the first bytes that are not valid in the encoding; null if there are none. Their text has U+FFFD. */
  get invalidLine(): number | null {
    return this.#decoder.invalidLine;
  }

  /** The text; each line ends with a line feed. `head`: bytes that were read before. */
  async *text(head: readonly Uint8Array[]): AsyncGenerator<string> {
    try {
      for (const bytes of head) yield* this.#pieces(bytes);
      for (let part = await this.#chunks.next(); !part.done; part = await this.#chunks.next())
        yield* this.#pieces(part.value);
      const rest = this.#decoder.end();
      if (rest !== '') yield rest;
    } finally {
      await this.#chunks.return?.();
    }
  }

  *#pieces(bytes: Uint8Array): Generator<string> {
    const text = this.#decoder.decode(bytes);
    for (let at = 0; at < text.length; at += PIECE) {
      const piece = text.slice(at, at + PIECE);
      yield piece;
      this.consumed += (bytes.length * piece.length) / text.length;
    }
    if (text === '') this.consumed += bytes.length;
  }
}

/** HTML and XML that programs call a spreadsheet; null for any other text. */
export function markupKind(start: string): ForeignKind | 'xml' | null {
  const head = start.slice(0, 4096).trimStart();
  if (!head.startsWith('<')) return null;
  if (/progid=["']?excel\.sheet|urn:schemas-microsoft-com:office:spreadsheet/i.test(head)) return 'xml workbook';
  return /<(!doctype html|html|head|body|table|meta|style)\b/i.test(head) ? 'html' : 'xml';
}
