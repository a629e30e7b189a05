/** The text of an input file, in pieces. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { TextFileDecoder } from '../../contract/text-file.ts';
import { type Fault, usage } from '../fault.ts';
import { nameOf } from './input-file.ts';

/** UTF-16 units per piece, which limits the error of `Input.consumed`. */
const pieceLength = 1024;

/** An input that is read as text. */
export interface InputSource {
  /** `-` is standard input. */
  readonly file: string;
  readonly stdin: Readable;
  /** See `encodingOf`. */
  readonly encoding: string | null;
}

/**
 * The text of an input, which is opened when its first piece is wanted. `onInvalid` gets a fault once if bytes are not valid in the encoding, and may throw it; the text
 * of such bytes has U+FFFD. `count` gets the bytes of each piece once it is consumed.
 */
export async function* inputText(
  { file, stdin, encoding }: InputSource,
  onInvalid: (fault: Fault) => void,
  count?: (bytes: number) => void,
): AsyncGenerator<string> {
  const stream = file === '-' ? stdin : createReadStream(file, { highWaterMark: 256 * 1024 });
  const decoder = new TextFileDecoder(encoding);
  let isReported = false;
  const checked = (text: string) => {
    if (decoder.invalidLine !== null && !isReported) {
      isReported = true;
      onInvalid(notInEncoding(nameOf(file), decoder.invalidLine, decoder.encoding));
    }
    return text;
  };
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    const text = checked(decoder.decode(bytes));
    for (let at = 0; at < text.length; at += pieceLength) {
      const piece = text.slice(at, at + pieceLength);
      yield piece;
      count?.((bytes.length * piece.length) / text.length);
    }
  }
  const rest = checked(decoder.end());
  if (rest !== '') yield rest;
}

/** Why an input is not in its encoding. */
function notInEncoding(name: string, line: number, encoding: string): Fault {
  const hint =
    encoding === 'utf-8'
      ? 'save it as UTF-8 (in Excel "CSV UTF-8"), or name its encoding: --encoding windows-1252'
      : 'name the encoding in which the file was saved: --encoding NAME';
  return usage(`${name}, line ${line}: it is not valid ${encoding.toUpperCase()}`, hint);
}
