import { tokenIds } from '../../../src/contract/ids.ts';
import type { EntryType } from '../../domain/journal.ts';
import type { JournalRow } from '../chain.ts';
import type { Statements } from './statements.ts';

interface TokenRow {
  readonly number: number;
  readonly name: string;
  readonly role: string;
  readonly sha256: string;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly revokedAt: number | null;
  readonly allowedFrom: string | null;
}

interface DerivedToken {
  /** All fields that never change, as one text. */
  readonly fixed: string;
  revokedAt: number | null;
}

const fixedText = (...fields: readonly unknown[]): string => JSON.stringify(fields);

/** The service tokens as the journal says that they are. */
export class DerivedTokens {
  readonly #tokens = new Map<number, DerivedToken>();

  apply(row: JournalRow, number: number, detail: Readonly<Record<string, unknown>>): void {
    const type = row.type as EntryType;
    if (type === 'TOKEN_CREATED') {
      const { name, role, sha256, expiresAt, allowedFrom } = detail;
      const networks = allowedFrom === null ? null : JSON.stringify(allowedFrom);
      const fixed = fixedText(name, role, sha256, row.actor, row.at, expiresAt, networks);
      this.#tokens.set(number, { fixed, revokedAt: null });
    } else if (type === 'TOKEN_REVOKED') {
      const token = this.#tokens.get(number);
      if (token) token.revokedAt = row.at;
    }
  }

  /** Compares the table with the entries; yields between rows. */
  *compare(statements: Statements, report: (text: string) => void): Generator<void, void> {
    for (const row of rows(statements)) {
      const token = this.#tokens.get(row.number);
      this.#tokens.delete(row.number);
      const { name, role, sha256, createdBy, createdAt, expiresAt, allowedFrom } = row;
      const fixed = fixedText(name, role, sha256, createdBy, createdAt, expiresAt, allowedFrom);
      if (!token) report(`${tokenIds.format(row.number)} (${name}) was added without an entry`);
      else if (token.fixed !== fixed || token.revokedAt !== row.revokedAt)
        report(`${tokenIds.format(row.number)} (${name}) was changed without an entry`);
      yield;
    }
    for (const number of this.#tokens.keys()) report(`${tokenIds.format(number)} was removed without an entry`);
  }
}

/** None if the database is of a version without service tokens. */
function rows(statements: Statements): Iterable<TokenRow> {
  if (statements.value(`SELECT 1 FROM sqlite_schema WHERE name = 'service_token'`) === undefined) return [];
  return statements
    .of(
      `SELECT number, name, role, sha256, created_by AS createdBy, created_at AS createdAt, expires_at AS expiresAt,
         revoked_at AS revokedAt, allowed_from AS allowedFrom
       FROM service_token ORDER BY number`,
    )
    .iterate() as Iterable<TokenRow>;
}
