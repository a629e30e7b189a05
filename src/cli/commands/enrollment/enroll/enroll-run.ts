/**
 * The loop of an enrollment: a result for each key that is plugged in. A roster run opens its files, and issues and signs keys, with the
 * same functions.
 */
import type { Key } from '../../../../contract/hardware.ts';
import { isSameName } from '../../../../contract/person-key.ts';
import type { DeviceType } from '../../../../contract/values.ts';
import type { KeyIssuing } from '../../../../enrollment/issuing.ts';
import { blockOf, type EnrollKeyOptions, outcomeOf } from '../../../../enrollment/key-enrollment.ts';
import { columnOf, type EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { isNumbered } from '../../../../enrollment/own-number.ts';
import type { NumberedKey } from '../../../../enrollment/registry.ts';
import type { Context } from '../../../framework/context.ts';
import { claimsRecorded } from '../../../framework/devices/registration.ts';
import type { IssuedRow, IssuePlan, WhileAsked } from '../../issuing/issuing.ts';
import type { KeyLabel } from '../labels/enrolled.ts';
import type { BindingPerson, Bindings } from '../spool/bindings.ts';
import type { SpoolOutbox } from '../spool/outbox.ts';
import type { KeyCount } from './key-count.ts';
import { attachedAtStart, Idle, isSkipped, keyEvents } from './key-events.ts';
import { type OwnNumber, ownNumbered } from './own-number.ts';
import { type EnrollReport, showRow } from './report.ts';
import { EnrollFile } from './results.ts';

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
  /** Whether a person gets another key although the last one is unfinished, or the person has one. */
  readonly again: boolean;
  /** The file in which keys wait while the registry is away; null ends the run instead. */
  readonly spool: string | null;
}

/** How keys are enrolled without a roster. */
export interface EnrollOptions extends EnrollRunOptions {
  /** Ends after this many keys were registered or recognized; null for no limit. */
  readonly count: number | null;
  /** The number of a key that reports none. */
  readonly ownNumber: OwnNumber;
}

/** The files of a run, and the keys that it leaves out. */
export interface OpenedRun {
  /** The results; null if they have no file. */
  readonly file: EnrollFile | null;
  /** Null if keys are not spooled. */
  readonly outbox: SpoolOutbox | null;
  /** Serial numbers of keys in the file that do not count, because the registry lacks them. */
  readonly lacking: ReadonlySet<string>;
  /** KeyIds of keys that are ignored. */
  readonly skipped: Set<string>;
  /** Null in a dry run. */
  readonly bindings: Bindings | null;
  /** Bindings of earlier runs that this run has finished. */
  readonly settled: readonly EnrollmentOutcome[];
}

/** Carries out a run with the files that its options name, which are closed at its end. */
export async function withOpened(
  context: Context,
  options: EnrollRunOptions,
  isRoster: boolean,
  run: (opened: OpenedRun) => Promise<number>,
): Promise<number> {
  const { out, dryRun, skipAttached, issue, receipt } = options;
  const outbox = await outboxOf(context, options, isRoster);
  const isSpooled = outbox !== null;
  let file: EnrollFile | null = null;
  let bindings: Bindings | null = null;
  try {
    if (!isSpooled) await context.registry.token();
    const skipped = await attachedAtStart(context, skipAttached);
    const done = { providers: issue?.providers.map(columnOf) ?? [], hasReceipts: receipt !== null };
    if (out !== null) file = EnrollFile.open(context, out, { ...options, ...done, isRoster, isSpooled });
    const lacking = dryRun || !file?.isContinued ? new Set<string>() : await lackingIn(context, file, isSpooled);
    bindings = dryRun ? null : await bindingsOf(context, options, outbox);
    const settled = (await bindings?.settle(row => written(context, file, row))) ?? [];
    await showUnfinished(context, bindings, true);
    return await run({ file, outbox, lacking, skipped, bindings, settled });
  } catch (error) {
    await showUnfinished(context, bindings, false);
    throw bindings?.explained(error) ?? error;
  } finally {
    await outbox?.close();
    await bindings?.close();
    file?.close();
    await claimsRecorded(context);
  }
}

