/** Proofs: challenges to keys, what is trusted, and what is required of new keys. */
import { DueWork } from '../background/due-work.ts';
import type { StartSubject } from '../http/subject.ts';
import { Challenges } from './challenges.ts';
import { ProofPolicies } from './policies.ts';
import { ProofService } from './service.ts';
import { systemRoots } from './system-roots.ts';
import { type TrustFile, TrustService } from './trust.ts';
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
  const proofs = new ProofService({ store, challenges, roots, policies, registryId: instance.id, now });
  const trust = new TrustService({ store, systemRoots, now });
  return {
    operations: {
      createProofChallenge: ({ context }) => proofs.challenge(context),
      judgeProofsAgain: ({ context, body }) => proofs.judgeAgain(context, body.after ?? 0),
      submitProof: ({ context, params, body }) => proofs.submit(context, params.proofId, body),
      importTrust: {
        stage: (_, { content, maxBytes }) => trust.stage(content, maxBytes),
        add: ({ context }, { form, blob }) => trust.importFile(context, form, blob as TrustFile),
      },
      listTrust: () => trust.list(),
      removeTrust: ({ context, params }) => trust.remove(context, params.fingerprint),
      showProofPolicy: () => policies.show(),
      setProofPolicy: ({ context, body }) => policies.set(context, body),
    },
  };
};
