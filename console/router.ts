/** The address of the page: `#/devices?status=LOCKED`. It holds what the page shows; what is behind # reaches no server and no log. */
import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { storedIn } from './stored.ts';

interface Place {
  /** Parts of the path: `['devices', 'DEV-1']`. Empty for the first page. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);

/** The place that the address names. */
export const place = computed<Place>(() => read(hash.value));

/** State of a page in its entry of the history: Back and a reload in the same tab show it again. */
interface Entry {
  scroll?: readonly number[];
  [name: string]: unknown;
}

const STORED = 'devmgr.history';
const mostEntries = 50;

const entries = new Map(storedIn<[string, Entry][]>('sessionStorage', STORED));
/** The key of the present entry, which its state has. */
let key = '';
let scrolling: AbortController | undefined;
enter();
history.scrollRestoration = 'manual';
addEventListener('hashchange', follow);
addEventListener('popstate', follow);
addEventListener('pagehide', () => {
  leave();
  sessionStorage.setItem(STORED, JSON.stringify([...entries]));
});

/** What the page of a path is about, for the title of the window. */
export const recordTitle = signal<Readonly<{ path: string; title: string }> | null>(null);

/** Names the record that the page shows, as soon as it is known. */
export function useTitle(...parts: readonly (string | null | undefined)[]): void {
  const title = parts.filter(Boolean).join(' · ');
  const path = place.value.path.join('/');
  useEffect(() => {
    if (title) recordTitle.value = { path, title };
  }, [title, path]);
}

/** State in the present entry of the history. */
export const kept = (): Entry => entries.get(key) ?? {};

/** Name of the entry with the query that each page had last; no entry of the history has it. */
const LISTS = 'lists';

/** The address of a page with the query that it had last in this tab: its filters, order and page. */
export const lastOf = (page: string): string =>
  linkTo(page, new URLSearchParams(`${entries.get(LISTS)?.[page] ?? ''}`));

/** Forgets the state of all entries, so that the next person in this tab sees nothing of it. */
export function forgetEntries(): void {
  for (const each of entries.keys()) entries.set(each, {});
}

/** The address of a place, for links. Undefined and empty values of the query are left out; a query with repeated names is given whole. */
export function linkTo(
  path: string,
  query: URLSearchParams | Readonly<Record<string, string | number | undefined>> = {},
): string {
  const search = new URLSearchParams(query instanceof URLSearchParams ? query : undefined);
  if (!(query instanceof URLSearchParams))
    for (const [key, value] of Object.entries(query))
      if (value !== undefined && value !== '') search.set(key, `${value}`);
  const text = search.toString();
  return `#/${path}${text ? `?${text}` : ''}`;
}

/** Goes to an address that `linkTo` has made. With `replace`, Back skips the current one. */
export function go(address: string, replace = false): void {
  if (replace) {
    history.replaceState(key, '', address);
    hash.value = location.hash;
    return;
  }
  leave();
  history.pushState(null, '', address);
  enter();
}

function follow(): void {
  if (history.state === key) return;
  leave();
  enter();
}

/** Scrolling elements: the page, and a table that is wider than it. */
const scrollers = (): (Element | null)[] => [document.scrollingElement, document.querySelector('main .scroll')];

/** The page still shows what it showed before: its position belongs to the entry that is left. */
function leave(): void {
  const { path, query } = place.peek();
  const lists = entries.get(LISTS) ?? {};
  entries.delete(LISTS);
  // The newest entries stay.
  entries.set(LISTS, path.length === 1 ? { ...lists, [path[0]!]: `${query}` } : lists);
  kept().scroll = scrollers().map(element => element?.scrollTop ?? 0);
}

/** A new entry has no state yet. It begins at the top, unless it is another search of the same page. */
function enter(): void {
  if (typeof history.state !== 'string') history.replaceState(`${Math.random()}`, '');
  key = history.state as string;
  const entry = entries.get(key) ?? {};
  entries.delete(key);
  entries.set(key, entry);
  for (const oldest of entries.keys()) if (entries.size > mostEntries) entries.delete(oldest);
  const before = place.peek();
  hash.value = location.hash;
  const { path, query } = place.peek();
  const isOther = path.join('/') !== before.path.join('/') || query.get('page') !== before.query.get('page');
  const { scroll = isOther ? [0] : null } = entry;
  scrolling?.abort();
  document.documentElement.toggleAttribute('data-returns', (scroll?.[0] ?? 0) > 0);
  if (scroll !== null) scrollWhenHigh(scroll);
}

/** Scrolls as soon as the page is high enough, unless the person scrolls first. */
function scrollWhenHigh(tops: readonly number[]): void {
  const end = new AbortController();
  scrolling = end;
  const observer = new ResizeObserver(() => {
    const elements = scrollers();
    for (const [i, top] of tops.entries()) elements[i]?.scrollTo({ top });
    if (tops.every((top, i) => Math.abs((elements[i]?.scrollTop ?? 0) - top) < 1)) end.abort();
  });
  end.signal.addEventListener('abort', () => observer.disconnect());
  for (const type of ['wheel', 'pointerdown', 'keydown'])
    addEventListener(type, () => end.abort(), { signal: end.signal });
  observer.observe(document.body);
}

function read(text: string): Place {
  const [path = '', query = ''] = text.replace(/^#\/?/, '').split('?', 2);
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Content of a fragment with a code. */
interface CodeFragment {
  /** Null in any other fragment. */
  readonly code: string | null;
  readonly page: string;
  /** Code of the question whether a terminal is signed in (`#terminal=CODE`); null in any other fragment. */
  readonly terminal: string | null;
  /** Names the sign-in at the provider that has ended; null if the code is of another kind. */
  readonly sso: string | null;
}

/** The code in a fragment of `devmgr open` (`#code=CODE&page=devices`), or of a sign-in at the provider (`#code=CODE&sso=STATE`). */
export function codeIn(fragment: string): CodeFragment {
  if (fragment.startsWith('#/')) return { code: null, page: '', sso: null, terminal: null };
  const parts = new URLSearchParams(fragment.slice(1));
  return {
    code: parts.get('code'),
    page: parts.get('page') ?? '',
    sso: parts.get('sso'),
    terminal: parts.get('terminal'),
  };
}
