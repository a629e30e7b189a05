/** What is done with a key after it was reported: reading what it reports about itself, and having it prove what it is. */
import pLimit from 'p-limit';
import { deadline, pause } from '../deadline.ts';
import { HardwareError, type KeyEvidence, type ProofRequest, type ProofWork } from '../driver.ts';
import { CLAIMS_AFTER, readFidoClaims } from '../protocols/claims.ts';
import { ALREADY_TRIED, proveKey } from '../protocols/prove-key.ts';
import { hardwareError } from './errors.ts';
import type { HidKey, KeyAccess } from './hid-key.ts';

/** Milliseconds in which the claims of a key are read. */
const CLAIMS_LIMIT = 2_000;

/** What the tasks work with. */
interface KeyTasksParts {
  readonly access: KeyAccess;
  /** Settles when no key is being identified. */
  readonly identified: () => Promise<void>;
  /** The claims of the key were read. */
  readonly onClaims: (key: HidKey) => void;
  /** Looks whether the keys are still plugged in. */
  readonly rescan: () => Promise<void>;
}

/** The tasks of all keys. A key carries out one at a time. */
export class KeyTasks {
  readonly #parts: KeyTasksParts;
  readonly #claimsLimit = pLimit(1);
  /** The task that a key carries out; it never rejects. */
  readonly #running = new Map<HidKey, Promise<unknown>>();
  readonly #proving = new Set<HidKey>();
  readonly #scheduled = new Set<HidKey>();

  constructor(parts: KeyTasksParts) {
    this.#parts = parts;
  }

  /** Reads the claims of the key a little later, unless that was done or is due already. */
  readClaims(key: HidKey): void {
    if (key.claims !== null || this.#scheduled.has(key)) return;
    this.#scheduled.add(key);
    void this.#claimsLater(key)
      // The key is gone, silent or not permitted: it is listed without claims.
      .catch(() => undefined)
      .finally(() => this.#scheduled.delete(key));
  }

  /** See Driver.prove. Fails with a HardwareError, also if the key is unplugged in the meantime. */
  async prove(key: HidKey, request: ProofRequest, work: ProofWork): Promise<KeyEvidence> {
    if (this.#proving.has(key)) throw new HardwareError('busy', 'this key is already proving what it is');
    this.#proving.add(key);
    try {
      return await this.#alone(key, () => this.#prove(key, request, work));
    } catch (error) {
      // The interface of an unplugged key fails before the key is missing in the list.
      if (!work.signal.aborted && !key.removed.signal.aborted) await this.#parts.rescan();
      throw key.removed.signal.aborted ? pulledOut(error) : hardwareError(error, 'proving the key');
    } finally {
      this.#proving.delete(key);
    }
  }

  /** Settles when no task is running. The signals of the keys end them. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async #claimsLater(key: HidKey): Promise<void> {
    await pause(CLAIMS_AFTER, key.removed.signal);
    await this.#claimsLimit(async () => {
      await this.#parts.identified();
      await this.#alone(key, () => this.#readClaims(key));
    });
    if (!key.removed.signal.aborted) this.#parts.onClaims(key);
  }

  async #readClaims(key: HidKey): Promise<void> {
    const { openFido, ...ids } = key.view(this.#parts.access);
    if (openFido === null || key.removed.signal.aborted) return;
    const signal = deadline(key.removed.signal, CLAIMS_LIMIT);
    const connection = await openFido(signal);
    try {
      key.claims = await readFidoClaims(connection, ids, signal);
    } finally {
      await connection.close();
    }
  }

  async #prove(key: HidKey, request: ProofRequest, work: ProofWork): Promise<KeyEvidence> {
    const beforeScp11b = (): void => {
      if (key.triedScp11b) throw new HardwareError('busy', ALREADY_TRIED);
      key.triedScp11b = true;
    };
    const firmwareVersion = key.identity?.firmwareVersion ?? null;
    const signal = AbortSignal.any([work.signal, key.removed.signal]);
    try {
      const view = key.view(this.#parts.access);
      return await proveKey({ view, firmwareVersion, beforeScp11b }, request, { ...work, signal });
    } finally {
      await key.closed();
    }
  }

  /** Runs the task after the one that the key carries out now. */
  #alone<T>(key: HidKey, task: () => Promise<T>): Promise<T> {
    const before = this.#running.get(key) ?? Promise.resolve();
    const result = before.then(task);
    const settled = result
      .catch(() => undefined)
      .finally(() => {
        if (this.#running.get(key) === settled) this.#running.delete(key);
      });
    this.#running.set(key, settled);
    return result;
  }
}

const pulledOut = (cause: unknown): HardwareError =>
  new HardwareError('removed', 'the key was unplugged before it had proved what it is: plug it in and start again', {
    cause,
  });
