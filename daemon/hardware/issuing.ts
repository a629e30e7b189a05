/** Issues an attached key: its first PIN, and credentials for providers. The PIN is in memory only while the key gets it. */

import { createHash } from 'node:crypto';
import { HardwareError, NOT_ISSUABLE } from '../../drivers/hardware-error.ts';
import type { IssuedKey, PinRules, StoredCredential, StoredCredentialRequest } from '../../drivers/issued-key.ts';
import { type ApiError, inputError } from '../../src/contract/codes.ts';
import { objectIn, objectsOf } from '../../src/contract/json-object.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { type AttestationResponse, siteOf } from '../../src/contract/webauthn.ts';
import { answerOf, inBase64url, type ProvingKey, requireSerial } from './proofs.ts';

/** A step. */
export type IssueInput = Body<'issueKey'>;
/** Answer of the key, or the reason why it has none. */
export type IssueOutput = Data<'issueKey'>;

/** `isFresh`: the key was just plugged in. Rejects with an ApiError if the request does not fit the key. The answer has refusals. */
export async function issueAttached(
  { driver, key, onState }: ProvingKey,
  input: IssueInput,
  { signal, isFresh }: { readonly signal: AbortSignal; readonly isFresh: boolean },
): Promise<IssueOutput> {
  requireSerial(key(), input.serialNumber);
  const step = stepOf(input);
  const { answer, ...ending } = await answerOf(onState, async onTouch => {
    if (!driver.issue) throw new HardwareError('unavailable', NOT_ISSUABLE);
    // Some keys accept a reset at any time: what was not plugged in for it is not erased.
    if (input.step === 'reset' && !isFresh)
      throw new HardwareError('unavailable', NOT_FRESH, { data: { refusal: 'not-allowed' } });
    return driver.issue(key().keyId, { signal, onTouch, mayReset: input.step === 'reset' }, step);
  });
  return { state: null, response: null, ...answer, ...ending };
}

type KeyStep = (key: IssuedKey) => Promise<Partial<IssueOutput>>;

function stepOf(input: IssueInput): KeyStep {
  switch (input.step) {
    case 'state':
      return async key => {
        const state = await key.pinState();
        if (input.credentials === undefined) return { state };
        const asked = input.credentials.map(({ site, id }) => ({
          relyingParty: site,
          id: Buffer.from(id, 'base64url'),
        }));
        return { state, hasAny: await key.hasAny(asked) };
      };
    case 'pin':
      return key =>
        withPin(input, async pin => {
          await key.setPin(pin);
          return { state: await key.pinState() };
        });
    case 'credential': {
      const { request, clientData, needsPin } = requestOf(input);
      const make = async (key: IssuedKey, pin: Uint8Array | null) => {
        const made = await key.makeCredential(request, pin);
        // Some keys report certain credentials only with the PIN, whatever was requested: only the key itself shows that.
        const asked = key.hasAny([{ relyingParty: request.relyingParty.id, id: made.credentialId }]);
        return { response: responseOf(made, clientData), hasAny: await asked.catch(() => null) };
      };
      return key => {
        if (input.pin !== undefined) return withPin(input, pin => make(key, pin));
        if (needsPin) throw new HardwareError('unavailable', NO_PIN, { data: { refusal: 'pin-not-set' } });
        return make(key, null);
      };
    }
    case 'forget': {
      const id = Buffer.from(input.credentialId ?? '', 'base64url');
      return key => withPin(input, async pin => key.deleteCredential(id, pin).then(() => ({})));
    }
    case 'rules':
      return key => withPin(input, async pin => key.setPinRules(rulesOf(input), pin).then(() => ({})));
    case 'reset':
      return async key => {
        await key.reset();
        return { state: await key.pinState() };
      };
  }
}

/** A request that names no rule is that of a program that knows only one. */
const rulesOf = ({ minPinLength, changePin = minPinLength === undefined }: IssueInput): PinRules => ({
  ...(changePin ? { forceChange: true } : {}),
  ...(minPinLength === undefined ? {} : { minLength: minPinLength }),
});

