/** Enrolls keys for the people of a roster: connects the line with the reader, the keyboard and the registry. */
import type { Key } from '../../../../contract/hardware.ts';
import type { ProofOutcome } from '../../../../enrollment/key-enrollment.ts';
import type { CheckAction, LineAction, LineEvent } from '../../../../enrollment/line/events.ts';
import { Line } from '../../../../enrollment/line/line.ts';
import type { Person } from '../../../../enrollment/line/people.ts';
import { countsOf } from '../../../../enrollment/line/rows.ts';
import { settled } from '../../../../enrollment/line/settled.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { Unreachable } from '../../../client/failures.ts';
import { count, counted } from '../../../count.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { Fault } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { nameOf } from '../../../jobs/input-file.ts';
import type { TableFlags } from '../../../jobs/table-flags.ts';
import type { EnrollRunOptions, OpenedRun } from '../enroll/enroll-run.ts';
import { Idle, isSkipped, type KeyEventOptions, keyEvents } from '../enroll/key-events.ts';
import type { BoundKey } from '../enroll/results.ts';
import type { SpoolOutbox } from '../spool/outbox.ts';
import { TerminalKeys } from './keyboard.ts';
import { RosterLabels } from './labels.ts';
import { RosterReport } from './report.ts';
import { Station } from './station.ts';

/** How the people of a roster get their keys. */
export interface RosterOptions extends EnrollRunOptions {
  /** The file, `-` for standard input; of a group, its name in words. */
  readonly roster: string;
  /** The group whose members are the roster; null for a file. */
  readonly group: string | null;
  /** How the file is read; null for a group. */
  readonly table: TableFlags | null;
  readonly bell: boolean;
  readonly big: boolean;
}

interface Parts extends Omit<OpenedRun, 'lacking' | 'settled'> {
  readonly people: readonly Person[];
  /** The keys of the file that count. */
  readonly bound: readonly BoundKey[];
}

/** One run. */
export class RosterRun {
  readonly #context: Context;
  readonly #options: RosterOptions;
  readonly #line: Line;
  readonly #report: RosterReport;
  readonly #station: Station;
  readonly #labels: RosterLabels | null;
  readonly #outbox: SpoolOutbox | null;
  readonly #skipped: Set<string>;
  readonly #idle: Idle;
  /** Null in a script: keys are bound when they are unplugged. */
  readonly #keyboard: TerminalKeys | null;
  readonly #over = new AbortController();
  /** Keys in the reader, by keyId. */
  readonly #keys = new Map<string, Key>();
  /** The proof of the last key that was checked. */
  #proved: ProofOutcome | null = null;
  /** Keys whose letter is printed: they get no other label. */
  readonly #lettered = new Set<string>();
  #failure: unknown = null;
  /** The commit under way. */
  #commit: Promise<void> = Promise.resolve();
  /** The last row that is being written. Rows are written in order. */
  #writing: Promise<void> = Promise.resolve();
  /** The labels that are not printed yet. */
  #printing: Promise<unknown> = Promise.resolve();
  #isConnected = false;

