import type { DocumentRecord } from '../../domain/document.ts';
import type { Derived } from '../derived.ts';
import { type ComparedAnswer, compareAnswer } from '../derived-documents.ts';
import type { ComparedToken } from '../derived-tokens.ts';
import { JournalCheck } from '../journal-check.ts';
import type { ChainedRow } from '../journal-end.ts';
import type { JournalKeyList } from '../key-ring.ts';
import type { Anchors, JournalReport } from '../maintenance.ts';
import { type HeadRow, storedHead } from './draft.ts';
import { answerFields } from './proofs.ts';
import type { Session } from './session.ts';
import { devices, passkeys, selectList, serviceTokens, type Table, users } from './tables.ts';

/** Rows read at a time. */
const CHUNK = 1000;

/**
 * Reads the journal from end to end, and the rows of users, devices and service tokens, which must be what the entries say. Call it in a
 * transaction that sees one moment.
 */
export async function verifyJournal(session: Session, keys: JournalKeyList, anchors?: Anchors): Promise<JournalReport> {
  const check = new JournalCheck(keys, anchors);
  for (let read = CHUNK; read === CHUNK; ) {
    const sql = 'SELECT * FROM event WHERE id > $1 ORDER BY id LIMIT $2';
    const { rows } = await session.run(sql, [check.last, CHUNK]);
    for (const row of rows as unknown as ChainedRow[]) check.entry(row);
    read = rows.length;
  }
  const head = (await session.run('SELECT * FROM head')).rows[0] as unknown as HeadRow;
  const records = await session.run('SELECT EXISTS (SELECT FROM "user") OR EXISTS (SELECT FROM device) AS found');
  if (check.end(storedHead(head), records.rows[0]!.found === true))
    await compareTables(session, check.derived, check.report);
  return check.result();
}

async function compareTables(session: Session, derived: Derived, report: (text: string) => void): Promise<void> {
  for await (const row of recordsOf(session, users)) derived.users.compare({ ...row, epoch: row.tokenEpoch }, report);
  derived.users.end(report);
  for await (const row of recordsOf(session, devices)) {
    const tags = Object.keys(row.tags).length > 0 ? JSON.stringify(row.tags) : null;
    derived.devices.compare({ ...row, tags }, report);
  }
  derived.devices.end(report);
  await compareProofs(session, derived, report);
  for await (const row of recordsOf(session, serviceTokens)) {
    const allowedFrom = row.allowedFrom === null ? null : JSON.stringify(row.allowedFrom);
    derived.tokens.compare({ ...row, allowedFrom, may: JSON.stringify(row.may) } satisfies ComparedToken, report);
  }
  derived.tokens.end(report);
  for await (const row of recordsOf(session, passkeys)) derived.passkeys.compare(row, report);
  derived.passkeys.end(report);
}

async function compareProofs(session: Session, { documents }: Derived, report: (text: string) => void): Promise<void> {
  for (let [last, read] = [0, CHUNK]; read === CHUNK; ) {
    const { rows } = await session.run(answerRows, [last, CHUNK]);
    for (const row of rows as unknown as ComparedAnswer[]) compareAnswer(row, report);
    read = rows.length;
    last = (rows.at(-1)?.number as number | undefined) ?? last;
  }
  const { rows } = await session.run('SELECT name, value FROM document');
  for (const row of rows as unknown as Pick<DocumentRecord, 'name' | 'value'>[]) documents.compare(row, report);
  documents.end(report);
}

const answerRows = `SELECT d.number, d.proof AS "deviceProof", ${selectList(answerFields)}
  FROM (SELECT number, proof FROM device WHERE proof IS NOT NULL AND number > $1 ORDER BY number LIMIT $2) AS d
  LEFT JOIN proof ON proof_id = d.proof::jsonb ->> 'proofId' ORDER BY d.number`;

/** All records of a table, by number. */
async function* recordsOf<R extends { readonly number: number }>(session: Session, table: Table<R>): AsyncGenerator<R> {
  const sql = `SELECT ${table.columns} FROM ${table.name} WHERE number > $1 ORDER BY number LIMIT $2`;
  for (let [last, read] = [0, CHUNK]; read === CHUNK; ) {
    const { rows } = await session.run(sql, [last, CHUNK]);
    for (const row of rows) yield table.toRecord(row);
    read = rows.length;
    last = (rows.at(-1)?.number as number | undefined) ?? last;
  }
}