/** PINs are sent in the normal form C (CTAP 2.1, 6.5.1). The bytes are overwritten. */
async function withPin<T>({ pin }: IssueInput, send: (pin: Uint8Array) => Promise<T>): Promise<T> {
  if (pin === undefined) throw inputError('pin', 'is required for this step');
  const bytes = new TextEncoder().encode(pin.normalize('NFC'));
  try {
    return await send(bytes);
  } finally {
    bytes.fill(0);
  }
}

const refuse = (problem: string): ApiError => inputError('options', `: ${problem}`);

/** Request to the key. A credential for another site than that of the origin is never made. */
function requestOf({ origin = '', options = '' }: IssueInput): {
  readonly request: StoredCredentialRequest;
  readonly clientData: Buffer;
  readonly needsPin: boolean;
} {
  const found: Options | null = objectIn(options);
  if (found === null) throw refuse('they are not JSON');
  const { challenge, rp, user, pubKeyCredParams, excludeCredentials, extensions, attestation, authenticatorSelection } =
    found;
  const id = siteOf(origin, rp?.id);
  if (id === null) throw refuse('they are for another site than the origin');
  if (typeof challenge !== 'string' || typeof user?.id !== 'string') throw refuse('they have no challenge or no user');
  const clientData = Buffer.from(JSON.stringify({ type: 'webauthn.create', challenge, origin, crossOrigin: false }));
  const userId = Buffer.from(user.id, 'base64url');
  if (userId.length === 0 || userId.length > USER_ID_BYTES) throw refuse('the id of the user has another length');
  const named = objectsOf(pubKeyCredParams).flatMap(({ alg }) => (Number.isInteger(alg) ? (alg as number) : []));
  const algorithms = [...new Set(named)].slice(0, MOST_ALGORITHMS);
  const name = textOf(user.name) ?? 'user';
  return {
    clientData,
    needsPin: authenticatorSelection?.userVerification === 'required',
    request: {
      clientDataHash: createHash('sha256').update(clientData).digest(),
      relyingParty: { id, name: textOf(rp?.name) ?? id },
      user: { id: userId, name, displayName: textOf(user.displayName) ?? name },
      algorithms: algorithms.length > 0 ? algorithms : [ES256],
      exclude: objectsOf(excludeCredentials).flatMap(one =>
        typeof one.id === 'string' ? Buffer.from(one.id, 'base64url') : [],
      ),
      protection: extensions?.credentialProtectionPolicy === 'userVerificationRequired' ? 3 : 2,
      enterprise: attestation === 'enterprise',
      // A client gives no attestation that was not asked for (WebAuthn, 5.1.3); none is the default (5.4).
      isAnonymous: attestation === undefined || attestation === 'none',
    },
  };
}

const NOT_FRESH =
  'a key is erased only within 10 seconds after it was plugged in: unplug it, plug it in and run the command again';
const NO_PIN = 'the provider requires user verification, and no PIN of the key was entered';

/** COSE algorithm that every key has. */
const ES256 = -7;
/** More than are registered for signatures, and bytes of the id of a user (WebAuthn, 5.4.3). */
const MOST_ALGORITHMS = 32;
const USER_ID_BYTES = 64;

/** The members of creation options that reach a key, as a provider may have sent them. */
interface Options {
  readonly challenge?: unknown;
  readonly rp?: { readonly id?: unknown; readonly name?: unknown };
  readonly user?: { readonly id?: unknown; readonly name?: unknown; readonly displayName?: unknown };
  readonly pubKeyCredParams?: unknown;
  readonly excludeCredentials?: unknown;
  readonly extensions?: { readonly credentialProtectionPolicy?: unknown };
  readonly attestation?: unknown;
  readonly authenticatorSelection?: { readonly userVerification?: unknown };
}

/** Bytes that each key stores of a name (CTAP 2.1, 6.1.2). */
const NAME_BYTES = 64;
const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= NAME_BYTES ? value : null;

function responseOf({ attestationObject, credentialId }: StoredCredential, clientData: Buffer): AttestationResponse {
  const id = inBase64url(credentialId);
  const response = { clientDataJSON: inBase64url(clientData), attestationObject: inBase64url(attestationObject) };
  return { id, rawId: id, type: 'public-key', response };
}
