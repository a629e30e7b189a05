/** Has an attached key prove what it is, or sign a receipt. Only the registry judges the answer. */
import type { AttachedKey, Driver, KeyAssertion, KeyEvidence, ProofRequest } from '../../drivers/driver.ts';
import { HardwareError } from '../../drivers/hardware-error.ts';
import { inputError } from '../../src/contract/codes.ts';
import type { IdentityEvidence } from '../../src/contract/identity-shapes.ts';
import { identityParty, type ProvingState } from '../../src/contract/key-values.ts';
import type { Evidence } from '../../src/contract/proof.ts';
import { receiptHash } from '../../src/contract/receipts/check.ts';
import { readReceiptText } from '../../src/contract/receipts/text.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { clientDataHash, RELYING_PARTY } from '../devices/client-data.ts';

/** Request of the registry to the key. */
export type ProofInput = Body<'proveKey'>;
/** Answer of the key. */
export type ProofOutput = Data<'proveKey'>;
/** Text to sign, and the signature of the key. */
export type SignInput = Body<'signReceipt'>;
export type SignOutput = Data<'signReceipt'>;

/** An attached key as a proof needs it. */
export interface ProvingKey {
  readonly driver: Driver;
  /** The key as it is now. */
  readonly key: () => AttachedKey;
  readonly onState: (state: ProvingState) => void;
}

/** Rejects with an ApiError if the request does not fit the key. A key that cannot prove anything is part of the answer. */
export async function proveAttached(
  { driver, key, onState }: ProvingKey,
  input: ProofInput,
  signal: AbortSignal,
): Promise<ProofOutput> {
  requireSerial(key(), input.serialNumber);
  const challenge = Buffer.from(input.challenge, 'base64url');
  const request = {
    method: input.method ?? null,
    hostPublicKey: Buffer.from(input.ephemeralPublicKey, 'base64url'),
    clientDataHash: clientDataHash(input.registryId, input.serialNumber, challenge),
    relyingParty: RELYING_PARTY,
  };
  const { evidence, ...ending } = await asked({ driver, key, onState }, request, signal);
  const isProof = evidence !== null && evidence.method !== 'assertion';
  return { claims: key().claims, ...(isProof && { evidence: toEvidence(evidence) }), ...ending };
}

/** Rejects with an ApiError if the request does not fit the key. Only the texts of receipts are signed. */
export async function signAttached(
  proving: ProvingKey,
  { serialNumber, text: wanted, credentials, relyingParty = RELYING_PARTY }: SignInput,
  signal: AbortSignal,
): Promise<SignOutput> {
  requireSerial(proving.key(), serialNumber);
  const facts = readReceiptText(wanted);
  if (facts?.serialNumber !== serialNumber) throw inputError('text', 'must be the text of a receipt for this key');
  if (relyingParty !== RELYING_PARTY && relyingParty !== identityParty(facts.registryId))
    throw inputError('relyingParty', 'must be that of receipts, or of the registry of the text');
  const request = {
    method: null,
    hostPublicKey: new Uint8Array(),
    clientDataHash: receiptHash(wanted),
    relyingParty,
    credentials: credentials.map(id => Buffer.from(id, 'base64url')),
  };
  const { evidence, ...ending } = await asked(proving, request, signal);
  if (evidence?.method !== 'assertion') return { assertion: null, ...ending };
  return { assertion: toAssertion(evidence), ...ending };
}

/** A signature as the interface has it. */
export const toAssertion = ({ credentialId, authenticatorData, signature }: KeyAssertion) => ({
  credentialId: inBase64url(credentialId),
  authenticatorData: inBase64url(authenticatorData),
  signature: inBase64url(signature),
});

/** Answer of the key, or the reason why it has none. */
async function asked({ driver, key, onState }: ProvingKey, request: ProofRequest, signal: AbortSignal) {
  const { answer, failure, problem } = await answerOf(onState, onTouch =>
    driver.prove(key().keyId, request, { signal, onTouch }),
  );
  return { evidence: answer, failure, problem };
}

/** Answer of a key to a request that may need a touch; what it fails with is part of the answer. */
export async function answerOf<T>(onState: ProvingKey['onState'], ask: (onTouch: () => void) => Promise<T>) {
  onState('running');
  try {
    return { answer: await ask(() => onState('touch')), failure: null, refusal: null, problem: null };
  } catch (error) {
    if (!(error instanceof HardwareError)) throw error;
    return { answer: null, failure: error.code, refusal: error.data.refusal ?? null, problem: error.message };
  }
}

/** A key without a serial number of its own is known by another one. */
export function requireSerial({ serialNumber }: AttachedKey, wanted: string): void {
  if (serialNumber !== null && serialNumber !== wanted)
    throw inputError('serialNumber', `must be ${serialNumber}, the serial number of the key`);
}

/** Bytes as the interface has them. */
export const inBase64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

function toEvidence(evidence: Exclude<KeyEvidence, { method: 'assertion' }>): Evidence {
  switch (evidence.method) {
    case 'scp11b':
      return {
        method: 'scp11b',
        kvn: evidence.kvn,
        chain: evidence.chain.map(inBase64url),
        cardPublicKey: inBase64url(evidence.cardPublicKey),
        receipt: inBase64url(evidence.receipt),
      };
    default:
      return toIdentityEvidence(evidence);
  }
}

/** Evidence with a credential. Fails with a HardwareError for any other. */
export function toIdentityEvidence(evidence: KeyEvidence): IdentityEvidence {
  switch (evidence.method) {
    case 'fido':
      return { method: 'fido', attestationObject: inBase64url(evidence.attestationObject) };
    case 'u2f':
      return { method: 'u2f', registration: inBase64url(evidence.registration) };
    default:
      throw new HardwareError('protocol', 'the key has made no credential');
  }
}
