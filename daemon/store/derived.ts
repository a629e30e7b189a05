import type { EntryType } from '../domain/journal.ts';
import type { JournalRow } from './chain.ts';
import { DerivedDevices } from './derived-devices.ts';
import { DerivedDocuments } from './derived-documents.ts';
import { DerivedPasskeys } from './derived-passkeys.ts';
import { DerivedTokens } from './derived-tokens.ts';
import { DerivedUsers } from './derived-users.ts';

/**
 * The tables as the journal says that they must be. A person who removes the last entries and puts an earlier seal back leaves
 * rows that no entry explains: a promoted user, another password, an unlocked device.
 */
export class Derived {
  readonly users = new DerivedUsers();
  readonly devices = new DerivedDevices();
  readonly tokens = new DerivedTokens();
  readonly passkeys = new DerivedPasskeys();
  readonly documents = new DerivedDocuments();

  /** Whether entries of this version are among them. */
  hasDigests = false;

  /** Takes the entries in their order. */
  apply(row: JournalRow): void {
    this.hasDigests ||= row.detail.includes('Digest":"');
    const type = row.type as EntryType;
    if (row.device !== null) {
      if (type !== 'DEVICE_USED') this.devices.apply(type, row.device, fields(row.data), fields(row.detail));
    } else if (row.subject !== null) {
      if (type.startsWith('PASSKEY_')) this.passkeys.apply(row, row.subject, fields(row.detail));
      else if (type.startsWith('TOKEN_')) this.tokens.apply(row, row.subject, fields(row.detail));
      else this.users.apply(type, row.subject, fields(row.detail));
    } else if (row.detail.includes('"documentDigest":')) this.documents.apply(fields(row.detail));
  }

  /** What entries of an earlier version do not prove; valid after all tables were compared. */
  get notCovered(): readonly string[] {
    return [
      ...counted(this.users.unproved, 'password', 'passwords', 'user', 'users'),
      ...counted(this.devices.unproved, 'activation code', 'activation codes', 'device', 'devices'),
    ];
  }
}

const counted = (count: number, one: string, many: string, owner: string, owners: string): string[] => {
  if (count === 0) return [];
  return [count === 1 ? `the ${one} of 1 ${owner}` : `the ${many} of ${count} ${owners}`];
};

/** Empty if the text is not an object: the entry was changed, which the chain reports. */
function fields(json: string): Readonly<Record<string, unknown>> {
  if (json === '{}') return {};
  try {
    return (JSON.parse(json) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
