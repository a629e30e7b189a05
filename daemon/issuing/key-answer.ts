/** The answer of a key that is issued: what it is compared with, and whether it was made for the options of the provider. */
import { createHash } from 'node:crypto';
import { type ApiError, inputError } from '../../src/contract/codes.ts';
import { objectsOf } from '../../src/contract/json-object.ts';
import { type AttestationResponse, siteOf } from '../../src/contract/webauthn.ts';
import { type AuthenticatorData, readRegistered } from '../proofs/judge/authenticator-data.ts';
import { readClientData } from '../sign-in/client-data.ts';
import type * as domain from './credential.ts';
import { type ProviderOptions, ProviderRefused } from './providers/provider-api.ts';

/** Request that the response of the key is compared with. */
export function begunOf({ origin, options, handle }: ProviderOptions): domain.BegunCredential {
  const { challenge, rp, excludeCredentials, authenticatorSelection } = options as {
    challenge?: unknown;
    rp?: { id?: unknown };
    excludeCredentials?: unknown;
    authenticatorSelection?: { userVerification?: unknown };
  };
  if (typeof challenge !== 'string' || !/^[\w-]{22,}$/.test(challenge))
    throw new ProviderRefused('the options of the provider have no challenge of at least 16 bytes');
  const rpId = siteOf(origin, rp?.id);
  if (rpId === null) throw new ProviderRefused('the options of the provider are for another site than its origin');
  const excluded = objectsOf(excludeCredentials).map(({ id }) =>
    Buffer.from(`${id}`, 'base64url').toString('base64url'),
  );
  const isVerified = authenticatorSelection?.userVerification === 'required';
  return { challenge, origin, rpId, excluded, isVerified, handle };
}

const refusal = (problem: string): ApiError => inputError('response', `: ${problem}; begin the credential again`);

/** Refuses a response that was not made for these options. The provider checks the attestation. */
export function checkAnswer({ id, response }: AttestationResponse, begun: domain.BegunCredential | null): void {
  if (begun === null) throw refusal('the credential was not begun');
  const data = readClientData(response.clientDataJSON);
  if (data?.type !== 'webauthn.create') throw refusal('the key has not made a credential: the type is another one');
  if (data.challenge !== begun.challenge) throw refusal('the key has answered another challenge');
  if (data.origin !== begun.origin || data.framed) throw refusal('the key has answered for another origin');
  let made: AuthenticatorData;
  try {
    made = readRegistered(Buffer.from(response.attestationObject, 'base64url'));
  } catch {
    throw refusal('the answer of the key is malformed');
  }
  const site = createHash('sha256').update(begun.rpId).digest();
  if (!site.equals(made.relyingPartyHash)) throw refusal('the key has answered for another site');
  if (!made.touched) throw refusal('the key was not touched');
  if (begun.isVerified && !made.verified)
    throw refusal('the key has not verified its person, as the provider requires');
  if (Buffer.from(made.credentialId).toString('base64url') !== id)
    throw refusal('the key has answered with the id of another credential');
  // After a lost answer, the other one would be found in its place; a lost key would then lose the other one.
  if (begun.excluded?.includes(id))
    throw refusal('the person already has a credential with the id that the key has answered with');
}
