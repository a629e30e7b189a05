/** How a key is proved: a challenge of the registry, what the key answers, and what the registry concludes. */
import type { Body, Data, Input } from '../contract/routes.ts';
import type { NumberedKey } from './registry.ts';

type ProofVerdict = Data<'submitProof'>;

/** How a key is asked. `policy`: by the method that the policy of the registry needs. Undefined: by the best one that the key has. */
export type MethodChoice = Body<'proveKey'>['method'] | 'policy';

/** Requests of an exchange. They reject with the errors of their client. */
export interface ProofRequests {
  createChallenge(): Promise<Data<'createProofChallenge'>>;
  /** Asks the attached key, which may have to be touched. */
  proveKey(body: Body<'proveKey'>): Promise<Data<'proveKey'>>;
  submitProof(input: Input<'submitProof'>): Promise<ProofVerdict>;
}

/** The verdict, and why the key gave no evidence (`problem`; null if it did). */
interface ProofConclusion {
  readonly problem: string | null;
  /** Null if the key reported nothing at all: then there is nothing to judge. */
  readonly verdict: (ProofVerdict & { readonly proofId: string }) | null;
}

/** Asks the key, and has the registry judge its answer. `forReceipt`: for a credential that signs receipts. */
export async function exchangeProof(
  requests: ProofRequests,
  key: NumberedKey,
  method: MethodChoice,
  forReceipt = false,
): Promise<ProofConclusion> {
  const made = await requests.createChallenge();
  const { serialNumber, manufacturer, model } = key;
  const { proofId, challenge, registryId, ephemeralPublicKey } = made;
  const wanted = method === 'policy' ? made.method : method;
  const question = { serialNumber, challenge, registryId, ephemeralPublicKey, ...(wanted ? { method: wanted } : {}) };
  const { claims, evidence, problem } = await requests.proveKey(question);
  if (!evidence && Object.keys(claims).length === 0) return { problem, verdict: null };
  const body = {
    serialNumber,
    manufacturer,
    model,
    claims,
    ...(evidence && { evidence }),
    ...(forReceipt && { forReceipt }),
  };
  return { problem, verdict: { ...(await requests.submitProof({ params: { proofId }, body })), proofId } };
}
