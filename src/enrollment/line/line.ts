/**
 * The provisioning line as a state machine: what happens at the reader and at the keyboard goes in, what to do comes out. A person
 * is bound to exactly the key that was alone in the reader when it was unplugged or confirmed with Enter, or to none.
 */
import type { BindsWhen, Command, LineAction, LineEvent, Phase, Remark } from './events.ts';
import type { Person } from './people.ts';
import { ReaderKeys } from './reader-keys.ts';
import { RosterRows } from './rows.ts';

type Scan = Extract<LineEvent, { readonly type: 'badge' }> | { readonly type: 'cut' };

interface Last {
  readonly person: number;
  readonly was: 'bound' | 'skipped';
}

/** Who is next, and what is in the reader. */
export class Line {
  readonly rows: RosterRows;
  readonly #keys = new ReaderKeys();
  readonly #bindsWhen: BindsWhen;
  #phase: Phase = { type: 'empty' };
  #person: number | null;
  #isHeld = false;
  #last: Last | null = null;
  /** The person who has another key: the operator decides whether there is one more. */
  #offered: number | null = null;
  #attempt = 0;
  /** A scan during a commit. */
  #scanned: Scan | null = null;
  #actions: LineAction[] = [];

  /** `people` is null without a roster: then each person is called by a badge. `done` has the keys that each row has already. */
  constructor(people: readonly Person[] | null, done: readonly number[], bindsWhen: BindsWhen = 'unplugged') {
    this.#bindsWhen = bindsWhen;
    this.rows = new RosterRows(people, done);
    this.#person = this.rows.nextOpen();
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** The row whose key is next; null after an invalid badge, and at the end. */
  get person(): number | null {
    return this.#isHeld ? null : this.#person;
  }

  /** After an invalid badge nothing is bound until the next badge or Esc. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Whether each row is done or skipped. Without a roster never. */
  get isOver(): boolean {
    return !this.rows.isOpen && this.#person === null && this.#phase.type !== 'committing';
  }

  /** Number of the check or commit that the line waits for. */
  get attempt(): number {
    return this.#attempt;
  }

  /** Takes an event; the actions are in the order in which they are to be done. */
  take(event: LineEvent): readonly LineAction[] {
    this.#actions = [];
    switch (event.type) {
      case 'plug':
        this.#plug(event.keyId);
        break;
      case 'present':
        this.#present(event.keyId);
        break;
      case 'pull':
        this.#pull(event.keyId, event.isTyping ?? false);
        break;
      case 'checked':
        this.#checked(event.attempt, event.passed, event.hasAnother ?? false);
        break;
      case 'committed':
        this.#committed(event.attempt, event.passed);
        break;
      case 'lost':
        this.#lost();
        break;
      case 'badge':
        this.#scan(event);
        break;
      case 'cut':
        this.#scan({ type: 'cut' });
        break;
      case 'early':
        this.#say('nothing confirmed yet');
        break;
      case 'enter':
        this.#confirm(event.before ?? '');
        break;
      default:
        if (this.#phase.type !== 'committing') this.#command(event.type);
    }
    return this.#actions;
  }

  #plug(keyId: string): void {
    if (this.#keys.isBound(keyId)) return;
    this.#keys.add(keyId);
    this.#settle(true);
  }

  /** It is not known for whom the key was plugged in: only a badge relates it to a person. */
  #present(keyId: string): void {
    if (!this.#keys.add(keyId)) return;
    this.#keys.putAside(keyId);
    this.#settle();
  }

  #pull(keyId: string, isTyping: boolean): void {
    if (!this.#keys.remove(keyId)) return;
    const phase = this.#phase;
    if (phase.type === 'committing') return;
    const isBinding = phase.type === 'ready' && this.#bindsWhen === 'unplugged';
    if (isBinding && !isTyping) this.#commit(keyId);
    else {
      // The scan that has begun may name another person.
      if (isBinding) this.#say('unplugged during a scan');
      else if (phase.type === 'checking' || phase.type === 'ready') this.#act('fail', keyId, this.person!);
      this.#settle();
    }
  }

  /** Follows what is in the reader. A key alone is checked for the person who is next. `isNew`: it was plugged in for that person. */
  #settle(isNew = false): void {
    if (this.#phase.type === 'committing') return;
    this.#attempt++;
    const [keyId, second] = this.#keys.unbound;
    if (keyId === undefined) this.#phase = { type: 'empty' };
    else if (second !== undefined) {
      if (this.#phase.type !== 'crowded') this.#say('two keys');
      this.#phase = { type: 'crowded' };
    } else if (this.#keys.isAside(keyId) || this.person === null) this.#phase = { type: 'aside', keyId };
    else {
      this.#phase = { type: 'checking', keyId };
      this.#actions.push({ type: 'check', attempt: this.#attempt, keyId, person: this.person, isNew });
    }
  }

  #checked(attempt: number, passed: boolean, hasAnother: boolean): void {
    if (attempt !== this.#attempt || this.#phase.type !== 'checking') return;
    this.#offered = hasAnother ? this.person : null;
    const { keyId } = this.#phase;
    this.#phase = { type: passed ? 'ready' : 'failed', keyId };
    if (passed && this.#bindsWhen === 'passed') this.#commit(keyId);
  }

  #commit(keyId: string): void {
    const person = this.person!;
    this.#attempt++;
    this.#last = null;
    this.#phase = { type: 'committing', keyId, person };
    this.#act('commit', keyId, person);
  }

  #committed(attempt: number, passed: boolean): void {
    if (attempt !== this.#attempt || this.#phase.type !== 'committing') return;
    const { keyId, person } = this.#phase;
    this.#phase = { type: 'empty' };
    if (passed) this.#bind(keyId, person);
    else this.#keys.putAside(keyId);
    const scanned = this.#scanned;
    this.#scanned = null;
    if (scanned === null) this.#settle(true);
    else this.#scan(scanned);
  }

  #bind(keyId: string, person: number): void {
    this.rows.bind(person);
    this.#last = { person, was: 'bound' };
    this.#keys.bind(keyId);
    if (this.rows.isDone(person)) this.#person = this.rows.nextOpen();
  }

  #lost(): void {
    if (this.#keys.unbound.length === 0) return;
    this.#keys.putAllAside();
    this.#say('lost');
    this.#settle();
  }

  #command(command: Exclude<Command, 'enter'>): void {
    if (command === 'undo') this.#undo();
    else if (command === 'skip') this.#skip();
    else this.#redo();
  }

  /** `before`: keys that came right before it; they and Enter may be a badge that was cut. */
  #confirm(before: string): void {
    if (this.#phase.type === 'committing') return;
    if (this.rows.mayEnd(before, '')) this.#scan({ type: 'cut' });
    else if (this.#phase.type === 'ready') this.#commit(this.#phase.keyId);
    else this.#say('nothing to confirm');
  }

  /** Another key for the person who is next. After an invalid badge: the next person of the roster. */
  #undo(): void {
    const isBusy = this.#phase.type === 'checking' || this.#phase.type === 'ready';
    if (isBusy || this.#isHeld) {
      this.#isHeld = false;
      this.#keys.putAllAside();
      this.#say('undone');
      this.#settle();
    } else this.#say('nothing to undo');
  }

  #skip(): void {
    const { person } = this;
    if (person === null) return;
    this.rows.skip(person);
    this.#say('skipped');
    this.#last = { person, was: 'skipped' };
    this.#person = this.rows.nextOpen();
    this.#keys.putAllAside();
    this.#settle();
  }

  /** Another key for a person who has one; else back to the last person. A binding stays: the person gets one more key. */
  #redo(): void {
    if (this.#offered !== null && this.#offered === this.person) {
      this.#allow(this.#offered);
      return;
    }
    const last = this.#last;
    if (last === null) {
      this.#say('nothing to redo');
      return;
    }
    this.#last = null;
    if (last.was === 'bound') this.rows.reopen(last.person);
    this.#call(last.person);
    this.#keys.putAllAside();
    this.#say(last.was === 'bound' ? 'redo of a binding' : 'redo');
    this.#settle();
  }

