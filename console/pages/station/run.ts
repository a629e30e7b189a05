/** A run of the station: what happens at the reader and at the keyboard goes in, what to show comes out. */
import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Key } from '../../../src/contract/hardware.ts';
import type { CheckAction, LineAction, LineEvent, Remark } from '../../../src/enrollment/line/events.ts';
import { Line } from '../../../src/enrollment/line/line.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';
import { keyFor, type PersonEnrollment, type PersonVerdict } from '../../../src/enrollment/line/person-enrollment.ts';
import { countsOf } from '../../../src/enrollment/line/rows.ts';
import { settled } from '../../../src/enrollment/line/settled.ts';
import { type BegunKeys, boundIn, HeldKeys } from './held-keys.ts';
import type { AskPin, IssueChoice, IssueKey, StationResult, StoredRun } from './results.ts';
import type { Outcome, PinRequest, StationRemark, StationView } from './station-view.ts';

/** The registry as the station uses it. Nothing rejects. */
export type StationRegistry = Pick<PersonEnrollment, 'check' | 'bind' | 'pulledEarly'>;

/** Where a run is stored. */
export interface RunStore {
  read(): StoredRun | null;
  write(run: StoredRun): void;
}

interface Parts {
  readonly begun: BegunKeys;
  readonly registry: StationRegistry;
  readonly issueKey: IssueKey;
  readonly store: RunStore;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Whether the hardware service still has the key. */
  readonly isAttached: (keyId: string) => Promise<boolean>;
  /** Lets the operator hear how it went. */
  readonly sound: (kind: 'good' | 'bad') => void;
}

/** People whose names are shown in advance. */
const SHOWN = 8;
/** Events after which the newest result still counts. */
const keeping: readonly LineEvent['type'][] = ['checked', 'committed', 'pull', 'enter', 'early'];
/** Remarks on what the operator has just done on purpose. */
const quiet: readonly Remark[] = ['badge', 'skipped', 'undone', 'redo'];

/** Connects the line with the registry, and keeps its results. */
export class StationRun {
  readonly #parts: Parts;
  readonly #view: Signal<StationView>;
  readonly #keys = new Map<string, Key>();
  readonly #ignored = new Set<string>();
  readonly #held: HeldKeys;
  #people: readonly Person[] | null;
  #line: Line;
  #outcome: Outcome | null = null;
  #said: StationRemark | null = null;
  #results: readonly StationResult[];
  #startedAt: number;
  #issue: IssueChoice | null;
  #isIssuing = false;
  #asked: PinRequest | null = null;
  readonly view: ReadonlySignal<StationView>;

