/** Which credentials of a key may sign a receipt. */
import { createPublicKey } from 'node:crypto';
import { type ReceiptKind, relyingParty } from '../../src/contract/key-values.ts';
import type { Evidence } from '../../src/contract/proof.ts';
import { signedFor } from '../../src/contract/receipts/check.ts';
import { readReceiptText } from '../../src/contract/receipts/text.ts';
import type { CallerRole } from '../../src/contract/values.ts';
import { iso } from '../base/time.ts';
import type { RecognizingCredential } from '../devices/judges.ts';
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
  readonly relyingParty: string;
  readonly proof: ReceiptProof;
}

/** The credentials that may sign, the first one first. */
export interface Signers {
  readonly signers: readonly Signer[];
  /** Why a proof of the key would not help; null if it may, or if a credential may sign. */
  readonly problem: string | null;
}

/** Facts that the decision depends on. */
interface SigningRequest {
  readonly device: DeviceRecord;
  readonly kind: ReceiptKind;
  readonly role: CallerRole;
  readonly trust: Trust;
  /** The credential by which the key is recognized; null if it has none. */
  readonly identity: RecognizingCredential | null;
  /** The credentials that the browser of the person can ask: an ADMIN has issued them on this key. */
  readonly inBrowser: readonly RecognizingCredential[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * The last proved credential first, then the one by which the key is recognized. Otherwise only genuine keys count: with a credential made
 * in software, a receipt would be the word of its operator. A key that replaces the one of the receipt before must name its serial number,
 * or have been recognized before that, or an ADMIN answers for it; and what comes back must be what was issued.
 */
export async function signersOf(
  store: Pick<Store, 'proofsOf' | 'receipts'>,
  signing: SigningRequest,
): Promise<Signers> {
  const { signers, problem } = await touchedHere(store, signing);
  return { signers: [...signers, ...signing.inBrowser.map(recognizedSigner)], problem };
}

/** The credentials with which a station asks the key. */
async function touchedHere(store: Pick<Store, 'proofsOf' | 'receipts'>, signing: SigningRequest): Promise<Signers> {
  const { device, kind, role, identity } = signing;
  const [answers, last] = await Promise.all([store.proofsOf(device.serialNumber), lastOf(store, device.number)]);
  const proved = [...answers]
    .sort((a, b) => b.createdAt - a.createdAt)
    .flatMap(answer => signerOf(answer, signing) ?? []);
  const all = identity === null ? proved : [...proved, recognizedSigner(identity)];
  if (last === null) return { signers: all, problem: all.length > 0 ? null : problemOf(answers, signing) };
  const isSame = ({ credential }: Signer) => credential.id === last.credentialId;
  // The registry keeps the last answers of a key only: the credential of the receipt before stays known.
  const known = all.some(isSame) ? all : [...all, signerAgain(last)];
  const isEarlier = ({ credential }: Signer) => credential.id === identity?.id && identity.createdAt < last.createdAt;
  const maySign = (signer: Signer) =>
    isSame(signer) || (kind !== 'return' && (signer.proof.grade === 'unit' || role === 'ADMIN' || isEarlier(signer)));
  return { signers: known.filter(maySign), problem: null };
}

/** The registry has the answer of the key, or trusts no maker at all: then no touch is needed to find that out. */
function problemOf(answers: readonly ProofRecord[], { trust }: SigningRequest): string | null {
  if (trust.metadata === null && trust.anchors.every(({ purpose }) => purpose !== 'fido'))
    return 'the registry trusts no maker of FIDO keys';
  return answers.some(({ evidence }) => evidence !== null && evidenceIn(evidence).method !== 'scp11b')
    ? 'the key has proved no model of a maker that the registry trusts'
    : null;
}

/** Receipts among which the last one is looked for that a station has made. */
const LOOKED_AT = 20;

async function lastOf(store: Pick<Store, 'receipts'>, device: number): Promise<ReceiptRecord | null> {
  const { rows } = await store.receipts({ device, descending: true, offset: 0, limit: LOOKED_AT });
  // No station can ask for the credential of a browser.
  return rows.find(({ proof }) => !proof.clientData) ?? null;
}

/** Null if the answer has no credential of a genuine key, by what the registry trusts now. */
function signerOf(answer: ProofRecord, { trust, now }: SigningRequest): Signer | null {
  const { proofId, challenge, createdAt, evidence: attestation } = answer;
  if (attestation === null) return null;
  const { grade } = storedProof(judgedNow(answer, { trust, now })).proof;
  const credential = grade === 'model' || grade === 'unit' ? credentialOf(evidenceIn(attestation)) : null;
  const proof = { proofId, grade, provedAt: iso(createdAt), attestation, challenge };
  return credential && { credential, relyingParty, proof };
}

const evidenceIn = (text: string): Evidence => JSON.parse(text);

/** It was not judged who has made the key. */
const recognizedSigner = ({ createdAt, relyingParty: party, ...credential }: RecognizingCredential): Signer => ({
  credential,
  relyingParty: party,
  proof: { proofId: null, grade: 'claimed', provedAt: iso(createdAt), attestation: null, challenge: null },
});

const signerAgain = ({ credentialId: id, publicKey, proof, ...signed }: ReceiptRecord): Signer => ({
  credential: { id, publicKey: createPublicKey(publicKey) },
  relyingParty: signedFor(signed.authenticatorData, readReceiptText(signed.text)!.registryId)!,
  proof,
});
