/** A list that is searched while a person types and in which several choices are marked: its state, and what each key changes. */
import type { Choice } from './prompt.ts';

/** What a search has found. */
export interface Found<T> {
  readonly choices: readonly Choice<T>[];
  /** Matches that are not among the choices. */
  readonly more: number;
}

/** The state of the list. Marks are kept by value, in the order of marking, whatever is searched for. */
export interface ListState {
  readonly typed: string;
  /** While a search runs, and after one that failed, the result for an earlier text. */
  readonly found: Found<string>;
  /** Whether `found` belongs to `typed`. Only then a key can mark: what is marked must be what the person reads. */
  readonly search: 'running' | 'done' | 'failed';
  readonly active: number;
  readonly marked: ReadonlyMap<string, Choice<string>>;
  /** What is wrong, in words for a person. */
  readonly problem: string | null;
}

/** A key, or the end of a search. */
export type ListEvent =
  | { readonly type: 'typed'; readonly text: string }
  | { readonly type: 'found'; readonly found: Found<string> }
  | { readonly type: 'failed'; readonly problem: string }
  | { readonly type: 'move'; readonly by: 1 | -1 }
  | { readonly type: 'mark' }
  | { readonly type: 'nothing marked' };

/** Before the first search. */
export const emptyList: ListState = {
  typed: '',
  found: { choices: [], more: 0 },
  search: 'running',
  active: 0,
  marked: new Map(),
  problem: null,
};

/** The state after an event; the same one if nothing changes. */
export function listAfter(state: ListState, event: ListEvent): ListState {
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
    case 'nothing marked':
      return { ...state, problem: 'Mark with the space bar what you mean, then press Enter' };
  }
}

/** Whether Enter ends the question: not while a search runs, since the Enter may be part of a paste. */
export const canFinish = ({ search, marked }: ListState): boolean => search !== 'running' && marked.size > 0;

/** Without a text the marked choices come first, so that a mark can be removed. */
function withMarked({ typed, marked }: ListState, { choices, more }: Found<string>): Found<string> {
  if (typed !== '') return { choices, more };
  const others = choices.filter(({ value }) => !marked.has(value));
  return { choices: [...marked.values(), ...others], more };
}

const moved = ({ found, active }: ListState, by: 1 | -1): number =>
  Math.max(0, Math.min(found.choices.length - 1, active + by));

function marked(state: ListState): ListState {
  const choice = state.found.choices[state.active];
  if (state.search !== 'done' || choice === undefined) return state;
  const all = new Map(state.marked);
  if (!all.delete(choice.value)) all.set(choice.value, choice);
  return { ...state, marked: all, problem: null };
}
