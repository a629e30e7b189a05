import type { Bindings } from '../http/bindings.ts';
import type { ProofPolicies } from './policies.ts';
import type { ProofService } from './service.ts';
import type { TrustFile, TrustService } from './trust.ts';

/** The services of proofs. */
interface ProofServices {
  readonly proofs: ProofService;
  readonly trust: TrustService;
  readonly policies: ProofPolicies;
}

/** Proofs of keys, trust and the policy. */
export const proofOperations = (to: ProofServices): Bindings => ({
  createProofChallenge: ({ context }) => to.proofs.challenge(context),
  judgeProofsAgain: ({ context, body }) => to.proofs.judgeAgain(context, body.after ?? 0),
  submitProof: ({ context, params, body }) => to.proofs.submit(context, params.proofId, body),
  importTrust: {
    stage: (_, { content, maxBytes }) => to.trust.stage(content, maxBytes),
    add: ({ context }, { form, blob }) => to.trust.importFile(context, form, blob as TrustFile),
  },
  listTrust: () => to.trust.list(),
  removeTrust: ({ context, params }) => to.trust.remove(context, params.fingerprint),
  showProofPolicy: () => to.policies.show(),
  setProofPolicy: ({ context, body }) => to.policies.set(context, body),
});
