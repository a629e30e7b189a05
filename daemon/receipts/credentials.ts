/** Which credentials of a key may sign a receipt. */
import { createPublicKey } from 'node:crypto';
import type { Evidence } from '../../src/contract/proof.ts';
import type { CallerRole, ReceiptKind } from '../../src/contract/values.ts';
import { iso } from '../base/time.ts';
import { storedProof } from '../devices/proof.ts';
import type { DeviceRecord } from '../devices/records.ts';
import { type Credential, credentialOf } from '../proofs/judge/credential.ts';
import type { Trust } from '../proofs/judge/types.ts';
import { judgedNow } from '../proofs/judging.ts';
import type { ProofRecord } from '../proofs/records.ts';
import type { Store } from '../store/store.ts';
import type { ReceiptProof, ReceiptRecord } from './records.ts';

/** A credential that may sign, and the proof in which the key made it. */
export interface Signer {
  readonly credential: Credential;
  readonly proof: ReceiptProof;
}

/** Facts that the decision depends on. */
interface SigningRequest {
  readonly device: DeviceRecord;
  readonly kind: ReceiptKind;
  readonly role: CallerRole;
  readonly trust: Trust;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * The last proved credential first. Only genuine keys count: with a credential made in software, a receipt would be the word of
 * its operator. A key that replaces the one of the receipt before must name its serial number, or an ADMIN answers for it; and
 * what comes back must be what was issued.
 */
export async function signersOf(
  store: Pick<Store, 'proofsOf' | 'receipts'>,
  signing: SigningRequest,
): Promise<Signer[]> {
  const { device, kind, role } = signing;
  const [answers, last] = await Promise.all([store.proofsOf(device.serialNumber), lastOf(store, device.number)]);
  const proved = [...answers]
    .sort((a, b) => b.createdAt - a.createdAt)
    .flatMap(answer => signerOf(answer, signing) ?? []);
  if (last === null) return proved;
  const isSame = ({ credential }: Signer) => credential.id === last.credentialId;
  // The registry keeps the last answers of a key only: the credential of the receipt before stays known.
  const known = proved.some(isSame) ? proved : [...proved, signerAgain(last)];
  if (kind === 'return') return known.filter(isSame);
  return known.filter(signer => isSame(signer) || signer.proof.grade === 'unit' || role === 'ADMIN');
}

async function lastOf(store: Pick<Store, 'receipts'>, device: number): Promise<ReceiptRecord | null> {
  const { rows } = await store.receipts({ device, descending: true, offset: 0, limit: 1 });
  return rows[0] ?? null;
}

/** Null if the answer has no credential of a genuine key, by what the registry trusts now. */
function signerOf(answer: ProofRecord, { trust, now }: SigningRequest): Signer | null {
  const { proofId, challenge, createdAt, evidence: attestation } = answer;
  if (attestation === null) return null;
  const { grade } = storedProof(judgedNow(answer, { trust, now })).proof;
  const credential = grade === 'model' || grade === 'unit' ? credentialOf(JSON.parse(attestation) as Evidence) : null;
  return credential && { credential, proof: { proofId, grade, provedAt: iso(createdAt), attestation, challenge } };
}

const signerAgain = ({ credentialId: id, publicKey, proof }: ReceiptRecord): Signer => ({
  credential: { id, publicKey: createPublicKey(publicKey) },
  proof,
});
