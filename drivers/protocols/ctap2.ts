/**
 * CTAP2: what an authenticator reports about itself, and a credential that is made for its attestation alone: it is
 * not stored on the key, and signatures with such a credential. Source: FIDO CTAP 2.2, 6.1 (authenticatorMakeCredential),
 * 6.2 (authenticatorGetAssertion), 6.4 (authenticatorGetInfo), 8.2 (status codes).
 */
import type { AssertionRequest, KeyAssertion } from '../driver.ts';
import { HardwareError, type KeyRefusal } from '../hardware-error.ts';
import { type Cbor, type CborMap, readCbor } from './cbor.ts';
import { type CborInput, cborMap, writeCbor } from './cbor-write.ts';
import type { CtapChannel } from './connection.ts';
import { MAX_MESSAGE_BYTES } from './ctaphid-packets.ts';
import { CTAP2, CTAPHID } from './gate.ts';
import { concat } from './hex.ts';
import { MalformedError } from './malformed.ts';

/** Claims of an authenticator; empty or null where it reports nothing. */
export interface AuthenticatorInfo {
  readonly versions: readonly string[];
  /** 16 bytes. */
  readonly aaguid: Uint8Array | null;
  readonly options: ReadonlyMap<string, boolean>;
  /** In the maker's own numbering. */
  readonly firmware: number | null;
  readonly certifications: ReadonlyMap<string, number>;
  readonly attestationFormats: readonly string[];
  readonly extensions: readonly string[];
  /** PIN/UV auth protocols, the preferred one first. */
  readonly pinProtocols: readonly number[];
  /** Minimum length of a PIN, in code points. */
  readonly minPinLength: number;
  /** The PIN must be changed before it can be used. */
  readonly forcesPinChange: boolean;
  /** It refuses PINs that it finds too simple. */
  readonly refusesSimplePins: boolean;
  /** Credentials that can still be stored; null if the key does not say it. */
  readonly freeCredentials: number | null;
  /** Bytes of a message, and credentials in one list, that it takes at most. A message is never longer than CTAPHID carries. */
  readonly maxMessage: number;
  readonly maxList: number;
}

/** Keys of the response to getInfo. */
const INFO = {
  versions: 1,
  extensions: 2,
  aaguid: 3,
  options: 4,
  maxMessage: 5,
  pinProtocols: 6,
  maxList: 7,
  forcesPinChange: 0x0c,
  minPinLength: 0x0d,
  firmware: 0x0e,
  certifications: 0x13,
  freeCredentials: 0x14,
  formats: 0x16,
  refusesSimplePins: 0x1b,
} as const;
/** Bytes of a message that each key takes (6.4). */
const MESSAGE = 1024;
/** The shortest PIN of an authenticator that names none (CTAP 2.1, 6.5.1). */
const MIN_PIN = 4;
const AAGUID_BYTES = 16;

/** Asks an authenticator about itself; null if it does not support CTAP2. Fails with a HardwareError. */
export async function getInfo(channel: CtapChannel, signal: AbortSignal): Promise<AuthenticatorInfo | null> {
  const response = await channel.call(CTAPHID.CBOR, Uint8Array.of(CTAP2.GET_INFO), signal);
  if (response === null || response[0] === STATUS.INVALID_COMMAND) return null;
  if (response[0] !== STATUS.OK) throw refused(response[0]);
  return parseInfo(response.subarray(1));
}

/** Parses the response to getInfo without its status. Throws HardwareError `protocol`. */
export function parseInfo(bytes: Uint8Array): AuthenticatorInfo {
  const map = read(bytes);
  if (!(map instanceof Map)) throw new HardwareError('protocol', 'the response of the key to getInfo is not a map');
  const aaguid = map.get(INFO.aaguid);
  const firmware = map.get(INFO.firmware);
  return {
    versions: textsOf(map.get(INFO.versions)),
    aaguid: aaguid instanceof Uint8Array && aaguid.length === AAGUID_BYTES ? aaguid : null,
    options: namedOf(map.get(INFO.options), (value): value is boolean => typeof value === 'boolean'),
    firmware: typeof firmware === 'number' && firmware >= 0 ? firmware : null,
    certifications: namedOf(map.get(INFO.certifications), (value): value is number => typeof value === 'number'),
    attestationFormats: textsOf(map.get(INFO.formats)),
    extensions: textsOf(map.get(INFO.extensions)),
    pinProtocols: numbersOf(map.get(INFO.pinProtocols)),
    minPinLength: countOf(map.get(INFO.minPinLength)) ?? MIN_PIN,
    forcesPinChange: map.get(INFO.forcesPinChange) === true,
    refusesSimplePins: map.get(INFO.refusesSimplePins) === true,
    freeCredentials: countOf(map.get(INFO.freeCredentials)),
    maxMessage: Math.min(countOf(map.get(INFO.maxMessage)) ?? MESSAGE, MAX_MESSAGE_BYTES),
    maxList: countOf(map.get(INFO.maxList)) || Number.POSITIVE_INFINITY,
  };
}

