import { entryMac, type JournalRow, type Mac, macWith, noEntries, sealOf } from './chain.ts';
import { keyDigest } from './digest.ts';
import type { Entry } from './journal.ts';
import type { JournalHead } from './queries.ts';

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

/** An entry as it is stored, with the code that chains it to the one before. */
export interface ChainedRow extends JournalRow {
  readonly mac: string;
}

/** Makes the next entries of a journal, and the seal at its end. Writes nothing: call `continueAt` after what was made is discarded. */
export class JournalEnd {
  /** By the digest of their keys; the current one first. */
  readonly #macs: Map<string, Mac>;
  /** Digest of the key that the next entry is authenticated with, and its function. */
  #key: string;
  #mac: Mac;
  #id = 0;
  #last = '';

  /** `keys`: the current one, then others that the journal may end with: after a restore, or a replacement that was interrupted. */
  constructor(keys: readonly [Uint8Array, ...Uint8Array[]]) {
    this.#macs = new Map(keys.map(key => [keyDigest(key), macWith(key)]));
    this.#key = keyDigest(keys[0]);
    this.#mac = this.#macs.get(this.#key)!;
  }

  /** Id of the last entry, those made included. */
  get id(): number {
    return this.#id;
  }

  /** Adds keys that the journal may end with. Returns whether one of them is new. */
  learn(keys: readonly Uint8Array[]): boolean {
    const before = this.#macs.size;
    for (const key of keys) {
      const digest = keyDigest(key);
      if (!this.#macs.has(digest)) this.#macs.set(digest, macWith(key));
    }
    return this.#macs.size > before;
  }

  /** Whether the seal of the head is that of one of the keys. */
  isGenuine(head: StoredHead): boolean {
    return this.#keyOf(head) !== undefined;
  }

  /**
   * Continues after entry `id`, with the key that sealed the head. `mac` is the code of that entry, or another text if the next entry
   * must not look like its genuine successor.
   */
  continueAt(head: StoredHead | null, { id, mac }: JournalHead = head ?? noEntries): void {
    this.#use((head && this.#keyOf(head)) ?? this.#key);
    this.#id = id;
    this.#last = mac;
  }

  append(context: EntryContext, entry: Entry, device: number | null, subject: number | null): ChainedRow {
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
      mac: '',
    };
    row.mac = entryMac(this.#mac, this.#last, row);
    this.#id = row.id;
    this.#last = row.mac;
    return row;
  }

  /** Makes the entry with the present key and continues with `key`; null if that is the present one. */
  rotate(context: EntryContext, entry: Entry, key: Uint8Array): ChainedRow | null {
    const digest = keyDigest(key);
    if (digest === this.#key) return null;
    const row = this.append(context, entry, null, null);
    this.#macs.set(digest, macWith(key));
    this.#use(digest);
    return row;
  }

  seal(): StoredHead {
    const head: JournalHead = { id: this.#id, mac: this.#last };
    return { ...head, seal: sealOf(this.#mac, head) };
  }

  #use(digest: string): void {
    this.#key = digest;
    this.#mac = this.#macs.get(digest)!;
  }

  #keyOf(head: StoredHead): string | undefined {
    for (const [digest, mac] of this.#macs) if (sealOf(mac, head) === head.seal) return digest;
    return undefined;
  }
}
