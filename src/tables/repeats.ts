/** Rows that repeat an earlier one. */
import { type Position, positionText } from './raw.ts';

/** Rows of one file that are remembered. Of a longer one, the registry refuses what is there twice. */
const MOST = 1_000_000;

/** A row that was read before. */
export interface EarlierRow {
  readonly position: Position;
  /** As `earlier` got it: whether two rows have the same content. */
  readonly content: string;
}

/** Remembers the rows of a file by what they name. */
export class Repeats {
  readonly #rows = new Map<string, EarlierRow>();
  readonly #contents = new Map<string, string>();

  /** The earlier row with this key; null if there is none, and this one is remembered. */
  earlier(key: string, position: Position, content = ''): EarlierRow | null {
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    if (this.#rows.size < MOST) this.#rows.set(copied(key), { position, content: this.#shared(content) });
    return null;
  }

  #shared(content: string): string {
    const known = this.#contents.get(content);
    if (known !== undefined) return known;
    this.#contents.set(copied(content), content);
    return content;
  }
}

/** A part of a text keeps the whole text in memory: this one is of its own. */
const copied = (text: string): string => `.${text}`.slice(1);

/** `line 7 repeats line 2`. */
export const repeatsWords = (position: Position, earlier: Position): string =>
  `${positionText(position)} repeats ${positionText(earlier)}`;
