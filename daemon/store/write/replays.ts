import { type EntryType, subjectKindOf } from '../../domain/journal.ts';
import { openedNames } from '../../domain/sealed-names.ts';
import type { JournalRow } from '../chain.ts';
import { credentialReplay } from './credentials.ts';
import { DeviceReplay } from './device-replay.ts';
import { documentReplay } from './documents.ts';
import { passkeyReplay } from './passkeys.ts';
import { personReplay } from './people.ts';
import { ReceiptReplay } from './receipts.ts';
import type { Fields } from './replay.ts';
import { tokenReplay } from './service-tokens.ts';
import { UserReplay } from './users.ts';

/**
 * The tables as the journal records that they must be. A person who removes the last entries and puts an earlier seal back leaves
 * rows that no entry explains: a promoted user, another password, an unlocked device.
 */
export class Replays {
  readonly users = new UserReplay();
  readonly devices = new DeviceReplay();
  readonly tokens = tokenReplay();
  readonly passkeys = passkeyReplay();
  readonly people = personReplay();
  readonly credentials = credentialReplay();
  readonly receipts = new ReceiptReplay();
  readonly documents = documentReplay();

  /** Those that are not of devices. Versions of the application are not compared. */
  readonly #ofSubject = {
    app: null,
    credential: this.credentials,
    passkey: this.passkeys,
    person: this.people,
    serviceToken: this.tokens,
    user: this.users,
  };

  /** Whether entries of this version are among them. */
  hasDigests = false;

  readonly #saltOf: (person: number) => string | undefined;

  /** `saltOf`: of a person; undefined if the person does not exist. */
  constructor(saltOf: (person: number) => string | undefined) {
    this.#saltOf = saltOf;
  }

  /** Takes the entries in their order. */
  apply(row: JournalRow): void {
    const { at, actor, device, subject } = row;
    const type = row.type as EntryType;
    this.hasDigests ||= row.detail.includes('Digest":"');
    const isAboutDocument = device === null && subject === null;
    if (isAboutDocument && !row.detail.includes('"documentDigest":')) return;
    const open = (json: string) => openedNames(fieldsOf(json), this.#saltOf);
    const entry = { type, at, actor, data: open(row.data), detail: open(row.detail) };
    if (type === 'RECEIPT_SIGNED' || type === 'LOAN_OVERDUE') this.receipts.apply(subject!, entry);
    else if (device !== null) this.devices.apply(device, entry);
    else if (isAboutDocument) this.documents.apply(String(entry.detail.document), entry);
    else this.#ofSubject[subjectKindOf(type)]?.apply(subject!, entry);
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
function fieldsOf(json: string): Fields {
  if (json === '{}') return {};
  try {
    return (JSON.parse(json) ?? {}) as Fields;
  } catch {
    return {};
  }
}
