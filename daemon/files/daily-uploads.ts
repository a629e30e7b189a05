/** The bytes that each user has stored in files within 24 hours after the first upload. */

import { dayMs } from '../../src/contract/durations.ts';
import type { DailyBounds } from '../home/bounds.ts';
import { type Allowance, allowanceOf, RateLimited } from '../requests/limiter.ts';
import type { Counters } from '../store/short-lived.ts';

/** Reservation of an upload in the bytes of a day. */
export interface Reservation {
  /** Bytes that the file may have. */
  readonly bytes: number;
  /** The refusal of a file that has more. */
  usedUp(): RateLimited;
  /** Ends the upload. `kept`: bytes of the stored file, null if nothing was stored. What was not kept can be used by others. */
  end(kept: number | null): void;
}

/** 429, because a user has stored as much as a day allows. */
class DayUsedUp extends RateLimited {
  constructor(allowance: Allowance) {
    super(allowance);
    this.message = `your daily upload limit is reached; try again in ${allowance.retryAfter} s`;
  }
}

const FILES = 'files of a day';
const BYTES = 'bytes of a day';

/** The days of all users. What a node that died has reserved is lost until the end of the day. */
export class DailyUploads {
  readonly #bounds: DailyBounds;
  readonly #counters: Pick<Counters, 'take' | 'giveBack'>;

  constructor(bounds: DailyBounds, counters: Pick<Counters, 'take' | 'giveBack'>) {
    this.#bounds = bounds;
    this.#counters = counters;
  }

  /**
   * Reserves one file of up to `want` bytes, fewer if the day has no room for more. Refuses with 429 if it has not room for `need`
   * bytes. If nodes share the days, rejects with `StoreFailure` if their store does not answer.
   */
  async reserve(user: string, want: number, need: number): Promise<Reservation> {
    const day = { key: user, milliseconds: dayMs };
    const files = await this.#counters.take({ ...day, scope: FILES, most: this.#bounds.count });
    const usedUp = (used = files.used) =>
      new DayUsedUp({ ...allowanceOf({ ...files, used }, this.#bounds.count), allowed: false });
    if (files.granted === 0) throw usedUp();
    const returnFile = () => this.#giveBack(FILES, user, 1, files.window);
    try {
      const bytes = await this.#counters.take({ ...day, scope: BYTES, want, need, most: this.#bounds.bytes });
      if (bytes.granted === 0) throw usedUp(files.used - 1);
      return {
        bytes: bytes.granted,
        usedUp,
        end: kept => {
          if (kept === null) void returnFile();
          void this.#giveBack(BYTES, user, bytes.granted - (kept ?? 0), bytes.window);
        },
      };
    } catch (error) {
      await returnFile();
      throw error;
    }
  }

  /** An amount that cannot be given back stays counted until the day ends. */
  async #giveBack(scope: string, user: string, amount: number, window: number): Promise<void> {
    try {
      if (amount > 0) await this.#counters.giveBack(scope, user, amount, window);
    } catch {
      // An amount that is not given back only makes the limit stricter for a day.
    }
  }
}
