/** The statements that write a draft. */
import { LARGE_RESPONSE } from '../commit.ts';
import type { StoredHead } from '../journal-end.ts';
import type { Subjects } from '../subjects.ts';
import { columnOf, type StoreTable } from '../table.ts';
import { events } from '../tables.ts';
import type { ReplacedRows } from '../write/documents.ts';
import type { Draft } from '../write/draft.ts';
import { Responses } from '../write/responses.ts';
import { lastColumns } from './head.ts';
import { column, insert, nameOf, type Statement, update } from './tables.ts';

/** Rows come before those that refer to them. */
export function* writesOf(subjects: Subjects, draft: Draft): Generator<Statement> {
  for (const table of subjects.tables) yield* recordWrites(draft, table);
  for (const { writes } of subjects.stated('postgres')) if (writes) yield* writes(draft);
  const answered = draft.made(Responses);
  if (answered) yield* responseWrites(answered);
  for (const kind of subjects.replaced) {
    const rows = draft.made(kind);
    if (rows) yield* replacedWrites(rows);
  }
  if (draft.events.length > 0) yield insert(events, draft.events);
}

function* recordWrites<R extends { readonly number: number }>(
  draft: Draft,
  table: StoreTable<R>,
): Generator<Statement> {
  const { added, changed } = draft.of(table);
  // A change may free the name that a new record takes.
  if (changed.length > 0)
    yield update(
      table,
      changed.map(({ after }) => after),
    );
  if (added.length > 0) yield insert(table, added);
}

/** An expired response may still have the id. */
const storeResponses = `INSERT INTO response (id, holder, digest, status, body, size, expires_at)
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

function* responseWrites({ removed, stored, largeHolders }: Responses): Generator<Statement> {
  if (removed.size > 0) yield ['DELETE FROM response WHERE id = ANY($1::text[])', [[...removed]]];
  if (stored.length === 0) return;
  const bodies = stored.map(({ body }) => Buffer.from(body));
  const before = [column(stored, 'id'), column(stored, 'holder'), column(stored, 'digest'), column(stored, 'status')];
  yield [storeResponses, [...before, bodies, column(stored, 'expiresAt')]];
  for (const [holder, maxTotal] of largeHolders) yield [boundTotal, [holder, maxTotal]];
}

function* replacedWrites({ table, changed }: ReplacedRows): Generator<Statement> {
  const present = [...changed.values()].filter(row => row !== null);
  const gone = [...changed].filter(([, row]) => row === null).map(([key]) => key);
  if (present.length > 0) yield insert(table, present, { replace: true });
  if (gone.length > 0) yield [`DELETE FROM ${nameOf(table)} WHERE ${columnOf(table.key)} = ANY($1)`, [gone]];
}

/** The head after the transaction. */
export function updateHead(subjects: Subjects, { last, at }: Draft, { id, mac, seal }: StoredHead): Statement {
  const assigned = lastColumns(subjects).map((name, i) => `${name} = $${i + 5}`);
  return [
    `UPDATE head SET event = $1, mac = $2, seal = $3, at = $4, ${assigned.join(', ')}`,
    [id, mac, id === 0 ? null : seal, at, ...subjects.tables.map(({ name }) => last[name])],
  ];
}
