/** Has an attached key prove what it is. Only the registry judges the answer. */

import { type AttachedKey, type Driver, HardwareError, type KeyEvidence } from '../../drivers/driver.ts';
import { ApiError, Code } from '../../src/contract/codes.ts';
import type { BodyOf, DataOf } from '../../src/contract/define.ts';
import type { Evidence } from '../../src/contract/proof.ts';
import type { Routes } from '../../src/contract/routes.ts';
import type { ProvingState } from '../../src/contract/values.ts';
import { clientDataHash, RELYING_PARTY } from '../proof/client-data.ts';

/** What the registry asks the key for. */
export type ProofInput = BodyOf<Routes['proveKey']>;
/** What the key answered. */
export type ProofOutput = DataOf<Routes['proveKey']>;

/** An attached key as a proof needs it. */
interface ProvingKey {
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
  const { keyId, serialNumber } = key();
  if (serialNumber !== null && serialNumber !== input.serialNumber)
    throw new ApiError(Code.parameterError, `serialNumber must be ${serialNumber}, the serial number of the key`);
  const challenge = Buffer.from(input.challenge, 'base64url');
  const request = {
    method: input.method ?? null,
    hostPublicKey: Buffer.from(input.ephemeralPublicKey, 'base64url'),
    clientDataHash: clientDataHash(input.registryId, input.serialNumber, challenge),
    relyingParty: RELYING_PARTY,
  };
  onState('running');
  try {
    const evidence = await driver.prove(keyId, request, { signal, onTouch: () => onState('touch') });
    return { claims: key().claims, evidence: toEvidence(evidence), failure: null, problem: null };
  } catch (error) {
    if (!(error instanceof HardwareError)) throw error;
    return { claims: key().claims, failure: error.code, problem: error.message };
  }
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

function toEvidence(evidence: KeyEvidence): Evidence {
  switch (evidence.method) {
    case 'scp11b':
      return {
        method: 'scp11b',
        kvn: evidence.kvn,
        chain: evidence.chain.map(text),
        cardPublicKey: text(evidence.cardPublicKey),
        receipt: text(evidence.receipt),
      };
    case 'fido':
      return { method: 'fido', attestationObject: text(evidence.attestationObject) };
    case 'u2f':
      return { method: 'u2f', registration: text(evidence.registration) };
  }
}
