/**
 * Decodes files of people and devices as they arrive. In a wrong encoding müller and möller become one text, so bytes that do not
 * fit are reported with their line. The command line and the console share it; it has no I/O.
 */

/** The name of an encoding by one of its labels (WHATWG Encoding), such as `windows-1252` by `latin1`; null if the label is unknown. */
export function encodingNamed(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

/** Byte order marks. */
const marks = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
] as const;
/** Bytes of the longest mark. */
const MARK = 3;

/** The decoder writes this for bytes that do not fit. In a file it stands for a character that was lost earlier, which is no better. */
const REPLACEMENT = '\ufffd';

/** The end of a line, as any system writes it. */
export const lineEnd = /\r\n|\r|\n/;

/** A text of UTF-8 without its byte order mark. */
export const withoutMark = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text);

/**
 * Decodes by the byte order mark, which is not part of the text, else by the named encoding, else UTF-8. Each line of the text ends
 * with a line feed, whatever the file has.
 */
export class TextFileDecoder {
  readonly #named: string | null;
  #decoder: TextDecoder | null = null;
  /** The first bytes, as long as a mark can follow. */
  #head: readonly number[] = [];
  /** The last character was a carriage return: a line feed after it is of the same line end. */
  #afterReturn = false;
  /** Line of the next character, counted from 1. */
  #line = 1;
  #invalid: number | null = null;

  /** `named`: from `encodingNamed`, or null. */
  constructor(named: string | null) {
    this.#named = named;
  }

  /** Name of the encoding in lower case. */
  get encoding(): string {
    return this.#decoder?.encoding ?? this.#named ?? 'utf-8';
  }

  /** Line of the first bytes that are not valid in the encoding; null if there are none. */
  get invalidLine(): number | null {
    return this.#invalid;
  }

  /** The text of these bytes, which may end within a character. */
  decode(bytes: Uint8Array): string {
    if (this.#decoder !== null) return this.#checked(this.#decoder.decode(bytes, { stream: true }));
    if (this.#head.length + bytes.length < MARK) {
      this.#head = [...this.#head, ...bytes];
      return '';
    }
    return this.#start(bytes);
  }

  /** The text of what is left: a character that is cut off is not valid. */
  end(): string {
    const start = this.#decoder === null ? this.#start(new Uint8Array()) : '';
    return start + this.#checked(this.#decoder?.decode() ?? '');
  }

  #start(bytes: Uint8Array): string {
    const head = this.#head;
    const begin = [...head, ...bytes.subarray(0, MARK)];
    const marked = marks.find(mark => mark.bytes.every((byte, at) => begin[at] === byte))?.encoding;
    // A mark is stronger than the name, as in the decode algorithm of WHATWG: as windows-1252 it would be letters.
    this.#decoder = new TextDecoder(marked ?? this.#named ?? 'utf-8');
    return this.#checked(
      this.#decoder.decode(Uint8Array.from(head), { stream: true }) + this.#decoder.decode(bytes, { stream: true }),
    );
  }

  #checked(decoded: string): string {
    const text = this.#withLineFeeds(decoded);
    if (this.#invalid !== null) return text;
    const lost = text.indexOf(REPLACEMENT);
    const end = lost < 0 ? text.length : lost;
    for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) this.#line++;
    if (lost >= 0) this.#invalid = this.#line;
    return text;
  }

  #withLineFeeds(decoded: string): string {
    const text = this.#afterReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    if (decoded !== '') this.#afterReturn = decoded.endsWith('\r');
    return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  }
}
