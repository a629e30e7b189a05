/** Keys of a run whose registry may be away: they wait in the spool file, and are delivered in the background when it answers. */
import type { Key } from '../../../../contract/hardware.ts';
import { retry, waitMs } from '../../../../delivery/retry.ts';
import { schedules } from '../../../../delivery/schedules.ts';
import { sleep } from '../../../../delivery/wait.ts';
import { KeyEnrollment } from '../../../../enrollment/key-enrollment.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { isServerRefusal } from '../../../client/failures.ts';
import { newKey } from '../../../client/request-retry.ts';
import { counted } from '../../../count.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { safe, shellWord } from '../../../terminal/text.ts';
import { enrollmentParts, isAway } from '../enroll/enrollment-parts.ts';
import type { BoundKey } from '../enroll/results.ts';
import type { KeyLabel } from '../labels/enrolled.ts';
import { type BindingOptions, Bindings } from './bindings.ts';
import { SpoolDelivery } from './deliver.ts';
import { entryOf, type SpoolEntry, type SpoolOptions, waitingRow } from './lines.ts';
import { demandRegistry, meetRegistry } from './registry.ts';
import { SpoolFile, Unwritable } from './spool-file.ts';

/** A person of a roster, to whom a key is to be bound. */
interface Holder {
  readonly userId: string;
  readonly name: string | null;
}

/** Enrolls the keys of a run one by one, or spools them. */
export class SpoolOutbox {
  readonly #context: Context;
  readonly #options: SpoolOptions;
  readonly #spool: SpoolFile;
  readonly #label: KeyLabel | null;
  #bindings: Bindings | null = null;
  readonly #stop = new AbortController();
  readonly #over = new AbortController();
  /** Ids of keys that the registry could not take in this run. */
  readonly #left = new Set<string>();
  #write: (row: EnrollmentOutcome) => Promise<void> = async () => undefined;
  #away: Error | null;
  #failure: unknown = null;
  #work: Promise<void> = Promise.resolve();
  #isWorking = false;

  private constructor(
    context: Context,
    options: SpoolOptions,
    spool: SpoolFile,
    label: KeyLabel | null,
    away: Error | null,
  ) {
    this.#context = context;
    this.#options = options;
    this.#spool = spool;
    this.#label = label;
    this.#away = away;
  }

  /**
   * Opens or creates the file. `label` prints the labels of keys that are delivered; null prints none. Throws a usage fault if the file is
   * for another registry.
   */
  static async open(
    context: Context,
    options: SpoolOptions & { readonly spool: string },
    label: KeyLabel | null,
  ): Promise<SpoolOutbox> {
    const { spool: path } = options;
    const { header, away } = await meetRegistry(context);
    const spool = SpoolFile.open(path, header);
    try {
      demandRegistry(path, spool.header, header);
    } catch (error) {
      await spool.close();
      throw error;
    }
    if (spool.tornNotice) notify(context, safe(spool.tornNotice));
    return new SpoolOutbox(context, options, spool, label, away);
  }

  /** Bindings that the run begins are in the spool file. */
  record(options: BindingOptions): Bindings {
    this.#bindings = Bindings.in(this.#context, options, this.#spool);
    return this.#bindings;
  }

  /** The keys that wait for people of a roster. */
  get waitingKeys(): readonly BoundKey[] {
    return [...this.#spool.items()].flatMap(({ entry: { userId, registration } }) =>
      userId === null ? [] : [{ userId, ...registration }],
    );
  }

  /** Aborted if a delivery failed with an error that concerns every key. */
  get failed(): AbortSignal {
    return this.#over.signal;
  }

  /** Whether the next key goes to the file: the registry is away, or earlier keys wait. */
  get isHolding(): boolean {
    return this.#away !== null || this.waiting > this.#left.size;
  }

  /** Number of keys that wait. */
  get waiting(): number {
    return this.#spool.waiting;
  }

