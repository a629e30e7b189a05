import { passkeyIds, userIds } from '../../src/contract/ids.ts';
import type { EntryType } from '../domain/journal.ts';
import type { PasskeyRecord } from '../domain/passkey.ts';
import type { JournalRow } from './chain.ts';

/** What is compared of a key that a user signs in with. How it was used is not in the journal. */
export type ComparedPasskey = Pick<
  PasskeyRecord,
  'number' | 'owner' | 'name' | 'credentialId' | 'publicKey' | 'rpId' | 'aaguid' | 'createdAt' | 'removedAt'
>;

interface DerivedPasskey {
  /** All fields that never change, as one text. */
  readonly fixed: string;
  removedAt: number | null;
}

/** The keys that users sign in with as the journal says that they are. */
export class DerivedPasskeys {
  readonly #passkeys = new Map<number, DerivedPasskey>();

  apply(row: JournalRow, number: number, detail: Readonly<Record<string, unknown>>): void {
    const type = row.type as EntryType;
    if (type === 'PASSKEY_ADDED') {
      const { user, name, credentialId, publicKey, rpId, aaguid } = detail;
      const fixed = JSON.stringify([user, name, credentialId, publicKey, rpId, aaguid, row.at]);
      this.#passkeys.set(number, { fixed, removedAt: null });
    } else if (type === 'PASSKEY_REMOVED') {
      const passkey = this.#passkeys.get(number);
      if (passkey) passkey.removedAt = row.at;
    }
  }

  /** Compares a row of the table with the entries. */
  compare(row: ComparedPasskey, report: (text: string) => void): void {
    const passkey = this.#passkeys.get(row.number);
    this.#passkeys.delete(row.number);
    const { owner, name, credentialId, publicKey, rpId, aaguid, createdAt } = row;
    const fixed = JSON.stringify([userIds.format(owner), name, credentialId, publicKey, rpId, aaguid, createdAt]);
    if (!passkey) report(`${passkeyIds.format(row.number)} (${name}) was added without an entry`);
    else if (passkey.fixed !== fixed || passkey.removedAt !== row.removedAt)
      report(`${passkeyIds.format(row.number)} (${name}) was changed without an entry`);
  }

  /** Reports the keys that the table lacks. */
  end(report: (text: string) => void): void {
    for (const number of this.#passkeys.keys()) report(`${passkeyIds.format(number)} was removed without an entry`);
  }
}
