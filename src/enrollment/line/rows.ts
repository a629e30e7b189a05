/** The state of each row of a roster. A row is named by its number, counted from 0. */
import { isSameName, personKey } from '../../contract/person-key.ts';
import type { DeviceType } from '../../contract/values.ts';
import { type Person, readUserId } from './people.ts';

/** The rows of a roster, or without one (`isOpen`) those of the people that were called. */
export class RosterRows {
  /** Whether any valid userId is a person. Then no person is next: each has to be called. */
  readonly isOpen: boolean;
  readonly #people: Person[];
  /** Keys bound, by row. */
  readonly #done: number[];
  readonly #skipped = new Set<number>();
  #finished: number;

  /** `people` is null without a roster. `done` has the keys that each row has already. */
  constructor(people: readonly Person[] | null, done: readonly number[]) {
    this.isOpen = people === null;
    this.#people = [...(people ?? [])];
    this.#done = this.#people.map((_, row) => done[row] ?? 0);
    this.#finished = this.#people.filter((_, row) => this.isDone(row)).length;
  }

  get people(): readonly Person[] {
    return this.#people;
  }

  /** Rows that have all their keys. */
  get finished(): number {
    return this.#finished;
  }

  /** Rows that were skipped and have not been called again. */
  get skipped(): number {
    return this.#skipped.size;
  }

  /** Keys that the row has. */
  doneOf(row: number): number {
    return this.#done[row]!;
  }

  isDone(row: number): boolean {
    return this.#done[row]! >= this.people[row]!.wanted;
  }

  /** The first row that needs a key and is not skipped; null at the end. */
  nextOpen(): number | null {
    if (this.isOpen) return null;
    const row = this.people.findIndex((_, at) => !this.isDone(at) && !this.#skipped.has(at));
    return row < 0 ? null : row;
  }

  /** All rows that need a key and are not skipped. */
  open(): readonly number[] {
    return this.people.flatMap((_, at) => (this.isDone(at) || this.#skipped.has(at) ? [] : [at]));
  }

  bind(row: number): void {
    this.#done[row]!++;
    if (this.isDone(row)) this.#finished++;
  }

  /** One more key for the row. */
  reopen(row: number): void {
    if (this.isDone(row)) this.#finished--;
    this.#done[row]!--;
  }

  /** One more key for a person whose key of this type is not bound after all. Nothing happens if the roster does not have the person. */
  reopenFor(userId: string | null, deviceType: DeviceType): void {
    const row = this.people.findIndex(
      (person, at) =>
        isSameName(person.userId, userId) &&
        (person.type === null || person.type === deviceType) &&
        this.#done[at]! > 0,
    );
    if (row >= 0) this.reopen(row);
  }

  skip(row: number): void {
    this.#skipped.add(row);
  }

  unskip(row: number): void {
    this.#skipped.delete(row);
  }

  /** The rows of a badge: those of the user; if there are none, those of people with this name or userId in upper or lower case. */
  of(badge: string): readonly number[] {
    if (this.isOpen) return this.#called(badge);
    const exact = this.#matching(({ userId }) => userId === badge);
    if (exact.length > 0) return exact;
    return this.#matching(({ userId, name }) => isSameName(userId, badge) || isSameName(name, badge));
  }

  /** Whether `text` can be the end of a longer badge that begins in `before`. */
  mayEnd(before: string, text: string): boolean {
    if (before === '' || this.isOpen) return before !== '';
    const all = (before + text).toLowerCase();
    const isIt = (badge: string | null) =>
      badge !== null && badge.length > text.length && all.endsWith(badge.toLowerCase());
    return this.people.some(({ userId, name }) => isIt(userId) || isIt(name));
  }

  /** Without a roster a person gets one key at each call. */
  #called(badge: string): readonly number[] {
    const userId = readUserId(badge);
    if (userId === null) return [];
    const row = this.#people.findIndex((person, at) => isSameName(person.userId, userId) && !this.isDone(at));
    if (row >= 0) return [row];
    this.#done.push(0);
    return [this.#people.push({ userId, name: null, type: null, wanted: 1 }) - 1];
  }

  #matching(matches: (person: Person) => boolean): readonly number[] {
    return this.people.flatMap((person, row) => (matches(person) ? [row] : []));
  }
}

/** How many keys each row has, by the keys that were bound before. */
export function countsOf(
  people: readonly Person[],
  bound: readonly { readonly userId: string; readonly deviceType: unknown }[],
): readonly number[] {
  const counts = people.map(() => 0);
  const rows = Map.groupBy(people.keys(), row => personKey(people[row]!.userId));
  for (const { userId, deviceType } of bound) {
    const row = rows.get(personKey(userId))?.find(at => {
      const { type, wanted } = people[at]!;
      return counts[at]! < wanted && (type === null || type === deviceType);
    });
    if (row !== undefined) counts[row]!++;
  }
  return counts;
}
