/** A list that is searched while a person types, and in which choices can be marked: its state, and what each key changes. */
import type { Choice } from './prompt.ts';

/** Matches of a search. */
export interface SearchMatches<T> {
  readonly choices: readonly Choice<T>[];
  /** Matches that are not among the choices. */
  readonly more: number;
}

/** The state of the list. Marks are kept by value, in the order of marking, whatever is searched for. */
export interface ListState<T> {
  readonly typed: string;
  /** While a search runs, and after one that failed, the result for an earlier text. */
  readonly found: SearchMatches<T>;
  /** Whether `found` belongs to `typed`. Only then a key can choose: the choice must be what the person reads. */
  readonly search: 'running' | 'done' | 'failed';
  readonly active: number;
  readonly marked: ReadonlyMap<T, Choice<T>>;
  /** Fault in words for a person. */
  readonly problem: string | null;
}

/** A key, or the end of a search. */
export type ListEvent<T> =
  | { readonly type: 'typed'; readonly text: string }
  | { readonly type: 'found'; readonly found: SearchMatches<T> }
  | { readonly type: 'failed'; readonly problem: string }
  | { readonly type: 'move'; readonly by: 1 | -1 }
  | { readonly type: 'mark' }
  | { readonly type: 'refused'; readonly problem: string };

/** Before the first search. */
export const emptyList = <T>(typed = ''): ListState<T> => ({
  typed,
  found: { choices: [], more: 0 },
  search: 'running',
  active: 0,
  marked: new Map(),
  problem: null,
});

/** The state after an event; the same one if nothing changes. */
export function listAfter<T>(state: ListState<T>, event: ListEvent<T>): ListState<T> {
  switch (event.type) {
    case 'typed':
      return event.text === state.typed ? state : { ...state, typed: event.text, search: 'running', problem: null };
    case 'found':
      return { ...state, found: withMarked(state, event.found), search: 'done', active: 0, problem: null };
    case 'failed':
      return { ...state, search: 'failed', problem: event.problem };
    case 'move':
      return { ...state, active: moved(state, event.by) };
    case 'mark':
      return marked(state);
    case 'refused':
      return { ...state, problem: event.problem };
  }
}

/** Whether Enter ends the question: not while a search runs, since the Enter may be part of a paste. */
export const isFinal = <T>({ search, marked, found, active }: ListState<T>, many: boolean): boolean =>
  many ? search !== 'running' && marked.size > 0 : search === 'done' && found.choices[active] !== undefined;

/** Without a text the marked choices come first, so that a mark can be removed. */
function withMarked<T>({ typed, marked }: ListState<T>, { choices, more }: SearchMatches<T>): SearchMatches<T> {
  if (typed !== '') return { choices, more };
  const others = choices.filter(({ value }) => !marked.has(value));
  return { choices: [...marked.values(), ...others], more };
}

const moved = <T>({ found, active }: ListState<T>, by: 1 | -1): number =>
  Math.max(0, Math.min(found.choices.length - 1, active + by));

function marked<T>(state: ListState<T>): ListState<T> {
  const choice = state.found.choices[state.active];
  if (state.search !== 'done' || choice === undefined) return state;
  const all = new Map(state.marked);
  if (!all.delete(choice.value)) all.set(choice.value, choice);
  return { ...state, marked: all, problem: null };
}
