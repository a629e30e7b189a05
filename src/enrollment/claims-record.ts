/**
 * Records the claims of a key that is enrolled without a proof. They prove nothing, but another key with its serial number contradicts
 * them.
 */
import { proofBounds } from '../contract/limits.ts';
import type { ProofRequests } from './proof-exchange.ts';
import type { DeviceQuestions, NumberedKey } from './registry.ts';
import { productOf } from './same-device.ts';

type ClaimsRequests = Pick<ProofRequests, 'createChallenge' | 'submitProof'> & Pick<DeviceQuestions, 'withClaims'>;

/** The registry keeps evidence that it has: claims do not replace it. A key that reports nothing has no record. */
export async function recordClaims(requests: ClaimsRequests, key: NumberedKey): Promise<void> {
  const { serialNumber, manufacturer, model } = key;
  const isRead = Object.keys(key.claims ?? {}).length > 0;
  const { claims } = isRead ? key : await requests.withClaims(key);
  const product = productOf(key)?.slice(0, proofBounds.claimLength);
  if (!product && Object.keys(claims ?? {}).length === 0) return;
  const { proofId } = await requests.createChallenge();
  const body = { serialNumber, manufacturer, model, claims: { ...claims, ...(product ? { product } : {}) } };
  await requests.submitProof({ params: { proofId }, body });
}
