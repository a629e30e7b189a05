/** Follows the pages of a list, and stops if a server would never come to its end. */

import { paging } from '../../contract/limits.ts';
import { count } from '../count.ts';
import { type Fault, failure } from '../fault.ts';

/** A page of a list, as the server sends it. */
export interface ServerPage<T> {
  readonly list: readonly T[];
  readonly pagination: { readonly total: number; readonly totalPages: number };
}

/** Pages in a row that may add nothing while the total grows: new records move others to the next page. */
const mostMoved = 10;

/** What was read of a list. Its memory does not grow with the list: two pages are remembered. */
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

/** The pages of a list, each with the items that are new. A fault like `PageFollower`. */
export async function* pagesOf<T>(
  read: (page: number) => Promise<ServerPage<T>>,
  keyOf: (item: T) => string,
): AsyncGenerator<ServerPage<T>> {
  const follower = new PageFollower(keyOf);
  for (let page = follower.next; page !== null; page = follower.next) {
    const found = await read(page);
    yield { list: follower.take(found), pagination: found.pagination };
  }
}

/** Which page of a list to read. */
export interface PageQuery {
  readonly page: number;
  readonly size: number;
}

/** The items of a list. The next page is read when its first item is wanted. A fault like `PageFollower`. */
export async function* itemsOf<T>(
  read: (query: PageQuery) => Promise<ServerPage<T>>,
  keyOf: (item: T) => string,
  size: number = paging.maxSize,
): AsyncGenerator<T> {
  for await (const { list } of pagesOf(page => read({ page, size }), keyOf)) yield* list;
}
