/** Pages of all persons whom the identity provider sees. */
import type { PersonRecord } from '../people/records.ts';
import type { Rows } from '../store/queries.ts';
import type { Store } from '../store/store.ts';

/** Most pages whose beginnings are remembered. */
const MOST = 10_000;

/**
 * Remembers the total and where pages begin, until the next commit. To count and to skip 100,000 persons takes longer than to read
 * a page, and a provider reads all pages one after the other.
 */
export class PersonPages {
  readonly #store: Pick<Store, 'people' | 'onCommit'>;
  #total: number | null = null;
  /** The number of the person before a page, by the offset of the page. */
  readonly #before = new Map<number, number>();
  #commits = 0;
  /** Ends the watch for a commit; null unless a provider has read a page since the last one. */
  #unwatch: (() => void) | null = null;

  constructor(store: Pick<Store, 'people' | 'onCommit'>) {
    this.#store = store;
  }

  async read(offset: number, limit: number): Promise<Rows<PersonRecord>> {
    this.#unwatch ??= this.#store.onCommit(() => this.#forget());
    const commits = this.#commits;
    const page = { isPresent: true, descending: false, limit } as const;
    const known = this.#total;
    const before = this.#before.get(offset);
    // A list after a number is not counted.
    const { rows, total } = await (known === null
      ? this.#store.people({ ...page, offset })
      : this.#store.people({ ...page, after: before ?? 0, offset: before === undefined ? offset : 0 }));
    if (commits === this.#commits) {
      this.#total ??= total;
      if (this.#before.size >= MOST) this.#before.clear();
      if (rows.length > 0) this.#before.set(offset + rows.length, rows.at(-1)!.number);
    }
    return { rows, total: known ?? total };
  }

  #forget(): void {
    this.#unwatch?.();
    this.#unwatch = null;
    this.#commits++;
    this.#total = null;
    this.#before.clear();
  }
}
