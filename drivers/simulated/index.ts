import { randomUUID } from 'node:crypto';
import type { AttachedKey, Driver, DriverOptions, DriverStatus, KeyEvent } from '../driver.ts';
import { checkedSerial, IDENTIFIERS, identify } from '../protocols/simkey/index.ts';
import { SIMULATED_CARD, simulatedCard } from './card.ts';

export interface SimulatedDriverOptions extends DriverOptions {
  /** How many keys are plugged in when it starts. */
  readonly count: number;
}

/** The simulated keys and the hands that plug them. */
export interface SimulatedDriver extends Driver {
  /**
   * Plugs a key in: key number `index` counted from 1 or, without it, the lowest that is not plugged. Odd numbers are
   * UKEYs, even ones SIMKEYs. Resolves with the key when it was told as `attached`; rejects where it is plugged already.
   */
  attach(index?: number): Promise<AttachedKey>;
  /** Pulls the key with this keyId or, without it, the one plugged last. Rejects where there is none. */
  detach(keyId?: string): Promise<void>;
}

interface Plugged {
  readonly index: number;
  readonly key: AttachedKey;
  readonly pulled: AbortController;
}

/**
 * Keys in software, for trying the program without hardware. Every one is marked `simulated` and says so in its model and
 * serial. Key number n has the same serial at every start, so that it is recognised again.
 */
export function createSimulatedDriver(options: SimulatedDriverOptions): SimulatedDriver {
  const now = options.now ?? Date.now;
  const plugged: Plugged[] = [];
  /** Numbers of the keys that are plugged in or on the way in. */
  const taken = new Set<number>();
  let listener: ((event: KeyEvent) => void) | null = null;
  let running = false;

  const status = (): DriverStatus => ({
    name: 'simulated',
    state: running ? 'ready' : 'unavailable',
    detail: running ? 'Simulating keys; none of them is real.' : 'Not started.',
  });

  async function attach(index = lowestFree()): Promise<AttachedKey> {
    if (!running) throw new Error('the simulated driver is not running');
    if (!Number.isInteger(index) || index < 1) throw new RangeError(`no simulated key has the number ${index}`);
    if (taken.has(index)) throw new Error(`simulated key ${index} is plugged in already`);
    const pulled = new AbortController();
    taken.add(index);
    const key = await build(index, pulled.signal);
    if (!running) throw new Error('the simulated driver was stopped');
    plugged.push({ index, key, pulled });
    listener?.({ kind: 'attached', key });
    return key;
  }

  async function build(index: number, pulled: AbortSignal): Promise<AttachedKey> {
    const isSim = index % 2 === 0;
    const serial = `SIM-${isSim ? 'SIMKEY' : 'UKEY'}-${String(index).padStart(4, '0')}`;
    const keyId = `simulated-${randomUUID()}`;
    const told = isSim
      ? await readCard(serial, keyId, pulled)
      : { serialNumber: checkedSerial(serial, 'serial'), problem: null };
    return {
      keyId,
      deviceType: isSim ? 'SIMKEY' : 'UKEY',
      serialNumber: told.serialNumber,
      serialSource: told.serialNumber === null ? null : SIMULATED_CARD.source,
      manufacturer: 'devmgr',
      model: isSim ? 'Simulated SIMKEY' : 'Simulated UKEY',
      hardwareVersion: null,
      firmwareVersion: null,
      transport: isSim ? 'PCSC' : 'HID',
      reader: isSim ? 'Simulated reader' : null,
      vendorId: null,
      productId: null,
      attachedAt: now(),
      simulated: true,
      problem: told.problem,
    };
  }

  /** By the way a real card is read: the real identifiers are asked first, and refused. */
  function readCard(serial: string, keyId: string, pulled: AbortSignal) {
    const card = simulatedCard(serial, pulled);
    const tell = (direction: 'out' | 'in', bytes: Uint8Array) =>
      options.traffic?.({ driver: 'simulated', keyId, direction, bytes });
    const overheard = {
      async transmit(apdu: Uint8Array, signal: AbortSignal) {
        tell('out', apdu);
        const answer = await card.transmit(apdu, signal);
        tell('in', answer);
        return answer;
      },
    };
    return identify(overheard, { contactless: false }, pulled, [...IDENTIFIERS, SIMULATED_CARD]);
  }

  function lowestFree(): number {
    let index = 1;
    while (taken.has(index)) index += 1;
    return index;
  }

  return {
    name: 'simulated',
    status,
    keys: () => plugged.map(one => one.key),
    attach,
    async detach(keyId) {
      const at = keyId === undefined ? plugged.length - 1 : plugged.findIndex(one => one.key.keyId === keyId);
      const [gone] = at < 0 ? [] : plugged.splice(at, 1);
      if (gone === undefined) throw new Error(keyId ? `no key ${keyId} is plugged in` : 'no key is plugged in');
      taken.delete(gone.index);
      gone.pulled.abort();
      listener?.({ kind: 'detached', key: gone.key });
    },
    async start(given) {
      running = true;
      listener = given;
      for (let index = 1; index <= options.count; index++) await attach(index);
    },
    async stop() {
      running = false;
      listener = null;
      plugged.length = 0;
      taken.clear();
    },
  };
}