const countOf = (value: Cbor | undefined): number | null => (typeof value === 'number' && value >= 0 ? value : null);
const numbersOf = (value: Cbor | undefined): number[] =>
  Array.isArray(value) ? value.filter((one: Cbor) => typeof one === 'number') : [];

function read(bytes: Uint8Array): Cbor {
  try {
    return readCbor(bytes);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    throw new HardwareError('protocol', `the response of the key is invalid (${error.message})`, { cause: error });
  }
}

const textsOf = (value: Cbor | undefined): string[] =>
  Array.isArray(value) ? value.filter((one: Cbor) => typeof one === 'string') : [];

function namedOf<V extends Cbor>(value: Cbor | undefined, isValue: (one: Cbor) => one is V): Map<string, V> {
  const named = new Map<string, V>();
  if (!(value instanceof Map)) return named;
  for (const [name, one] of value as CborMap) if (typeof name === 'string' && isValue(one)) named.set(name, one);
  return named;
}

/** Whether the authenticator demands a PIN or a fingerprint for a credential that it does not store. */
export function needsVerification({ options }: AuthenticatorInfo): boolean {
  if (options.get('alwaysUv') === true) return true;
  if (options.get('makeCredUvNotRqd') === true) return false;
  return options.get('clientPin') === true || options.get('uv') === true;
}

/** Purpose of the credential. */
interface CredentialRequest {
  readonly clientDataHash: Uint8Array;
  readonly relyingParty: string;
  /** Asks for an attestation that names the unit. */
  readonly enterprise: boolean;
}

/** The platform chooses the relying parties for which an enterprise attestation is given (CTAP 2.2, 7.1.3). */
export const PLATFORM_MANAGED = 2;
const ES256 = -7;
const NAME = 'devmgr';
/** The type of each credential. */
export const publicKey = 'public-key';

/** How a list names a credential. */
export const descriptor = (id: Uint8Array): CborInput =>
  new Map<string, CborInput>(Object.entries({ id, type: publicKey }));

/** The command with its parameters in the canonical order of CTAP2. */
const credentialCommand = ({ clientDataHash, relyingParty, enterprise }: CredentialRequest): Uint8Array =>
  request(CTAP2.MAKE_CREDENTIAL, [
    [1, clientDataHash],
    [2, new Map(Object.entries({ id: relyingParty, name: NAME }))],
    [3, new Map<string, CborInput>(Object.entries({ id: Uint8Array.of(0), name: NAME, displayName: NAME }))],
    [4, [new Map<string, CborInput>(Object.entries({ alg: ES256, type: publicKey }))]],
    [10, enterprise ? PLATFORM_MANAGED : null],
  ]);

/** A command with the members of its map that are not null. */
const request = (command: number, parameters: Parameters<typeof cborMap>[0]): Uint8Array =>
  parameters.length === 0 ? Uint8Array.of(command) : concat(Uint8Array.of(command), writeCbor(cborMap(parameters)));

/** Status codes of CTAP2. */
const STATUS = {
  OK: 0x00,
  INVALID_COMMAND: 0x01,
  DENIED: 0x27,
  KEEPALIVE_CANCEL: 0x2d,
  USER_ACTION_TIMEOUT: 0x2f,
  PIN_INVALID: 0x31,
  VERIFICATION_BLOCKED: 0x3c,
  ACTION_TIMEOUT: 0x3a,
} as const;
/** A PIN is wrong, blocked, missing or required, and the like. */
const isAboutPin = (status: number): boolean =>
  (status >= STATUS.PIN_INVALID && status <= 0x38) || status === STATUS.VERIFICATION_BLOCKED;

/** The keepalive with which a key reports that it waits for a touch. */
const WAITS_FOR_TOUCH = 2;

/** Reports when a key waits for a touch. */
const touchListener =
  (onTouch: () => void) =>
  (status: number): void => {
    if (status === WAITS_FOR_TOUCH) onTouch();
  };

/**
 * Makes a credential that is not stored, which needs a touch: the response without its status. Null if the key demands a PIN.
 * Fails with a HardwareError.
 */
export async function makeCredential(
  channel: CtapChannel,
  wanted: CredentialRequest,
  signal: AbortSignal,
  onTouch: () => void,
): Promise<Uint8Array | null> {
  const response = await channel.call(CTAPHID.CBOR, credentialCommand(wanted), signal, touchListener(onTouch));
  const status = response?.[0];
  if (response !== null && status === STATUS.OK) return response.subarray(1);
  if (status !== undefined && isAboutPin(status)) return null;
  throw refused(status);
}

/** Options of a command. */
interface CallWork {
  readonly signal: AbortSignal;
  /** Called when the key waits for a touch. */
  readonly onTouch?: () => void;
}

