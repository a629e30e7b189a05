/** The reads of credentials at providers. */
import { SSH_KEY_LIKE } from '../../src/contract/ssh-key.ts';
import { type ReadsOf, type RecordQueries, withAnswer } from '../store/read/records.ts';
import { selectList } from '../store/table.ts';
import { documents } from '../store/tables.ts';
import { pinDocument, pinIn } from './pin.ts';
import { credentials, credentialsOf, credentialsOfAccount } from './tables.ts';

/** `?`: the number after which they begin, and how many at most. */
const openCredentials = `SELECT number, provider,
  CASE WHEN credential_id IS NOT NULL AND (uncertain_at IS NOT NULL OR EXISTS
    (SELECT 1 FROM device WHERE device.number = credential.device AND device.status <> 'ACTIVE'
      AND (device.status = 'DEACTIVATED' OR remote_id IS NULL OR remote_id NOT LIKE '${SSH_KEY_LIKE}'))) THEN 1 ELSE 0 END AS due
  FROM credential WHERE removed_at IS NULL AND number > ? ORDER BY number LIMIT ?`;

/** `?`: the provider, the number after which they begin, and how many at most. */
const credentialsAt = `SELECT ${selectList(credentials.fields)} FROM credential
  WHERE provider = ? AND number > ? ORDER BY number LIMIT ?`;

const issuedCredentials = (count: number) => `SELECT credential_id AS "credentialId", device FROM credential
  WHERE removed_at IS NULL AND uncertain_at IS NULL AND issued_at IS NOT NULL
  AND credential_id IN (${Array(count).fill('?').join(', ')})`;

const issuedSshKeys = (count: number) => `SELECT remote_id AS "sshKey", device FROM credential
  WHERE removed_at IS NULL AND uncertain_at IS NULL AND issued_at IS NOT NULL
  AND remote_id IN (${Array(count).fill('?').join(', ')})`;

/** A credential that is not removed. */
export interface OpenCredential {
  readonly number: number;
  readonly provider: number;
  /** 1: the provider must not accept it, see `isToRemove`. Else 0. */
  readonly due: number;
}

export const credentialReads = (queries: RecordQueries) => ({
  /** The stored PIN of a device. */
  pinOf: (device: number) => withAnswer(queries.one(documents.byKey, pinDocument(device)), pinIn),
  /** The key with this number, also if it is removed. */
  credential: (number: number) => queries.one(credentials.byKey, number),
  /** All credentials of a device at providers, removed ones included, by number. */
  credentialsOf: (device: number) => queries.all(credentialsOf, device),
  /** All credentials of an account at a provider, removed ones included, by number. */
  credentialsOfAccount: (provider: number, account: string) =>
    queries.all(credentialsOfAccount, `${provider}\n${account}`),
  /** Devices of credentials that a provider accepts, by the ids that keys gave them. */
  issuedCredentials: (credentialIds: readonly string[]) =>
    queries.rows<{ readonly credentialId: string; readonly device: number }>(
      issuedCredentials(credentialIds.length),
      credentialIds,
    ),
  /** Devices of SSH keys that are accepted, by the keys without options and comment. */
  issuedSshKeys: (keys: readonly string[]) =>
    queries.rows<{ readonly sshKey: string; readonly device: number }>(issuedSshKeys(keys.length), keys),
  /** Credentials that are not removed, after this number, by number; at most `limit`. */
  openCredentials: (after: number, limit: number) => queries.rows<OpenCredential>(openCredentials, [after, limit]),
  /** All that a provider has had, after this number, by number; at most `limit`. */
  credentialsAt: (provider: number, after: number, limit: number) =>
    queries.rows(credentialsAt, [provider, after, limit], credentials),
});
export type CredentialReads = ReadsOf<typeof credentialReads>;

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
