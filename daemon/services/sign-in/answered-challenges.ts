/** The answered challenges of security keys. A challenge takes one answer, right or wrong, from any key and at any daemon. */
import { passkeyBounds } from '../../../src/contract/limits.ts';
import type { SharedCounters } from '../../store/counters.ts';

/** Twice the time that a challenge is valid: the clocks of daemons differ. */
const KEPT_MS = 2 * passkeyBounds.challengeSeconds * 1000;
/** Challenges in memory: about 10 MB. Beyond that the oldest are forgotten; the row of a key still refuses what it has answered. */
const MOST_CHALLENGES = 50_000;

/** How `AnsweredChallenges` remembers. */
interface AnsweredOptions {
  /** Present if nodes share the registry: then neither `now` nor `most` is used. `Guessing` removes what has ended. */
  readonly counters?: SharedCounters | undefined;
  /** Milliseconds on a clock that never goes back. */
  readonly now?: () => number;
  /** Challenges in memory. */
  readonly most?: number;
}

/** See the top of the file. */
export class AnsweredChallenges {
  readonly #counters: SharedCounters | undefined;
  readonly #now: () => number;
  readonly #most: number;
  /** When each ends, in the order in which they end. */
  readonly #ends = new Map<string, number>();

  constructor({ counters, now = () => performance.now(), most = MOST_CHALLENGES }: AnsweredOptions = {}) {
    this.#counters = counters;
    this.#now = now;
    this.#most = most;
  }

  /** Whether this is the first answer to the challenge. Of several calls one gets true. Rejects with `StoreFailure`. */
  async isFirst(id: string): Promise<boolean> {
    if (!this.#counters) return this.#isFirstHere(id);
    const once = { want: 1, need: 1, most: 1, share: 1, milliseconds: KEPT_MS };
    const { granted } = await this.#counters.take({ scope: 'answered challenge', key: id, ...once });
    return granted > 0;
  }

  #isFirstHere(id: string): boolean {
    const now = this.#now();
    if (this.#ends.has(id)) return false;
    for (const [oldest, endsAt] of this.#ends) {
      if (endsAt > now && this.#ends.size < this.#most) break;
      this.#ends.delete(oldest);
    }
    this.#ends.set(id, now + KEPT_MS);
    return true;
  }
}
