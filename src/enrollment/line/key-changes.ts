/** Which keys are attached, from the stream and from lists, which arrive in any order. */
import type { HardwareEventType } from '../../contract/event-types.ts';
import type { DriverStatus, Key } from '../../contract/hardware.ts';

/**
 * A change of what is attached. `again`: the key was already reported, without its serial number. `before`: the keyId of what seems to be
 * the same key, as a daemon that was restarted since then knew it; null for a key that was plugged in. `isSeen`: false if it is not known
 * that the key was plugged in or unplugged just then, because its driver was unavailable.
 */
export interface KeyChange {
  readonly type: HardwareEventType;
  readonly key: Key;
  readonly again: boolean;
  readonly before: string | null;
  readonly isSeen: boolean;
}

/** The attached keys, and what watches them. */
export interface KeyList {
  readonly list: readonly Key[];
  readonly drivers: readonly Pick<DriverStatus, 'name' | 'state'>[];
}

/** A key that was detached. `unplugged` is false if it is just not watched any more; earlier daemons do not say so. */
type DetachedKey = Key & { readonly unplugged?: boolean };

/** Which keys are attached, from events and lists that arrive in any order. Reports each change once. */
export class KeyChanges {
  readonly #attached = new Map<string, Key>();
  /** By keyId, while a list is in flight: it may still contain them. */
  readonly #detached = new Set<string>();
  #listsInFlight = 0;
  /** By keyId, since the stream was lost: a daemon that was restarted has given the keys new ids. */
  readonly #doubted = new Set<string>();
  /** Drivers that were unavailable, until they are ready and none of their keys is attached: what they report was not seen. */
  readonly #blind = new Set<string>();
  /** Blind drivers that have not reported anything since a list in which they were unavailable. */
  #away: ReadonlySet<string> = new Set();
  readonly #onChange: (change: KeyChange) => void;

  constructor(onChange: (change: KeyChange) => void) {
    this.#onChange = onChange;
  }

  /** Ignores a key that is known, unless its serial number has become readable. */
  attach(key: Key): void {
    this.#attach(key, null);
  }

  detach(key: DetachedKey): void {
    // Also a key that is not known: it was plugged in before the stream began, and a list in flight may still contain it.
    if (this.#listsInFlight > 0) this.#detached.add(key.keyId);
    if (key.unplugged === false) this.#blind.add(driverOf(key));
    if (!this.#attached.delete(key.keyId)) return;
    this.#doubted.delete(key.keyId);
    this.#onChange({ type: 'KEY_DETACHED', key, again: false, before: null, isSeen: key.unplugged !== false });
  }

  /** Whether a driver that was unavailable may be back: lists are to be read until none of its keys is attached. */
  get isBlind(): boolean {
    return [...this.#blind].some(name => !this.#away.has(name));
  }

  /** Reads a list. A key that an event attached while the list was in flight stays attached. */
  async update(readList: () => Promise<KeyList>): Promise<void> {
    const before = [...this.#attached.keys()];
    const blind = [...this.#blind];
    this.#listsInFlight++;
    try {
      const { list, drivers } = await readList();
      const away = new Set(drivers.flatMap(({ name, state }) => (state === 'ready' ? [] : [name])));
      for (const name of away) this.#blind.add(name);
      this.#away = away;
      const listed = new Set(list.map(key => key.keyId));
      const gone = before.flatMap(keyId => (listed.has(keyId) ? [] : (this.#attached.get(keyId) ?? [])));
      const earlier = this.#earlierIds(list, gone);
      for (const key of gone) this.detach({ ...key, unplugged: !away.has(driverOf(key)) });
      for (const key of list) this.#attach(key, earlier.get(key.keyId) ?? null);
      for (const name of blind)
        if (drivers.some(driver => driver.name === name && driver.state === 'ready') && !this.#hasKeysOf(name))
          this.#blind.delete(name);
    } finally {
      if (--this.#listsInFlight === 0) this.#detached.clear();
    }
  }

  /** The stream was lost: the known ids may be those of a daemon that no longer runs. */
  doubt(): void {
    for (const keyId of this.#attached.keys()) this.#doubted.add(keyId);
  }

  #attach(key: Key, before: string | null): void {
    if (this.#detached.has(key.keyId)) return;
    this.#doubted.delete(key.keyId);
    const known = this.#attached.get(key.keyId);
    if (known && (known.serialNumber !== null || key.serialNumber === null)) return;
    const earlier = before ?? this.#detachDouble(key);
    this.#attached.set(key.keyId, key);
    const driver = driverOf(key);
    const isSeen = !this.#blind.has(driver);
    this.#away = new Set([...this.#away].filter(name => name !== driver));
    this.#onChange({ type: 'KEY_ATTACHED', key, again: known !== undefined, before: earlier, isSeen });
  }

  /** Detaches the same key under the id of an earlier daemon. Returns that id; null if the key had none. */
  #detachDouble(key: Key): string | null {
    const double = this.#doubtedKeys().find(other => other.serialNumber !== null && looksLike(key, other));
    if (double) this.detach(double);
    return double?.keyId ?? null;
  }

  /** By the new keyId: the id that an earlier daemon had given what seems to be the same key. */
  #earlierIds(list: readonly Key[], gone: readonly Key[]): ReadonlyMap<string, string> {
    const candidates = new Set(this.#doubtedKeys().filter(key => gone.includes(key)));
    const ids = new Map<string, string>();
    for (const key of list.filter(({ keyId }) => !this.#attached.has(keyId))) {
      const same = [...candidates].find(other => looksLike(key, other));
      if (!same) continue;
      candidates.delete(same);
      ids.set(key.keyId, same.keyId);
    }
    return ids;
  }

  #hasKeysOf(driver: string): boolean {
    return [...this.#attached.values()].some(key => driverOf(key) === driver);
  }

  #doubtedKeys(): Key[] {
    return [...this.#doubted].flatMap(keyId => this.#attached.get(keyId) ?? []);
  }
}

/** The name of the driver that has found a key. */
const driverOf = ({ simulated, transport }: Key): string => (simulated ? 'simulated' : transport.toLowerCase());

/** Whether two keys may be one: the same serial number, or none and everything else the same. */
function looksLike(one: Key, other: Key): boolean {
  if (one.serialNumber !== null || other.serialNumber !== null) return one.serialNumber === other.serialNumber;
  const traits = ({ deviceType, manufacturer, model, reader, vendorId, productId }: Key) =>
    JSON.stringify([deviceType, manufacturer, model, reader, vendorId, productId]);
  return traits(one) === traits(other);
}