  /** Continues the run that is stored. */
  constructor(parts: Parts) {
    const stored = parts.store.read();
    this.#parts = parts;
    this.#people = stored?.people ?? null;
    this.#results = stored?.results ?? [];
    this.#startedAt = stored?.startedAt ?? parts.now();
    this.#issue = stored?.issue ?? null;
    this.#held = new HeldKeys(parts.begun, () => this.#results);
    this.#line = this.#lineWith(stored?.done ?? []);
    const view = signal(this.#seen());
    this.#view = view;
    this.view = view;
  }

  /** Begins with the people of a roster; null begins without one. Keys that people have by the results count. */
  begin(people: readonly Person[] | null): void {
    this.#people = people;
    this.#start(people === null ? [] : countsOf(people, boundIn(this.#results)));
  }

  /** Sets what is done with keys from now on. People keep what they have. */
  issueAt(choice: IssueChoice | null): void {
    if (this.#line.phase.type === 'committing') return;
    const { rows } = this.#line;
    this.#issue = choice;
    this.#start(this.#people?.map((_, row) => rows.doneOf(row)) ?? []);
  }

  /** A key that is issued stays plugged in. */
  #lineWith(done: readonly number[]): Line {
    return new Line(this.#people, done, this.#issue === null ? 'unplugged' : 'confirmed');
  }

  #start(done: readonly number[]): void {
    this.#line = this.#lineWith(done);
    this.#outcome = null;
    this.#said = null;
    for (const keyId of this.#keys.keys()) if (!this.#ignored.has(keyId)) this.#line.take({ type: 'present', keyId });
    this.#keep();
    this.#show();
  }

  /** Forgets the results. People keep what they have. */
  clear(): void {
    this.#results = [];
    this.#startedAt = this.#parts.now();
    this.#keep();
    this.#show();
  }

  /** `isSeen`: the moment is known, so it is known for whom the key was plugged in. */
  plugged(key: Key, isSeen: boolean): void {
    this.#keys.set(key.keyId, key);
    if (this.#ignored.has(key.keyId)) this.#show();
    else this.take({ type: isSeen ? 'plug' : 'present', keyId: key.keyId });
  }

  /** A key that was unplugged unseen, or during a scan (`isTyping`), is not bound. */
  pulled(keyId: string, isSeen: boolean, isTyping = false): void {
    if (!isSeen) this.suspend();
    if (this.#asked?.keyId === keyId) this.#asked.cancel();
    const wasIgnored = this.#ignored.delete(keyId);
    if (!wasIgnored) this.take({ type: 'pull', keyId, isTyping });
    this.#keys.delete(keyId);
    this.#show();
  }

  /** Keys may be exchanged unseen from now on: nothing is bound before they are plugged in again. */
  suspend(): void {
    this.#line.take({ type: 'lost' });
    this.#show();
  }

  /** Only these keys are plugged in. */
  keepOnly(keyIds: ReadonlySet<string>): void {
    for (const keyId of [...this.#keys.keys()]) if (!keyIds.has(keyId)) this.pulled(keyId, false);
  }

  /** Nothing is bound to this key while it stays plugged in. Not for a key that has passed: it would count as unplugged. */
  ignore(keyId: string): void {
    if (['ready', 'checking', 'committing'].includes(this.#line.phase.type)) return;
    this.take({ type: 'pull', keyId });
    this.#ignored.add(keyId);
    this.#show();
  }

  take(event: LineEvent): void {
    if (event.type !== 'checked' && event.type !== 'committed') this.#said = null;
    for (const action of this.#line.take(event)) this.#do(action);
    const isOver = !keeping.includes(event.type) && !['ready', 'failed', 'committing'].includes(this.#line.phase.type);
    if (isOver) this.#outcome = null;
    this.#show();
  }

  #do(action: LineAction): void {
    const person = action.person === null ? null : (this.#line.rows.people[action.person] ?? null);
    if (action.type === 'say') {
      this.#said = { what: action.what, text: action.text, person };
      if (!quiet.includes(action.what)) this.#parts.sound('bad');
      return;
    }
    if (action.type === 'allow') {
      if (person) this.#held.allow(person);
      return;
    }
    const key = this.#keys.get(action.keyId);
    if (!key || !person) return;
    if (action.type === 'fail')
      this.#end({ verdict: this.#parts.registry.pulledEarly(key, person), key, person, isCommit: false });
    else if (action.type === 'check') void this.#check(key, person, action);
    else void this.#commit(key, person, action.attempt);
  }

  async #check(attached: Key, person: Person, action: CheckAction): Promise<void> {
    const key = keyFor(attached, person);
    const line = this.#line;
    const { attempt } = action;
    this.#outcome = null;
    const check = this.#parts.registry.check(
      key,
      person,
      this.#held.countedFor(key),
      this.#held.anotherKey(person, key),
    );
    const verdict = await settled(action, check, this.#parts.isAttached);
    // The key was unplugged, or the person has changed.
    if (line !== this.#line || attempt !== line.attempt) return;
    if (verdict === null) return this.pulled(key.keyId, true);
    this.#end({ verdict, key, person, isCommit: false });
    const hasAnother = verdict.failure === 'has another key';
    this.take({ type: 'checked', attempt, passed: verdict.failure === null, hasAnother });
  }

  async #commit(attached: Key, person: Person, attempt: number): Promise<void> {
    const key = keyFor(attached, person);
    const line = this.#line;
    const another = this.#held.anotherKey(person, key);
    this.#held.begin(key, person);
    const bound = await this.#parts.registry.bind(key, person, null, another);
    const { deviceId } = bound.row;
    // The key is still plugged in if Enter has bound it: the list shows its registration.
    if (bound.failure === null && deviceId && this.#keys.has(key.keyId))
      this.#keys.set(key.keyId, { ...key, device: { deviceId, status: 'ACTIVE' } });
    const verdict = await this.#issued(key, bound);
    this.#held.end(key, person, verdict);
    this.#end({ verdict, key, person, isCommit: true });
    if (line === this.#line) this.take({ type: 'committed', attempt, passed: verdict.failure === null });
    this.#keep();
    this.#show();
  }

  /** The key keeps its device and its person if it is not issued: plugged in again, it continues. */
  async #issued({ serialNumber, ...key }: Key, verdict: PersonVerdict): Promise<PersonVerdict> {
    const { deviceId } = verdict.row;
    if (this.#issue === null || verdict.failure !== null || deviceId === null || serialNumber === null) return verdict;
    this.#isIssuing = true;
    this.#show();
    const issued = await this.#parts.issueKey({ ...key, serialNumber }, deviceId, this.#issue, this.#ask);
    this.#isIssuing = false;
    const { providers, reason: message } = issued;
    const failure = message === null ? null : 'not issued';
    return { ...verdict, failure, row: { ...verdict.row, providers, failure, message } };
  }

  /** The PIN goes to the caller only. */
  readonly #ask: AskPin = async question => {
    const { promise, resolve: answer, reject } = Promise.withResolvers<string>();
    const cancel = () => reject(new DOMException('no PIN was entered', 'AbortError'));
    if (!this.#keys.has(question.keyId)) cancel();
    this.#asked = { ...question, answer, cancel };
    this.#show();
    try {
      return await promise;
    } finally {
      this.#asked = null;
      this.#show();
    }
  };

  #end(outcome: Outcome): void {
    this.#outcome = outcome;
    const { verdict, key, person, isCommit } = outcome;
    this.#parts.sound(verdict.failure === null ? 'good' : 'bad');
    if (verdict.failure === null && !isCommit) return;
    const { userId, name } = person;
    const { keyId, deviceType, serialNumber } = key;
    const { failure, row } = verdict;
    const at = new Date(this.#parts.now()).toISOString();
    const deviceId = row.deviceId ?? key.device?.deviceId ?? null;
    const message = row.message || null;
    const issued = row.providers && { providers: row.providers };
    const result = { at, userId, name, keyId, deviceType, serialNumber, deviceId, failure, message, ...issued };
    this.#results = [...this.#results, result];
    this.#keep();
  }

  #keep(): void {
    const { rows } = this.#line;
    // Without a roster no person is next after a reload.
    const done = this.#people === null ? [] : this.#people.map((_, row) => rows.doneOf(row));
    this.#parts.store.write({
      people: this.#people,
      done,
      results: this.#results,
      issue: this.#issue,
      startedAt: this.#startedAt,
    });
  }

  #show(): void {
    this.#view.value = this.#seen();
  }

  #seen(): StationView {
    const { rows, person: row, phase } = this.#line;
    const open = this.#people === null ? [] : rows.open();
    const waiting = open.filter(each => each !== row);
    return {
      phase: phase.type,
      person: row === null ? null : (rows.people[row] ?? null),
      isHeld: this.#line.isHeld,
      done: row === null ? 0 : rows.doneOf(row),
      outcome: this.#outcome,
      said: this.#said,
      keys: [...this.#keys.values()].filter(({ keyId }) => !this.#ignored.has(keyId)),
      ignored: this.#ignored.size,
      roster:
        this.#people === null ? null : { rows: this.#people.length, finished: rows.finished, skipped: rows.skipped },
      waiting: { first: waiting.slice(0, SHOWN).flatMap(each => rows.people[each] ?? []), count: waiting.length },
      results: this.#results,
      startedAt: this.#startedAt,
      issue: this.#issue,
      isIssuing: this.#isIssuing,
      asked: this.#asked,
    };
  }
}
