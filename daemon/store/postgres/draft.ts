/** The records that a group of commits reads and changes, in memory, while the group holds the lock of the database. */
import type { DeviceStatus, DeviceType } from '../../../src/contract/values.ts';
import type { AppRecord } from '../../domain/app.ts';
import type { BackupRecord } from '../../domain/backup.ts';
import type { DeviceRecord } from '../../domain/device.ts';
import type { Entry } from '../../domain/journal.ts';
import type { PasskeyRecord } from '../../domain/passkey.ts';
import type { ServiceTokenRecord } from '../../domain/service-token.ts';
import type { UserRecord } from '../../domain/user.ts';
import type { ChainedRow, EntryContext, JournalEnd, StoredHead } from '../journal-end.ts';
import { Documents } from './documents.ts';
import { Proofs } from './proofs.ts';
import { Responses } from './responses.ts';
import { WebhookProgress } from './webhooks.ts';

/** The tables whose rows are numbered from 1 without gaps. */
export const numberedTables = ['device', 'user', 'app', 'backup', 'service_token', 'passkey'] as const;
type Numbered = (typeof numberedTables)[number];

/** The row that is the lock. `event` and `mac` are the end of the journal; a number is the last of its table. */
export interface HeadRow extends Readonly<Record<Numbered, number>> {
  readonly event: number;
  readonly mac: string;
  /** Null before the first entry. */
  readonly seal: string | null;
  readonly at: number;
}

/** The end of the journal as the row has it; null if the journal is empty. */
export const storedHead = ({ event: id, mac, seal }: HeadRow): StoredHead | null =>
  seal === null ? null : { id, mac, seal };

/** Records by number, and what was done to them. */
export class Records<R extends { readonly number: number }> {
  readonly #present = new Map<number, R>();
  readonly #added = new Set<number>();
  readonly #changed = new Set<number>();
  readonly #keys = new Map<string, number>();
  readonly #keyOf: (record: R) => string | null;

  /** `keyOf`: what no two records share; null if this one does not have it. */
  constructor(keyOf: (record: R) => string | null) {
    this.#keyOf = keyOf;
  }

  load(records: readonly R[]): void {
    for (const record of records) this.#put(record);
  }

  get(number: number): R | undefined {
    return this.#present.get(number);
  }

  withKey(key: string): R | undefined {
    const number = this.#keys.get(key);
    return number === undefined ? undefined : this.#present.get(number);
  }

  add(record: R): void {
    this.#put(record);
    this.#added.add(record.number);
  }

  change(record: R): void {
    const key = this.#keyOf(this.#present.get(record.number)!);
    if (key !== null) this.#keys.delete(key);
    this.#put(record);
    if (!this.#added.has(record.number)) this.#changed.add(record.number);
  }

  /** All that were loaded or added, as they are now. */
  all(): Iterable<R> {
    return this.#present.values();
  }

  get added(): readonly R[] {
    return this.#of(this.#added);
  }

  get changed(): readonly R[] {
    return this.#of(this.#changed);
  }

  #put(record: R): void {
    this.#present.set(record.number, record);
    const key = this.#keyOf(record);
    if (key !== null) this.#keys.set(key, record.number);
  }

  #of(numbers: ReadonlySet<number>): R[] {
    return Array.from(numbers, number => this.#present.get(number)!);
  }
}

/** What an upload must not share with another. No field contains a line break. */
export const appKey = ({
  platform,
  version,
  extension,
}: Pick<AppRecord, 'platform' | 'version' | 'extension'>): string => `${platform}\n${version}\n${extension}`;

/** A number of devices of a kind. */
export interface DeviceCount {
  readonly manufacturer: string;
  readonly deviceType: DeviceType;
  readonly status: DeviceStatus;
  by: number;
}

/** Milliseconds of an hour. */
export const hourMs = 3_600_000;

/** What a transaction starts from and what it will write. */
export class Draft {
  readonly devices = new Records<DeviceRecord>(({ serialNumber }) => serialNumber);
  readonly users = new Records<UserRecord>(({ username }) => username);
  readonly apps = new Records<AppRecord>(appKey);
  readonly backups = new Records<BackupRecord>(() => null);
  readonly serviceTokens = new Records<ServiceTokenRecord>(({ name, revokedAt }) => (revokedAt === null ? name : null));
  readonly passkeys = new Records<PasskeyRecord>(({ credentialId }) => credentialId);
  readonly responses = new Responses();
  readonly proofs = new Proofs();
  readonly documents = new Documents();
  readonly webhooks = new WebhookProgress();
  readonly events: ChainedRow[] = [];
  readonly counts = new Map<string, DeviceCount>();
  /** Number of registrations by hour since 1970. */
  readonly hours = new Map<number, number>();
  /** Numbers of the users that were added or changed. */
  readonly changedUsers = new Set<number>();
  /** Numbers of the service tokens that were added or revoked. */
  readonly changedTokens = new Set<number>();
  readonly #last: Record<Numbered, number>;
  readonly #end: JournalEnd;
  #at: number;

  /** `end` continues at the head. */
  constructor(head: HeadRow, end: JournalEnd) {
    const { device, user, app, backup, service_token, passkey } = head;
    this.#last = { device, user, app, backup, service_token, passkey };
    this.#at = head.at;
    this.#end = end;
  }

  /** Time of a commit: never before that of an earlier commit. */
  timeOf(at: number): number {
    this.#at = Math.max(this.#at, at);
    return this.#at;
  }

  /** Time of the last commit so far. */
  get at(): number {
    return this.#at;
  }

  next(table: Numbered): number {
    return ++this.#last[table];
  }

  enter(context: EntryContext, entry: Entry, device: number | null, subject: number | null): void {
    this.events.push(this.#end.append(context, entry, device, subject));
  }

  rotate(context: EntryContext, entry: Entry, key: Uint8Array): void {
    const row = this.#end.rotate(context, entry, key);
    if (row) this.events.push(row);
  }

  count({ manufacturer, deviceType, status }: DeviceRecord, by: 1 | -1): void {
    const key = `${deviceType} ${status} ${manufacturer}`;
    const count = this.counts.get(key);
    if (count) count.by += by;
    else this.counts.set(key, { manufacturer, deviceType, status, by });
  }

  countRegistration(at: number): void {
    const hour = Math.floor(at / hourMs);
    this.hours.set(hour, (this.hours.get(hour) ?? 0) + 1);
  }

  /** Whether there is anything to write. */
  get isEmpty(): boolean {
    const records = [this.devices, this.users, this.apps, this.backups, this.serviceTokens, this.passkeys];
    if (this.events.length > 0 || !this.responses.isEmpty) return false;
    if (!this.proofs.isEmpty || !this.documents.isEmpty || !this.webhooks.isEmpty) return false;
    return records.every(({ added, changed }) => added.length + changed.length === 0);
  }

  /** The head after the transaction. */
  head(): HeadRow {
    const { id: event, mac, seal } = this.#end.seal();
    return { ...this.#last, event, mac, seal, at: this.#at };
  }
}
