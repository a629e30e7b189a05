/** U2F registration over CTAPHID. Source: FIDO U2F Raw Message Formats 1.2, 4; FIDO CTAP 2.1, 11.2.9.1.1 (CTAPHID_MSG). */
import { createHash } from 'node:crypto';
import { pause } from '../deadline.ts';
import { HardwareError } from '../driver.ts';
import { parseResponse, SW } from './apdu.ts';
import type { CtapHidChannel } from './ctaphid.ts';
import { CTAPHID } from './gate.ts';
import { concat } from './hex.ts';

/** U2F_REGISTER with 64 bytes of data; then Le, which means any length. */
const HEAD = Uint8Array.of(0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x40);
const ANY_LENGTH = Uint8Array.of(0, 0);
/** The key waits for a touch. */
const CONDITIONS_NOT_SATISFIED = 0x6985;
/** Milliseconds between two requests while the key waits. */
const ASK_AGAIN_AFTER = 200;

/**
 * Registers with U2F, which needs a touch and never a PIN: the response without its status word. The key stores nothing. Null if
 * the key does not support U2F. Fails with a HardwareError.
 */
export async function registerU2f(
  channel: CtapHidChannel,
  request: { readonly clientDataHash: Uint8Array; readonly relyingParty: string },
  signal: AbortSignal,
  onTouch: () => void,
): Promise<Uint8Array | null> {
  const application = createHash('sha256').update(request.relyingParty).digest();
  const command = concat(HEAD, request.clientDataHash, application, ANY_LENGTH);
  for (;;) {
    const response = await channel.call(CTAPHID.MSG, command, signal);
    if (response === null) return null;
    const { data, status } = parseResponse(response);
    if (status === SW.OK) return data;
    if (status === SW.INS_NOT_SUPPORTED || status === SW.CLA_NOT_SUPPORTED) return null;
    if (status !== CONDITIONS_NOT_SATISFIED)
      throw new HardwareError('protocol', `the key refuses the registration (U2F status ${status.toString(16)})`);
    onTouch();
    await pause(ASK_AGAIN_AFTER, signal);
  }
}
