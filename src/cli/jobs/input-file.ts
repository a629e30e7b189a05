/** The input file of a command: its name in messages, whether it can be read, its encoding, and its text in pieces. */
import { accessSync, constants, createReadStream, existsSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { encodingNamed, TextFileDecoder } from '../../contract/text-file.ts';
import { Fault, systemWords, usage } from '../fault.ts';

/** The flags that name what a run reads and writes. */
interface InputFlags {
  /** `-` is standard input. */
  readonly file: string;
  readonly out: string | undefined;
  readonly resume: boolean;
}

/** The file in words. */
export const nameOf = (file: string): string => (file === '-' ? 'standard input' : file);

/** A fault in one sentence, for a notice. */
export const noticeOf = ({ message, hint }: Fault): string => (hint === null ? message : `${message}: ${hint}`);

/** Whether a regular file has this name. */
export const isRegular = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;

/** Throws a usage fault if the input is not readable, cannot be resumed, or is also the file of results. */
export function checkInput({ file, out, resume }: InputFlags): void {
  if (file !== '-') checkReadable(file);
  if (out === undefined && resume && (file === '-' || !isRegular(file)))
    throw usage(
      `${nameOf(file)} can be resumed only if the results are in a file`,
      'name it with --out FILE, or omit --resume',
    );
  if (file === '-' || out === undefined || !existsSync(out)) return;
  const [input, results] = [statSync(file), statSync(out)];
  if (input.ino === results.ino && input.dev === results.dev) throw usage(`--out ${out} is the input file`);
}

function checkReadable(file: string): void {
  try {
    if (statSync(file).isDirectory()) throw usage(`${file} is a folder, not a file`);
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** The fault for an input that cannot be read; a fault stays as it is. */
export const unreadable = (file: string, error: unknown): Fault =>
  error instanceof Fault ? error : usage(`${nameOf(file)} cannot be read: ${systemWords(error)}`);

/** Effect of `--encoding`. */
export const encodingFlag = {
  value: 'NAME',
  help: 'encoding of the file, such as windows-1252 (default: UTF-8, or UTF-16 with a mark)',
} as const;

/** The name of the encoding; null without a label. Throws a usage fault if the label is unknown. */
export function encodingOf(label: string | undefined): string | null {
  const name = label === undefined ? null : encodingNamed(label);
  if (label === undefined || name !== null) return name;
  throw usage(`--encoding "${label}" is not a known encoding`, 'for example --encoding windows-1252');
}

/** UTF-16 units per piece, which limits the error of `Input.consumed`. */
const pieceLength = 1024;

/** An input that is read as text. */
export interface InputSource {
  /** `-` is standard input. */
  readonly file: string;
  readonly stdin: Readable;
  /** As `encodingOf` reads it. */
  readonly encoding: string | null;
}

/**
 * The text of an input, which is opened when its first piece is wanted. `onInvalid` gets a fault once if bytes are not valid in
 * the encoding, and may throw it; the text of such bytes has U+FFFD. `count` gets the bytes of each piece once it is consumed.
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

/** The fault for a file that is not in its encoding. */
export function notInEncoding(name: string, line: number, encoding: string): Fault {
  const hint =
    encoding === 'utf-8'
      ? 'save it as UTF-8 (in Excel "CSV UTF-8"), or name its encoding: --encoding windows-1252'
      : 'name the encoding in which the file was saved: --encoding NAME';
  return usage(`${name}, line ${line}: it is not valid ${encoding.toUpperCase()}`, hint);
}
