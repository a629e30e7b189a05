/** The only file that knows the library for WebAuthn. It is loaded by the first operation that needs it. */
import { passkeyBounds } from '../../src/contract/limits.ts';
import type { AssertionResponse, AttestationResponse } from '../../src/contract/webauthn.ts';
import type { RelyingParty } from '../requests/relying-party.ts';
import { readClientData } from './client-data.ts';
import type { PasskeyRecord } from './passkey.ts';

/** Expectation that an answer of a key is compared with. */
interface ExpectedAnswer {
  readonly site: RelyingParty;
  /** Null if the one that the answer names may not be answered. */
  readonly challenge: string | null;
  /** Whether the key must have verified the person, by PIN or fingerprint. */
  readonly verified: boolean;
}

/** A new credential. Bytes are base64url. */
export interface NewCredential {
  readonly credentialId: string;
  readonly publicKey: string;
  readonly signCount: number;
  readonly aaguid: string;
  readonly transports: readonly string[];
}

/** An answer that is not accepted. `message`: why, for the journal. */
export class AnswerRefused extends Error {
  override name = 'AnswerRefused';
}

const library = () => import('@simplewebauthn/server');

/** The library would encode a challenge that is a text once more, so it gets bytes. */
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));

/** The options of a browser for a new credential. */
export async function creationOptions(input: {
  readonly site: RelyingParty;
  readonly challenge: string;
  readonly milliseconds: number;
  readonly user: { readonly handle: string; readonly name: string };
  /** The browser refuses a key that has one of these. */
  readonly registered: readonly PasskeyRecord[];
  /** Whether the key must store the account and verify the person, so that it signs in alone. */
  readonly isAlone?: boolean;
}): Promise<object> {
  const wanted = input.isAlone ? 'required' : 'preferred';
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpName: 'devmgr',
    rpID: input.site.id,
    userID: bytesOf(input.user.handle),
    userName: input.user.name,
    userDisplayName: input.user.name,
    challenge: bytesOf(input.challenge),
    timeout: input.milliseconds,
    attestationType: 'none',
    excludeCredentials: input.registered.map(descriptor),
    authenticatorSelection: { residentKey: wanted, userVerification: wanted },
  });
}

/** The options of a browser for a signature. Without `allowed` the key chooses the account, and verifies the person. */
export async function requestOptions(input: {
  readonly site: RelyingParty;
  readonly challenge: string;
  readonly milliseconds: number;
  readonly allowed: readonly PasskeyRecord[] | null;
}): Promise<object> {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: input.site.id,
    challenge: bytesOf(input.challenge),
    timeout: input.milliseconds,
    userVerification: input.allowed === null ? 'required' : 'preferred',
    ...(input.allowed === null ? {} : { allowCredentials: input.allowed.map(descriptor) }),
  });
}

const descriptor = ({ credentialId: id, transports }: PasskeyRecord) => ({ id, transports: [...transports] });

/** Checks a new credential. Rejects with `AnswerRefused`. */
export async function checkAttestation(answer: AttestationResponse, expected: ExpectedAnswer): Promise<NewCredential> {
  const { verifyRegistrationResponse } = await library();
  refuseFrame(answer.response);
  await refuseStatement(answer);
  const { response, ...outer } = answer;
  const transports = transportsIn(response.transports);
  const verify = () =>
    verifyRegistrationResponse({
      response: { ...outer, response: { ...response, transports }, clientExtensionResults: {} },
      ...comparedWith(expected),
    });
  const result = await refusing(verify, () => reasonOf(response.clientDataJSON, expected));
  if (!result.verified) throw new AnswerRefused('wrong signature');
  const { credential, aaguid } = result.registrationInfo;
  return {
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    signCount: credential.counter,
    aaguid,
    transports,
  };
}

/** Hints only: what is not a short word is left out. */
function transportsIn(given: unknown): string[] {
  if (!Array.isArray(given)) return [];
  const words = given.filter(word => typeof word === 'string' && /^[a-z-]+$/.test(word));
  return words.filter(word => word.length <= passkeyBounds.transport).slice(0, passkeyBounds.transports);
}

const comparedWith = ({ site, challenge, verified }: ExpectedAnswer) => ({
  expectedChallenge: (given: string) => given === challenge,
  expectedOrigin: site.origin,
  expectedRPID: site.id,
  requireUserVerification: verified,
});

/** No page of devmgr is in a frame: another site would decide what the person sees around it. The library does not demand that. */
function refuseFrame({ clientDataJSON }: { readonly clientDataJSON: string }): void {
  const data = readClientData(clientDataJSON);
  if (!data) throw new AnswerRefused(INVALID);
  if (data.framed) throw new AnswerRefused('page in a frame of another origin');
}

/** The library would ask the servers that the certificates of a statement name. devmgr requests no statement, so it reads none. */
async function refuseStatement({ response }: AttestationResponse): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const format = await refusing(async () => decodeAttestationObject(bytesOf(response.attestationObject)).get('fmt'));
  if (format !== 'none') throw new AnswerRefused('attestation that was not requested');
}

/** Checks a signature. Resolves with the signature counter. Rejects with `AnswerRefused`. */
export async function checkAssertion(
  answer: AssertionResponse,
  passkey: PasskeyRecord,
  expected: ExpectedAnswer,
): Promise<number> {
  const { verifyAuthenticationResponse } = await library();
  refuseFrame(answer.response);
  const { userHandle, ...response } = answer.response;
  const verify = () =>
    verifyAuthenticationResponse({
      response: {
        ...answer,
        response: { ...response, ...(userHandle === null ? {} : { userHandle }) },
        clientExtensionResults: {},
      },
      ...comparedWith(expected),
      // `use` compares the counter with that of the commit.
      credential: { id: passkey.credentialId, publicKey: bytesOf(passkey.publicKey), counter: 0 },
    });
  const result = await refusing(verify, () => reasonOf(response.clientDataJSON, expected));
  if (!result.verified) throw new AnswerRefused('wrong signature');
  return result.authenticationInfo.newCounter;
}

/** The library throws errors of many kinds for what a client sends. */
async function refusing<T>(work: () => Promise<T>, reason: () => string = () => INVALID): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new AnswerRefused(reason(), { cause: error });
  }
}

const INVALID = 'answer of the key not valid';
/** Not made here for this purpose, or expired. */
export const UNKNOWN_CHALLENGE = 'challenge unknown or expired';
/** By another answer, right or wrong. */
export const ANSWERED_BEFORE = 'challenge answered before';

/** Why an answer was refused, without any text of the client. */
function reasonOf(clientDataJSON: string, { site, challenge }: ExpectedAnswer): string {
  const data = readClientData(clientDataJSON);
  if (!data) return INVALID;
  if (data.origin !== site.origin) return 'wrong origin';
  return data.challenge === challenge ? INVALID : UNKNOWN_CHALLENGE;
}
