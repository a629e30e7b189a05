/** For how long no write succeeded. */
import type { Write } from './requests.ts';

export interface Pause {
  /** Seconds without any acknowledged write, at most. */
  readonly silent: number;
  /** Seconds that one client waited for one write, its repetitions included, at most. */
  readonly longest: number;
}

/** `writes`: in the order of their acknowledgements. `from`, `to`: the time that counts, by `performance.now()`. */
export function pauseOf(writes: readonly Write[], from: number, to: number): Pause {
  const times = [from, ...writes.map(({ acknowledged }) => acknowledged).filter(at => at > from && at < to), to];
  const gaps = times.slice(1).map((at, i) => at - times[i]!);
  const waits = writes.map(({ sent, acknowledged }) => acknowledged - sent);
  return { silent: Math.max(...gaps) / 1000, longest: Math.max(0, ...waits) / 1000 };
}

/** A limit grows by so many times what passes without a write while nothing is wrong. */
const BUSY_TIMES = 5;

/** The limit in seconds on this machine, with the other work that it has now. `quiet` is of a time without a fault. */
export const limitHere = (limit: number, quiet: Pause): number => limit + BUSY_TIMES * quiet.silent;
