/** Tasks of a key after it was reported: reading what it reports about itself, and having it prove what it is. */
import pLimit from 'p-limit';
import { deadline, pause } from '../deadline.ts';
import type { AssertionRequest, KeyEvidence, ProofRequest, ProofWork, RecognizedKey } from '../driver.ts';
import { HardwareError } from '../hardware-error.ts';
import type { IssuedKey, IssueWork } from '../issued-key.ts';
import { CLAIMS_AFTER, readFidoClaims } from '../protocols/claims.ts';
import { issueKey } from '../protocols/issue-key.ts';
import { ALREADY_TRIED, proveKey, recognizeKey } from '../protocols/prove-key.ts';
import { hardwareError } from './errors.ts';
import type { HidKey, KeyAccess } from './hid-key.ts';

/** Milliseconds in which the claims of a key are read. */
const CLAIMS_LIMIT = 2_000;

/** Dependencies of the tasks. */
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
  /** Keys that are used for longer than a moment, and what for. */
  readonly #claimed = new Map<HidKey, string>();
  readonly #scheduled = new Set<HidKey>();

  constructor(parts: KeyTasksParts) {
    this.#parts = parts;
  }

  /** Reads the claims of the key a little later, unless that was done or is due already. */
  readClaims(key: HidKey): void {
    if (key.claims !== null || this.#scheduled.has(key)) return;
    this.#scheduled.add(key);
    void this.#claimsLater(key)
      // The key is gone or silent, and is listed without claims, or not permitted.
      .catch(error => {
        key.isDenied = error instanceof HardwareError && error.code === 'no-permission';
        if (key.isDenied && !key.removed.signal.aborted) this.#parts.onClaims(key);
      })
      .finally(() => this.#scheduled.delete(key));
  }

  /** Implements `Driver.prove`. Fails with a HardwareError, also if the key is unplugged in the meantime. */
  prove(key: HidKey, request: ProofRequest, work: ProofWork): Promise<KeyEvidence> {
    return this.#claim(key, PROVING, work, signal => this.#prove(key, request, { ...work, signal }));
  }

  /** Implements `Driver.issue`. */
  issue<T>(key: HidKey, work: IssueWork, task: (issued: IssuedKey) => Promise<T>): Promise<T> {
    return this.#claim(key, ISSUING, work, async signal => {
      try {
        return await issueKey(key.view(this.#parts.access), { ...work, signal }, task);
      } finally {
        await key.closed();
      }
    });
  }

  /** Implements `Driver.recognize`. Several at a time wait for each other. */
  async recognize(key: HidKey, question: AssertionRequest, signal: AbortSignal): Promise<RecognizedKey | null> {
    const other = this.#claimed.get(key);
    if (other !== undefined) throw alreadyUsed(other);
    const limited = AbortSignal.any([signal, key.removed.signal]);
    return this.#alone(key, async () => {
      try {
        return await recognizeKey(key.view(this.#parts.access), question, limited);
      } finally {
        await key.closed();
      }
    });
  }

  /** Runs the task while the key has no other task. An error of the task that does not come from the key passes unchanged. */
  async #claim<T>(
    key: HidKey,
    use: { readonly doing: string; readonly done: string },
    { signal }: Pick<ProofWork, 'signal'>,
    task: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const other = this.#claimed.get(key);
    if (other !== undefined) throw alreadyUsed(other);
    this.#claimed.set(key, use.doing);
    try {
      return await this.#alone(key, () => task(AbortSignal.any([signal, key.removed.signal])));
    } catch (error) {
      // The interface of an unplugged key fails before the key is missing in the list.
      if (!signal.aborted && !key.removed.signal.aborted) await this.#parts.rescan();
      if (key.removed.signal.aborted) throw pulledOut(error, use.done);
      throw use === ISSUING ? error : hardwareError(error, 'proving the key');
    } finally {
      this.#claimed.delete(key);
    }
  }

  /** Settles when no task is running. The signals of the keys end them. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async #claimsLater(key: HidKey): Promise<void> {
    // A key without a serial number is recognized by what it claims.
    if (key.serial !== null) await pause(CLAIMS_AFTER, key.removed.signal);
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
    key.isDenied = false;
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
    try {
      const view = key.view(this.#parts.access);
      return await proveKey({ view, firmwareVersion, beforeScp11b }, request, work);
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

const PROVING = { doing: 'proving what it is', done: 'had proved what it is' };
const ISSUING = { doing: 'being issued', done: 'was issued' };

const alreadyUsed = (use: string): HardwareError => new HardwareError('busy', `this key is already ${use}`);

const pulledOut = (cause: unknown, done: string): HardwareError =>
  new HardwareError('removed', `the key was unplugged before it ${done}: plug it in and start again`, { cause });
