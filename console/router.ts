/** The address of the page: `#/devices?status=LOCKED`. It holds what the page shows; what is behind # reaches no server and no log. */
import { computed, signal } from '@preact/signals';

/** A page and what it shows. */
interface Place {
  /** Parts of the path: `['devices', 'DEV-1']`. Empty for the first page. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

/** The place that the address names. */
export const place = computed<Place>(() => read(hash.value));

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

/** Goes to an address that `linkTo` has made. With `replace`, Back leads past the present one. */
export function go(address: string, replace = false): void {
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  hash.value = address;
}

addEventListener('popstate', () => {
  hash.value = location.hash;
});

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

/** The code in a fragment that `devmgr open` has made (`#code=CODE&page=devices`), and the page to show; the code is null in any other one. */
export function codeIn(fragment: string): { readonly code: string | null; readonly page: string } {
  if (fragment.startsWith('#/')) return { code: null, page: '' };
  const parts = new URLSearchParams(fragment.slice(1));
  return { code: parts.get('code'), page: parts.get('page') ?? '' };
}
