/**
 * A prompt of Inquirer: a list that is searched while a person types, in which several choices can be marked. The checkbox of
 * @inquirer/prompts takes letters for commands and cannot search; its search returns one choice.
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
import type { Choice } from './prompt.ts';
import type { Theme } from './prompt-theme.ts';
import { canFinish, emptyList, type Found, type ListEvent, type ListState, listAfter } from './search-list.ts';
import { shorten } from './width.ts';

/** What the prompt is made from. */
export interface SearchManyOptions {
  readonly message: string;
  readonly source: (typed: string, signal: AbortSignal) => Promise<Found<string>>;
  /** Rows of the list that are visible at once. */
  readonly pageSize: number;
  /** Width of the terminal as it is now. */
  readonly columns: () => number;
  /** The line below the list. */
  readonly tip: (keys: string) => string;
  readonly theme: Theme;
}

/** Resolves to the marked values, at least one, in the order of marking. */
export const searchMany = createPrompt<readonly string[], SearchManyOptions>((options, done) => {
  const { message, source, pageSize, theme } = options;
  const [state, setState] = useState(emptyList);
  const [isDone, setDone] = useState(false);
  // A search ends long after the drawing that began it: the newest state is looked up.
  const latest = useRef(state);
  const act = (event: ListEvent) => {
    latest.current = listAfter(latest.current, event);
    setState(latest.current);
  };
  useEffect(() => {
    const search = new AbortController();
    const { signal } = search;
    const settled = (event: ListEvent) => signal.aborted || act(event);
    source(state.typed.trim(), signal).then(
      found => settled({ type: 'found', found }),
      error => settled({ type: 'failed', problem: error instanceof Error ? error.message : String(error) }),
    );
    return () => search.abort();
  }, [state.typed]);
  useKeypress((key, terminal) => {
    // Readline has added the space or the end of line, or removed the line.
    const restore = () => {
      terminal.clearLine(0);
      terminal.write(latest.current.typed);
    };
    if (isUpKey(key) || isDownKey(key)) {
      restore();
      act({ type: 'move', by: isUpKey(key) ? -1 : 1 });
    } else if (isSpaceKey(key)) {
      restore();
      act({ type: 'mark' });
    } else if (!isEnterKey(key)) act({ type: 'typed', text: terminal.line });
    else if (canFinish(latest.current)) {
      setDone(true);
      done([...latest.current.marked.keys()]);
    } else {
      restore();
      if (latest.current.search !== 'running') act({ type: 'nothing marked' });
    }
  });
  const prefix = usePrefix({
    status: isDone ? 'done' : state.search === 'running' ? 'loading' : 'idle',
    theme: makeTheme(theme),
  });
  const page = usePagination({
    items: state.found.choices,
    active: state.active,
    renderItem: ({ item, isActive }) => rowOf(item, isActive, state, options),
    pageSize,
    loop: false,
  });
  const question = `${prefix} ${theme.style.message(message)}`;
  if (isDone) return `${question} ${theme.style.answer(answerOf(state))}`;
  return [`${question} ${theme.style.searchTerm(state.typed)}`, bodyOf(page, state, options)];
});

function rowOf(choice: Choice<string>, isActive: boolean, state: ListState, options: SearchManyOptions): string {
  const { columns, theme } = options;
  const { marked, search } = state;
  const mark = marked.has(choice.value) ? theme.icon.checked : theme.icon.unchecked;
  // The list of an earlier text has no cursor: no key works on it.
  const hasCursor = isActive && search === 'done';
  const cursor = hasCursor ? theme.icon.cursor : ' ';
  // Cursor, mark, a space, and the last column, in which some terminals break the line.
  const name = shorten(choice.name, Math.max(1, columns() - 4), 'end');
  return `${cursor}${mark} ${hasCursor ? theme.style.highlight(name) : search === 'done' ? name : theme.style.help(name)}`;
}

function bodyOf(page: string, state: ListState, { tip, theme }: SearchManyOptions): string {
  const { found, active, marked, problem, search } = state;
  const description = found.choices[active]?.description;
  const isEmpty = search === 'done' && found.choices.length === 0;
  return [
    isEmpty ? theme.style.error('Nothing matches') : page,
    ' ',
    description && theme.style.description(description),
    problem && theme.style.error(problem),
    `${theme.style.answer(`${marked.size.toLocaleString('en')} marked`)}  ${tip('↑↓ move, space mark, ⏎ finish')}`,
  ]
    .filter(Boolean)
    .join('\n');
}

/** The first values, and how many others there are. */
function answerOf({ marked }: ListState): string {
  const values = [...marked.keys()];
  const others = values.length - shownAnswers;
  return `${values.slice(0, shownAnswers).join(', ')}${others > 0 ? ` and ${others.toLocaleString('en')} more` : ''}`;
}

const shownAnswers = 5;
