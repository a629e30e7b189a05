/** Questions whose answer is searched for: one choice of many, or several. */

import { count } from '../count.ts';
import { errorWords } from '../fault.ts';
import { type Asker, ask, type Check, demandDrawing, pageSize, shown } from './prompt.ts';
import { type Theme, themeOf } from './prompt-theme.ts';
import type { SearchMatches } from './search-list.ts';
import { safe } from './text.ts';

export type { SearchMatches } from './search-list.ts';

/** A search for a text. */
export interface Search {
  /** Aborts when another text is searched for, and at the end of the question. */
  readonly signal: AbortSignal;
  /** Shows what the search waits for, in the line below the list, until it ends. */
  readonly note: (text: string) => void;
}

/**
 * Finds choices for what was typed, without white space at its ends (`''` at first). An error of the search is shown, and
 * another text searches again.
 */
export type ChoiceSource<T> = (typed: string, search: Search) => Promise<SearchMatches<T>>;

/** One of many choices, searched for while a person types. `check` judges the one that is chosen; `typed` is searched for first. */
export async function searchOne<T>(
  out: Asker,
  message: string,
  source: ChoiceSource<T>,
  check: Check<T> = () => null,
  typed = '',
): Promise<T> {
  const [value] = await askFor(out, message, source, { many: false, check, typed });
  return value!;
}

/** Several of many choices, at least one: the space bar marks, and marks stay while other texts are searched for. */
export const searchMany = <T>(out: Asker, message: string, source: ChoiceSource<T>): Promise<readonly T[]> =>
  askFor(out, message, source, { many: true, check: () => null, typed: '' });

function askFor<T>(
  out: Asker,
  message: string,
  source: ChoiceSource<T>,
  how: { readonly many: boolean; readonly check: Check<T>; readonly typed: string },
): Promise<readonly T[]> {
  demandDrawing(out, message);
  const list = new ShownSearch(out, source);
  return ask(out, message, async (_, context) => {
    const { search } = await import('./search-prompt.ts');
    const options = {
      ...how,
      message: safe(message),
      source: (typed: string, signal: AbortSignal) => list.find(typed, signal),
      pageSize: list.pageSize,
      columns: () => list.columns,
      tip: (keys: string) => list.tip(keys),
      theme: list.theme,
    };
    return search(options, context);
  });
}

/** Rows of a question that are not rows of its list, in a terminal of usual width. */
const otherRows = 6;
/** A search as it is shown on one terminal. */
class ShownSearch<T> {
  readonly theme: Theme;
  readonly #terminal: { readonly columns?: number; readonly rows?: number };
  readonly #source: ChoiceSource<T>;
  #more = 0;
  #note = '';

  constructor(out: Asker, source: ChoiceSource<T>) {
    this.theme = themeOf(out.tint);
    this.#terminal = out.io.stderr as NodeJS.WritableStream & { readonly columns?: number };
    this.#source = source;
  }

  get columns(): number {
    return this.#terminal.columns || 80;
  }

  /** Fewer in a window that is low: a question that is higher than the screen cannot be drawn again in its place. */
  get pageSize(): number {
    return Math.max(3, Math.min(pageSize, (this.#terminal.rows || 24) - otherRows));
  }

  async find(typed: string, signal: AbortSignal): Promise<SearchMatches<T>> {
    this.#note = '';
    const note = (text: string) => {
      if (!signal.aborted) this.#note = safe(text);
    };
    try {
      const { choices, more } = await this.#source(typed, { signal, note });
      this.#more = more;
      return { choices: choices.map(shown), more };
    } catch (error) {
      const problem = errorWords(error);
      throw new Error(`${safe(problem)}. Type to search again`);
    } finally {
      if (!signal.aborted) this.#note = '';
    }
  }

  /** The line below the list: keys, and how many matches it does not show. */
  tip(keys: string): string {
    const more = this.#more > 0 ? `${count(this.#more)} more: keep typing` : '';
    return this.theme.style.help([keys, more, this.#note].filter(Boolean).join(', '));
  }
}
