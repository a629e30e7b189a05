/** Proofs: challenges to keys, what is trusted, and what is required of new keys. */

import { DueWork } from '../background/due-work.ts';
import { proofSweep } from '../background/sweeps.ts';
import type { ProofJudge } from '../devices/judges.ts';
import type { StartSubject } from '../http/subject.ts';
import { Challenges } from '../services/proofs/challenges.ts';
import { ProofPolicies } from '../services/proofs/policies.ts';
import { ProofService } from '../services/proofs/proof-service.ts';
import { systemRoots } from '../services/proofs/system-roots.ts';
import { TrustService } from '../services/proofs/trust-service.ts';
import { TrustedRoots } from '../services/proofs/trusted.ts';
import { proofOperations } from './routes.ts';

declare module '../http/subject.ts' {
  interface Offers {
    /** Absent: nothing is required of new keys. */
    proofJudge?: ProofJudge;
    /** What is trusted; absent without proofs. */
    roots?: TrustedRoots;
  }
}

export const startProofs: StartSubject = ({ log, stack, store, instance, now, offers }) => {
  const roots = new TrustedRoots(store);
  const policies = new ProofPolicies({ store, roots, now });
  const challenges = new Challenges(instance.secret('challenges'));
  stack.start(new DueWork({ store, log }, proofSweep({ store, now })));
  offers.proofJudge = policies;
  offers.roots = roots;
  return {
    operations: proofOperations({
      proofs: new ProofService({ store, challenges, roots, policies, registryId: instance.id, now }),
      trust: new TrustService({ store, systemRoots, now }),
      policies,
    }),
  };
};
