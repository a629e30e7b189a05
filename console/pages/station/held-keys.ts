/** Which keys people have or are about to get: by the results of the run, and by bindings that have not ended. */
import type { Key } from '../../../src/contract/hardware.ts';
import { isSameName } from '../../../src/contract/person-key.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';
import type { AnotherKey, PersonVerdict } from '../../../src/enrollment/line/person-enrollment.ts';
import type { CountedKey } from '../../../src/enrollment/registry.ts';
import type { StationResult } from './results.ts';

/** Keys whose binding was begun and has not ended, in all tabs of this browser: a tab can be closed in between. */
export interface BegunKeys {
  /** The userId of the person of each key, by serial number. */
  read(): Readonly<Record<string, string>>;
  write(keys: Readonly<Record<string, string>>): void;
}

/** The results of keys that are bound. */
export const boundIn = (results: readonly StationResult[]): readonly StationResult[] =>
  results.filter(({ failure }) => failure === null);

/** The keys that people have. */
export class HeldKeys {
  readonly #begun: BegunKeys;
  readonly #results: () => readonly StationResult[];
  /** People who get another key although they have one. */
  readonly #allowed = new Set<string>();

  constructor(begun: BegunKeys, results: () => readonly StationResult[]) {
    this.#begun = begun;
    this.#results = results;
  }

  /** The person gets another key. */
  allow({ userId }: Person): void {
    this.#allowed.add(userId);
  }

  /** On the disk before the registry has it. */
  begin({ serialNumber }: Key, { userId }: Person): void {
    if (serialNumber !== null) this.#begun.write({ ...this.#begun.read(), [serialNumber]: userId });
  }

  /** A key that the registry has not answered for, or that is not issued, stays. With another key for its person it was decided. */
  end({ serialNumber }: Key, { userId }: Person, { failure }: PersonVerdict): void {
    if (failure === 'no answer' || failure === 'not issued') return;
    const isOver = (serial: string, of: string) => serial === serialNumber || (failure === null && of === userId);
    const begun = Object.entries(this.#begun.read()).filter(([serial, of]) => !isOver(serial, of));
    this.#begun.write(Object.fromEntries(begun));
    if (failure === null) this.#allowed.delete(userId);
  }

  /** The keys that count before the person gets a further one. */
  anotherKey({ userId }: Person, { serialNumber }: Key): AnotherKey {
    const begun = Object.entries(this.#begun.read()).filter(
      ([serial, of]) => isSameName(of, userId) && serial !== serialNumber,
    );
    const bound = boundIn(this.#results()).filter(result => isSameName(result.userId, userId));
    const counted = new Set(bound.map(result => result.serialNumber));
    return {
      isAllowed: this.#allowed.has(userId),
      isCounted: serial => counted.has(serial),
      unfinished: begun.length === 0 ? null : begun.map(([serial]) => serial).join(', '),
    };
  }

  /** For whom the key counts already. */
  countedFor({ serialNumber }: Key): CountedKey | null {
    const bound = boundIn(this.#results()).findLast(
      result => serialNumber !== null && result.serialNumber === serialNumber,
    );
    return bound ? { userId: bound.userId, where: 'registry' } : null;
  }
}
