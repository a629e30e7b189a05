import { randomUUID } from 'node:crypto';
import {
  type AttachedKey,
  type Driver,
  type DriverOptions,
  type DriverStatus,
  type KeyEvent,
  type KeyEvidence,
  type ProofRequest,
  type ProofWork,
  unreported,
} from '../driver.ts';
import { HardwareError, notAttached } from '../hardware-error.ts';
import type { CardConnection } from '../protocols/connection.ts';
import { CARD_SERIAL_SOURCES, identifyCard } from '../protocols/identify-card.ts';
import { checkedSerial } from '../protocols/serial.ts';
import { SIMULATED_SOURCE, SimulatedCard } from './card.ts';

/** Options of the simulated driver. */
export interface SimulatedDriverOptions extends DriverOptions {
  /** How many keys are plugged in at the start. */
  readonly count: number;
}

/** Simulated keys that can be plugged in and unplugged. */
export interface SimulatedDriver extends Driver {
  /**
   * Plugs in key number `index`, counted from 1; default: the lowest that is not plugged in. Odd numbers are UKEYs, even
   * ones SIMKEYs. Resolves with the key after it was reported as `attached`. Rejects if it is already plugged in.
   */
  attach(index?: number): Promise<AttachedKey>;
  /** Unplugs the key with this keyId; default: the one plugged in last. Rejects if there is none. */
  detach(keyId?: string): Promise<void>;
}

interface PluggedKey {
  readonly index: number;
  readonly key: AttachedKey;
  readonly removed: AbortController;
}

/**
 * Keys in software, to try the program without hardware. Every one is marked `simulated` and shows this in its model and
 * serial. Key number n has the same serial at every start, so that it is recognized.
 */
export function createSimulatedDriver(options: SimulatedDriverOptions): SimulatedDriver {
  return new SimulatedKeys(options);
}

class SimulatedKeys implements SimulatedDriver {
  readonly name = 'simulated';
  readonly #options: SimulatedDriverOptions;
  readonly #plugged: PluggedKey[] = [];
  /** Numbers of the keys that are plugged in or being plugged in. */
  readonly #taken = new Set<number>();
  #listener: ((event: KeyEvent) => void) | null = null;
  #running = false;

  constructor(options: SimulatedDriverOptions) {
    this.#options = options;
  }

  status(): DriverStatus {
    return this.#running
      ? { name: this.name, state: 'ready', detail: 'Simulating keys; none of them is real.' }
      : { name: this.name, state: 'unavailable', detail: 'Not started.' };
  }

  keys(): readonly AttachedKey[] {
    return this.#plugged.map(one => one.key);
  }

  async start(listener: (event: KeyEvent) => void): Promise<void> {
    this.#running = true;
    this.#listener = listener;
    for (let index = 1; index <= this.#options.count; index++) await this.attach(index);
  }

  async prove(keyId: string, _request: ProofRequest, _work: ProofWork): Promise<KeyEvidence> {
    if (!this.#plugged.some(({ key }) => key.keyId === keyId)) throw notAttached();
    throw new HardwareError('unavailable', 'a simulated key cannot prove what it is');
  }

  async stop(): Promise<void> {
    this.#running = false;
    this.#listener = null;
    this.#plugged.length = 0;
    this.#taken.clear();
  }

  async attach(index = this.#lowestFree()): Promise<AttachedKey> {
    if (!this.#running) throw new Error('the simulated driver is not running');
    if (!Number.isInteger(index) || index < 1) throw new RangeError(`there is no simulated key ${index}`);
    if (this.#taken.has(index)) throw new Error(`simulated key ${index} is already plugged in`);
    const removed = new AbortController();
    this.#taken.add(index);
    const key = index % 2 === 0 ? await this.#simkey(index, removed.signal) : this.#ukey(index);
    if (!this.#running) throw new Error('the simulated driver was stopped');
    this.#plugged.push({ index, key, removed });
    this.#listener?.({ kind: 'attached', key });
    return key;
  }

  async detach(keyId?: string): Promise<void> {
    const at = keyId === undefined ? this.#plugged.length - 1 : this.#plugged.findIndex(one => one.key.keyId === keyId);
    const [unplugged] = at < 0 ? [] : this.#plugged.splice(at, 1);
    if (unplugged === undefined) throw new Error(keyId ? `no key ${keyId} is plugged in` : 'no key is plugged in');
    this.#taken.delete(unplugged.index);
    unplugged.removed.abort();
    this.#listener?.({ kind: 'detached', key: unplugged.key });
  }

  #ukey(index: number): AttachedKey {
    return {
      ...this.#common(),
      deviceType: 'UKEY',
      serialNumber: checkedSerial(serialOf('UKEY', index), 'serial'),
      serialSource: SIMULATED_SOURCE.name,
      model: 'Simulated UKEY',
      transport: 'HID',
      reader: null,
      problem: null,
    };
  }

  /** Read as a real card is: the real sources are tried first, and refused. */
  async #simkey(index: number, removed: AbortSignal): Promise<AttachedKey> {
    const common = this.#common();
    const card = this.#withTraffic(new SimulatedCard(serialOf('SIMKEY', index), removed), common.keyId);
    const sources = [...CARD_SERIAL_SOURCES, SIMULATED_SOURCE];
    const { serialNumber, problem } = await identifyCard(card, { contactless: false }, removed, sources);
    return {
      ...common,
      deviceType: 'SIMKEY',
      serialNumber,
      serialSource: serialNumber === null ? null : SIMULATED_SOURCE.name,
      model: 'Simulated SIMKEY',
      transport: 'PCSC',
      reader: 'Simulated reader',
      problem,
    };
  }

  #common() {
    return {
      keyId: `simulated-${randomUUID()}`,
      manufacturer: 'devmgr',
      ...unreported,
      vendorId: null,
      productId: null,
      attachedAt: (this.#options.now ?? Date.now)(),
      simulated: true,
      claims: {},
    } as const;
  }

  #withTraffic(card: CardConnection, keyId: string): CardConnection {
    const report = (direction: 'out' | 'in', bytes: Uint8Array) =>
      this.#options.traffic?.({ driver: this.name, keyId, direction, bytes });
    return {
      async transmit(apdu, signal) {
        report('out', apdu);
        const response = await card.transmit(apdu, signal);
        report('in', response);
        return response;
      },
    };
  }

  #lowestFree(): number {
    let index = 1;
    while (this.#taken.has(index)) index += 1;
    return index;
  }
}

const serialOf = (type: 'UKEY' | 'SIMKEY', index: number): string => `SIM-${type}-${String(index).padStart(4, '0')}`;
