/**
 * A prompt of Inquirer: a list that is searched while a person types, of which one choice is taken or several are marked. The
 * checkbox of @inquirer/prompts cannot search. Its search takes one choice, and forgets the text when the cursor moves.
 */

import {
  createPrompt,
  isDownKey,
  isEnterKey,
  isSpaceKey,
  isUpKey,
  makeTheme,
  useEffect,
  useKeypress,
  usePagination,
  usePrefix,
  useRef,
  useState,
} from '@inquirer/core';
import { count } from '../count.ts';
import { errorWords } from '../fault.ts';
import type { Check, Choice, PromptContext } from './prompt.ts';
import type { Theme } from './prompt-theme.ts';
import { emptyList, isFinal, type ListEvent, type ListState, listAfter, type SearchMatches } from './search-list.ts';
import { shorten } from './width.ts';

/** Parts of the prompt. */
interface SearchOptions<T> {
  readonly message: string;
  /** First text of the search. */
  readonly typed: string;
  /** Whether several choices can be marked. */
  readonly many: boolean;
  readonly source: (typed: string, signal: AbortSignal) => Promise<SearchMatches<T>>;
  /** Judges the one choice that is taken. */
  readonly check: Check<T>;
  /** Rows of the list that are visible at once. */
  readonly pageSize: number;
  /** Width of the terminal as it is now. */
  readonly columns: () => number;
  /** The line below the list, after what the keys do. */
  readonly tip: (keys: string) => string;
  readonly theme: Theme;
}

/** Characters of a text to search for; further ones, of a paste, are left out. No id, serial number or name is longer. */
const longestText = 200;

/** The values of the marked choices in the order of marking, or of the one that was taken. Never empty. */
export const search = <T>(options: SearchOptions<T>, context: PromptContext): Promise<readonly T[]> =>
  createPrompt<readonly T[], SearchOptions<T>>(view)(options, context);

function view<T>(options: SearchOptions<T>, done: (values: readonly T[]) => void): string | [string, string] {
  const { message, many, source, check, pageSize, theme } = options;
  const [state, setState] = useState<ListState<T>>(() => emptyList(options.typed));
  useEffect(terminal => terminal.write(options.typed), []);
  const [answer, setAnswer] = useState<readonly Choice<T>[] | null>(null);
  // A search ends long after the drawing that began it: the newest state is looked up.
  const latest = useRef(state);
  const act = (event: ListEvent<T>) => {
    latest.current = listAfter(latest.current, event);
    setState(latest.current);
  };
  const finish = (choices: readonly Choice<T>[]) => {
    setAnswer(choices);
    done(choices.map(({ value }) => value));
  };
  useEffect(() => searchFor(state.typed.trim(), source, act), [state.typed]);
  useKeypress((key, terminal) => {
    const isText = !isUpKey(key) && !isDownKey(key) && !isEnterKey(key) && !(many && isSpaceKey(key));
    if (isText && terminal.line.length <= longestText) return act({ type: 'typed', text: terminal.line });
    // Readline has added the key to the line, or has replaced or removed the line.
    terminal.clearLine(0);
    terminal.write(latest.current.typed);
    if (isText) return undefined;
    if (isSpaceKey(key)) act({ type: 'mark' });
    else if (!isEnterKey(key)) act({ type: 'move', by: isUpKey(key) ? -1 : 1 });
    else if (isFinal(latest.current, many)) {
      if (many) finish([...latest.current.marked.values()]);
      else void take(latest.current.found.choices[latest.current.active]!);
    } else if (many && latest.current.search !== 'running')
      act({ type: 'refused', problem: 'Mark at least one with the space bar, then press Enter' });
    return undefined;
  });
  const take = async (choice: Choice<T>) => {
    const problem = await check(choice.value);
    if (problem === null) finish([choice]);
    else act({ type: 'refused', problem });
  };
  const status = answer ? 'done' : state.search === 'running' ? 'loading' : 'idle';
  const question = `${usePrefix({ status, theme: makeTheme(theme) })} ${theme.style.message(message)}`;
  const page = usePagination({
    items: state.found.choices,
    active: state.active,
    renderItem: ({ item, isActive }) => rowOf(item, isActive, state, options),
    pageSize,
    loop: false,
  });
  if (answer) return `${question} ${theme.style.answer(wordsOf(answer))}`;
  return [`${question} ${theme.style.searchTerm(state.typed)}`, bodyOf(page, state, options)];
}

/** Begins a search; the function ends it. */
function searchFor<T>(
  typed: string,
  source: SearchOptions<T>['source'],
  act: (event: ListEvent<T>) => void,
): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  const settle = (event: ListEvent<T>) => {
    if (!signal.aborted) act(event);
  };
  source(typed, signal).then(
    found => settle({ type: 'found', found }),
    error => settle({ type: 'failed', problem: errorWords(error) }),
  );
  return () => controller.abort();
}

function rowOf<T>(choice: Choice<T>, isActive: boolean, state: ListState<T>, options: SearchOptions<T>): string {
  const { many, columns, theme } = options;
  const { marked, search } = state;
  const mark = marked.has(choice.value) ? theme.icon.checked : theme.icon.unchecked;
  // The list of an earlier text has no cursor: no key works on it.
  const isCurrent = search === 'done';
  const cursor = isActive && isCurrent ? theme.icon.cursor : ' ';
  // Cursor, mark, a space, and the last column, in which some terminals break the line.
  const name = shorten(choice.name, Math.max(1, columns() - 4), 'end');
  const paint = isCurrent ? (isActive ? theme.style.highlight : String) : theme.style.help;
  return `${cursor}${many ? mark : ''} ${paint(name)}`;
}

function bodyOf<T>(page: string, state: ListState<T>, { many, tip, theme }: SearchOptions<T>): string {
  const { found, active, marked, problem, search } = state;
  const description = found.choices[active]?.description;
  const isEmpty = search === 'done' && found.choices.length === 0;
  const marks = `${theme.style.answer(`${count(marked.size)} marked`)}  `;
  return [
    isEmpty ? theme.style.error('Nothing matches') : page,
    ' ',
    description && theme.style.description(description),
    problem && theme.style.error(problem),
    many ? `${marks}${tip('arrow keys move, Space marks, Enter confirms')}` : tip('arrow keys move, Enter chooses'),
  ]
    .filter(Boolean)
    .join('\n');
}

/** The first choices, and how many others there are. */
function wordsOf<T>(choices: readonly Choice<T>[]): string {
  const others = choices.length - shownAnswers;
  const first = choices.slice(0, shownAnswers).map(({ name, short = name }) => short);
  return `${first.join(', ')}${others > 0 ? ` and ${count(others)} more` : ''}`;
}

const shownAnswers = 5;
