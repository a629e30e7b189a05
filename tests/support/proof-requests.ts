/** Requests for proofs as the registry makes them, and the judge's verdict on what a driver returns. */
import { clientDataHash, RELYING_PARTY } from '../../daemon/devices/client-data.ts';
import { judge } from '../../daemon/proofs/judge/judge.ts';
import type { Trust, Verdict } from '../../daemon/proofs/judge/types.ts';
import type { EvidenceMethod, KeyEvidence, ProofRequest } from '../../drivers/driver.ts';
import type { Evidence } from '../../src/contract/proof.ts';
import { type Asked, ask } from '../proof/fixtures.ts';

/** A question with its request to the key. */
export interface Asking extends Asked {
  readonly request: ProofRequest;
}

/** A new question about the key with this serial number. */
export function asking(trust: Partial<Trust>, serialNumber: string, method: EvidenceMethod | null = null): Asking {
  const asked = ask(trust, { serialNumber });
  const { registryId, challenge } = asked.question;
  const request = {
    method,
    hostPublicKey: asked.ephemeral.publicKey,
    clientDataHash: clientDataHash(registryId, serialNumber, challenge),
    relyingParty: RELYING_PARTY,
  };
  return { ...asked, request };
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** The verdict of the registry on the evidence. */
export function judged(evidence: KeyEvidence, { question }: Asked): Verdict {
  return judge({ claims: {}, evidence: written(evidence) }, question);
}

function written(evidence: KeyEvidence): Evidence {
  if (evidence.method === 'fido') return { method: 'fido', attestationObject: text(evidence.attestationObject) };
  if (evidence.method === 'u2f') return { method: 'u2f', registration: text(evidence.registration) };
  if (evidence.method === 'assertion') throw new Error('a signature proves nothing');
  const { method, kvn, chain, cardPublicKey, receipt } = evidence;
  return { method, kvn, chain: chain.map(text), cardPublicKey: text(cardPublicKey), receipt: text(receipt) };
}
