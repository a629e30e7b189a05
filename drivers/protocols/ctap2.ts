/**
 * CTAP2 over CTAPHID: what an authenticator reports about itself, and a credential that is made for its attestation alone: it is
 * not stored on the key. Source: FIDO CTAP 2.2, 6.1 (authenticatorMakeCredential), 6.4 (authenticatorGetInfo), 8.2 (status codes).
 */
import { HardwareError } from '../driver.ts';
import { type Cbor, type CborMap, readCbor } from './cbor.ts';
import type { CtapHidChannel } from './ctaphid.ts';
import { CTAP2, CTAPHID } from './gate.ts';
import { concat } from './hex.ts';
import { MalformedError } from './malformed.ts';

/** What an authenticator reports about itself; empty or null where it reports nothing. */
export interface AuthenticatorInfo {
  readonly versions: readonly string[];
  /** 16 bytes. */
  readonly aaguid: Uint8Array | null;
  readonly options: ReadonlyMap<string, boolean>;
  /** In the maker's own numbering. */
  readonly firmware: number | null;
  readonly certifications: ReadonlyMap<string, number>;
  readonly attestationFormats: readonly string[];
}

/** Keys of the response to getInfo. */
const INFO = { versions: 1, aaguid: 3, options: 4, firmware: 0x0e, certifications: 0x13, formats: 0x16 } as const;
const AAGUID_BYTES = 16;

/** Asks an authenticator about itself; null if it does not support CTAP2. Fails with a HardwareError. */
export async function getInfo(channel: CtapHidChannel, signal: AbortSignal): Promise<AuthenticatorInfo | null> {
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
  };
}

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

/** What the credential is made for. */
interface CredentialRequest {
  readonly clientDataHash: Uint8Array;
  readonly relyingParty: string;
  /** Asks for an attestation that names the unit. */
  readonly enterprise: boolean;
}

/** The platform chooses the relying parties for which an enterprise attestation is given (CTAP 2.2, 7.1.3). */
const PLATFORM_MANAGED = 2;
const ES256 = -7;
const NAME = 'devmgr';

/** The command with its parameters in the canonical order of CTAP2. */
function credentialCommand({ clientDataHash, relyingParty, enterprise }: CredentialRequest): Uint8Array {
  const parameters: CborInput[] = [
    1,
    clientDataHash,
    2,
    new Map([
      ['id', relyingParty],
      ['name', NAME],
    ]),
    3,
    new Map<string, CborInput>([
      ['id', Uint8Array.of(0)],
      ['name', NAME],
      ['displayName', NAME],
    ]),
    4,
    [
      new Map<string, CborInput>([
        ['alg', ES256],
        ['type', 'public-key'],
      ]),
    ],
    ...(enterprise ? [10, PLATFORM_MANAGED] : []),
  ];
  return concat(Uint8Array.of(CTAP2.MAKE_CREDENTIAL), head(5, parameters.length / 2), ...parameters.map(write));
}

type CborInput = number | string | Uint8Array | readonly CborInput[] | ReadonlyMap<string, CborInput>;

function write(value: CborInput): Uint8Array {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return concat(head(3, Buffer.byteLength(value)), Buffer.from(value));
  if (value instanceof Uint8Array) return concat(head(2, value.length), value);
  if (value instanceof Map)
    return concat(head(5, value.size), ...[...value].flatMap(([name, one]) => [write(name), write(one)]));
  const items = value as readonly CborInput[];
  return concat(head(4, items.length), ...items.map(write));
}

/** Everything that is written here has fewer than 256 items or bytes. */
const head = (major: number, argument: number): Uint8Array =>
  argument < 24 ? Uint8Array.of((major << 5) | argument) : Uint8Array.of((major << 5) | 24, argument);

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

/**
 * Makes a credential that is not stored, which needs a touch: the response without its status. Null if the key demands a PIN.
 * Fails with a HardwareError.
 */
export async function makeCredential(
  channel: CtapHidChannel,
  request: CredentialRequest,
  signal: AbortSignal,
  onTouch: () => void,
): Promise<Uint8Array | null> {
  const onKeepalive = (status: number): void => {
    if (status === WAITS_FOR_TOUCH) onTouch();
  };
  const response = await channel.call(CTAPHID.CBOR, credentialCommand(request), signal, onKeepalive);
  const status = response?.[0];
  if (response !== null && status === STATUS.OK) return response.subarray(1);
  if (status !== undefined && isAboutPin(status)) return null;
  throw refused(status);
}

function refused(status: number | undefined): HardwareError {
  if (status === STATUS.USER_ACTION_TIMEOUT || status === STATUS.ACTION_TIMEOUT)
    return new HardwareError('timeout', 'the key was not touched in time: start again and touch it when it blinks');
  if (status === STATUS.KEEPALIVE_CANCEL) return new HardwareError('aborted', 'the proof was canceled at the key');
  if (status === STATUS.DENIED) return new HardwareError('protocol', 'the key refuses to make a credential');
  const code = status === undefined ? 'an empty answer' : `CTAP2 status ${status.toString(16).padStart(2, '0')}`;
  return new HardwareError('protocol', `the key refuses the request (${code})`);
}
