import { hourMs } from '../../src/contract/durations.ts';
import { idempotency } from '../../src/contract/limits.ts';
import { sleep } from '../../src/delivery/wait.ts';
import { type Change, StoreFailure } from '../store/commit.ts';
import type { Store } from '../store/store.ts';
import type { DueTask } from './due-work.ts';

/** Milliseconds between two sweeps. */
const INTERVAL_MS = 60_000;
/** Responses that one transaction removes: other commits wait for it. */
const PORTION = 100;

export interface SweepParts {
  readonly store: Pick<Store, 'commit'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Removes what has expired, once a minute, in transactions of the size that the change names. */
export const sweep = (work: string, { store, now }: SweepParts, expiryAt: (now: number) => Change): DueTask => ({
  work,
  undone: 'what has expired is not removed',
  waitsFirst: true,
  look: async () => {
    const at = now();
    const change = expiryAt(at);
    // A store that cannot write is reported by others. The next sweep tries again.
    const results = await store.commit({ at, actor: null, requestId: null, changes: [change] }).catch(error => {
      if (error instanceof StoreFailure) return [];
      throw error;
    });
    const [result] = results;
    return 'most' in change && result?.kind === 'removed' && result.count === change.most;
  },
  wait: turn => sleep(INTERVAL_MS, turn),
});

/**
 * Removes expired responses. A clock that is set back for less than a day removes nothing too early or too late; responses that were
 * stored while it was further ahead are removed too.
 */
export const responseSweep = (parts: SweepParts): DueTask =>
  sweep('sweep of responses', parts, now => ({
    kind: 'response.expire',
    until: now,
    beyond: now + 2 * idempotency.hours * hourMs,
    most: PORTION,
  }));
