import { vi } from 'vitest';

/**
 * Puts the clock of this process (and so of a daemon in it) into the hands of the test; timers stay real. To be called
 * before the daemon is started. `start` in milliseconds since 1970.
 */
export function holdClock(start = Date.now()): { forward(milliseconds: number): void; release(): void } {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: start });
  return {
    forward: milliseconds => void vi.advanceTimersByTime(milliseconds),
    release: () => void vi.useRealTimers(),
  };
}

export const second = 1000;
export const day = 86_400 * second;
