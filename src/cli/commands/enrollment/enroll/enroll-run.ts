/** The loop of an enrollment: a result for each key that is plugged in. */
import type { Key } from '../../../../contract/hardware.ts';
import type { DeviceType } from '../../../../contract/values.ts';
import type { KeyIssuing } from '../../../../enrollment/issuing.ts';
import { blockOf, type EnrollKeyOptions, type KeyEnrollment } from '../../../../enrollment/key-enrollment.ts';
import { columnOf, type EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import type { Context } from '../../../framework/context.ts';
import type { IssuedRow, IssuePlan } from '../issuing/issuing.ts';
import type { KeyLabel } from '../labels/enrolled.ts';
import type { SpoolOutbox } from '../spool/outbox.ts';
import type { SpooledKeys } from '../spool/spooled-keys.ts';
import type { KeyCount } from './key-count.ts';
import { keyEvents } from './key-events.ts';
import type { EnrollReport } from './report.ts';
import type { FileOptions } from './results.ts';
import { Idle, isSkipped } from './waiting.ts';

/** How keys are enrolled, and when it ends. */
export interface EnrollRunOptions extends EnrollKeyOptions {
  readonly timeoutSeconds: number | null;
  /** Null accepts each type. In a roster: of the keys in rows without a type. */
  readonly type: DeviceType | null;
  readonly skipAttached: boolean;
  readonly out: string | null;
  /** At which providers each key that is bound to a person is issued; null for none. */
  readonly issue: IssuePlan | null;
  /** The terms of the receipt that each key signs; null for none. */
  readonly receipt: string | null;
  /** Prints the label of each key that is registered, or bound to a person of the roster; null prints none. */
  readonly label: KeyLabel | null;
  /** The file in which keys wait while the registry is away; null ends the run instead. */
  readonly spool: string | null;
}

/** Likewise, without a roster. */
export interface EnrollOptions extends EnrollRunOptions {
  /** Ends after this many keys were registered or recognized; null for no limit. */
  readonly count: number | null;
}

/** What a row of results needs for its key to be done. */
export const doneWith = ({ issue, receipt }: EnrollRunOptions): Pick<FileOptions, 'providers' | 'hasReceipts'> => ({
  providers: issue?.providers.map(columnOf) ?? [],
  hasReceipts: receipt !== null,
});

/** What the run spools keys with; null if it does not. `label`: for the keys that are delivered. */
export async function spooledKeys(
  context: Context,
  options: EnrollRunOptions,
  label: KeyLabel | null,
): Promise<SpooledKeys | null> {
  const { spool } = options;
  if (spool === null) return null;
  const { SpooledKeys: Spooled } = await import('../spool/spooled-keys.ts');
  return Spooled.open(context, { ...options, spool }, label);
}

interface RunParts {
  /** KeyIds of keys that are ignored. */
  readonly skipped: Set<string>;
  readonly count: KeyCount;
  readonly report: EnrollReport;
  readonly enrollment: Pick<KeyEnrollment, 'handle'>;
  /** Null if keys are not spooled. */
  readonly outbox: SpoolOutbox | null;
}

/** One run. */
export class EnrollRun {
  readonly #context: Context;
  readonly #options: EnrollOptions;
  readonly #parts: RunParts;
  readonly #idle: Idle;
  #issuing: KeyIssuing | null = null;

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
    for await (const change of keyEvents(this.#context, { signal, onState: report.link })) {
      const { key } = change;
      if (change.type === 'KEY_DETACHED') continue;
      const wasSkipped = isSkipped(skipped, change);
      if (wasSkipped || (wanted !== null && key.deviceType !== wanted)) {
        report.skipped(key, wasSkipped ? 'was already attached' : `is not a ${wanted}`, count);
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
    const { label, activateFor } = this.#options;
    const { row, madePin } = await this.#issued(key, enrolled);
    const hasLabel = label !== null && (enrolled.result === 'registered' || madePin !== null) && row.deviceId !== null;
    const outcome = await this.#withReceipt(key, hasLabel ? await label.print(row, madePin) : row);
    const { status, userId } = outcome;
    const isRefused = activateFor !== null && status !== null && blockOf({ status, userId }, activateFor) !== null;
    if (count.take(key, outcome, isRefused) === 'as before') report.again(key, outcome.deviceId, count);
    else await report.row(outcome, count);
    // After a delivery has failed the loop ends on its own.
    if (!outbox?.failed.aborted) this.#idle.start();
  }

  async #issued(key: Key, row: EnrollmentOutcome): Promise<IssuedRow> {
    const { issue: plan } = this.#options;
    const { serialNumber } = key;
    if (plan === null || serialNumber === null) return { row, madePin: null };
    this.#issuing ??= plan.open();
    const { issuedRow } = await import('../issuing/issuing.ts');
    return issuedRow(this.#context, { plan, issuing: this.#issuing }, { ...key, serialNumber }, row);
  }

  async #withReceipt(key: Key, row: EnrollmentOutcome): Promise<EnrollmentOutcome> {
    const { receipt: terms, activateFor: person } = this.#options;
    const { serialNumber } = key;
    if (terms === null || serialNumber === null) return row;
    const { receiptRow } = await import('../../proofs/receipts/signing.ts');
    return receiptRow(this.#context, { terms, person }, { ...key, serialNumber }, row);
  }

  async #delivered(row: EnrollmentOutcome): Promise<void> {
    const { count, report } = this.#parts;
    count.delivered(row);
    await report.delivered(row, count);
  }
}
