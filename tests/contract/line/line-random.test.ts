/** A roster run in random order, against a rule that does not use the state of the machine. */
import { expect, test } from 'vitest';
import type { LineAction, LineEvent } from '../../../src/enrollment/line/events.ts';
import { Line } from '../../../src/enrollment/line/line.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';

const three: readonly Person[] = [
  { userId: 'alice', name: 'Alice Meier', type: null, wanted: 1 },
  { userId: 'bob', name: null, type: null, wanted: 2 },
  { userId: 'carol', name: null, type: null, wanted: 1 },
];

/** Numbers from 0 to `below`, the same for a seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Work = Exclude<LineAction, { readonly type: 'say' | 'allow' }>;

/** A reader, an operator who does anything in any order, and the rule, which does not use the state of the machine. */
class RandomRun {
  readonly line = new Line(three, []);
  /** Keys in the reader that are not bound. */
  readonly #inside = new Set<string>();
  /** Each commit, and why it breaks the rule; null if it does not. */
  readonly commits: { readonly keyId: string; readonly fault: string | null }[] = [];
  readonly #random: (below: number) => number;
  readonly #boundInside = new Set<string>();
  /** The key that has passed, for whom, and since when nothing else has happened to it. */
  #passed: { readonly keyId: string; readonly person: number } | null = null;
  #check: Work | null = null;
  #commit: Work | null = null;
  #plugged = 0;

  constructor(seed: number) {
    this.#random = numbers(seed);
  }

  step(): void {
    const steps = [this.#plug, this.#pull, this.#pull, this.#finish, this.#finish, this.#badge, this.#type];
    steps[this.#random(steps.length)]!.call(this);
  }

  #take(event: LineEvent): void {
    for (const action of this.line.take(event)) {
      if (action.type === 'commit') this.commits.push({ keyId: action.keyId, fault: this.#faultOf(action, event) });
      // Every remark on something that has happened makes a check invalid.
      if (action.type !== 'say' || !action.what.startsWith('nothing')) this.#passed = null;
      if (action.type === 'commit') this.#commit = action;
      if (action.type === 'check') this.#check = action;
    }
  }

  #faultOf({ keyId, person }: Work, event: LineEvent): string | null {
    const isCaused = event.type === 'enter' || (event.type === 'pull' && event.keyId === keyId);
    if (!isCaused) return `${event.type} binds nothing`;
    if ([...this.#inside].join() !== keyId) return 'the key was not alone';
    if (this.commits.some(commit => commit.keyId === keyId && this.#boundInside.has(keyId))) return 'bound twice';
    const hasPassed = this.#passed?.keyId === keyId && this.#passed.person === person;
    return hasPassed ? null : 'the key had not passed for this person';
  }

  #plug(): void {
    if (this.#inside.size > 2) return;
    this.#plugged++;
    const keyId = `k${this.#plugged}`;
    this.#inside.add(keyId);
    this.#passed = null;
    this.#take({ type: 'plug', keyId });
  }

  #pull(): void {
    const all = [...this.#inside, ...this.#boundInside];
    const keyId = all[this.#random(all.length)];
    if (keyId === undefined) return;
    this.#take({ type: 'pull', keyId });
    this.#inside.delete(keyId);
    this.#boundInside.delete(keyId);
  }

  /** Whether the next key is checked, after a badge if no person is next, and bound by Enter. */
  isAlive(): boolean {
    while (this.#commit !== null || this.#check !== null) this.#finish();
    while (this.#inside.size + this.#boundInside.size > 0) this.#pull();
    while (this.#commit !== null) this.#finish();
    const open = three.find((_, row) => !this.line.rows.isDone(row));
    if (open === undefined) return this.line.isOver;
    if (this.line.person === null) this.line.take({ type: 'badge', text: open.userId });
    const [check] = this.line.take({ type: 'plug', keyId: 'last' });
    this.line.take({ type: 'checked', attempt: this.line.attempt, passed: true });
    const [commit] = this.line.take({ type: 'enter' });
    return check?.type === 'check' && commit?.type === 'commit' && commit.person === check.person;
  }

  /** Ends the commit or the check under way. */
  #finish(): void {
    const passed = this.#random(4) > 0;
    const [commit, check] = [this.#commit, this.#check];
    if (commit !== null) {
      this.#commit = null;
      if (passed && this.#inside.delete(commit.keyId)) this.#boundInside.add(commit.keyId);
      this.#take({ type: 'committed', attempt: commit.attempt, passed });
    } else if (check !== null) {
      this.#check = null;
      const { keyId, person, attempt } = check;
      if (passed && this.#inside.has(keyId) && attempt === this.line.attempt) this.#passed = { keyId, person };
      this.#take({ type: 'checked', attempt, passed, hasAnother: !passed && this.#random(2) > 0 });
    }
  }

  #badge(): void {
    if (this.#commit === null) this.#passed = null;
    this.#take({ type: 'badge', text: ['alice', 'bob', 'carol', 'mallory'][this.#random(4)]! });
  }

  #type(): void {
    const types = ['enter', 'enter', 'undo', 'skip', 'redo', 'lost'] as const;
    this.#take({ type: types[this.#random(types.length)]! });
  }
}

test('in 3,000 random sequences a person is bound to the key that was alone when it was unplugged or confirmed, or to none, and the next key is checked', () => {
  const commits = { all: 0, faults: [] as string[] };
  const stalled: number[] = [];
  for (let seed = 1; seed <= 3000; seed++) {
    const run = new RandomRun(seed);
    for (let step = 0; step < 80 && !run.line.isOver; step++) run.step();
    if (!run.isAlive()) stalled.push(seed);
    commits.all += run.commits.length;
    for (const { keyId, fault } of run.commits) if (fault !== null) commits.faults.push(`${seed} ${keyId}: ${fault}`);
  }
  expect(commits.faults).toEqual([]);
  expect(stalled).toEqual([]);
  expect(commits.all).toBeGreaterThan(1000);
});
