/** What is asked about credentials at providers beside records, once for all engines. */
import type { CredentialRecord } from '../domain/credential.ts';
import { selectList } from '../store/table.ts';
import { credentials } from '../store/tables.ts';

/** `?`: the number after which they begin, and how many at most. */
export const openCredentials = `SELECT number, provider,
  CASE WHEN credential_id IS NOT NULL AND (uncertain_at IS NOT NULL OR EXISTS
    (SELECT 1 FROM device WHERE device.number = credential.device AND device.status <> 'ACTIVE')) THEN 1 ELSE 0 END AS due
  FROM credential WHERE removed_at IS NULL AND number > ? ORDER BY number LIMIT ?`;

/** `?`: the provider, the number after which they begin, and how many at most. */
export const credentialsAt = `SELECT ${selectList(credentials.fields)} FROM credential
  WHERE provider = ? AND number > ? ORDER BY number LIMIT ?`;

/** A credential that is not removed. */
export interface OpenCredential {
  readonly number: number;
  readonly provider: number;
  /** 1: the provider must not accept it, see `isToRemove`. Else 0. */
  readonly due: number;
}

/** The reads of this file, as a store has them. */
export interface CredentialReads {
  /** Those that are not removed, after this number, by number; at most `limit`. */
  openCredentials(after: number, limit: number): Promise<readonly OpenCredential[]>;
  /** All that a provider has had, after this number, by number; at most `limit`. */
  credentialsAt(provider: number, after: number, limit: number): Promise<readonly CredentialRecord[]>;
}

/** Credentials that are read at a time. */
const PORTION = 5000;

/** All credentials that are not removed, in portions, between which other work is done. */
export async function* allOpenCredentials(
  store: Pick<CredentialReads, 'openCredentials'>,
): AsyncGenerator<readonly OpenCredential[], void> {
  for (let after = 0; ; ) {
    const portion = await store.openCredentials(after, PORTION);
    const last = portion.at(-1);
    if (!last) return;
    yield portion;
    after = last.number;
  }
}
