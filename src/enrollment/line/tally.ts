/** The figures of a run of a provisioning line. */
export interface TallyFigures {
  readonly passed: number;
  readonly failed: number;
  /** How many keys failed for each reason, in the order in which the reasons came up. */
  readonly reasons: ReadonlyMap<string, number>;
  /** Keys that passed, in percent of all, rounded down; null before the first key. */
  readonly yield: number | null;
  /** Keys that passed per hour, a whole number; null before the first one. */
  readonly perHour: number | null;
}

/** Counts of keys that passed, and of keys that failed, by reason. Each key counts once: as passed if it has, else with its last result. */
export class Tally {
  readonly #startedAt: number;
  /** By key: why it failed; null if it was bound. */
  readonly #results = new Map<string, string | null>();

  /** `startedAt` in milliseconds, of the clock that `figures` gets. */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** `key` is the serial number, or the keyId of a key that has none. */
  take(key: string, failure: string | null): void {
    // A bound key that is inserted again fails its check, but still counts as passed.
    if (this.#results.get(key) === null) return;
    this.#results.delete(key);
    this.#results.set(key, failure);
  }

  /** Counts a key that had passed as failed. */
  revoke(key: string, failure: string): void {
    this.#results.delete(key);
    this.take(key, failure);
  }

  /** The figures at the time `now`. */
  figures(now: number): TallyFigures {
    const reasons = new Map<string, number>();
    for (const failure of this.#results.values())
      if (failure !== null) reasons.set(failure, (reasons.get(failure) ?? 0) + 1);
    const all = this.#results.size;
    const failed = [...reasons.values()].reduce((sum, number) => sum + number, 0);
    const passed = all - failed;
    const hours = (now - this.#startedAt) / 3_600_000;
    return {
      passed,
      failed,
      reasons,
      yield: all === 0 ? null : Math.floor((100 * passed) / all),
      perHour: passed > 0 && hours > 0 ? Math.round(passed / hours) : null,
    };
  }
}