async function bindingsOf(context: Context, options: EnrollRunOptions, outbox: SpoolOutbox | null): Promise<Bindings> {
  const { Bindings: Recorded } = await import('../spool/bindings.ts');
  return outbox?.record(options) ?? Recorded.open(context, options);
}

/** The result of a key that an earlier run has begun. */
async function written(context: Context, file: EnrollFile | null, row: EnrollmentOutcome): Promise<void> {
  try {
    await file?.add(row);
  } finally {
    await showRow(context, row);
  }
}

/** Scripts read what is unfinished in rows; the notices are for people. */
async function showUnfinished({ globals, out }: Context, bindings: Bindings | null, isForAll: boolean) {
  if (globals.json) for (const row of bindings?.rows(isForAll) ?? []) await out.row(row);
}

async function lackingIn(context: Context, file: EnrollFile, isSpooling: boolean): Promise<ReadonlySet<string>> {
  const { uncounted } = await import('./lacking.ts');
  return uncounted(context, file.path, isSpooling);
}

async function outboxOf(context: Context, options: EnrollRunOptions, isRoster: boolean): Promise<SpoolOutbox | null> {
  const { spool, label } = options;
  if (spool === null) return null;
  const { SpoolOutbox: Outbox } = await import('../spool/outbox.ts');
  // The labels of a roster are printed beside the line, those of keys that were spooled as well.
  return Outbox.open(context, { ...options, spool }, isRoster ? null : label);
}

interface EnrollRunParts extends Pick<OpenedRun, 'bindings' | 'outbox' | 'skipped'> {
  readonly count: KeyCount;
  readonly report: EnrollReport;
  readonly enroll: (key: Key) => Promise<EnrollmentOutcome>;
}

/** One run. */
export class EnrollRun {
  readonly #context: Context;
  readonly #options: EnrollOptions;
  readonly #parts: EnrollRunParts;
  readonly #idle: Idle;
  readonly #handover: KeyHandover;
  /** The number under which a key was enrolled that reports none, by keyId. */
  readonly #numbered = new Map<string, string | null>();

  constructor(context: Context, options: EnrollOptions, parts: EnrollRunParts) {
    this.#context = context;
    this.#options = options;
    this.#parts = parts;
    this.#idle = new Idle(options.timeoutSeconds);
    this.#handover = new KeyHandover(context, options);
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
      // The registry recognizes a key that was enrolled just now: it is not plugged in again.
      if (change.again && this.#numbered.get(key.keyId) === key.serialNumber) continue;
      const wasSkipped = isSkipped(skipped, change);
      if (wasSkipped || (wanted !== null && key.deviceType !== wanted)) {
        report.skipped(key, wasSkipped ? 'was already attached' : `is not a ${wanted}`, count);
        continue;
      }
      await this.#take(key);
      if (count.reached) return;
    }
  }

