/**
 * An operator who does anything at any time at `enroll --roster`, without a look at the screen: and what may follow from it, by
 * the times at which keys were pulled out and badges were scanned, without the state machine of the line.
 */
import { poll, sleep } from '../../src/delivery/wait.ts';
import { mulberry } from '../support/mulberry.ts';
import type { RosterReader } from './roster-station.ts';
import { ESC, type Screen, withoutColors } from './screen.ts';

/** Milliseconds in which the program may still act on what was true before: it is another process, on a machine that may be busy. */
const lagMs = 5_000;

/** A key of the results, and for whom. */
export interface Pair {
  readonly serialNumber: string;
  readonly userId: string;
}

export class RandomOperator {
  readonly #reader: RosterReader;
  readonly #screen: Screen;
  readonly #people: readonly string[];
  readonly #random: () => number;
  readonly #inside: { readonly keyId: string; readonly serial: string }[] = [];
  /** When each badge was begun, in the order of time. */
  readonly #badges: { readonly at: number; readonly userId: string }[] = [];
  /** When a key can have been bound: it was pulled out, or Enter was pressed while it was inside. */
  readonly #moments = new Map<string, number[]>();
  #text = '';

  constructor(reader: RosterReader, screen: Screen, people: readonly string[], seed: number) {
    this.#reader = reader;
    this.#screen = screen;
    this.#people = people;
    this.#random = mulberry(seed);
    screen.child.stdout!.on('data', (chunk: string) => {
      this.#text += chunk;
    });
  }

  /** Does something, and waits for a random time. */
  async act(): Promise<void> {
    const acts = [
      this.#hand,
      this.#hand,
      this.#hurry,
      this.#hurry,
      this.#plug,
      this.#pull,
      this.#pull,
      this.#badge,
      this.#press,
      this.#undo,
    ];
    await acts[Math.floor(this.#random() * acts.length)]!.call(this);
    await this.#wait(this.#random() < 0.2 ? 1800 : 250);
  }

  /** Why pairs of the results are wrong. */
  faults(pairs: readonly Pair[]): string[] {
    return pairs.flatMap(({ serialNumber, userId }, row) => {
      const done = new Set(pairs.slice(0, row).map(pair => pair.userId));
      const moments = this.#moments.get(serialNumber) ?? [];
      if (moments.some(at => this.#mayBe(at, done).has(userId))) return [];
      const near = this.#badges.map(badge => `${badge.userId} ${Math.round(badge.at)}`).join(', ');
      return [`${serialNumber} for ${userId}: pulled out or confirmed at ${moments.map(Math.round)}; badges: ${near}`];
    });
  }

  /** Who the person at a time can have been: of a badge from before it, or else the next of the roster. */
  #mayBe(at: number, done: ReadonlySet<string>): ReadonlySet<string> {
    const before = this.#badges.filter(badge => badge.at <= at);
    const late = before.filter(badge => badge.at > at - lagMs);
    const called = before.findLast(badge => badge.at <= at - lagMs)?.userId;
    const next = this.#people.find(person => !done.has(person));
    const standing = called !== undefined && !done.has(called) ? called : next;
    return new Set([
      ...late.map(badge => badge.userId),
      ...(late.length > 0 && next ? [next] : []),
      ...(standing ? [standing] : []),
    ]);
  }

  /** A badge, a key, and the binding that is expected. */
  async #hand(): Promise<void> {
    await this.#badge();
    await this.#wait(300);
    await this.#plug();
    await this.#passes();
    await (this.#random() < 0.5 ? this.#pull() : this.#press());
  }

  /** The key before is taken out together with the next one, and the badge of somebody else follows at once. */
  async #hurry(): Promise<void> {
    await this.#hand();
    await this.#plug();
    await this.#passes();
    while (this.#inside.length > 0) await this.#pull();
    await this.#wait(100);
    await this.#badge();
    await this.#wait(3500);
  }

  async #plug(): Promise<void> {
    if (this.#inside.length > 1) return this.#pull();
    const { keyId, serialNumber } = await this.#reader.plug();
    this.#inside.push({ keyId, serial: serialNumber! });
  }

  async #pull(): Promise<void> {
    const [key] = this.#inside.splice(Math.floor(this.#random() * this.#inside.length), 1);
    if (!key) return;
    this.#happens(key.serial);
    await this.#reader.pull(key.keyId);
  }

  async #press(): Promise<void> {
    for (const { serial } of this.#inside) this.#happens(serial);
    this.#screen.type('\r');
  }

  async #undo(): Promise<void> {
    this.#screen.type(ESC);
  }

  /** One in four comes with a pause, of which the program may make two scans. */
  async #badge(): Promise<void> {
    const userId = this.#people[Math.floor(this.#random() * this.#people.length)]!;
    this.#badges.push({ at: performance.now(), userId });
    const cut = this.#random() < 0.25 ? 1 + Math.floor(this.#random() * (userId.length - 1)) : userId.length;
    this.#screen.type(userId.slice(0, cut));
    if (cut < userId.length) await this.#wait(400);
    for (const { serial } of this.#inside) this.#happens(serial);
    this.#screen.type(`${userId.slice(cut)}\r`);
  }

  /** A second at most: the operator does not wait for a key that does not pass. */
  async #passes(): Promise<void> {
    const serial = this.#inside.at(-1)?.serial ?? '';
    const isShown = () => new RegExp(`PASS.*${serial}`).test(withoutColors(this.#text)) || null;
    await poll(isShown, { everyMs: 20, forMs: 1500 });
  }

  #happens(serial: string): void {
    this.#moments.set(serial, [...(this.#moments.get(serial) ?? []), performance.now()]);
  }

  #wait(most: number): Promise<void> {
    return sleep(this.#random() * most);
  }
}
