import { type JournalRow, type Mac, macWith, sealOf } from './chain.ts';
import { keyDigest } from './digest.ts';
import type { StoredHead } from './journal-end.ts';

/** The keys of a journal, in the order of their use; at least one. A single key is the same as a list with it. */
export type JournalKeyList = Uint8Array | readonly Uint8Array[];

/** Whether one of the keys has sealed the end of the journal. */
export const isSealed = (keys: JournalKeyList, head: StoredHead): boolean =>
  new KeyRing(keys).macs.some(mac => sealOf(mac, head) === head.seal);

/** Follows the replacements of the key through a journal. */
export class KeyRing {
  readonly #macs: ReadonlyMap<string, Mac>;
  #mac: Mac;

  constructor(keys: JournalKeyList) {
    const list = keys instanceof Uint8Array ? [keys] : keys;
    this.#macs = new Map(list.map(key => [keyDigest(key), macWith(key)]));
    this.#mac = this.#macs.values().next().value!;
  }

  /** Authenticates the next entry. */
  get mac(): Mac {
    return this.#mac;
  }

  /** All of them. */
  get macs(): readonly Mac[] {
    return [...this.#macs.values()];
  }

  /** Continues with the key that a genuine entry names. Returns what is wrong; null if nothing is. */
  pass({ id, type, detail }: JournalRow): string | null {
    if (type !== 'JOURNAL_KEY_ROTATED') return null;
    const mac = this.#macs.get((JSON.parse(detail) as { key: string }).key);
    if (!mac) return `entry ${id} replaces the journal key by one that is not known: put journal-keys-earlier back`;
    this.#mac = mac;
    return null;
  }
}