  async #take(attached: Key): Promise<void> {
    const { bindings, count, report, outbox } = this.#parts;
    this.#idle.stop();
    const key = await ownNumbered(this.#context, attached, this.#options);
    // A number that was typed can be that of another key: the registry decides.
    const handled = isNumbered(key) ? undefined : count.handled(key);
    if (handled !== undefined) {
      report.again(key, handled, count);
      return;
    }
    this.#idle.stop();
    const { label, activateFor } = this.#options;
    let row = isNumbered(key) ? await this.#touched(key) : await this.#enrolled(key);
    if (isNumbered(key) && row.result !== 'failed') this.#numbered.set(key.keyId, row.serialNumber);
    const isNew = row.result === 'registered';
    await beginHandover(bindings, this.#options, key, row, { userId: activateFor });
    const { madePin, ...issued } = await this.#handover.issued(key, row);
    row = issued.row;
    if (label !== null && (isNew || madePin !== null) && row.deviceId !== null) row = await label.print(row, madePin);
    row = await this.#handover.signed(key, row, activateFor);
    const { status, userId } = row;
    const isRefused = activateFor !== null && status !== null && blockOf({ status, userId }, activateFor) !== null;
    if (count.take(key, row, isRefused) === 'as before') report.again(key, row.deviceId, count);
    else await report.row(row, count);
    await bindings?.written(row);
    // After a delivery has failed the loop ends on its own.
    if (!outbox?.failed.aborted) this.#idle.start();
  }

  /** A key that makes a credential shows that it waits for a touch. */
  async #touched(key: Key): Promise<EnrollmentOutcome> {
    const { whileTouched } = await import('../../proofs/prove-key.ts');
    return whileTouched(this.#context, key as NumberedKey, () => this.#enrolled(key));
  }

  /** Refused while another key for the same person is unfinished, unless that was decided. */
  async #enrolled(key: Key): Promise<EnrollmentOutcome> {
    const { bindings, enroll } = this.#parts;
    const { activateFor, again } = this.#options;
    if (activateFor === null || key.serialNumber === null) return enroll(key);
    const message = bindings?.unfinished(activateFor, key.serialNumber) ?? null;
    if (message === null) return enroll(key);
    if (!again) return outcomeOf(key, this.#options, { result: 'failed', message });
    await bindings?.leave(activateFor);
    return enroll(key);
  }

  async #delivered(row: EnrollmentOutcome): Promise<void> {
    const { count, report } = this.#parts;
    count.delivered(row);
    await report.delivered(row, count);
  }
}

/** A key that is bound is issued or signs next, which an interruption can cut as well. */
export async function beginHandover(
  bindings: Bindings | null,
  { issue, receipt }: HandoverOptions,
  { serialNumber, ...key }: Key,
  { result, status, userId }: EnrollmentOutcome,
  person: BindingPerson,
): Promise<void> {
  if (!bindings?.isRecorded || serialNumber === null || (issue === null && receipt === null)) return;
  if (result === 'failed' || status !== 'ACTIVE' || !isSameName(userId, person.userId)) return;
  await bindings.begin({ ...key, serialNumber }, person);
}

/** The work of a run with a key that is bound to a person. */
interface HandoverOptions {
  /** Null issues none. */
  readonly issue: IssuePlan | null;
  /** The terms of receipts; null for none. */
  readonly receipt: string | null;
}

/** Issues keys and has them sign, with the same options for each. A key that fails keeps its device: its row has the reason. */
export class KeyHandover {
  readonly #context: Context;
  readonly #options: HandoverOptions;
  readonly #issuing: KeyIssuing | null;

  constructor(context: Context, options: HandoverOptions, whileAsked?: WhileAsked) {
    this.#context = context;
    this.#options = options;
    this.#issuing = options.issue?.open(whileAsked) ?? null;
  }

  /** The row of a key that is issued, if the run issues keys. */
  async issued(key: Key, row: EnrollmentOutcome): Promise<IssuedRow> {
    const { serialNumber } = key;
    if (this.#issuing === null || serialNumber === null) return { row, madePin: null };
    const { issuedRow } = await import('../../issuing/issuing.ts');
    return issuedRow(this.#context, this.#issuing, { ...key, serialNumber }, row);
  }

  /** The row of a key that has signed its receipt for the person, if the run wants receipts. */
  async signed(key: Key, row: EnrollmentOutcome, person: string | null): Promise<EnrollmentOutcome> {
    const { receipt: terms } = this.#options;
    const { serialNumber } = key;
    if (terms === null || serialNumber === null) return row;
    const { receiptRow } = await import('../../receipts/signing.ts');
    return receiptRow(this.#context, { terms, person }, { ...key, serialNumber }, row);
  }
}
