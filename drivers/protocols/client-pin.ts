/**
 * The PIN of a FIDO authenticator: its state, setting the first one, and tokens for commands that need it. Only what issues keys
 * uses it. A PIN is passed as bytes, which the caller overwrites. Source: FIDO CTAP 2.1, 6.5 (authenticatorClientPIN).
 */
import { createHash } from 'node:crypto';
import { HardwareError } from '../hardware-error.ts';
import type { PinState } from '../issued-key.ts';
import { type AuthenticatorInfo, type callCtap2, responseMap } from './ctap2.ts';
import { CTAP2, PIN } from './gate.ts';
import { authenticate, PinExchange, type PinProtocol } from './pin-protocols.ts';

/** A key whose FIDO interface is open. */
export interface Authenticator {
  readonly info: AuthenticatorInfo;
  /** The response to a command without its status. Fails with a HardwareError, whose `refusal` is what the key refuses. */
  send(command: number, parameters: Parameters<typeof callCtap2>[2]): Promise<Uint8Array>;
}

/** Bytes to which a new PIN is filled up, so that its length does not show; one of them is always zero. */
const PADDED = 64;
/** Bytes of the digest of a PIN that are sent. */
const HASH_BYTES = 16;

/** Permissions of a token (6.5.5.7). */
export const PERMISSION = {
  makeCredential: 0x01,
  getAssertion: 0x02,
  manageCredentials: 0x04,
  configure: 0x20,
} as const;

/** Fails with a HardwareError `unavailable` if the authenticator cannot have a PIN. */
export async function readPinState(key: Authenticator): Promise<PinState> {
  const { info } = key;
  const [protocol] = protocolsOf(info);
  const rules = {
    minLength: info.minPinLength,
    refusesSimple: info.refusesSimplePins,
    mustChange: info.forcesPinChange,
    canKeepRules: info.options.get('setMinPINLength') === true,
    freeCredentials: info.freeCredentials,
  };
  if (info.options.get('clientPin') !== true) return { isSet: false, retries: null, needsReplug: false, ...rules };
  const response = await call(key, { protocol }, PIN.retries);
  const retries = response.get(3);
  if (typeof retries !== 'number') throw malformed('PIN');
  return { isSet: true, retries, needsReplug: response.get(4) === true, ...rules };
}

/** Sets the PIN of a key that has none. `pin` is UTF-8 in NFC, of at most 63 bytes. */
export async function setPin(key: Authenticator, pin: Uint8Array): Promise<void> {
  if (pin.length >= PADDED) throw new HardwareError('protocol', `a PIN has at most ${PADDED - 1} bytes`);
  const padded = new Uint8Array(PADDED);
  padded.set(pin);
  const exchange = await startExchange(key);
  try {
    const newPin = exchange.encrypt(padded);
    await call(key, exchange, PIN.set, [
      [4, exchange.authenticate(newPin)],
      [5, newPin],
    ]);
  } finally {
    padded.fill(0);
    exchange.end();
  }
}

/** The permission to send commands, for which a PIN was entered. */
export interface PinToken {
  readonly protocol: PinProtocol;
  readonly authenticate: (message: Uint8Array) => Uint8Array;
  /** Overwrites the token. */
  readonly end: () => void;
}

/** Purpose of a token. */
interface TokenUse {
  /** Of `PERMISSION`. */
  readonly permissions: number;
  /** Absent for commands without a relying party. */
  readonly relyingParty?: string;
}

/** Enters the PIN once. A wrong one uses up a retry: the error has `refusal: 'pin-invalid'`, and it is not tried again. */
export async function enterPin(
  key: Authenticator,
  pin: Uint8Array,
  { permissions, relyingParty }: TokenUse,
): Promise<PinToken> {
  const digest = createHash('sha256').update(pin).digest();
  const exchange = await startExchange(key);
  try {
    const pinHash = [6, exchange.encrypt(digest.subarray(0, HASH_BYTES))] as const;
    const response =
      key.info.options.get('pinUvAuthToken') === true
        ? await call(key, exchange, PIN.tokenFor, [pinHash, [9, permissions], [10, relyingParty ?? null]])
        : await call(key, exchange, PIN.token, [pinHash]);
    const encrypted = response.get(2);
    if (!(encrypted instanceof Uint8Array)) throw malformed('PIN');
    const token = exchange.decrypt(encrypted);
    const { protocol } = exchange;
    return { protocol, authenticate: message => authenticate(protocol, token, message), end: () => token.fill(0) };
  } finally {
    digest.fill(0);
    exchange.end();
  }
}

type Protocols = readonly [first: PinProtocol, ...others: PinProtocol[]];

/** In the order in which the key prefers them (CTAP 2.1, 6.4). Authenticators of CTAP 2.0 list none and have protocol one. */
function protocolsOf({ options, pinProtocols }: AuthenticatorInfo): Protocols {
  const [first, ...others] = (pinProtocols.length === 0 ? [1] : pinProtocols).filter(one => one === 1 || one === 2);
  if (options.has('clientPin') && first !== undefined) return [first, ...others];
  throw new HardwareError('unavailable', 'this key cannot have a PIN');
}

/** By the first protocol that the key agrees on a key with: some list protocol two and refuse it. No PIN is sent before. */
async function startExchange(key: Authenticator): Promise<PinExchange> {
  const [first, ...others] = protocolsOf(key.info);
  let refusal: unknown;
  for (const protocol of [first, ...others]) {
    const response = await call(key, { protocol }, PIN.keyAgreement).catch(refused => {
      if (!(refused instanceof HardwareError) || refused.code !== 'protocol') throw refused;
      refusal ??= refused;
      return null;
    });
    if (response === null) continue;
    const theirs = response.get(1);
    if (!(theirs instanceof Map)) throw malformed('PIN');
    return new PinExchange(protocol, theirs);
  }
  throw refusal;
}

const call = async (
  key: Authenticator,
  { protocol, platformKey = null }: Pick<PinExchange, 'protocol'> & Partial<Pick<PinExchange, 'platformKey'>>,
  subcommand: number,
  parameters: Parameters<Authenticator['send']>[1] = [],
) => responseMap(await key.send(CTAP2.CLIENT_PIN, [[1, protocol], [2, subcommand], [3, platformKey], ...parameters]));

/** The error for a response of the key that cannot be read. */
export const malformed = (subject: 'PIN' | 'credential'): HardwareError =>
  new HardwareError('protocol', `the response of the key about its ${subject} is invalid`);
