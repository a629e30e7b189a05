/**
 * U2F: registration, and signatures with what was registered. Source: FIDO U2F Raw Message Formats 1.2, 4 and 5; FIDO CTAP 2.1,
 * 11.2.9.1.1 (CTAPHID_MSG) and 10.3 (which members of CTAP2 the response has).
 */
import { createHash } from 'node:crypto';
import { pause } from '../deadline.ts';
import type { AssertionRequest, KeyAssertion, RecognizedKey } from '../driver.ts';
import { HardwareError } from '../hardware-error.ts';
import { parseResponse, SW } from './apdu.ts';
import type { CtapChannel } from './connection.ts';
import { CTAPHID } from './gate.ts';
import { concat } from './hex.ts';

/** U2F_REGISTER with 64 bytes of data; then Le, which means any length. */
const HEAD = Uint8Array.of(0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x40);
const ANY_LENGTH = Uint8Array.of(0, 0);
/** The key waits for a touch; to CHECK_ONLY: it has the credential. */
const CONDITIONS_NOT_SATISFIED = 0x6985;
/** Milliseconds between two requests while the key waits. */
const ASK_AGAIN_AFTER = 200;

/**
 * Registers with U2F, which needs a touch and never a PIN: the response without its status word. The key stores nothing. Null if
 * the key does not support U2F. Fails with a HardwareError.
 */
export async function registerU2f(
  channel: CtapChannel,
  request: { readonly clientDataHash: Uint8Array; readonly relyingParty: string },
  signal: AbortSignal,
  onTouch: () => void,
): Promise<Uint8Array | null> {
  const command = concat(HEAD, request.clientDataHash, applicationOf(request), ANY_LENGTH);
  const response = await whenTouched(channel, command, signal, onTouch);
  if (response === null || response.status === SW.INS_NOT_SUPPORTED || response.status === SW.CLA_NOT_SUPPORTED)
    return null;
  if (response.status !== SW.OK) throw refused(response.status);
  return response.data;
}

const applicationOf = ({ relyingParty }: Pick<AssertionRequest, 'relyingParty'>): Uint8Array =>
  createHash('sha256').update(relyingParty).digest();

const refused = (status: number): HardwareError =>
  new HardwareError('protocol', `the key refuses the request (U2F status ${status.toString(16)})`);

/** The response once the key was touched; null if it does not support U2F. */
async function whenTouched(channel: CtapChannel, command: Uint8Array, signal: AbortSignal, onTouch: () => void) {
  for (;;) {
    const response = await channel.call(CTAPHID.MSG, command, signal);
    if (response === null) return null;
    const parsed = parseResponse(response);
    if (parsed.status !== CONDITIONS_NOT_SATISFIED) return parsed;
    onTouch();
    await pause(ASK_AGAIN_AFTER, signal);
  }
}

/** P1 of U2F_AUTHENTICATE: whether the key has the credential, without a touch; a signature after a touch. */
const CHECK_ONLY = 0x07;
const SIGN = 0x03;
/** A handle has its length in one byte. */
const HANDLE_BYTES = 255;
/** Presence and counter come before the signature. */
const SIGNATURE_AT = 5;

/** U2F_AUTHENTICATE as an APDU of extended length. */
function authentication(how: number, request: AssertionRequest, handle: Uint8Array): Uint8Array {
  const data = concat(request.clientDataHash, applicationOf(request), Uint8Array.of(handle.length), handle);
  return concat(Uint8Array.of(0, 2, how, 0, 0, data.length >> 8, data.length & 0xff), data, ANY_LENGTH);
}

/** The credential of the list that the key has, without a signature; null if it has none. Fails with a HardwareError. */
export async function findU2f(
  channel: CtapChannel,
  request: AssertionRequest,
  signal: AbortSignal,
): Promise<RecognizedKey | null> {
  for (const credentialId of request.credentials) {
    if (credentialId.length > HANDLE_BYTES) continue;
    const response = await channel.call(CTAPHID.MSG, authentication(CHECK_ONLY, request, credentialId), signal);
    if (response === null) return null;
    const { status } = parseResponse(response);
    if (status === CONDITIONS_NOT_SATISFIED) return { credentialId, assertion: null };
    // A check never signs: this key has not understood it.
    if (status === SW.OK) throw refused(status);
  }
  return null;
}

/** Signs with the credential of the list that the key has, which needs a touch; null if it has none. Fails with a HardwareError. */
export async function signU2f(
  channel: CtapChannel,
  request: AssertionRequest,
  signal: AbortSignal,
  onTouch: () => void,
): Promise<KeyAssertion | null> {
  const found = await findU2f(channel, request, signal);
  if (found === null) return null;
  const { credentialId } = found;
  const response = await whenTouched(channel, authentication(SIGN, request, credentialId), signal, onTouch);
  if (response === null || response.status !== SW.OK) throw refused(response?.status ?? 0);
  if (response.data.length <= SIGNATURE_AT)
    throw new HardwareError('protocol', 'the response of the key to U2F_AUTHENTICATE lacks a signature');
  const authenticatorData = concat(applicationOf(request), response.data.subarray(0, SIGNATURE_AT));
  return { credentialId, authenticatorData, signature: response.data.subarray(SIGNATURE_AT) };
}