  /** The key that is in the reader is checked again. */
  #allow(person: number): void {
    this.#offered = null;
    this.#actions.push({ type: 'allow', person });
    this.#say('another key');
    this.#settle();
  }

  #call(person: number): void {
    this.rows.unskip(person);
    this.#person = person;
    this.#isHeld = false;
  }

  /** The badge names the person; a key that is in the reader is checked again, for that person. */
  #scan(scan: Scan): void {
    if (this.#phase.type === 'committing') {
      this.#scanned = scan;
      return;
    }
    if (scan.type === 'cut') this.#hold('badge incomplete', '');
    else this.#badge(scan.text, scan.before ?? '');
    this.#settle();
  }

  #badge(text: string, before: string): void {
    const isPart = this.rows.mayEnd(before, text);
    const rows = isPart ? [] : this.rows.of(text);
    const open = rows.find(row => !this.rows.isDone(row));
    const people = new Set(rows.map(row => this.rows.people[row]!.userId));
    if (people.size === 1 && open !== undefined) {
      this.#call(open);
      this.#keys.recall();
      this.#say('badge', text);
    } else if (isPart) this.#hold('badge incomplete', text);
    else if (people.size === 1) this.#hold('badge of a person who is done', text);
    else this.#hold(people.size === 0 ? 'badge unknown' : 'badge of several', text);
  }

  /** The operator has another person in mind than the line. */
  #hold(what: Remark, text: string): void {
    this.#isHeld = true;
    this.#keys.putAllAside();
    this.#say(what, text);
  }

  #act(type: 'commit' | 'fail', keyId: string, person: number): void {
    this.#actions.push({ type, attempt: this.#attempt, keyId, person });
  }

  #say(what: Remark, text = ''): void {
    this.#actions.push({ type: 'say', what, person: this.person, text });
  }
}
