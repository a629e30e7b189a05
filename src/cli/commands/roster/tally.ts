/** The counts of a roster run. */
import { counted } from '../../count.ts';

/** What is counted: keys that passed, and keys that failed, by reason. Each key counts once, with its last result. */
export class Tally {
  readonly #startedAt: number;
  /** By key: why it failed; null if it was bound. */
  readonly #results = new Map<string, string | null>();

  /** `startedAt` in milliseconds, of the clock that `words` gets. */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** `key` is the serial number, or the keyId of a key that has none. */
  take(key: string, failure: string | null): void {
    this.#results.delete(key);
    this.#results.set(key, failure);
  }

  get passed(): number {
    return [...this.#results.values()].filter(failure => failure === null).length;
  }

  get failed(): number {
    return this.#results.size - this.passed;
  }

  /** Passed, failed by reason, yield in percent and keys per hour of this run. */
  words(now: number): string {
    const { passed, failed } = this;
    if (passed + failed === 0) return '';
    const hours = (now - this.#startedAt) / 3_600_000;
    const rate = passed > 0 && hours > 0 ? [`${counted(Math.round(passed / hours), 'key')} per hour`] : [];
    const part = Math.floor((100 * passed) / (passed + failed));
    return [`${passed} passed`, `${failed} failed${this.#reasons()}`, `yield ${part} %`, ...rate].join(', ');
  }

  #reasons(): string {
    const counts = new Map<string, number>();
    for (const failure of this.#results.values())
      if (failure !== null) counts.set(failure, (counts.get(failure) ?? 0) + 1);
    const parts = [...counts].map(([failure, number]) => `${failure}: ${number}`);
    return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  }
}
