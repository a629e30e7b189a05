/**
 * Keys with Trussed firmware, which have a number of their own: Nitrokey 3, Nitrokey Passkey and Solo 2.
 * Source: Nitrokey/nitrokey-sdk-py (trussed/admin_app.py).
 */
import type { KeyClaims } from '../driver.ts';
import { HardwareError } from '../hardware-error.ts';
import type { ReportConnection } from './connection.ts';
import { CtapHidChannel } from './ctaphid.ts';
import { CTAPHID } from './gate.ts';
import { toHex } from './hex.ts';
import type { KeyReport } from './key-view.ts';

const UUID_BYTES = 16;
const VERSION_BYTES = 4;

/** 32 upper-case hex digits; null if the key has no number, as with firmware 1.0.0. Throws HardwareError `protocol`. */
export function parseUuid(bytes: Uint8Array): string | null {
  if (bytes.length === 0) return null;
  if (bytes.length !== UUID_BYTES) throw new HardwareError('protocol', `the key's number has ${bytes.length} bytes`);
  return bytes.some(byte => byte !== 0) ? toHex(bytes) : null;
}

/** Ten bits major, sixteen bits minor, six bits patch; the name of a test version may follow. Throws HardwareError `protocol`. */
export function parseVersion(bytes: Uint8Array): string {
  if (bytes.length < VERSION_BYTES) {
    throw new HardwareError('protocol', `the firmware version has ${bytes.length} bytes`);
  }
  const packed = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  return `${packed >>> 22}.${(packed >>> 6) & 0xffff}.${packed & 0x3f}`;
}

/** Errors that the firmware found at its start, by their bits. Source: nitrokey-sdk-py (trussed/admin_app.py, InitStatus). */
const INIT_ERRORS = [
  'NFC error',
  'internal flash error',
  'external flash error',
  'migration error',
  'SE050 error',
  'configuration error',
  'random number error',
  'external flash must be formatted',
] as const;
const VARIANTS = ['USB/IP', 'LPC55', 'NRF52'] as const;
const VARIANT_AT = 4;

/** Parses the status: errors, free blocks (3 bytes), variant of the hardware. Older firmware leaves out the later bytes. */
export function parseTrussedStatus(bytes: Uint8Array): Pick<KeyClaims, 'trussedStatus' | 'variant'> {
  const [errors] = bytes;
  if (errors === undefined) return {};
  const found = INIT_ERRORS.filter((_name, bit) => errors & (1 << bit));
  const variant = VARIANTS[bytes[VARIANT_AT] ?? -1];
  return { trussedStatus: found.length === 0 ? 'ok' : found.join(', '), ...(variant === undefined ? {} : { variant }) };
}

/** Reads number and version over CTAPHID. Fails with a HardwareError. */
export async function readTrussed(connection: ReportConnection, signal: AbortSignal): Promise<KeyReport> {
  const channel = await CtapHidChannel.open(connection, signal);
  const version = await channel.call(CTAPHID.TRUSSED_VERSION, new Uint8Array(), signal);
  const uuid = await channel.call(CTAPHID.TRUSSED_UUID, new Uint8Array(), signal);
  return {
    serial: uuid === null ? null : parseUuid(uuid),
    firmwareVersion: version === null ? null : parseVersion(version),
  };
}
