/**
 * Credentials that a key stores for sign-in at a provider, and what belongs to them: the minimal length of the PIN, and removal
 * of a credential. Source: FIDO CTAP 2.1, 6.1, 6.8 (credential management), 6.11 (configuration), 12.1 (credProtect).
 */

import { HardwareError } from '../hardware-error.ts';
import type { KeyCredential, PinRules, StoredCredential, StoredCredentialRequest } from '../issued-key.ts';
import { type CborInput, cborMap, writeCbor } from './cbor-write.ts';
import { type Authenticator, malformed, type PinToken } from './client-pin.ts';
import { descriptor, PLATFORM_MANAGED, publicKey, responseMap } from './ctap2.ts';
import { CONFIG_SET_MIN_PIN, CREDENTIAL_DELETE, CTAP2 } from './gate.ts';
import { concat } from './hex.ts';
import { lookUp, partsOf, unlessMissing } from './lookup.ts';

/** Makes a discoverable credential, which needs a touch. The token is for its relying party; null: without user verification. */
export async function makeStoredCredential(
  key: Authenticator,
  request: StoredCredentialRequest,
  token: PinToken | null,
): Promise<StoredCredential> {
  const { info } = key;
  if (info.options.get('rk') !== true) throw new HardwareError('unavailable', 'this key cannot store credentials');
  const { clientDataHash, relyingParty, user, algorithms, protection, enterprise, isAnonymous } = request;
  const exclude = await excluded(key, request, token);
  const parameters: readonly [number, CborInput | null][] = [
    [1, clientDataHash],
    [2, cborMap(Object.entries({ id: relyingParty.id, name: relyingParty.name }))],
    [3, cborMap(Object.entries({ id: user.id, name: user.name, displayName: user.displayName }))],
    [4, algorithms.map(alg => cborMap(Object.entries({ alg, type: publicKey })))],
    [5, exclude.length > 0 ? exclude.map(descriptor) : null],
    [6, protection !== null && info.extensions.includes('credProtect') ? cborMap([['credProtect', protection]]) : null],
    [7, cborMap([['rk', true]])],
    [8, token?.authenticate(clientDataHash) ?? null],
    [9, token?.protocol ?? null],
    [10, enterprise && info.options.get('ep') === true ? PLATFORM_MANAGED : null],
  ];
  const response = await key.send(CTAP2.MAKE_CREDENTIAL, parameters);
  return storedCredential(response, isAnonymous === true);
}

/** Bytes of a message that makes a credential, beside its list. */
const OTHER_BYTES = 700;

/** The part of the list that the key may have. Keys take short lists: a longer one is asked for in parts first, without a touch. */
async function excluded(
  key: Authenticator,
  { relyingParty, exclude }: StoredCredentialRequest,
  token: PinToken | null,
): Promise<readonly Uint8Array[]> {
  const [first = [], ...others] = partsOf(exclude, key.info, OTHER_BYTES);
  if (others.length === 0) return first;
  for (const part of [first, ...others]) if (await hasOneOf(key, relyingParty.id, part, token)) return part;
  return [];
}

/** The digest of nothing that anybody asked for. */
const NO_HASH = new Uint8Array(32);

/** `credentials`: no more than the key takes. */
const hasOneOf = async (
  key: Authenticator,
  relyingParty: string,
  credentials: readonly Uint8Array[],
  token: PinToken | null,
): Promise<boolean> => (await lookUp(key, { relyingParty, clientDataHash: NO_HASH, credentials }, token)) !== null;

/** Whether the key has one of these credentials; null if it does not report it, as `IssuedKey.hasAny`. */
export async function hasAnyStored(key: Authenticator, credentials: readonly KeyCredential[]): Promise<boolean | null> {
  try {
    for (const [relyingParty, list] of Map.groupBy(credentials, one => one.relyingParty))
      for (const part of partsOf(
        list.map(({ id }) => id),
        key.info,
        OTHER_BYTES,
      ))
        if (await hasOneOf(key, relyingParty, part, null)) return true;
    return false;
  } catch (error) {
    if (error instanceof HardwareError && error.data.refusal === 'pin-required') return null;
    throw error;
  }
}

/** Offset of the length of the credential id in authenticator data (WebAuthn, 6.5.1). */
const ID_LENGTH = 53;

/** The attestation object of a response. Without the attestation of the key it has the format none (WebAuthn, 8.7). */
function storedCredential(response: Uint8Array, isAnonymous: boolean): StoredCredential {
  const members = responseMap(response);
  const [format, data, statement] = [members.get(1), members.get(2), members.get(3)];
  if (typeof format !== 'string' || !(statement instanceof Map) || !(data instanceof Uint8Array))
    throw malformed('credential');
  const length = (data[ID_LENGTH] ?? 0) * 256 + (data[ID_LENGTH + 1] ?? 0);
  const credentialId = data.slice(ID_LENGTH + 2, ID_LENGTH + 2 + length);
  if (length === 0 || credentialId.length !== length) throw malformed('credential');
  const attestation = isAnonymous ? { fmt: 'none', attStmt: new Map() } : { fmt: format, attStmt: statement };
  return { attestationObject: writeCbor(new Map(Object.entries({ ...attestation, authData: data }))), credentialId };
}

/** Sets rules for the PIN; see `PinState.canKeepRules`. The token permits `configure`. */
export async function setPinRules(
  key: Authenticator,
  { minLength, forceChange }: PinRules,
  token: PinToken,
): Promise<void> {
  const rules = cborMap([
    [1, minLength ?? null],
    [3, forceChange ?? null],
  ]);
  const head = concat(new Uint8Array(32).fill(0xff), Uint8Array.of(CTAP2.CONFIG));
  await key.send(CTAP2.CONFIG, authenticated(head, CONFIG_SET_MIN_PIN, rules, token));
}

/** Removes a credential from the key; the token permits `manageCredentials`. Succeeds if the key does not have it. */
export async function deleteStoredCredential(
  key: Authenticator,
  credentialId: Uint8Array,
  token: PinToken,
): Promise<void> {
  const which = cborMap([[2, descriptor(credentialId)]]);
  const parameters = authenticated(new Uint8Array(), CREDENTIAL_DELETE, which, token);
  await unlessMissing(key.send(CTAP2.CREDENTIAL_MANAGEMENT, parameters));
}

/** The parameters of a subcommand that needs a token. `head`: what the message that the token authenticates begins with. */
const authenticated = (
  head: Uint8Array,
  subcommand: number,
  parameters: CborInput,
  { protocol, authenticate }: PinToken,
): readonly [number, CborInput][] => [
  [1, subcommand],
  [2, parameters],
  [3, protocol],
  [4, authenticate(concat(head, Uint8Array.of(subcommand), writeCbor(parameters)))],
];
