/** The responses to requests with an idempotency key. They are a cache: no entries, and their numbers may have gaps. */
import { type ChangeResult, type Commit, LARGE_RESPONSE, ResponseExists, type ResponseExpire } from '../commit.ts';
import type { Lookup } from '../table.ts';
import { type ResponseRow, responses } from '../tables.ts';
import type { Part } from './draft.ts';
import type { ChangeRules } from './rule.ts';
import type { Source, WantedRows } from './source.ts';

const expiry: Lookup<ResponseRow, 'expiresAt'> = { table: responses, by: ['id'], select: ['expiresAt'] };

/** The responses that a transaction stores and removes. Those that it removes are removed before others are stored. */
export class Responses implements Part {
  readonly removed = new Set<string>();
  readonly #stored = new Map<string, ResponseRow>();
  readonly #bounds = new Map<string, number>();
  readonly #source: Source;

  constructor(source: Source) {
    this.#source = source;
  }

  /** In the order in which they were stored, each id once. */
  get stored(): readonly ResponseRow[] {
    return [...this.#stored.values()];
  }

  /** The holders of large responses that were stored, with the bytes that all their large ones may have. */
  get largeHolders(): ReadonlyMap<string, number> {
    const large = this.stored.filter(({ size }) => size >= LARGE_RESPONSE);
    return new Map(large.map(({ holder }) => [holder, this.#bounds.get(holder)!]));
  }

  get isEmpty(): boolean {
    return this.#stored.size === 0 && this.removed.size === 0;
  }

  /** Throws `ResponseExists` if the id of the commit is taken. */
  check({ response, at }: Commit): void {
    if (!response) return;
    const { id } = response;
    const expiresAt =
      this.#stored.get(id)?.expiresAt ??
      (this.removed.has(id) ? undefined : this.#source.find(expiry, id)[0]?.expiresAt);
    if (expiresAt !== undefined && expiresAt > at) throw new ResponseExists();
  }

  /** Makes and stores the response of the commit, if it has one. */
  store({ response: part }: Commit, results: readonly ChangeResult[]): void {
    const made = part?.make(results);
    if (!part || !made) return;
    const { id, holder, digest, expiresAt, maxTotal } = part;
    // The last one of an id is also the last one of all.
    this.#stored.delete(id);
    this.#stored.set(id, { id, holder, digest, ...made, size: made.body.length, expiresAt });
    this.#bounds.set(holder, maxTotal);
  }

  /** Returns how many were removed. */
  expire(change: ResponseExpire): number {
    const ids = this.#source.expired(change).filter(id => !this.removed.has(id) && !this.#stored.has(id));
    for (const id of ids) this.removed.add(id);
    return ids.length;
  }
}

/** Names what `check` looks up. */
export function needsResponse({ response }: Commit, wanted: WantedRows): void {
  if (response) wanted.add(expiry, response.id);
}

export const responseChanges: ChangeRules<'response.expire'> = {
  'response.expire': {
    needs: (change, wanted) => void wanted.expiries.push(change),
    apply: (draft, change) => ({ kind: 'removed', count: draft.part(Responses).expire(change) }),
  },
};
