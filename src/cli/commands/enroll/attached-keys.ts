import type { Key } from '../../../contract/hardware.ts';
import type { HardwareEventType } from '../../../contract/values.ts';

/** Receives a change. `again`: the key was already reported, without its serial number. */
export type KeyChange = (type: HardwareEventType, key: Key, again: boolean) => void;

/** Which keys are attached, from events and lists that arrive in any order. Reports each change once. */
export class AttachedKeys {
  readonly #attached = new Map<string, Key>();
  /** By keyId, while a list is in flight: it may still contain them. */
  readonly #detached = new Set<string>();
  #listsInFlight = 0;
  /** By keyId, since the stream was lost: a daemon that was restarted has given the keys new ids. */
  readonly #doubted = new Set<string>();
  readonly #onChange: KeyChange;

  constructor(onChange: KeyChange) {
    this.#onChange = onChange;
  }

  /** Ignores a key that is known, unless its serial number has become readable. */
  attach(key: Key): void {
    if (this.#detached.has(key.keyId)) return;
    this.#doubted.delete(key.keyId);
    const known = this.#attached.get(key.keyId);
    if (known && (known.serialNumber !== null || key.serialNumber === null)) return;
    this.#detachDouble(key);
    this.#attached.set(key.keyId, key);
    this.#onChange('KEY_ATTACHED', key, known !== undefined);
  }

  detach(key: Key): void {
    if (!this.#attached.delete(key.keyId)) return;
    this.#doubted.delete(key.keyId);
    if (this.#listsInFlight > 0) this.#detached.add(key.keyId);
    this.#onChange('KEY_DETACHED', key, false);
  }

  /** Reads a list. A key that an event attached while the list was in flight stays attached. */
  async update(readList: () => Promise<readonly Key[]>): Promise<void> {
    const before = [...this.#attached.keys()];
    this.#listsInFlight++;
    try {
      const list = await readList();
      const listed = new Set(list.map(key => key.keyId));
      for (const key of before.flatMap(keyId => this.#attached.get(keyId) ?? []))
        if (!listed.has(key.keyId)) this.detach(key);
      for (const key of list) this.attach(key);
    } finally {
      if (--this.#listsInFlight === 0) this.#detached.clear();
    }
  }

  /** The stream was lost: the known ids may be those of a daemon that no longer runs. */
  doubt(): void {
    for (const keyId of this.#attached.keys()) this.#doubted.add(keyId);
  }

  /** Detaches the same key under the id of an earlier daemon. */
  #detachDouble({ serialNumber }: Key): void {
    for (const keyId of this.#doubted) {
      const other = this.#attached.get(keyId);
      if (other && other.serialNumber !== null && other.serialNumber === serialNumber) this.detach(other);
    }
  }
}
