/** The statements that write a draft. */
import { hourMs } from '../../../src/contract/durations.ts';
import { proofBounds } from '../../../src/contract/limits.ts';
import { Proofs } from '../../proofs/rules.ts';
import { LARGE_RESPONSE } from '../commit.ts';
import type { StoredHead } from '../journal-end.ts';
import { columnOf, type StoreTable } from '../table.ts';
import { devices, events, numberedTables, proofs } from '../tables.ts';
import { type ReplacedRows, replacedRows } from '../write/documents.ts';
import type { Draft } from '../write/draft.ts';
import { Responses } from '../write/responses.ts';
import { lastColumns } from './head.ts';
import { insert, nameOf, type Statement, update } from './tables.ts';

/** Rows come before those that refer to them. */
export function* writesOf(draft: Draft): Generator<Statement> {
  for (const table of numberedTables) yield* recordWrites(draft, table as never);
  yield* counterWrites(draft);
  yield* responseWrites(draft.part(Responses));
  yield* proofWrites(draft.part(Proofs), draft.at);
  for (const kind of replacedRows) yield* replacedWrites(draft.part<ReplacedRows>(kind));
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

const addCounts = `INSERT INTO device_count (manufacturer, device_type, status, count)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[])
  ON CONFLICT (manufacturer, device_type, status) DO UPDATE SET count = device_count.count + excluded.count`;
const addHours = `INSERT INTO registration_count (hour, count) SELECT hour, count(*) FROM unnest($1::int8[]) AS n (hour) GROUP BY hour
  ON CONFLICT (hour) DO UPDATE SET count = registration_count.count + excluded.count`;

const column = <T, K extends keyof T>(of: readonly T[], key: K): T[K][] => of.map(item => item[key]);

function* counterWrites(draft: Draft): Generator<Statement> {
  const { counts } = draft;
  const kinds = [column(counts, 'manufacturer'), column(counts, 'deviceType'), column(counts, 'status')];
  if (counts.length > 0) yield [addCounts, [...kinds, column(counts, 'by')]];
  const { added } = draft.of(devices);
  if (added.length > 0) yield [addHours, [added.map(({ createdAt }) => Math.floor(createdAt / hourMs))]];
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

/** Evidence comes before claims, and of equal ones the last. */
export const byStrength = 'evidence IS NOT NULL DESC, number DESC';
/** Answers to challenges that are still valid stay: they tell that the challenge was answered. */
const trim = `DELETE FROM proof WHERE serial_number = ANY($1::text[]) AND created_at < $2 AND number NOT IN (
  SELECT k.number FROM unnest($1::text[]) AS asked (serial) CROSS JOIN LATERAL (
    SELECT number FROM proof WHERE serial_number = asked.serial ORDER BY ${byStrength} LIMIT ${proofBounds.keptPerSerial}) AS k)`;
const settle = `UPDATE proof SET is_pending = false WHERE is_pending
  AND EXISTS (SELECT FROM device WHERE device.serial_number = proof.serial_number)`;
const expire = `DELETE FROM proof WHERE is_pending AND (created_at < $1 OR number <= coalesce(
  (SELECT number FROM proof WHERE is_pending ORDER BY number DESC LIMIT 1 OFFSET $2), 0))`;

/** `at`: the time of the transaction. */
function* proofWrites({ added, expiries }: Proofs, at: number): Generator<Statement> {
  if (added.length > 0) {
    yield insert(proofs, added);
    yield [trim, [column(added, 'serialNumber'), at - 2000 * proofBounds.challengeSeconds]];
  }
  for (const { until, total } of expiries) {
    yield [settle, []];
    yield [expire, [until, total]];
  }
}

function* replacedWrites({ table, changed }: ReplacedRows): Generator<Statement> {
  const present = [...changed.values()].filter(row => row !== null);
  const gone = [...changed].filter(([, row]) => row === null).map(([key]) => key);
  if (present.length > 0) yield insert(table, present, { replace: true });
  if (gone.length > 0) yield [`DELETE FROM ${nameOf(table)} WHERE ${columnOf(table.key)} = ANY($1)`, [gone]];
}

/** The head after the transaction. */
export function updateHead({ last, at }: Draft, { id, mac, seal }: StoredHead): Statement {
  const assigned = lastColumns.map((name, i) => `${name} = $${i + 5}`).join(', ');
  return [
    `UPDATE head SET event = $1, mac = $2, seal = $3, at = $4, ${assigned}`,
    [id, mac, id === 0 ? null : seal, at, ...numberedTables.map(({ name }) => last[name])],
  ];
}
