/** What is plugged into this machine, joined with the registry. A driver that fails is told about and does no other harm. */
import type { AttachedKey, Driver, KeyEvent } from '../../drivers/driver.ts';
import type { HardwareEventType } from '../../src/contract/events.ts';
import type { DriverStatus, Key } from '../../src/contract/hardware.ts';
import type { Hub } from '../notifications/hub.ts';
import type { Store } from '../store/store.ts';
import { presentKey, type Registration } from './key.ts';
import { reportUsage } from './usage.ts';

export interface PresenceParts {
  readonly drivers: readonly Driver[];
  readonly store: Pick<Store, 'device' | 'devicesBySerial' | 'commit'>;
  readonly hub: Pick<Hub, 'publish'>;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  /** Milliseconds on a clock that only goes forward: how long a key was plugged in. */
  readonly monotonic?: () => number;
  readonly log: Record<'debug' | 'info' | 'warn', (details: object, message: string) => void>;
}

export interface Presence {
  /** Begins to watch; resolves when every driver has looked once. Never rejects. */
  start(): Promise<void>;
  /** Records the use of the keys that are plugged in, and lets go of the hardware. Never rejects. Idempotent. */
  stop(): Promise<void>;
  /** In the order of plugging. */
  list(): Promise<Key[]>;
  driverStatuses(): DriverStatus[];
}

interface Plugged {
  readonly key: AttachedKey;
  readonly since: number;
}

export function createPresence(parts: PresenceParts): Presence {
  return new LocalPresence(parts);
}

class LocalPresence implements Presence {
  readonly #parts: PresenceParts;
  readonly #monotonic: () => number;
  readonly #plugged = new Map<string, Plugged>();
  /** What is still to be told and recorded, in the order in which it happened. */
  #work: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | null = null;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
    this.#monotonic = parts.monotonic ?? (() => performance.now());
  }

  async start(): Promise<void> {
    const begin = (driver: Driver) => driver.start(event => this.#heard(driver, event));
    await this.#each('started', begin);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async list(): Promise<Key[]> {
    const keys = [...this.#plugged.values()].map(({ key }) => key);
    const serials = keys.flatMap(({ serialNumber }) => serialNumber ?? []);
    const registered = serials.length
      ? await this.#parts.store.devicesBySerial(serials)
      : new Map<string, Registration>();
    return keys.map(key => presentKey(key, registered.get(key.serialNumber ?? '')));
  }

  driverStatuses(): DriverStatus[] {
    return this.#parts.drivers.map(driver => {
      try {
        const { name, state, detail } = driver.status();
        return { name, state, detail };
      } catch (error) {
        return { name: driver.name, state: 'unavailable', detail: `the driver failed: ${String(error)}` };
      }
    });
  }

  async #stop(): Promise<void> {
    for (const { key, since } of this.#plugged.values()) this.#recordUse(key, since);
    await Promise.all([this.#work, this.#each('stopped', driver => driver.stop())]);
  }

  async #each(done: string, act: (driver: Driver) => Promise<void>): Promise<void> {
    await Promise.all(
      this.#parts.drivers.map(async driver => {
        try {
          await act(driver);
        } catch (error) {
          this.#parts.log.warn({ err: error, driver: driver.name }, `a hardware driver could not be ${done}`);
        }
      }),
    );
  }

  #heard(driver: Driver, event: KeyEvent): void {
    if (this.#stopping) return;
    switch (event.kind) {
      case 'status':
        this.#parts.log.info({ driver: driver.name, ...event.status }, 'hardware driver');
        break;
      case 'attached':
        this.#plugged.set(event.key.keyId, { key: event.key, since: this.#monotonic() });
        this.#tell('KEY_ATTACHED', event.key);
        break;
      case 'changed':
        this.#changed(event.key);
        break;
      case 'detached':
        this.#detached(event.key);
    }
  }

  /** A key that can be read at last is told of once more, under the same keyId; what else changes shows in the list. */
  #changed(key: AttachedKey): void {
    const before = this.#plugged.get(key.keyId);
    this.#plugged.set(key.keyId, { key, since: before?.since ?? this.#monotonic() });
    if (key.serialNumber !== null && before?.key.serialNumber !== key.serialNumber) this.#tell('KEY_ATTACHED', key);
  }

  #detached(key: AttachedKey): void {
    const since = this.#plugged.get(key.keyId)?.since;
    this.#plugged.delete(key.keyId);
    this.#tell('KEY_DETACHED', key);
    if (since !== undefined) this.#recordUse(key, since);
  }

  #tell(type: HardwareEventType, key: AttachedKey): void {
    const at = this.#parts.now();
    this.#parts.log.debug({ keyId: key.keyId, model: key.model }, type === 'KEY_ATTACHED' ? 'key in' : 'key out');
    this.#afterwards(async () => {
      this.#parts.hub.publish(type, at, presentKey(key, await this.#registration(key)));
    });
  }

  #recordUse({ serialNumber }: AttachedKey, since: number): void {
    if (serialNumber === null) return;
    const plugged = this.#monotonic() - since;
    this.#afterwards(() => reportUsage(this.#parts, serialNumber, plugged));
  }

  async #registration({ serialNumber }: AttachedKey): Promise<Registration | undefined> {
    if (serialNumber === null) return undefined;
    try {
      return (await this.#parts.store.devicesBySerial([serialNumber])).get(serialNumber);
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'a key is told of without its registration: the store could not be read');
      return undefined;
    }
  }

  #afterwards(act: () => Promise<void>): void {
    this.#work = this.#work.then(act).catch(error => {
      this.#parts.log.warn({ err: error }, 'the use of a key could not be recorded');
    });
  }
}
