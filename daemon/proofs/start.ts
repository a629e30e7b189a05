/** Proofs: challenges to keys, what is trusted, and what is required of new keys. */

import { DueWork } from '../background/due-work.ts';
import type { StartSubject } from '../http/subject.ts';
import { Challenges } from './challenges.ts';
import { ProofPolicies } from './policies.ts';
import { proofOperations } from './routes.ts';
import { ProofService } from './service.ts';
import { systemRoots } from './system-roots.ts';
import { TrustService } from './trust.ts';
import { TrustedRoots } from './trusted.ts';
import { proofSweep } from './work.ts';

declare module '../http/subject.ts' {
  interface Offers {
    /** Trust anchors; absent without proofs. */
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
