import type { DocumentRecord } from '../../domain/document.ts';
import type { Derived } from '../derived.ts';
import type { ComparedDevice } from '../derived-devices.ts';
import { type ComparedAnswer, compareAnswer } from '../derived-documents.ts';
import type { ComparedPasskey } from '../derived-passkeys.ts';
import type { ComparedToken } from '../derived-tokens.ts';
import type { ComparedUser } from '../derived-users.ts';
import { JournalCheck } from '../journal-check.ts';
import type { ChainedRow } from '../journal-end.ts';
import type { JournalKeyList } from '../key-ring.ts';
import type { Anchors, JournalReport } from '../maintenance.ts';
import { hasRecords, readHead } from './journal.ts';
import { passkeyRows, storesPasskeys } from './passkeys.ts';
import { proofFields, storesProofs } from './proofs.ts';
import { storesPermissions } from './service-tokens.ts';
import type { Statements } from './statements.ts';
import { columnsOf } from './tables.ts';
import { storesTags } from './tags.ts';

const chunk = 1000;

/**
 * Reads the journal from end to end. Reports entries that were changed, removed, inserted or moved, and rows of users, devices and
 * service tokens that are not what the entries say. Both must be of one moment: call it in a transaction.
 */
export function* verifyJournal(
  statements: Statements,
  keys: JournalKeyList,
  anchors?: Anchors,
): Generator<void, JournalReport> {
  const check = new JournalCheck(keys, anchors);
  for (;;) {
    const rows = statements.all<ChainedRow>('SELECT * FROM event WHERE id > ? ORDER BY id LIMIT ?', check.last, chunk);
    for (const row of rows) check.entry(row);
    if (rows.length === 0) break;
    yield;
  }
  if (check.end(readHead(statements), hasRecords(statements)))
    yield* compareTables(statements, check.derived, check.report);
  return check.result();
}

/** Yields between rows. */
function* compareTables(
  statements: Statements,
  { users, devices, tokens, passkeys, documents }: Derived,
  report: (text: string) => void,
): Generator<void, void> {
  for (const row of rowsOf<Omit<ComparedUser, 'disabled'> & { disabled: number }>(statements, userRows)) {
    users.compare({ ...row, disabled: row.disabled === 1 }, report);
    yield;
  }
  users.end(report);
  for (const row of rowsOf<ComparedDevice>(statements, deviceRows(storesTags(statements), storesProofs(statements)))) {
    devices.compare(row, report);
    yield;
  }
  devices.end(report);
  if (storesProofs(statements)) {
    for (const row of rowsOf<ComparedAnswer>(statements, answerRows)) {
      compareAnswer(row, report);
      yield;
    }
    for (const row of rowsOf<DocumentRecord>(statements, 'SELECT name, value FROM document'))
      documents.compare(row, report);
  }
  documents.end(report);
  // A database of an earlier version has no service tokens.
  if (statements.value(`SELECT 1 FROM sqlite_schema WHERE name = 'service_token'`) !== undefined)
    for (const row of rowsOf<ComparedToken>(statements, tokenRows(storesPermissions(statements)))) {
      tokens.compare(row, report);
      yield;
    }
  tokens.end(report);
  if (storesPasskeys(statements))
    for (const row of rowsOf<ComparedPasskey>(statements, passkeyRows)) {
      passkeys.compare(row, report);
      yield;
    }
  passkeys.end(report);
}

const rowsOf = <T>(statements: Statements, sql: string) => statements.of(sql).iterate() as Iterable<T>;
const userRows =
  'SELECT number, username, password_hash AS passwordHash, role, disabled, token_epoch AS epoch FROM user';
const deviceRows = (hasTags: boolean, hasProofs: boolean) =>
  `SELECT number, status, user_id AS userId, device_type AS deviceType, serial_number AS serialNumber, manufacturer, model,
     hardware_version AS hardwareVersion, activation_code AS activationCode,
     activation_code_expires_at AS activationCodeExpiresAt, ${hasTags ? 'tags' : 'NULL AS tags'},
     ${hasProofs ? 'proof' : 'NULL AS proof'}
   FROM device ORDER BY number`;
const { proof: _, ...answerFields } = proofFields;
const answerRows = `SELECT d.number, d.proof AS deviceProof, ${columnsOf(answerFields)}
   FROM (SELECT number, proof FROM device WHERE proof IS NOT NULL) AS d
   LEFT JOIN proof ON proof_id = d.proof ->> '$.proofId' ORDER BY d.number`;
const tokenRows = (
  hasPermissions: boolean,
) => `SELECT number, name, role, sha256, created_by AS createdBy, created_at AS createdAt,
     expires_at AS expiresAt, revoked_at AS revokedAt, allowed_from AS allowedFrom,
     ${hasPermissions ? 'may' : "'[]' AS may"}
   FROM service_token ORDER BY number`;
