/** Scans with any time between their characters, at a station at which every check passes. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Keyboard } from '../../src/enrollment/line/keyboard.ts';
import { Line } from '../../src/enrollment/line/line.ts';
import type { Person } from '../../src/enrollment/line/people.ts';

/** Many are a part of others. `s` and `r` are keys as well; a badge has other characters, too. */
const userId = fc
  .string({ unit: fc.constantFrom('s', 'r', '1', '2', '-'), minLength: 1, maxLength: 4 })
  .filter(id => /[12-]/.test(id));
const people = fc
  .uniqueArray(userId, { minLength: 2, maxLength: 6 })
  .map(ids => ids.map((id): Person => ({ userId: id, name: null, type: null, wanted: 9 })));
/** Milliseconds before each character, and before Enter. */
const gap = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 60 }) }, fc.integer({ min: 61, max: 3000 }));
const gaps = fc.array(gap, { minLength: 5, maxLength: 5 });
const scan = fc.record({ badge: fc.nat(5), gaps, lost: fc.constantFrom('', '', 'enter'), pulls: fc.boolean() });

/** A station at which every check passes. */
class Station {
  readonly line: Line;
  readonly #keyboard = new Keyboard();
  readonly bound: string[] = [];
  readonly said: string[] = [];
  #at = 0;
  #plugged = 0;

  constructor(all: readonly Person[]) {
    this.line = new Line(all, []);
  }

  take(event: Parameters<Line['take']>[0]): void {
    for (const action of this.line.take(event)) {
      if (action.type === 'say') this.said.push(action.what);
      if (action.type === 'check') this.take({ type: 'checked', attempt: action.attempt, passed: true });
      if (action.type === 'commit') {
        this.bound.push(this.line.rows.people[action.person]!.userId);
        this.take({ type: 'committed', attempt: action.attempt, passed: true });
      }
    }
  }

  type(character: string, gapMs: number): void {
    this.#at += gapMs;
    this.#pass(this.#keyboard.take(character, this.#at));
  }

  /** No character follows. */
  quiet(): void {
    this.#at += 5000;
    this.#pass(this.#keyboard.flush());
  }

  plug(): void {
    this.take({ type: 'plug', keyId: `k${++this.#plugged}` });
  }

  pull(): void {
    this.take({ type: 'pull', keyId: `k${this.#plugged}`, isTyping: this.#keyboard.waitMs !== null });
  }

  #pass(all: ReturnType<Keyboard['take']>): void {
    for (const typed of all) if (typed.type !== 'interrupt' && typed.type !== 'suspend') this.take(typed);
  }
}

/** A key that is in the reader goes to the person whose badge was scanned last, or to none, and no scan is lost silently. */
const cutScans = fc.property(people, fc.array(scan, { minLength: 1, maxLength: 5 }), (all, scans) => {
  const station = new Station(all);
  for (const { badge, gaps: times, lost, pulls } of scans) {
    const { userId: scanned } = all[badge % all.length]!;
    station.plug();
    const before = station.bound.length;
    const said = station.said.length;
    const characters = [...scanned, ...(lost === 'enter' ? [] : ['\r'])];
    for (const [index, character] of characters.entries()) {
      station.type(character, index === 0 ? 5000 : times[index]!);
      if (!pulls || index !== 1 || character === '\r') continue;
      station.pull();
      assert.equal(station.bound.length, before, 'a key was bound in the middle of a scan');
    }
    assert.equal(station.bound.length, before, 'a scan has bound the key that was in the reader before it was pulled');
    station.quiet();
    assert.ok(station.said.length > said, 'a scan was lost silently');
    station.pull();
    for (const person of station.bound.slice(before)) assert.equal(person, scanned);
  }
});

/** A scan with at most 60 ms between its characters calls its person. */
const usualScans = fc.property(
  people,
  fc.nat(5),
  fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 5, maxLength: 5 }),
  (all, badge, times) => {
    const station = new Station(all);
    const { userId: scanned } = all[badge % all.length]!;
    for (const [index, character] of [...scanned, '\r'].entries()) station.type(character, times[index]!);
    assert.deepEqual(station.said, ['badge']);
    assert.equal(station.line.rows.people[station.line.person!]!.userId, scanned);
  },
);

/** Returns the faults after `count` stations of each kind, as texts. */
export function tryScans({ seed, count }: { seed: number; count: number }): string[] {
  const parameters = { seed, numRuns: count };
  return [fc.check(cutScans, parameters), fc.check(usualScans, parameters)].flatMap(({ failed, ...details }) =>
    failed
      ? [
          `scans, seed ${seed}: after ${details.numRuns} runs, ${JSON.stringify(details.counterexample)}: ${details.errorInstance}`,
        ]
      : [],
  );
}
