/** Times that do not depend on the wall clock, to less than a millisecond. */
import { setImmediate as turn } from 'node:timers/promises';
import { sleep } from '../../src/delivery/wait.ts';

/** A clock that never goes back. */
export interface SteadyClock {
  /** Milliseconds since some moment. */
  now(): number;
  /** Resolves at this time, or at once if it has passed. */
  reach(at: number): Promise<void>;
}

/** Timers are in whole milliseconds, early or late by one. Turns of the event loop take microseconds. */
const TIMER_MS = 2;

export const steadyClock: SteadyClock = {
  now: () => performance.now(),
  async reach(at) {
    await sleep(Math.max(0, at - performance.now() - TIMER_MS));
    while (performance.now() < at) await turn();
  },
};
