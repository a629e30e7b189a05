/** Reads LDIF (RFC 2849): an object for each entry, with the first value of each attribute. */
import type { RawRow, RawRows } from './raw.ts';
import { type Line, linesOf } from './text.ts';

const MOST_ATTRIBUTES = 1_000;

/** The entries. Comments, `version:` and changes are not rows. Throws `TooLong`. */
export async function* readLdif(chunks: AsyncIterable<string>): RawRows {
  const entry = new Entry();
  for await (const lines of linesOf(chunks)) yield lines.flatMap(line => entry.add(line));
  yield entry.end();
}

class Entry {
  #start = 0;
  #values = new Map<string, string>();
  #open: { name: string; text: string; isEncoded: boolean } | null = null;

  /** The entry that ends with this line. */
  add({ line, text }: Line): readonly RawRow[] {
    if (text.startsWith(' ')) {
      if (this.#open !== null) this.#open.text += text.slice(1);
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
    const [position, values] = [{ line: this.#start }, this.#values];
    this.#start = 0;
    this.#values = new Map();
    return values.has('dn') && values.size > 1 ? [{ position, object: Object.fromEntries(values) }] : [];
  }

  #close(): void {
    if (this.#open === null) return;
    const { name, text, isEncoded } = this.#open;
    this.#open = null;
    if (!this.#values.has(name) && this.#values.size < MOST_ATTRIBUTES)
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
