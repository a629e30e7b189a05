/** The loop of an enrollment: a result for each key that is plugged in. */
import type { Key } from '../../../../contract/hardware.ts';
import type { DeviceType } from '../../../../contract/values.ts';
import type { EnrollKeyOptions } from '../../../../enrollment/key-enrollment.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import type { Context } from '../../../framework/context.ts';
import type { KeyLabel } from '../labels/enrolled.ts';
import type { Outbox } from '../spool/outbox.ts';
import { keyEvents } from './key-events.ts';
import type { EnrollReport } from './report.ts';
import { Idle } from './waiting.ts';

/** How keys are enrolled, and when it ends. */
export interface EnrollOptions extends EnrollKeyOptions {
  /** Ends after this many keys were registered or recognized; null for no limit. */
  readonly count: number | null;
  readonly timeoutSeconds: number | null;
  readonly type: DeviceType | null;
  readonly skipAttached: boolean;
  readonly out: string | null;
  /** Prints the label of each key that is registered; absent or null prints none. */
  readonly label?: KeyLabel | null;
  /** The file in which keys wait while the registry is away; absent or null ends the run instead. */
  readonly spool?: string | null;
}

/** Enrolls keys one by one. */
export interface KeyHandler {
  /** The result for the key. Throws if every other key would fail as well. */
  handle(key: Key): Promise<EnrollmentOutcome>;
}

interface RunParts {
  /** KeyIds of keys that are ignored. */
  readonly skipped: Set<string>;
  readonly count: KeyCount;
  readonly report: EnrollReport;
  readonly enrollment: KeyHandler;
  /** Null if keys are not spooled. */
  readonly outbox: Outbox | null;
}

/** One run. */
export class EnrollRun {
  readonly #context: Context;
  readonly #options: EnrollOptions;
  readonly #parts: RunParts;
  readonly #idle: Idle;

  constructor(context: Context, options: EnrollOptions, parts: RunParts) {
    this.#context = context;
    this.#options = options;
    this.#parts = parts;
    this.#idle = new Idle(options.timeoutSeconds);
  }

  /** True if the wanted number of keys is handled; false after the timeout, Ctrl-C, or a delivery that every key would fail. */
  async run(): Promise<boolean> {
    const { count, report, outbox } = this.#parts;
    report.ready(count);
    try {
      outbox?.start(row => this.#delivered(row));
      if (!count.reached) await this.#follow();
    } catch (error) {
      if (!this.#context.io.interrupt.aborted) throw error;
    } finally {
      this.#idle.stop();
      report.close();
    }
    return count.reached;
  }

  async #follow(): Promise<void> {
    const { skipped, count, report, outbox } = this.#parts;
    const { type: wanted } = this.#options;
    const signal = outbox === null ? this.#idle.signal : AbortSignal.any([this.#idle.signal, outbox.failed]);
    for await (const { type, key, before } of keyEvents(this.#context, { signal, onState: report.link })) {
      if (type === 'KEY_DETACHED') continue;
      // A daemon that was restarted has given the key another id.
      if (before !== null && skipped.has(before)) skipped.add(key.keyId);
      if (skipped.has(key.keyId) || (wanted !== null && key.deviceType !== wanted)) {
        report.skipped(key, skipped.has(key.keyId) ? 'was already attached' : `is not a ${wanted}`, count);
        continue;
      }
      await this.#take(key);
      if (count.reached) return;
    }
  }

  async #take(key: Key): Promise<void> {
    const { count, report, enrollment, outbox } = this.#parts;
    const handled = count.handled(key);
    if (handled !== undefined) {
      report.again(key, handled, count);
      return;
    }
    this.#idle.stop();
    const enrolled = await enrollment.handle(key);
    const { label } = this.#options;
    const hasLabel = label && enrolled.result === 'registered' && enrolled.deviceId !== null;
    const outcome = hasLabel ? await label.print(enrolled) : enrolled;
    if (count.take(key, outcome) === 'as before') report.again(key, outcome.deviceId, count);
    else await report.row(outcome, count);
    // After a delivery has failed the loop ends on its own.
    if (!outbox?.failed.aborted) this.#idle.start();
  }

  async #delivered(row: EnrollmentOutcome): Promise<void> {
    const { count, report } = this.#parts;
    count.delivered(row);
    await report.delivered(row, count);
  }
}

/** Which keys are done. Each counts once, however often it is plugged in, in this run and in the runs it continues. */
export class KeyCount {
  /** DeviceId by serial number; null in a dry run, and for a key that is spooled. */
  readonly #handled = new Map<string, string | null>();
  /** Likewise, of the runs that this one continues; null for a key that was spooled. */
  readonly #earlier: ReadonlyMap<string, string | null>;
  /** By serial number, or by keyId if it could not be read: it may be readable later while it stays attached. */
  readonly #failed = new Set<string>();
  readonly #wanted: number | null;
  done: number;

  constructor(earlier: ReadonlyMap<string, string | null>, wanted: number | null) {
    this.#earlier = earlier;
    this.#wanted = wanted;
    this.done = earlier.size;
  }

  get failed(): number {
    return this.#failed.size;
  }

  get doneNow(): number {
    return this.done - this.#earlier.size;
  }

  get reached(): boolean {
    return this.#wanted !== null && this.done >= this.#wanted;
  }

  /** The device of a key that this run has handled; undefined if it is new. */
  handled({ serialNumber }: Key): string | null | undefined {
    return serialNumber === null ? undefined : this.#handled.get(serialNumber);
  }

  /** `as before`: an earlier run has already reported this result. */
  take({ keyId, serialNumber }: Key, { result, deviceId, message }: EnrollmentOutcome): 'new' | 'as before' {
    if (result === 'failed' || serialNumber === null) {
      this.#failed.delete(keyId);
      this.#failed.add(serialNumber ?? keyId);
      return 'new';
    }
    this.#failed.delete(keyId);
    this.#failed.delete(serialNumber);
    this.#handled.set(serialNumber, deviceId);
    const before = this.#earlier.get(serialNumber);
    if (before === undefined) this.done++;
    const isRepeat = result === 'known' || result === 'spooled';
    return isRepeat && deviceId === before && message === null ? 'as before' : 'new';
  }

  /** The result of a key that was spooled. If it is not registered now, it can be plugged in again. */
  delivered({ serialNumber, deviceId, result }: EnrollmentOutcome): void {
    if (serialNumber === null || !this.#handled.has(serialNumber)) return;
    if (result === 'registered' || result === 'known') {
      this.#handled.set(serialNumber, deviceId);
      return;
    }
    this.#handled.delete(serialNumber);
    this.#failed.add(serialNumber);
    if (!this.#earlier.has(serialNumber)) this.done--;
  }
}
