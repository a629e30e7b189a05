import type { AttachedKey, Driver, KeyEvent } from '../../drivers/driver.ts';
import { ApiError } from '../../src/contract/codes.ts';
import type { HardwareEventType } from '../../src/contract/event-types.ts';
import type { DriverStatus, Key } from '../../src/contract/hardware.ts';
import type { ProvingState } from '../../src/contract/key-values.ts';
import { sleep } from '../../src/delivery/wait.ts';
import type { DeviceIdentity } from '../devices/records.ts';
import type { Hub } from '../notifications/hub.ts';
import { type IdentifyInput, type IdentifyOutput, identifyAttached } from './identity.ts';
import { type IssueInput, type IssueOutput, issueAttached } from './issuing.ts';
import {
  type ProofInput,
  type ProofOutput,
  type ProvingKey,
  proveAttached,
  requireSerial,
  type SignInput,
  type SignOutput,
  signAttached,
} from './proofs.ts';
import { presentKey, recordUse, registeredDevices, type UseOptions } from './registered-keys.ts';

/** Dependencies of `AttachedKeys`. */
interface Options extends UseOptions {
  readonly drivers: readonly Driver[];
  readonly hub: Pick<Hub, 'publish'>;
  /** Monotonic clock in milliseconds, for how long a key was attached. */
  readonly monotonic?: () => number;
  readonly log: Record<'debug' | 'info' | 'warn', (details: object, message: string) => void>;
}

/** The attached keys, and the state of what finds them. */
export type KeySource = Pick<AttachedKeys, 'list' | 'driverStatuses' | 'prove' | 'issue' | 'sign' | 'identify'>;

/** Milliseconds that a request for the keys waits for the first scan of the hardware. */
const FIRST_SCAN_MS = 3000;
/** Milliseconds after it was plugged in for which a key may be reset (FIDO CTAP 2.1, 6.6). */
const FRESH_MS = 10_000;

interface Attachment {
  readonly key: AttachedKey;
  readonly driver: Driver;
  /** Monotonic milliseconds. */
  readonly since: number;
  /** Whether it was plugged in then. Keys that the first scan of a driver finds may have been plugged in long before. */
  readonly isPlugged: boolean;
  /** The serial number of its device, for a key that reports none and was recognized by its credential. */
  readonly name: string | null;
}

/** The key as it is shown. */
const namedKey = ({ key, name }: Pick<Attachment, 'key' | 'name'>): AttachedKey =>
  name === null || key.serialNumber !== null
    ? key
    : { ...key, serialNumber: name, serialSource: 'credential', problem: null };

const notPlugged = (): ApiError => new ApiError(404, 'no key with this keyId is plugged in');