  constructor(context: Context, options: RosterOptions, { people, file, bound, skipped, outbox, bindings }: Parts) {
    const isInteractive = context.canAsk && !context.globals.json && options.roster !== '-';
    const { bell, big, issue, receipt } = options;
    const then = issue !== null ? 'issued' : receipt !== null ? 'signed' : null;
    const roster = nameOf(options.roster);
    this.#context = context;
    this.#options = options;
    this.#line = new Line(
      people,
      countsOf(people, bound),
      then === null ? 'unplugged' : isInteractive ? 'confirmed' : 'passed',
    );
    this.#report = new RosterReport(context, file, { isInteractive, bell, big, roster, then });
    this.#labels =
      options.label &&
      new RosterLabels(context, options.label, file?.isCsv ? file.path : null, (row, needsAttention) =>
        this.#report.labeled(row, needsAttention),
      );
    this.#station = new Station(
      context,
      options,
      bound.map(({ serialNumber, userId }) => [serialNumber, userId] as const),
      { outbox, bindings },
      ask => this.#whileAsked(ask),
    );
    this.#outbox = outbox;
    this.#skipped = skipped;
    this.#idle = new Idle(options.timeoutSeconds);
    this.#keyboard = isInteractive
      ? new TerminalKeys(
          context.io,
          typed => this.#take(typed),
          () => this.#report.again(this.#line),
        )
      : null;
  }

  async run(): Promise<number> {
    this.#report.ready(this.#line);
    try {
      this.#outbox?.start(row => this.#delivered(row));
      if (!this.#line.isOver) await this.#follow();
    } finally {
      this.#idle.stop();
      this.#keyboard?.close();
      await this.#printing;
      this.#context.out.end();
    }
    await this.#outbox?.finish();
    await this.#printing;
    return this.#ended();
  }

  async #follow(): Promise<void> {
    this.#keyboard?.open();
    this.#report.ask(this.#line);
    const failed = this.#outbox === null ? [] : [this.#outbox.failed];
    const signal = AbortSignal.any([this.#idle.signal, this.#over.signal, ...failed]);
    const onState: KeyEventOptions['onState'] = (state, detail) => this.#linkChanged(state, detail);
    try {
      for await (const change of keyEvents(this.#context, { signal, onState })) {
        if (isSkipped(this.#skipped, change)) continue;
        const { type, key, isSeen } = change;
        if (type === 'KEY_ATTACHED') {
          this.#keys.set(key.keyId, key);
          this.#take({ type: isSeen ? 'plug' : 'present', keyId: key.keyId });
        } else {
          // It may still be in the reader.
          if (!isSeen) this.#take({ type: 'lost' });
          // A scan that came before is read first: it may name another person.
          await new Promise(setImmediate);
          this.#take({ type: 'pull', keyId: key.keyId, isTyping: this.#keyboard?.isTyping ?? false });
        }
      }
    } catch (error) {
      if (!this.#context.io.interrupt.aborted) throw error;
    }
    await this.#commit;
    await this.#work(this.#writing);
    await this.#printing;
    if (this.#failure !== null && !this.#context.io.interrupt.aborted) throw this.#failure;
  }

  #ended(): number {
    const { people, finished } = this.#line.rows;
    this.#report.end(this.#line, this.#labels?.remark ?? null);
    // Keys that wait in the spool file are not bound yet.
    if (this.#line.isOver && this.#outbox !== null && this.#outbox.waiting > 0) return exitCodes.unreachable;
    if (this.#line.isOver) return finished === people.length ? exitCodes.done : exitCodes.partial;
    if (this.#context.io.interrupt.aborted) return exitCodes.interrupted;
    throw new Fault(
      this.#report.failures > 0 ? 'partial' : 'hardware',
      `no key was plugged in or unplugged within ${this.#options.timeoutSeconds} s (${count(finished)} of ${counted(people.length, 'row')} done${this.#report.failures > 0 ? `, ${counted(this.#report.failures, 'key')} failed` : ''})`,
      'plug in a key, and see whether it is found: devmgr keys',
    );
  }

  #take(event: LineEvent): void {
    if (this.#over.signal.aborted) return;
    for (const action of this.#line.take(event)) this.#do(action);
    if (event.type === 'pull') this.#keys.delete(event.keyId);
    if (this.#line.isOver) this.#over.abort();
    else {
      if (event.type === 'committed') this.#report.progress(this.#line);
      this.#report.ask(this.#line);
    }
    const isWorking = ['checking', 'committing'].includes(this.#line.phase.type);
    if (isWorking || this.#over.signal.aborted) this.#idle.stop();
    else this.#idle.start();
  }

  #do(action: LineAction): void {
    if (action.type === 'say') {
      const person = action.person === null ? null : this.#line.rows.people[action.person]!;
      this.#report.say(action.what, person, action.text);
      return;
    }
    const person = this.#line.rows.people[action.person]!;
    if (action.type === 'allow') {
      this.#station.allowAnother(person);
      return;
    }
    const key = this.#keys.get(action.keyId)!;
    if (action.type === 'fail') {
      const verdict = this.#station.pulledEarly(key, person);
      this.#writing = this.#work(this.#report.failed(verdict, key.serialNumber ?? key.keyId));
      return;
    }
    if (action.type === 'check') void this.#work(this.#check(key, person, action));
    else this.#commit = this.#work(this.#bind(key, person, action.attempt));
  }

  async #check(key: Key, person: Person, action: CheckAction): Promise<void> {
    const { attempt } = action;
    const verdict = await settled(action, this.#station.check(key, person), keyId => this.#isAttached(keyId));
    // The key was unplugged, or the person has changed.
    if (attempt !== this.#line.attempt || this.#over.signal.aborted) return;
    if (verdict === null) return this.#take({ type: 'pull', keyId: key.keyId });
    this.#proved = verdict.proved;
    const hasAnother = verdict.failure === 'has another key';
    this.#take({ type: 'checked', attempt, passed: verdict.failure === null, hasAnother });
    const result = verdict.failure === null ? 'passed' : 'failed';
    this.#writing = this.#report[result](verdict, key.serialNumber ?? key.keyId);
    await this.#writing;
  }

  /** A service that is out of reach knows of no key. */
  async #isAttached(wanted: string): Promise<boolean> {
    try {
      const { list } = await this.#context.hardware.call('listKeys');
      return list.some(({ keyId }) => keyId === wanted);
    } catch (error) {
      if (error instanceof Unreachable) return false;
      throw error;
    }
  }

  async #bind(key: Key, person: Person, attempt: number): Promise<void> {
    const { label, dryRun } = this.#options;
    const name = key.serialNumber ?? key.keyId;
    const { madePin, ...verdict } = await this.#station.bind(key, person, this.#proved);
    const isBound = verdict.failure === null && verdict.row.result !== 'spooled';
    const isLabeled = this.#labels !== null && isBound && !dryRun && !this.#lettered.has(name);
    if (madePin !== null) this.#lettered.add(name);
    // The PIN is on paper before the key is tried again.
    const isLetter = madePin !== null && !isBound && label !== null;
    const row = isLetter ? await label.print(verdict.row, madePin) : verdict.row;
    await this.#report.committed({ ...verdict, row }, name, isLabeled);
    await this.#station.written(row);
    if (isLabeled) this.#printing = this.#work(this.#labels.add(row, madePin));
    this.#take({ type: 'committed', attempt, passed: verdict.failure === null });
  }

  /** The keyboard belongs to the question: a PIN is not a command. */
  async #whileAsked<T>(ask: () => Promise<T>): Promise<T> {
    this.#keyboard?.close();
    try {
      return await ask();
    } finally {
      this.#keyboard?.open();
    }
  }

  /** A key that was spooled is delivered. If it is not bound, its person needs another one. */
  async #delivered(row: EnrollmentOutcome): Promise<void> {
    const { serialNumber, userId, deviceType, result } = row;
    const isBound = result === 'registered' || result === 'known';
    if (!isBound && serialNumber !== null) {
      this.#station.notBound(serialNumber);
      this.#line.rows.reopenFor(userId, deviceType);
    }
    const isLabeled = this.#labels !== null && isBound;
    await this.#report.delivered(row, isBound, isLabeled);
    if (isLabeled) this.#printing = this.#work(this.#labels.add(row));
    this.#report.ask(this.#line);
  }

  /** An error that every key would meet ends the run. */
  async #work(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#failure ??= error;
      this.#over.abort();
    }
  }

  /** While the stream was lost, keys may have been exchanged unseen. */
  #linkChanged(state: string, detail: string): void {
    this.#context.out.trace(`${state}${detail ? `: ${detail}` : ''}`);
    if (state === 'connected' || state === 'resumed') this.#isConnected = true;
    if (state !== 'lost' || !this.#isConnected) return;
    this.#isConnected = false;
    this.#take({ type: 'lost' });
  }
}
