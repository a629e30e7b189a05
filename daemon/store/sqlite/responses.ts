/** The table of responses to requests with an idempotency key. */
import {
  type ChangeResult,
  type Commit,
  LARGE_RESPONSE,
  ResponseExists,
  type ResponsePart,
  type StoredResponse,
} from '../commit.ts';
import type { Statements } from './statements.ts';
import type { Reads } from './tables.ts';
import type { Apply, Writes } from './writing.ts';

/** The reads of responses. */
export function responseReads(statements: Statements): Pick<Reads, 'response'> {
  const sql = 'SELECT digest, status, body FROM response WHERE id = ? AND expires_at > ?';
  return { response: (id, at) => statements.get<StoredResponse>(sql, id, at) ?? null };
}

/** Throws `ResponseExists` if the key of the commit is taken. Only reads. */
export function checkResponse(statements: Statements, { response, at }: Commit): void {
  if (!response) return;
  const sql = 'SELECT 1 FROM response WHERE id = ? AND expires_at > ?';
  if (statements.value(sql, response.id, at) !== undefined) throw new ResponseExists();
}

/** Stores the response of the commit, if it has one. */
export function writeResponse(
  statements: Statements,
  { response: part }: Commit,
  results: readonly ChangeResult[],
): void {
  const made = part?.make(results);
  if (!part || !made) return;
  statements.run(
    // An expired response may still have the id.
    'REPLACE INTO response (id, holder, digest, status, body, size, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    part.id,
    part.holder,
    part.digest,
    made.status,
    made.body,
    made.body.length,
    part.expiresAt,
  );
  if (made.body.length >= LARGE_RESPONSE) boundTotal(statements, part);
}

function boundTotal(statements: Statements, { holder, maxTotal }: ResponsePart): void {
  statements.run(
    `DELETE FROM response WHERE number IN (
       SELECT number FROM (
         SELECT number, sum(size) OVER (ORDER BY number DESC) AS total FROM response
         WHERE holder = ? AND size >= ${LARGE_RESPONSE})
       WHERE total > ?)`,
    holder,
    maxTotal,
  );
}

const expire: Apply<'response.expire'> = ({ until, beyond, most }, _context, { statements }) => {
  const { changes } = statements.run(
    `DELETE FROM response WHERE number IN (
       SELECT number FROM response WHERE expires_at <= ? OR expires_at > ? LIMIT ?)`,
    until,
    beyond,
    most,
  );
  return { kind: 'removed', count: changes };
};

/** How changes that concern stored responses are written. */
export const responseWrites: Writes<'response.expire'> = { 'response.expire': { apply: expire } };
