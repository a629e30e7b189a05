/** A run of the bench: what happens at the reader and at the keyboard goes in, what to show comes out. */
import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Key } from '../../../src/contract/hardware.ts';
import type { CheckAction, LineAction, LineEvent, Phase, Remark } from '../../../src/enrollment/line/events.ts';
import { Line } from '../../../src/enrollment/line/line.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';
import type { PersonEnrollment, PersonVerdict } from '../../../src/enrollment/line/person-enrollment.ts';
import { countsOf } from '../../../src/enrollment/line/rows.ts';
import { settled } from '../../../src/enrollment/line/settled.ts';
import type { CountedKey } from '../../../src/enrollment/registry.ts';
import type { StationResult } from './results.ts';
import type { RunStore } from './store.ts';

/** What was found out about a key, or done with it. */
export interface Outcome {
  readonly verdict: PersonVerdict;
  readonly key: Key;
  readonly person: Person;
  /** Whether it is the result of a commit, not of a check. */
  readonly isCommit: boolean;
}

/** What the operator has to know. */
interface Said {
  readonly what: Remark;
  /** What was scanned. */
  readonly text: string;
  readonly person: Person | null;
}

/** What the page shows. */
export interface BenchView {
  readonly phase: Phase['type'];
  /** Who gets the next key; null if that is open. */
  readonly person: Person | null;
  /** Whether a badge that names no person has stopped the line. */
  readonly isHeld: boolean;
  /** Keys that the row of this person has. */
  readonly done: number;
  /** The newest result; null after anything else has happened. */
  readonly outcome: Outcome | null;
  readonly said: Said | null;
  /** Keys that are plugged in and not ignored. */
  readonly keys: readonly Key[];
  /** How many are ignored until they are unplugged. */
  readonly ignored: number;
  /** Null without a roster. */
  readonly roster: { readonly rows: number; readonly finished: number; readonly skipped: number } | null;
  /** The first rows that need a key after that of `person`, and how many there are. */
  readonly waiting: { readonly first: readonly Person[]; readonly count: number };
  /** In order; the newest is the last. */
  readonly results: readonly StationResult[];
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** The registry as the bench uses it. Nothing rejects. */
export type StationRegistry = Pick<PersonEnrollment, 'check' | 'bind' | 'pulledEarly'>;

/** What a run works with. */
interface BenchParts {
  readonly registry: StationRegistry;
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
export class BenchRun {
  readonly #parts: BenchParts;
  readonly #view: Signal<BenchView>;
  readonly #keys = new Map<string, Key>();
  readonly #ignored = new Set<string>();
  #people: readonly Person[] | null;
  #line: Line;
  #outcome: Outcome | null = null;
  #said: Said | null = null;
  #results: readonly StationResult[];
  #startedAt: number;
  readonly view: ReadonlySignal<BenchView>;

  /** Continues the run that is stored. */
  constructor(parts: BenchParts) {
    const stored = parts.store.read();
    this.#parts = parts;
    this.#people = stored?.people ?? null;
    this.#results = stored?.results ?? [];
    this.#startedAt = stored?.startedAt ?? parts.now();
    this.#line = new Line(this.#people, stored?.done ?? []);
    const view = signal(this.#seen());
    this.#view = view;
    this.view = view;
  }

  /** Begins with the people of a roster; null begins without one. Keys that people have by the results count. */
  begin(people: readonly Person[] | null): void {
    this.#people = people;
    this.#line = new Line(people, people === null ? [] : countsOf(people, this.#bound()));
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

  /** Takes what has happened. */
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
    const key = this.#keys.get(action.keyId);
    if (!key || !person) return;
    if (action.type === 'fail')
      this.#end({ verdict: this.#parts.registry.pulledEarly(key, person), key, person, isCommit: false });
    else if (action.type === 'check') void this.#check(key, person, action);
    else void this.#commit(key, person, action.attempt);
  }

  async #check(key: Key, person: Person, action: CheckAction): Promise<void> {
    const line = this.#line;
    const { attempt } = action;
    this.#outcome = null;
    const check = this.#parts.registry.check(key, person, this.#countedFor(key));
    const verdict = await settled(action, check, this.#parts.isAttached);
    // The key was unplugged, or the person has changed.
    if (line !== this.#line || attempt !== line.attempt) return;
    if (verdict === null) return this.pulled(key.keyId, true);
    this.#end({ verdict, key, person, isCommit: false });
    this.take({ type: 'checked', attempt, passed: verdict.failure === null });
  }

  async #commit(key: Key, person: Person, attempt: number): Promise<void> {
    const line = this.#line;
    const verdict = await this.#parts.registry.bind(key, person, null);
    const { deviceId } = verdict.row;
    // The key is still plugged in if Enter has bound it: the list shows its registration.
    if (verdict.failure === null && deviceId && this.#keys.has(key.keyId))
      this.#keys.set(key.keyId, { ...key, device: { deviceId, status: 'ACTIVE' } });
    this.#end({ verdict, key, person, isCommit: true });
    if (line === this.#line) this.take({ type: 'committed', attempt, passed: verdict.failure === null });
    this.#keep();
    this.#show();
  }

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
    this.#results = [
      ...this.#results,
      { at, userId, name, keyId, deviceType, serialNumber, deviceId, failure, message },
    ];
    this.#keep();
  }

  #bound(): readonly StationResult[] {
    return this.#results.filter(({ failure }) => failure === null);
  }

  #countedFor({ serialNumber }: Key): CountedKey | null {
    const bound = this.#bound().findLast(result => serialNumber !== null && result.serialNumber === serialNumber);
    return bound ? { userId: bound.userId, where: 'registry' } : null;
  }

  #keep(): void {
    const { rows } = this.#line;
    // Without a roster no person is next after a reload.
    const done = this.#people === null ? [] : this.#people.map((_, row) => rows.doneOf(row));
    this.#parts.store.write({ people: this.#people, done, results: this.#results, startedAt: this.#startedAt });
  }

  #show(): void {
    this.#view.value = this.#seen();
  }

  #seen(): BenchView {
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
    };
  }
}
