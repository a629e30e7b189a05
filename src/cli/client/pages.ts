/** Follows the pages of a list, and stops if a server would never come to its end. */
import type { DataOf, InputOf } from '../../contract/define.ts';
import { endpoints, type RouteName } from '../../contract/endpoints.ts';
import { paging } from '../../contract/limits.ts';
import type { Routes } from '../../contract/routes.ts';
import { count } from '../count.ts';
import { type Fault, failure } from '../fault.ts';
import type { Client } from './client.ts';
import type { AnyInput } from './exchange.ts';

/** A page of a list, as the server sends it. */
export interface ServerPage<T> {
  readonly list: readonly T[];
  readonly pagination: { readonly total: number; readonly totalPages: number };
}

/** Pages in a row that may add nothing while the total grows: new records move others to the next page. */
const mostMoved = 10;

/** Pages that were read of a list. Its memory does not grow with the list: two pages are remembered. */
export class PageFollower<T> {
  readonly #keyOf: (item: T) => string;
  #pages = 0;
  #read = 0;
  #total = 0;
  #moved = 0;
  #before: ReadonlySet<string> = new Set();
  /** The last page with a power of two as its number: a cycle of pages of any length comes back to it. */
  #marked: ReadonlySet<string> = new Set();
  #hasMore = true;

  /** `keyOf` is the id of an item. */
  constructor(keyOf: (item: T) => string) {
    this.#keyOf = keyOf;
  }

  /** Number of the next page, from 1; null after the last one. */
  get next(): number | null {
    return this.#hasMore ? this.#pages + 1 : null;
  }

  /**
   * The items of the next page that are new. The list ends with the pages or the total that the server announces. A fault of kind
   * `failure` if it announces more, and the page is empty or repeats an earlier one.
   */
  take({ list, pagination: { total, totalPages } }: ServerPage<T>): readonly T[] {
    const fresh = list.filter(item => !this.#before.has(this.#keyOf(item)) && !this.#marked.has(this.#keyOf(item)));
    this.#pages++;
    this.#read += fresh.length;
    this.#hasMore = this.#pages < totalPages && this.#read < total;
    this.#moved = fresh.length === 0 ? this.#moved + 1 : 0;
    const isStuck = fresh.length === 0 && (list.length === 0 || total <= this.#total || this.#moved > mostMoved);
    if (this.#hasMore && isStuck) throw this.#stuck(list.length === 0, total);
    this.#total = total;
    this.#before = new Set(list.map(this.#keyOf));
    if (Number.isInteger(Math.log2(this.#pages))) this.#marked = this.#before;
    return fresh;
  }

  #stuck(isEmpty: boolean, total: number): Fault {
    const what = isEmpty ? 'is empty' : 'repeats an earlier one';
    return failure(
      `the list of the server is not valid: page ${count(this.#pages)} ${what}, after ${count(this.#read)} of ${count(total)} records`,
      'try again',
    );
  }
}

/** An operation that lists items page by page. */
type PagedOperation = {
  [N in RouteName]: 'pagination' extends (typeof endpoints)[N]['returns'][number] ? N : never;
}[RouteName];
/** An item of such a list. */
type ItemOf<N extends PagedOperation> = DataOf<Routes[N]>['list'][number];
/** Which list, and which of its items; `size` of the query is that of the largest page if it is absent. */
type ListInput<N extends PagedOperation> = Partial<InputOf<Routes[N]>>;

/** The pages of a list, each with the items that are new. A fault like `PageFollower`. */
export async function* pagesOf<N extends PagedOperation>(
  client: Client,
  operation: N,
  input: ListInput<N> = {},
): AsyncGenerator<ServerPage<ItemOf<N>>> {
  // The id is the first field that each item has.
  const id = endpoints[operation].returns.find(field => field.startsWith('list.'))!.slice('list.'.length);
  const follower = new PageFollower<ItemOf<N>>(item => String(item[id as keyof ItemOf<N>]));
  const { query, ...others } = input as AnyInput;
  for (let page = follower.next; page !== null; page = follower.next) {
    const wanted = { ...others, query: { size: paging.maxSize, ...query, page } } as unknown as InputOf<Routes[N]>;
    const { data } = await client.send({ operation, input: wanted });
    const found: ServerPage<ItemOf<N>> = data;
    yield { list: follower.take(found), pagination: found.pagination };
  }
}

/** The items of a list. The next page is read when its first item is wanted. A fault like `PageFollower`. */
export async function* itemsOf<N extends PagedOperation>(
  client: Client,
  operation: N,
  input: ListInput<N> = {},
): AsyncGenerator<ItemOf<N>> {
  for await (const { list } of pagesOf(client, operation, input)) yield* list;
}
