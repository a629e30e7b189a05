/**
 * Keys with Trussed firmware, which have a number of their own: Nitrokey 3, Nitrokey Passkey and Solo 2.
 * Source: Nitrokey/nitrokey-sdk-py (trussed/admin_app.py).
 */
import { HardwareError } from '../driver.ts';
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
