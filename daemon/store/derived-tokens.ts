import { tokenIds } from '../../src/contract/ids.ts';
import type { EntryType } from '../domain/journal.ts';
import type { JournalRow } from './chain.ts';

/** What is compared of a service token. `allowedFrom`: a JSON array, null for any address; `may`: a JSON array. */
export interface ComparedToken {
  readonly number: number;
  readonly name: string;
  readonly role: string;
  readonly sha256: string;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly revokedAt: number | null;
  readonly allowedFrom: string | null;
  readonly may: string;
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
      // An entry of an earlier version has no permissions.
      const { name, role, sha256, expiresAt, allowedFrom, may = [] } = detail;
      const networks = allowedFrom === null ? null : JSON.stringify(allowedFrom);
      const fixed = fixedText(name, role, sha256, row.actor, row.at, expiresAt, networks, JSON.stringify(may));
      this.#tokens.set(number, { fixed, revokedAt: null });
    } else if (type === 'TOKEN_REVOKED') {
      const token = this.#tokens.get(number);
      if (token) token.revokedAt = row.at;
    }
  }

  /** Compares a row of the table with the entries. */
  compare(row: ComparedToken, report: (text: string) => void): void {
    const token = this.#tokens.get(row.number);
    this.#tokens.delete(row.number);
    const { name, role, sha256, createdBy, createdAt, expiresAt, allowedFrom, may } = row;
    const fixed = fixedText(name, role, sha256, createdBy, createdAt, expiresAt, allowedFrom, may);
    if (!token) report(`${tokenIds.format(row.number)} (${name}) was added without an entry`);
    else if (token.fixed !== fixed || token.revokedAt !== row.revokedAt)
      report(`${tokenIds.format(row.number)} (${name}) was changed without an entry`);
  }

  /** Reports the tokens that the table lacks. */
  end(report: (text: string) => void): void {
    for (const number of this.#tokens.keys()) report(`${tokenIds.format(number)} was removed without an entry`);
  }
}
