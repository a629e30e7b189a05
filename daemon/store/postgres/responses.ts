/** The table of responses to requests with an idempotency key. They are a cache: no entries, and numbers may have gaps. */
import {
  type ChangeResult,
  type Commit,
  LARGE_RESPONSE,
  ResponseExists,
  type ResponseExpire,
  type StoredResponse,
} from '../commit.ts';
import type { Readers } from './readers.ts';

/** A response that is to be stored. */
interface NewResponse extends StoredResponse {
  readonly id: string;
  readonly holder: string;
  readonly expiresAt: number;
  readonly maxTotal: number;
}

/** Null if there is none that is valid at this time. */
export async function readResponse(readers: Readers, id: string, at: number): Promise<StoredResponse | null> {
  const { rows } = await readers.run('SELECT digest, status, body FROM response WHERE id = $1 AND expires_at > $2', [
    id,
    at,
  ]);
  return (rows[0] as unknown as StoredResponse | undefined) ?? null;
}

/** The ids that are taken, with the times at which they become free. */
export const takenIds = 'SELECT id, expires_at AS "expiresAt" FROM response WHERE id = ANY($1::text[])';
/** The ids that a `response.expire` removes. */
export const expiredIds = 'SELECT id FROM response WHERE expires_at <= $1 OR expires_at > $2 ORDER BY number LIMIT $3';

/** The responses that a group of commits reads, stores and removes. */
export class Responses {
  readonly #expiries = new Map<string, number>();
  readonly #expired = new Map<ResponseExpire, readonly string[]>();
  readonly #stored = new Map<string, NewResponse>();
  readonly #removed = new Set<string>();

  loadTaken(taken: readonly { readonly id: string; readonly expiresAt: number }[]): void {
    for (const { id, expiresAt } of taken) this.#expiries.set(id, expiresAt);
  }

  loadExpired(change: ResponseExpire, ids: readonly string[]): void {
    this.#expired.set(change, ids);
  }

  /** Throws `ResponseExists` if the id of the commit is taken. */
  check({ response, at }: Commit): void {
    if (response && (this.#expiries.get(response.id) ?? Number.NEGATIVE_INFINITY) > at) throw new ResponseExists();
  }

  /** Makes and stores the response of the commit, if it has one. */
  store({ response: part }: Commit, results: readonly ChangeResult[]): void {
    const made = part?.make(results);
    if (!part || !made) return;
    const { id, holder, digest, expiresAt, maxTotal } = part;
    this.#expiries.set(id, expiresAt);
    // The last one of an id is also the last one of all.
    this.#stored.delete(id);
    this.#stored.set(id, { id, holder, digest, expiresAt, maxTotal, ...made });
  }

  /** Returns how many were removed. */
  expire(change: ResponseExpire): number {
    const ids = (this.#expired.get(change) ?? []).filter(id => !this.#removed.has(id) && !this.#stored.has(id));
    for (const id of ids) {
      this.#removed.add(id);
      this.#expiries.delete(id);
    }
    return ids.length;
  }

  get isEmpty(): boolean {
    return this.#stored.size === 0 && this.#removed.size === 0;
  }

  /** The statements that write them. */
  *writes(): Generator<readonly [sql: string, values: unknown[]]> {
    if (this.#removed.size > 0) yield ['DELETE FROM response WHERE id = ANY($1::text[])', [[...this.#removed]]];
    const all = [...this.#stored.values()];
    if (all.length === 0) return;
    const column = <K extends keyof NewResponse>(key: K) => all.map(response => response[key]);
    const bodies = all.map(({ body }) => Buffer.from(body));
    yield [insert, [column('id'), column('holder'), column('digest'), column('status'), bodies, column('expiresAt')]];
    const holders = new Map(
      all.filter(({ body }) => body.length >= LARGE_RESPONSE).map(one => [one.holder, one.maxTotal]),
    );
    for (const [holder, maxTotal] of holders) yield [boundTotal, [holder, maxTotal]];
  }
}

/** An expired response may still have the id. */
const insert = `INSERT INTO response (id, holder, digest, status, body, size, expires_at)
  SELECT id, holder, digest, status, body, octet_length(body), expires_at
  FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[], $5::bytea[], $6::int8[])
    WITH ORDINALITY AS n (id, holder, digest, status, body, expires_at, place) ORDER BY place
  ON CONFLICT (id) DO UPDATE SET number = excluded.number, holder = excluded.holder, digest = excluded.digest,
    status = excluded.status, body = excluded.body, size = excluded.size, expires_at = excluded.expires_at`;
const boundTotal = `DELETE FROM response WHERE number IN (
  SELECT number FROM (
    SELECT number, sum(size) OVER (ORDER BY number DESC) AS total FROM response
    WHERE holder = $1 AND size >= ${LARGE_RESPONSE}) AS large
  WHERE total > $2)`;
