import { hourMs } from '../../src/contract/durations.ts';
import { proofBounds } from '../../src/contract/limits.ts';
import type { DueTask } from '../background/due-work.ts';
import { type SweepParts, sweep } from '../background/sweeps.ts';

/** Removes answers for serial numbers that no one registers. */
export const proofSweep = (parts: SweepParts): DueTask =>
  sweep('sweep of proofs', parts, now => ({
    kind: 'proof.expire',
    until: now - proofBounds.unregisteredHours * hourMs,
    total: proofBounds.unregisteredTotal,
  }));
