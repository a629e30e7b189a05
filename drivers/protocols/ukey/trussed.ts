/** Nitrokey 3, Nitrokey Passkey and Solo 2: keys of the Trussed firmware, which tell a number of the unit's own. */
import { HardwareError } from '../../driver.ts';
import { CtapHid } from '../ctaphid.ts';
import type { ReportConnection } from './connection.ts';
import type { Answer } from './sources.ts';

const UUID = 0x62;
const VERSION = 0x61;
const UUID_BYTES = 16;

/** 32 upper-case hex digits; null where the firmware has none to tell. Fails with HardwareError `protocol`. */
export function parseUuid(bytes: Uint8Array): string | null {
  if (bytes.length === 0) return null;
  if (bytes.length !== UUID_BYTES) throw new HardwareError('protocol', `the key's number has ${bytes.length} bytes`);
  return bytes.some(byte => byte !== 0) ? Buffer.from(bytes).toString('hex').toUpperCase() : null;
}

/** Ten bits of major, sixteen of minor, six of patch; a name for a test version may follow. */
export function parseVersion(bytes: Uint8Array): string {
  if (bytes.length < 4) throw new HardwareError('protocol', `the firmware version has ${bytes.length} bytes`);
  const packed = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  return `${packed >>> 22}.${(packed >>> 6) & 0xffff}.${packed & 0x3f}`;
}

/** Fails with a HardwareError. */
export async function askTrussed(connection: ReportConnection, signal: AbortSignal): Promise<Answer> {
  const channel = await CtapHid.open(connection, signal);
  const version = await channel.call(VERSION, new Uint8Array(), signal);
  const uuid = await channel.call(UUID, new Uint8Array(), signal);
  return {
    serial: uuid === null ? null : parseUuid(uuid),
    firmwareVersion: version === null ? null : parseVersion(version),
  };
}
