/** The output of a key: the credential that it has made, and its signatures. */
import { inputError } from '../../src/contract/codes.ts';
import type { IdentityEvidence } from '../../src/contract/identity-shapes.ts';
import { same } from '../proofs/judge/certificate.ts';
import { checkOwnSignature, ES256 } from '../proofs/judge/fido-signature.ts';
import { hashOf, type MadeCredential, type MadeFor, madeIn, pointIn } from '../proofs/judge/made.ts';
import { fromBase64url, MalformedError } from '../proofs/judge/malformed.ts';
import { BrokenRule } from '../proofs/judge/rules.ts';
import type { IdentityRecord } from './records.ts';

/** Runs a check of what a key sent; what it does not fulfil is refused with 1001. */
function checked<T>(field: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof BrokenRule || error instanceof MalformedError)) throw error;
    const isOther = error instanceof BrokenRule && error.rule === 'fido-signature';
    const why = isOther ? 'it does not match the credential and the challenge' : error.message;
    throw inputError(field, `: ${why}`);
  }
}

/**
 * The credential in the evidence. Refuses with 1001 one for another relying party or challenge. Who has certified the key does not matter:
 * that is what proofs are about.
 */
export const madeCredential = (evidence: IdentityEvidence, wanted: MadeFor): MadeCredential =>
  checked('evidence', () => madeIn(evidence, wanted));

/** A signature, as stations send it. */
interface Signature {
  readonly authenticatorData: string;
  readonly signature: string;
}

/** Bytes of authenticator data without a credential and without extensions, and the offsets of its parts. */
const AT = { flags: 32, counter: 33, end: 37 } as const;
const TOUCHED = 0x01;

/** Whether the key was touched, and its counter. Refuses with 1001 a signature that is not one of this credential for this hash. */
export const checkedSignature = (
  { publicKey, relyingParty }: Pick<IdentityRecord, 'publicKey' | 'relyingParty'>,
  clientDataHash: Uint8Array,
  signed: Signature,
): { readonly touched: boolean; readonly counter: number } =>
  checked('signature', () => {
    const data = Buffer.from(fromBase64url(signed.authenticatorData, 'authenticatorData'));
    if (data.length !== AT.end) throw new MalformedError('authenticator data', 'it has another length');
    if (!same(data.subarray(0, AT.flags), hashOf(relyingParty))) throw new BrokenRule('fido-relying-party');
    const point = pointIn(publicKey);
    const signature = fromBase64url(signed.signature, 'signature');
    checkOwnSignature(point, ES256, Buffer.concat([data, clientDataHash]), signature);
    return { touched: (data[AT.flags]! & TOUCHED) !== 0, counter: data.readUInt32BE(AT.counter) };
  });
