/**
 * Journal entries for accesses without a change: logins, refused operations, wrong confirmations and codes, downloads. One entry counts
 * the equal accesses of a minute, so an attack costs neither a write for each attempt nor unbounded storage.
 */
import { minuteMs } from '../../src/contract/durations.ts';
import { clientOf } from '../base/loopback.ts';
import { iso } from '../base/time.ts';
import type { EntryType } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import type { Context } from './context.ts';
import { actorOf } from './context.ts';

/** The types of entry that count accesses. */
type AccessType = Extract<
  EntryType,
  | 'LOGIN_SUCCEEDED'
  | 'LOGIN_FAILED'
  | 'OPERATION_REFUSED'
  | 'CONFIRMATION_FAILED'
  | 'ACTIVATION_CODE_WRONG'
  | 'PACKAGE_DOWNLOADED'
  | 'BACKUP_DOWNLOADED'
>;

/** A single access. */
export interface Access {
  readonly type: AccessType;
  /**
   * Name of an existing account or service token; null for others. Never a name that a client has typed: people type passwords
   * there by mistake.
   */
  readonly account: string | null;
  readonly address: string;
  readonly requestId: string;
  /** Number of the device that it is about. */
  readonly device?: number;
  /** Further content of the entry: accesses with different details are counted separately. */
  readonly detail?: Readonly<Record<string, string>>;
}

interface Sum {
  /** Null for all those that are not listed separately. */
  readonly access: Access | null;
  readonly type: AccessType;
  address: string;
  requestId: string;
  count: number;
  readonly first: number;
  last: number;
}

/** Dependencies of the journal. `now`: milliseconds since 1970. */
interface AccessJournalParts {
  readonly store: Pick<Store, 'commit'>;
  readonly now: () => number;
  /** Receives what is wrong, for the log. */
  readonly warn: (message: string, error: unknown) => void;
}

/** Entries in a minute for requests without a login. One further entry counts all others. */
const MOST_ANONYMOUS = 20;
/** Entries a minute for each other type: their accounts are known. */
const MOST_KNOWN = 200;

/** Counts accesses, and writes the counts a minute after the first one and at the stop. */
export class AccessJournal {
  readonly #parts: AccessJournalParts;
  #sums = new Map<string, Sum>();
  /** Counts of each type that are listed separately. */
  #listed = new Map<AccessType, number>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: AccessJournalParts) {
    this.#parts = parts;
  }

  /** Counts an access. Does not wait for anything and never throws. */
  record(access: Access): void {
    const at = this.#parts.now();
    this.#add(access, { address: access.address, requestId: access.requestId, count: 1, first: at, last: at });
    this.#flushSoon();
  }

  /** Writes what was counted. Never rejects: what could not be written is counted again. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Writes everything. To be called when no more requests are answered, and before the store is closed. */
  async stop(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    await this.flush();
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.flush();
    }, minuteMs).unref();
  }

  async #write(): Promise<void> {
    const sums = [...this.#sums.values()];
    this.#sums = new Map();
    this.#listed = new Map();
    // The store writes commits that arrive together in one transaction.
    const written = await Promise.allSettled(sums.map(sum => this.#commit(sum)));
    const failed = sums.filter((_, i) => written[i]!.status === 'rejected');
    if (failed.length === 0) return;
    const { reason } = written.find(result => result.status === 'rejected') as PromiseRejectedResult;
    this.#parts.warn(`${failed.length} entries about accesses could not be written; trying again`, reason);
    for (const sum of failed) this.#add(sum.access ?? { ...unlisted, type: sum.type }, sum, sum.access === null);
    this.#flushSoon();
  }

  #commit({ access, type, address, requestId, count, first, last }: Sum) {
    const times = { count, first: iso(first), last: iso(last) };
    const detail = access ? { address, ...access.detail, ...times } : { summed: true, ...times };
    return this.#parts.store.commit({
      at: this.#parts.now(),
      actor: access?.account ?? null,
      requestId: access ? requestId : null,
      changes: [{ kind: 'journal.add', entry: { type, detail }, device: access?.device ?? null, subject: null }],
    });
  }

  #add(access: Access, counted: Omit<Sum, 'access' | 'type'>, isSummed = false): void {
    const { type } = access;
    const key = isSummed ? type : keyOf(access);
    const sum = this.#sums.get(key) ?? (isSummed || this.#isFull(type) ? this.#sums.get(type) : undefined);
    if (sum) {
      Object.assign(sum, { address: counted.address, requestId: counted.requestId, count: sum.count + counted.count });
      sum.last = Math.max(sum.last, counted.last);
      return;
    }
    const listed = !isSummed && !this.#isFull(type);
    if (listed) this.#listed.set(type, (this.#listed.get(type) ?? 0) + 1);
    this.#sums.set(listed ? key : type, { ...counted, type, access: listed ? access : null });
  }

  #isFull(type: AccessType): boolean {
    return (this.#listed.get(type) ?? 0) >= (type === 'LOGIN_FAILED' ? MOST_ANONYMOUS : MOST_KNOWN);
  }
}

/** In place of an access that is not listed separately. */
const unlisted = { account: null, address: '', requestId: '' };

/** A client that has an IPv6 network counts as one, as it does for the limits. */
const keyOf = ({ type, account, address, device, detail }: Access): string =>
  JSON.stringify([type, account, clientOf(address), device, detail]);

/** Fields that an access shares with its request. */
export const accessOf = (context: Context): Pick<Access, 'account' | 'address' | 'requestId'> => ({
  account: actorOf(context),
  address: context.address,
  requestId: context.requestId,
});
