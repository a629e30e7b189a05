/** Incidents on a provisioning line between two keys, in random order. */
import type { Box, BoxKey } from './box.ts';
import type { Operator, WatchedBench } from './roster-operator.ts';

export interface IncidentParts {
  readonly operator: Operator;
  readonly bench: WatchedBench;
  readonly box: Box;
  readonly random: () => number;
  readonly pick: <T>(list: readonly T[]) => T;
  /** The userIds of the roster, in its order. */
  readonly people: readonly string[];
  /** Keys that are registered and INACTIVE: they may be given to people. */
  readonly stock: readonly BoxKey[];
  /** Keys that may not be given to people. */
  readonly others: readonly BoxKey[];
}

const INCIDENTS = [
  'pulled out early',
  'pulled out at once',
  'undone',
  'two keys',
  'key of another person',
  'unreadable key',
  'mouse',
  'badge',
] as const;
type Incident = (typeof INCIDENTS)[number];

/** Part of the people who have an incident before their key, each time. */
const OFTEN = 0.4;

export class Incidents {
  /** How often each has happened. */
  readonly counts = new Map<Incident, number>();
  readonly #parts: IncidentParts;
  readonly #stock: BoxKey[];
  /** Keys that were in the reader and are not bound. */
  readonly #returned: BoxKey[] = [];
  readonly #open: Set<string>;
  /** Whom a badge has named. */
  #called: string | null = null;
  #mouse: number | null = null;

  constructor(parts: IncidentParts) {
    this.#parts = parts;
    this.#stock = [...parts.stock];
    this.#open = new Set(parts.people);
  }

  /** Who is next; null at the end. */
  get next(): string | null {
    return this.#called ?? [...this.#open][0] ?? null;
  }

  /** The person has a key. */
  done(userId: string): void {
    this.#open.delete(userId);
    this.#called = null;
  }

  /** The run was ended and continued: it does not know of a badge. */
  forgetBadge(): void {
    this.#called = null;
  }

  /** None or several incidents. Resolves to the person who is next then; null if that one has got a key. */
  async before(): Promise<string | null> {
    while (this.#parts.random() < OFTEN) {
      const incident = this.#parts.pick(INCIDENTS);
      this.counts.set(incident, (this.counts.get(incident) ?? 0) + 1);
      const person = this.next!;
      if (!(await this.#happens(incident, person))) continue;
      this.done(person);
      return null;
    }
    return this.next;
  }

  /** A key for the next person: from the box, from those that came back, or one that is registered and INACTIVE. */
  key(held: BoxKey | null = null): BoxKey {
    const { random, box } = this.#parts;
    const from = random() < 0.3 ? this.#returned : random() < 0.2 ? this.#stock : [];
    // Two keys of one model without a serial number in the descriptor could not be distinguished in /sys.
    const at = from.findIndex(({ spec }) => spec.model !== held?.spec.model);
    return at < 0 ? box.take(held === null ? [] : [held]) : from.splice(at, 1)[0]!;
  }

  /** Whether the person has got a key. */
  #happens(incident: Incident, person: string): Promise<boolean> {
    const all = {
      'pulled out early': () => this.#pulledEarly(person),
      'pulled out at once': () => this.#pulledAtOnce(person),
      undone: () => this.#undone(person),
      'two keys': () => this.#twoKeys(person),
      'key of another person': () => this.#keyOfAnother(),
      'unreadable key': () => this.#unreadable(),
      mouse: () => this.#notKey(),
      badge: () => this.#badge(),
    };
    return all[incident]();
  }

  /** As soon as it is reported: its check may have ended or not. */
  async #pulledEarly(person: string): Promise<boolean> {
    const { operator, bench } = this.#parts;
    const key = this.key();
    const from = operator.lines;
    const id = await bench.attach(key.spec, key.serial);
    await bench.unplug(id, key.serial);
    const isBound = await operator.isBound(key, person, from);
    if (!isBound) this.#returned.push(key);
    return isBound;
  }

  /**
   * It may not be seen, or reported without its serial number. What the driver still reports of it comes before the result of a
   * later key.
   */
  async #pulledAtOnce(person: string): Promise<boolean> {
    const { operator, bench, box, others } = this.#parts;
    const key = box.take([]);
    const from = operator.lines;
    await bench.unplugUnseen(await bench.plug(key.spec));
    // A key without a serial number could not be distinguished from this one on the screen.
    const later = others[0]!;
    const id = await operator.failNamed(later);
    await bench.unplug(id, later.serial);
    return operator.isBoundBy(key, person, from);
  }

  async #undone(person: string): Promise<boolean> {
    const { operator, bench } = this.#parts;
    const key = this.key();
    const id = await operator.pass(key, person);
    const from = operator.lines;
    operator.type('\x1b');
    await operator.shows('that it is undone', /! undone: nothing was written/, from);
    await bench.unplug(id, key.serial);
    this.#returned.push(key);
    return false;
  }

  /** One of them is removed, the other is bound. */
  async #twoKeys(person: string): Promise<boolean> {
    const { operator, bench, random } = this.#parts;
    const first = this.key();
    const firstId = random() < 0.5 ? await bench.plug(first.spec) : await operator.pass(first, person);
    const second = this.key(first);
    const atTwo = operator.lines;
    const secondId = await bench.plug(second.spec);
    await operator.shows('that two are too many', /! two new keys at once: nothing is bound/, atTwo);
    await this.#enterIsRefused();
    const pair = [
      { key: first, id: firstId },
      { key: second, id: secondId },
    ];
    const [kept, removed] = (random() < 0.5 ? pair : pair.reverse()) as [(typeof pair)[0], (typeof pair)[0]];
    const atOne = operator.lines;
    await bench.unplug(removed.id, removed.key.serial);
    const { id } = await operator.passed(kept.key, kept.id, person, atOne);
    await operator.bind(kept.key, id, person, random() < 0.5);
    this.#returned.push(removed.key);
    return true;
  }

  async #keyOfAnother(): Promise<boolean> {
    const { operator, bench, pick, others } = this.#parts;
    const key = pick([...others, ...operator.pairs.keys()]);
    const id = await operator.fail(key);
    await this.#enterIsRefused();
    await bench.unplug(id, key.serial);
    return false;
  }

  async #unreadable(): Promise<boolean> {
    const { operator, bench, pick } = this.#parts;
    const from = operator.lines;
    const id = await bench.plug({ model: 'plain', serial: pick([null, '00000000']) });
    await operator.shows('that it is unreadable', /✗ FAIL .*\(no readable serial\)/, from);
    await this.#enterIsRefused();
    await bench.unplug(id, null);
    return false;
  }

  /** It stays beside the keys until the next time. */
  async #notKey(): Promise<boolean> {
    const { bench } = this.#parts;
    if (this.#mouse === null) this.#mouse = await bench.plug({ model: 'mouse' });
    else {
      await bench.unplugUnseen(this.#mouse);
      this.#mouse = null;
    }
    return false;
  }

  async #badge(): Promise<boolean> {
    const { operator, pick } = this.#parts;
    this.#called = pick([...this.#open]);
    const from = operator.lines;
    operator.type(`${this.#called}\r`);
    await operator.shows('the badge', new RegExp(`! badge of Person ${this.#called} `), from);
    return false;
  }

  async #enterIsRefused(): Promise<void> {
    const { operator } = this.#parts;
    const from = operator.lines;
    operator.type('\r');
    await operator.shows('that Enter confirms nothing', /! nothing to confirm/, from);
  }
}