/** The response to a command without its status. Fails with a HardwareError, whose `refusal` is what the key refuses. */
export async function callCtap2(
  channel: CtapChannel,
  command: number,
  parameters: Parameters<typeof cborMap>[0],
  { signal, onTouch = () => undefined }: CallWork,
): Promise<Uint8Array> {
  const response = await channel.call(CTAPHID.CBOR, request(command, parameters), signal, touchListener(onTouch));
  if (response?.[0] !== STATUS.OK) throw refused(response?.[0]);
  return response.subarray(1);
}

/** The map in a response; empty if there is none. Throws HardwareError `protocol`. */
export function responseMap(bytes: Uint8Array): CborMap {
  const map = bytes.length === 0 ? new Map() : read(bytes);
  if (map instanceof Map) return map;
  throw new HardwareError('protocol', 'the response of the key is not a map');
}

/** Refusals of a key by status, with the text for the operator. */
const refusals: ReadonlyMap<number, readonly [KeyRefusal, string]> = new Map([
  [0x19, ['excluded', 'the key already has a credential of this person at the provider']],
  [0x28, ['full', 'the key has no room for another credential: remove one, or use another key']],
  [0x2e, ['no-credential', 'the key does not have the credential']],
  [0x31, ['pin-invalid', 'the PIN is wrong: it was entered once and is not tried again']],
  [0x32, ['pin-blocked', 'the key has blocked its PIN after too many wrong entries: only a reset unblocks it']],
  [0x34, ['pin-replug', 'the key must be plugged in again before it accepts a PIN']],
  [0x35, ['pin-not-set', 'the key has no PIN']],
  [0x36, ['pin-required', 'the key requires its PIN']],
  [0x37, ['pin-policy', 'the key refuses the PIN: it is too short or too simple, or it has to be changed first']],
  [
    0x30,
    ['not-allowed', 'the key does not allow that now: a reset is possible within 10 seconds after it was plugged in'],
  ],
] as const);

/** Signs with one of the credentials, which needs a touch and no PIN. Fails with a HardwareError. */
export async function getAssertion(
  channel: CtapChannel,
  { clientDataHash, relyingParty, credentials }: AssertionRequest,
  work: CallWork,
): Promise<KeyAssertion> {
  const parameters = [
    [1, relyingParty],
    [2, clientDataHash],
    [3, credentials.map(descriptor)],
  ] as const;
  return assertionIn(await callCtap2(channel, CTAP2.GET_ASSERTION, parameters, work).catch(cannotSign), credentials);
}

/** The signature in a response. Throws HardwareError `protocol`, also if it is made with a credential that is not in the list. */
export function assertionIn(response: Uint8Array, credentials: readonly Uint8Array[]): KeyAssertion {
  const map = responseMap(response);
  const [credential, authenticatorData, signature] = [map.get(1), map.get(2), map.get(3)];
  if (!(authenticatorData instanceof Uint8Array) || !(signature instanceof Uint8Array))
    throw new HardwareError('protocol', 'the response of the key to getAssertion lacks a signature');
  // A key may leave the id out if it was given one alone.
  const named = credential instanceof Map ? credential.get('id') : credentials.length === 1 ? credentials[0] : null;
  if (!(named instanceof Uint8Array) || !credentials.some(id => Buffer.compare(id, named) === 0))
    throw new HardwareError(
      'protocol',
      'the response of the key to getAssertion names a credential that was not asked for',
    );
  return { credentialId: named, authenticatorData, signature };
}

function cannotSign(error: unknown): never {
  const refusal = error instanceof HardwareError ? error.data.refusal : undefined;
  if (refusal === 'no-credential') throw new HardwareError('unavailable', NO_CREDENTIAL);
  if (refusal?.startsWith('pin-')) throw new HardwareError('unavailable', SIGNS_WITH_PIN);
  throw error;
}

/** Why a key does not sign with a credential. */
export const NO_CREDENTIAL =
  'this key does not have the credential: it is another key, or its FIDO application was reset since it was proved';
/** Why a key with a PIN does not sign with a credential. */
export const SIGNS_WITH_PIN =
  'this key requires a PIN for every signature, and devmgr does not ask for the PIN to sign a receipt';

function refused(status: number | undefined): HardwareError {
  if (status === STATUS.USER_ACTION_TIMEOUT || status === STATUS.ACTION_TIMEOUT)
    return new HardwareError('timeout', 'the key was not touched in time: start again and touch it when it blinks');
  if (status === STATUS.KEEPALIVE_CANCEL) return new HardwareError('aborted', 'this was canceled at the key');
  if (status === STATUS.DENIED) return new HardwareError('protocol', 'the key refuses to make a credential or to sign');
  const [refusal, problem] = refusals.get(status ?? -1) ?? [];
  if (problem !== undefined) return new HardwareError('protocol', problem, { data: { refusal } });
  const code = status === undefined ? 'an empty answer' : `CTAP2 status ${status.toString(16).padStart(2, '0')}`;
  return new HardwareError('protocol', `the key refuses the request (${code})`);
}
