/** Authenticator data of a registration (WebAuthn, 6.1): fixed fields, one credential, perhaps extensions, nothing after them. */
import { ECDH } from 'node:crypto';
import { type CborMap, expectBytes, expectMap, readCbor, readFirstCbor } from '../../../drivers/protocols/cbor.ts';
import { MalformedError } from './malformed.ts';

/** Authenticator data with the credential that was made. */
export interface AuthenticatorData {
  readonly relyingPartyHash: Uint8Array;
  /** Whether the authenticator saw a touch. */
  readonly touched: boolean;
  /** Whether it has verified its person, such as by a PIN. */
  readonly verified: boolean;
  /** As a UUID in lower case. */
  readonly aaguid: string;
  readonly credentialId: Uint8Array;
  /** COSE key of the credential. */
  readonly credentialKey: CborMap;
}

const FLAG = {
  userPresent: 0x01,
  userVerified: 0x04,
  backupEligible: 0x08,
  backedUp: 0x10,
  credential: 0x40,
  extensions: 0x80,
} as const;
/** Offsets of the fields; the credential id begins after its length. */
const AT = { flags: 32, aaguid: 37, idLength: 53, id: 55 } as const;
/** Most bytes of a credential id (WebAuthn, 7.1). */
const MAX_ID = 1023;

const malformed = (problem: string) => new MalformedError('authenticator data', problem);

/** The authenticator data in an attestation object. Throws an error for what is malformed. */
export function readRegistered(attestationObject: Uint8Array): AuthenticatorData {
  const object = expectMap(readCbor(attestationObject), 'attestation object');
  return readAuthenticatorData(expectBytes(object.get('authData'), 'authenticator data'));
}

/** Reads the authenticator data of a registration. Throws MalformedError. */
export function readAuthenticatorData(bytes: Uint8Array): AuthenticatorData {
  if (bytes.length < AT.id) throw malformed('it is too short to have a credential');
  const flags = bytes[AT.flags]!;
  if (!(flags & FLAG.credential)) throw malformed('it has no credential');
  if (flags & FLAG.backedUp && !(flags & FLAG.backupEligible)) throw malformed('its flags contradict each other');
  const length = bytes[AT.idLength]! * 256 + bytes[AT.idLength + 1]!;
  if (length === 0 || length > MAX_ID || AT.id + length >= bytes.length)
    throw malformed('a credential id of this length');
  const afterId = bytes.subarray(AT.id + length);
  const key = readFirstCbor(afterId);
  expectExtensions(afterId.subarray(key.length), Boolean(flags & FLAG.extensions));
  return {
    relyingPartyHash: bytes.subarray(0, AT.flags),
    touched: Boolean(flags & FLAG.userPresent),
    verified: Boolean(flags & FLAG.userVerified),
    aaguid: uuidOf(bytes.subarray(AT.aaguid, AT.idLength)),
    credentialId: bytes.subarray(AT.id, AT.id + length),
    credentialKey: expectMap(key.value, 'credential key'),
  };
}

function expectExtensions(rest: Uint8Array, announced: boolean): void {
  if (announced !== rest.length > 0) throw malformed('its flags do not say what follows the credential');
  if (!announced) return;
  const extensions = readFirstCbor(rest);
  expectMap(extensions.value, 'extensions');
  if (extensions.length !== rest.length) throw malformed('bytes follow the extensions');
}

/** 16 bytes as a UUID in lower case. */
export function uuidOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The AAGUID of authenticators that have none, such as those of U2F. */
export const ZERO_AAGUID = '00000000-0000-0000-0000-000000000000';

/** Labels and values of COSE keys for ES256 and Ed25519 (RFC 9053). */
const COSE = {
  type: 1,
  algorithm: 3,
  curve: -1,
  x: -2,
  y: -3,
  ec2: 2,
  es256: -7,
  p256: 1,
  okp: 1,
  ed25519: 6,
} as const;

/** The public key of a COSE key for Ed25519 (RFC 9053); null if it is another key. */
export function ed25519KeyOf(key: CborMap): Uint8Array | null {
  const x = key.get(COSE.x);
  const isEd25519 = key.get(COSE.type) === COSE.okp && key.get(COSE.curve) === COSE.ed25519;
  return isEd25519 && x instanceof Uint8Array && x.length === 32 ? x : null;
}

/** The uncompressed point of a COSE key for ES256. Throws MalformedError if it is another key or no point of P-256. */
export function pointOf(key: CborMap): Uint8Array {
  const [x, y] = [key.get(COSE.x), key.get(COSE.y)];
  const isEs256 =
    key.get(COSE.type) === COSE.ec2 && key.get(COSE.algorithm) === COSE.es256 && key.get(COSE.curve) === COSE.p256;
  if (!isEs256 || !(x instanceof Uint8Array) || !(y instanceof Uint8Array) || x.length !== 32 || y.length !== 32)
    throw new MalformedError('credential key', 'it is not a key for ES256');
  const point = Buffer.concat([Uint8Array.of(4), x, y]);
  try {
    ECDH.convertKey(point, 'prime256v1');
  } catch (cause) {
    throw new MalformedError('credential key', 'it is not a point of P-256', { cause });
  }
  return point;
}
