import { keyDigest } from '../../domain/digest.ts';
import type { Entry, JournalAdd, JournalRotate } from '../../domain/journal.ts';
import type { JournalHead } from '../store.ts';
import { entryMac, type Mac, macWith, noEntries, sealOf } from './chain.ts';
import type { Statements } from './statements.ts';
import type { Writes } from './writing.ts';

/** When and on whose behalf an entry is written. */
export interface EntryContext {
  readonly at: number;
  readonly actor: string | null;
  readonly requestId: string | null;
}

/** The end of the journal as it is stored: the seal proves who wrote it. */
export interface StoredHead extends JournalHead {
  readonly seal: string;
}

const insert = `INSERT INTO event (id, at, type, device, subject, actor, request_id, data, detail, mac)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Writes the journal. Call `append` and `seal` inside a transaction, and `reload` after a rollback. */
export class Journal {
  readonly #statements: Statements;
  /** By the digest of their keys; the current one first. */
  readonly #macs: Map<string, Mac>;
  /** Digest of the key that the next entry is authenticated with, and its function. */
  #key: string;
  #mac: Mac;
  #id = 0;
  #last = '';
  #sealed = 0;

  /** `keys`: the current one, then others that the journal may end with: after a restore, or a replacement that was interrupted. */
  constructor(statements: Statements, keys: readonly [Uint8Array, ...Uint8Array[]]) {
    this.#statements = statements;
    this.#macs = new Map(keys.map(key => [keyDigest(key), macWith(key)]));
    this.#key = keyDigest(keys[0]);
    this.#mac = this.#macs.get(this.#key)!;
  }

  get lastId(): number {
    return this.#id;
  }

  /** Whether entries were written since the last seal. */
  get unsealed(): boolean {
    return this.#id !== this.#sealed;
  }

  /** Reads the state of the database. Returns what is wrong with the end of the journal; null if nothing is. */
  reload(): string | null {
    const head = readHead(this.#statements);
    const last = this.#statements.value<number | null>('SELECT max(id) FROM event') ?? 0;
    this.#use(this.#keyOf(head) ?? this.#key);
    const genuine = head === null ? last === 0 && !hasRecords(this.#statements) : sealOf(this.#mac, head) === head.seal;
    this.#id = Math.max(last, head?.id ?? 0);
    this.#sealed = this.#id;
    // If the seal is broken, the next entry must not hide the damage: its chain starts with a value that verification reports.
    this.#last = genuine ? (head ?? noEntries).mac : 'broken';
    if (!genuine) return `the seal of the journal does not match its key: entries or the key were changed`;
    return this.#id === last ? null : `the journal ends at entry ${last}, its seal says ${this.#id}`;
  }

  append(context: EntryContext, entry: Entry, device: number | null, subject: number | null): void {
    const row = {
      id: this.#id + 1,
      at: context.at,
      type: entry.type,
      device,
      subject,
      actor: context.actor,
      request_id: context.requestId,
      data: entry.data === undefined ? '{}' : JSON.stringify(entry.data),
      detail: entry.detail === undefined ? '{}' : JSON.stringify(entry.detail),
    };
    const mac = entryMac(this.#mac, this.#last, row);
    this.#statements
      .of(insert)
      .run(row.id, row.at, row.type, device, subject, row.actor, row.request_id, row.data, row.detail, mac);
    this.#id = row.id;
    this.#last = mac;
  }

  /** Writes the entry with the present key and continues with `key`; does nothing if that is the present one. */
  rotate(context: EntryContext, entry: Entry, key: Uint8Array): void {
    const digest = keyDigest(key);
    if (digest === this.#key) return;
    this.append(context, entry, null, null);
    this.#macs.set(digest, macWith(key));
    this.#use(digest);
  }

  #use(digest: string): void {
    this.#key = digest;
    this.#mac = this.#macs.get(digest)!;
  }

  /** The key that sealed the head. */
  #keyOf(head: StoredHead | null): string | undefined {
    if (head === null) return undefined;
    for (const [digest, mac] of this.#macs) if (sealOf(mac, head) === head.seal) return digest;
    return undefined;
  }

  seal(): void {
    const head: StoredHead = {
      id: this.#id,
      mac: this.#last,
      seal: sealOf(this.#mac, { id: this.#id, mac: this.#last }),
    };
    this.#statements.run(
      `INSERT INTO meta (name, value) VALUES ('journal', ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
      JSON.stringify(head),
    );
    this.#sealed = this.#id;
  }
}

/** Null if the journal was never written. */
export function readHead(statements: Statements): StoredHead | null {
  const text = statements.value<string>(`SELECT value FROM meta WHERE name = 'journal'`);
  return text === undefined ? null : (JSON.parse(text) as StoredHead);
}

/** Whether there is anything that the journal must account for: a registry that was never used has no journal. */
export function hasRecords(statements: Statements): boolean {
  return statements.value('SELECT 1 FROM user UNION ALL SELECT 1 FROM device LIMIT 1') !== undefined;
}

/** How entries without a change are written. */
export const journalWrites: Writes<(JournalAdd | JournalRotate)['kind']> = {
  'journal.rotate': {
    apply({ key, entry }, context, { journal }) {
      journal.rotate(context, entry, key);
      return { kind: 'done' };
    },
  },
  'journal.add': {
    apply({ entry, device, subject }, context, { journal }) {
      journal.append(context, entry, device, subject);
      return { kind: 'done' };
    },
  },
};