  /** Whether a key waits, and for whom; null if it does not wait. */
  waitingFor(serialNumber: string | null): { readonly userId: string | null } | null {
    return serialNumber === null ? null : (this.#spool.waitingKey(serialNumber)?.entry ?? null);
  }

  /** Delivers keys of an earlier run, if some wait. `write` receives the result of each key that is delivered. */
  start(write: (row: EnrollmentOutcome) => Promise<void>): void {
    this.#write = write;
    if (this.#away !== null) this.#sayAway(this.#away);
    this.#begin();
  }

  /** The registry cannot be reached. */
  lost(error: Error): void {
    if (this.#away === null) this.#sayAway(error);
    this.#away = error;
    this.#begin();
  }

  /** The result for a key. Throws if every other key would fail as well. `person` is absent without a roster. */
  async handle(key: Key, person?: Holder): Promise<EnrollmentOutcome> {
    const { serialNumber } = key;
    const options = person === undefined ? this.#options : { ...this.#options, activateFor: person.userId };
    const id = newKey();
    const parts = enrollmentParts(this.#context);
    const holder = person ?? { userId: options.activateFor };
    const enrollment = new KeyEnrollment(this.#bindings?.partsOf(parts, key, holder) ?? parts, options, { id });
    if (serialNumber === null) return enrollment.handle(key);
    const entry = entryOf({ ...key, serialNumber }, id, options, person?.name);
    // A run that was killed has spooled it, and has no row of it.
    if (this.waitingFor(serialNumber) !== null) return waitingRow(entry, { result: 'spooled' });
    if (this.isHolding) return await this.#add(entry, false);
    try {
      return await enrollment.handle(key);
    } catch (error) {
      if (!isAway(error)) throw error;
      this.lost(error);
      if (!this.#bindings?.waits(serialNumber)) return await this.#add(entry, enrollment.isSent);
      this.#begin();
      return waitingRow(entry, { result: 'spooled' });
    }
  }

  /** Spools a key, and returns its row: `failed` if the file cannot be written, for example on a full disk. */
  async #add(entry: SpoolEntry, isSent: boolean): Promise<EnrollmentOutcome> {
    try {
      await this.#spool.add(entry, isSent);
    } catch (error) {
      const why = (error as Error).message;
      return waitingRow(entry, {
        result: 'failed',
        message: `not registered and not spooled: ${why}. Plug it in again`,
      });
    }
    this.#begin();
    return waitingRow(entry, { result: 'spooled' });
  }

  /** Delivers what waits if the registry answers. Throws the error that ended the deliveries. */
  async finish(): Promise<void> {
    if (this.#away !== null) this.#stop.abort();
    await this.#work;
    if (this.waiting > 0) this.#sayWaiting();
    if (this.#failure !== null && !this.#context.io.interrupt.aborted) throw this.#failure;
  }

  /** Lets the request under way end, and closes the file. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#work;
    await this.#spool.close();
  }

  get #isEnding(): boolean {
    return this.#stop.signal.aborted || this.#context.io.interrupt.aborted;
  }

  #begin(): void {
    if (this.#isWorking || !this.isHolding || this.#isEnding || this.#failure !== null) return;
    this.#isWorking = true;
    this.#work = this.#deliverAll().finally(() => {
      this.#isWorking = false;
      // A key may have been added since the last check.
      this.#begin();
    });
  }

  #deliverAll(): Promise<void> {
    let losses = 0;
    const attempt = async () => {
      if (!this.isHolding || this.#isEnding || this.#failure !== null) return;
      await this.#meet();
      await this.#drain();
    };
    return retry(attempt, async error => {
      if (this.#isEnding) return;
      if (!isAway(error) && !(error instanceof Unwritable) && !isServerRefusal(error, 429)) return this.#fail(error);
      if (this.#away === null) {
        this.#sayAway(error);
        losses = 0;
      }
      this.#away = error;
      await sleep(waitMs(schedules.spool, losses++)!, this.#stop.signal);
    });
  }

  /** Whether the registry answers, and is the one that the file is for. */
  async #meet(): Promise<void> {
    const registry = this.#context.registry.with({ signal: this.#stop.signal, wait: false });
    const met = await meetRegistry(this.#context, registry);
    if (met.away !== null) throw met.away;
    demandRegistry(this.#spool.path, this.#spool.header, met.header);
    if (this.#away !== null) this.#sayBack();
    this.#away = null;
  }

  async #drain(): Promise<void> {
    const parts = { context: this.#context, spool: this.#spool, label: this.#label };
    const delivery = new SpoolDelivery({ ...parts, write: row => this.#write(row) });
    for (const item of this.#spool.items()) {
      if (this.#isEnding) return;
      if (this.#left.has(item.entry.id)) continue;
      const { stillWaits } = await delivery.deliver(item);
      if (stillWaits) this.#left.add(item.entry.id);
    }
  }

  #fail(error: unknown): void {
    this.#failure = error;
    this.#over.abort();
  }

  #sayAway({ message }: Error): void {
    this.#say('yellow', `${message}. Keys are spooled in ${this.#spool.path} until the registry responds.`);
  }

  #sayBack(): void {
    const what = this.waiting === 0 ? '.' : `: ${counted(this.waiting, 'spooled key')} to deliver.`;
    this.#say('green', `The registry responds again${what}`);
  }

  #sayWaiting(): void {
    const { path } = this.#spool;
    const wait = this.waiting === 1 ? 'is' : 'are';
    this.#say(
      'yellow',
      `${counted(this.waiting, 'key')} ${wait} waiting in ${path}. To register them later: devmgr enroll spool flush ${shellWord(path)}`,
    );
  }

  #say(style: 'yellow' | 'green', text: string): void {
    notify(this.#context, this.#context.out.tint(style, text));
  }
}