/** The keys that are attached to this machine, joined with the registry. A driver that fails does not affect the others. */
export class AttachedKeys {
  readonly #options: Options;
  readonly #monotonic: () => number;
  readonly #attached = new Map<string, Attachment>();
  /** Keys that are proving what they are, by keyId. */
  readonly #proving = new Map<string, ProvingState>();
  /** Events to publish, in the order in which they happened. */
  #events: Promise<void> = Promise.resolve();
  /** Uses to record, likewise. A disk that is slow must not delay the events: who handles keys relies on them. */
  #uses: Promise<void> = Promise.resolve();
  /** Drivers that have scanned once. */
  readonly #watching = new Set<Driver>();
  readonly #scanned = Promise.withResolvers<void>();
  #stopping: Promise<void> | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  /** Starts the drivers; resolves when each has scanned once. Never rejects. */
  async start(): Promise<void> {
    await this.#forEachDriver('start', async driver => {
      await driver.start(event => this.#handle(driver, event));
      this.#watching.add(driver);
    });
    this.#scanned.resolve();
  }

  /** Records the use of the keys that are attached, and stops the drivers. Never rejects. Idempotent. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /**
   * The attached keys in the order of attachment. An early call waits for the first scan, but not for a driver that hangs. Rejects
   * if the store cannot be read.
   */
  async list(): Promise<Key[]> {
    const wait = new AbortController();
    await Promise.race([this.#scanned.promise, sleep(FIRST_SCAN_MS, wait.signal)]);
    wait.abort();
    const keys = [...this.#attached.values()].map(namedKey);
    const serials = keys.flatMap(({ serialNumber }) => serialNumber ?? []);
    const device = serials.length ? await registeredDevices(this.#options.store, serials) : () => undefined;
    return keys.map(key => presentKey(key, device(key.serialNumber ?? ''), this.#proving.get(key.keyId) ?? null));
  }

  /**
   * Has a key prove what it is. Rejects with ApiError 404 if no key with this keyId is attached, 1001 if the key has another
   * serial number.
   */
  prove(keyId: string, input: ProofInput, signal: AbortSignal): Promise<ProofOutput> {
    return this.#use(keyId, using => proveAttached(using, input, signal));
  }

  /** Issues a key. Rejects as `prove` does. */
  issue(keyId: string, input: IssueInput, signal: AbortSignal): Promise<IssueOutput> {
    return this.#use(keyId, using => issueAttached(using, input, { signal, isFresh: this.#isFresh(keyId) }));
  }

  /** Has a key sign a receipt. Rejects as `prove` does. */
  sign(keyId: string, input: SignInput, signal: AbortSignal): Promise<SignOutput> {
    return this.#use(keyId, using => signAttached(using, input, signal));
  }

  /** Asks a key for its credential of a registry, or names it by the device that the registry has found. Rejects as `prove` does. */
  async identify(keyId: string, input: IdentifyInput, signal: AbortSignal): Promise<IdentifyOutput> {
    if (input.step !== 'name') return this.#use(keyId, using => identifyAttached(using, input, signal));
    const attachment = this.#attached.get(keyId);
    if (!attachment) throw notPlugged();
    const name = input.serialNumber ?? null;
    if (name !== null) requireSerial(attachment.key, name);
    const named = { ...attachment, name };
    this.#attached.set(keyId, named);
    if (name !== null && attachment.name !== name && attachment.key.serialNumber === null)
      this.#publish('KEY_ATTACHED', namedKey(named));
    return { credentialId: null, assertion: null, failure: null, problem: null };
  }

  #isFresh(keyId: string): boolean {
    const { isPlugged = false, since = 0 } = this.#attached.get(keyId) ?? {};
    return isPlugged && this.#monotonic() - since < FRESH_MS;
  }

  async #use<T>(keyId: string, task: (using: ProvingKey) => Promise<T>): Promise<T> {
    const attachment = this.#attached.get(keyId);
    if (!attachment) throw notPlugged();
    const running = this.#proving.has(keyId);
    try {
      return await task({
        driver: attachment.driver,
        key: () => namedKey(this.#attached.get(keyId) ?? attachment),
        onState: state => void (running || this.#proving.set(keyId, state)),
      });
    } finally {
      if (!running) this.#proving.delete(keyId);
    }
  }

  /** State of each driver. One that throws is reported as unavailable. */
  driverStatuses(): DriverStatus[] {
    return this.#options.drivers.map(driver => {
      try {
        const { name, state, detail } = driver.status();
        return { name, state, detail };
      } catch (error) {
        return { name: driver.name, state: 'unavailable', detail: `the driver failed: ${String(error)}` };
      }
    });
  }

  async #stop(): Promise<void> {
    // A request that waits for the first scan does not keep the process running.
    this.#scanned.resolve();
    for (const attachment of this.#attached.values()) this.#recordUse({ ...attachment, key: namedKey(attachment) });
    await Promise.all([this.#events, this.#uses, this.#forEachDriver('stop', driver => driver.stop())]);
  }

  async #forEachDriver(verb: string, act: (driver: Driver) => Promise<void>): Promise<void> {
    await Promise.all(
      this.#options.drivers.map(async driver => {
        try {
          await act(driver);
        } catch (error) {
          this.#options.log.warn({ err: error, driver: driver.name }, `could not ${verb} a hardware driver`);
        }
      }),
    );
  }

  #handle(driver: Driver, event: KeyEvent): void {
    if (this.#stopping) return;
    switch (event.kind) {
      case 'status':
        this.#options.log.info({ driver: driver.name, ...event.status }, 'hardware driver');
        break;
      case 'attached':
        this.#attached.set(event.key.keyId, this.#attachment(driver, event.key));
        this.#publish('KEY_ATTACHED', event.key);
        break;
      case 'changed':
        this.#changed(driver, event.key);
        break;
      case 'detached':
        this.#detached(driver, event.key);
    }
  }

  #attachment(driver: Driver, key: AttachedKey): Attachment {
    return { key, driver, since: this.#monotonic(), isPlugged: this.#watching.has(driver), name: null };
  }

  /** A key whose serial number becomes readable is published again with the same keyId. Other changes appear in the list only. */
  #changed(driver: Driver, key: AttachedKey): void {
    const before = this.#attached.get(key.keyId);
    this.#attached.set(key.keyId, { ...(before ?? this.#attachment(driver, key)), key });
    if (key.serialNumber !== null && before?.key.serialNumber !== key.serialNumber) this.#publish('KEY_ATTACHED', key);
  }

  #detached(driver: Driver, key: AttachedKey): void {
    const attachment = this.#attached.get(key.keyId);
    this.#attached.delete(key.keyId);
    const shown = namedKey({ key, name: attachment?.name ?? null });
    this.#publish('KEY_DETACHED', shown, { unplugged: driver.status().state === 'ready' });
    if (attachment) this.#recordUse({ ...attachment, key: shown });
  }

  #publish(type: HardwareEventType, key: AttachedKey, more: { readonly unplugged?: boolean } = {}): void {
    const at = this.#options.now();
    this.#options.log.debug({ keyId: key.keyId, model: key.model }, type);
    this.#events = this.#after(this.#events, 'could not publish the event of a key', async () => {
      this.#options.hub.publish(type, at, { ...presentKey(key, await this.#device(key)), ...more });
    });
  }

  #recordUse({ key: { serialNumber }, since }: Pick<Attachment, 'key' | 'since'>): void {
    if (serialNumber === null) return;
    const milliseconds = this.#monotonic() - since;
    this.#uses = this.#after(this.#uses, 'could not record the use of a key', () =>
      recordUse(this.#options, serialNumber, milliseconds),
    );
  }

  async #device({ serialNumber }: AttachedKey): Promise<DeviceIdentity | undefined> {
    if (serialNumber === null) return undefined;
    try {
      return (await registeredDevices(this.#options.store, [serialNumber]))(serialNumber);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'could not read the store: a key is reported without its registration');
      return undefined;
    }
  }

  #after(before: Promise<void>, failure: string, act: () => Promise<void>): Promise<void> {
    return before.then(act).catch(error => {
      this.#options.log.warn({ err: error }, failure);
    });
  }
}
