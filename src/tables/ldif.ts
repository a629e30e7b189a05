/** Reads LDIF (RFC 2849): an object for each entry, with the first value of each attribute. */
import type { RawRow, RawRows } from './raw.ts';
import { isSecretName } from './secrets.ts';
import { type Line, linesOf } from './text.ts';

const MOST_ATTRIBUTES = 1_000;
/** Characters of a value, as it is written. A longer one, such as a photo, is left out. */
const MOST_TEXT = 65_536;

/** The entries. Comments, `version:` and changes are not rows. Throws `TooLong`. */
export async function* readLdif(chunks: AsyncIterable<string>): RawRows {
  const entry = new Entry();
  for await (const lines of linesOf(chunks)) yield lines.flatMap(line => entry.add(line));
  yield entry.end();
}

class Entry {
  #start = 0;
  #values = new Map<string, string>();
  /** A value has the attribute of another line in it, which may be that of a secret. */
  #isJoined = false;
  #open: { name: string; text: string; isEncoded: boolean } | null = null;

  /** The entry that ends with this line. */
  add({ line, text }: Line): readonly RawRow[] {
    if (text.startsWith(' ')) {
      if (this.#open !== null && this.#open.text.length <= MOST_TEXT) this.#open.text += text.slice(1);
      return [];
    }
    this.#close();
    if (text.startsWith('#')) return [];
    if (text.trim() === '') return this.end();
    const colon = text.indexOf(':');
    if (colon <= 0) return [{ position: { line }, problem: 'not a line of LDIF, which is NAME: VALUE' }];
    if (this.#start === 0) this.#start = line;
    const isEncoded = text[colon + 1] === ':';
    // Options of an attribute (`cn;lang-de`) do not matter.
    const name = text.slice(0, colon).split(';')[0]!;
    this.#open = { name, text: text.slice(colon + (isEncoded ? 2 : 1)).trimStart(), isEncoded };
    return [];
  }

  end(): readonly RawRow[] {
    this.#close();
    const [position, values, isJoined] = [{ line: this.#start }, this.#values, this.#isJoined];
    this.#start = 0;
    this.#values = new Map();
    this.#isJoined = false;
    if (isJoined) return [{ position, problem: 'two lines are joined, and the second one may be that of a secret' }];
    return values.has('dn') && values.size > 1 ? [{ position, object: Object.fromEntries(values) }] : [];
  }

  #close(): void {
    if (this.#open === null) return;
    const { name, text, isEncoded } = this.#open;
    this.#open = null;
    this.#isJoined ||= !isEncoded && text.includes(':') && !isSecretName(name) && isSecretName(text.split(':', 1)[0]!);
    if (!this.#values.has(name) && this.#values.size < MOST_ATTRIBUTES && text.length <= MOST_TEXT)
      this.#values.set(name, isEncoded ? decoded(text) : text);
  }
}

function decoded(base64: string): string {
  try {
    const bytes = Uint8Array.from(atob(base64.trim()), symbol => symbol.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  } catch {
    return '\ufffd';
  }
}
