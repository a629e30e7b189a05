import { vi } from 'vitest';

const followers = new Set<(now: number | null) => void>();
const tell = (now: number | null) => followers.forEach(follow => void follow(now));

/** Calls `follow` with the time that a test sets, in milliseconds since 1970, each time that it sets one; with null when it sets none. */
export function followClock(follow: (now: number | null) => void): void {
  followers.add(follow);
  follow(vi.isFakeTimers() ? Date.now() : null);
}

/**
 * Puts the clock of this process (and so of a daemon in it, and of the database of that) into the hands of the test; timers stay
 * real. To be called before the daemon is started. `start` in milliseconds since 1970.
 */
export function holdClock(start = Date.now()): { forward(milliseconds: number): void; release(): void } {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: start });
  tell(start);
  return {
    forward: milliseconds => {
      vi.advanceTimersByTime(milliseconds);
      tell(Date.now());
    },
    release: () => {
      vi.useRealTimers();
      tell(null);
    },
  };
}

export const second = 1000;
export const day = 86_400 * second;
