import { HardwareError } from '../../driver.ts';
import { exchange, succeeded } from '../exchange.ts';
import { concat, fromHex, toHex } from '../hex.ts';
import type { Connection } from './connection.ts';

/** The issuer security domain that answers for an eUICC (GSMA SGP.02 and SGP.22). Some makers use another one. */
export const ISD_R = 'A0000005591010FFFFFFFF8900000100';

const TERMINAL_CAPABILITY = fromHex('80AA00000AA9088100820101830107');
const OPEN_CHANNEL = fromHex('0070000001');
const GET_EID = fromHex('E2910006BF3E035C015A00');

/** Reads the EID over a logical channel of its own, which is closed again. Null: the card is no eUICC. */
export async function readEid(
  connection: Connection,
  signal: AbortSignal,
  applications: readonly string[] = [ISD_R],
): Promise<string | null> {
  // Without it some eUICCs deny that they have a channel to give; what it answers tells nothing.
  await exchange(connection, TERMINAL_CAPABILITY, signal);
  for (const application of applications) {
    const opened = await exchange(connection, OPEN_CHANNEL, signal);
    const channel = opened.data[0] ?? 0;
    if (!succeeded(opened) || opened.data.length !== 1 || channel < 1 || channel > 3) return null;
    try {
      const eid = await askOnChannel(connection, signal, channel, fromHex(application));
      if (eid !== null) return eid;
    } finally {
      await close(connection, signal, channel);
    }
  }
  return null;
}

async function askOnChannel(
  connection: Connection,
  signal: AbortSignal,
  channel: number,
  application: Uint8Array,
): Promise<string | null> {
  const select = concat(Uint8Array.of(channel, 0xa4, 0x04, 0x00, application.length), application);
  if (!succeeded(await exchange(connection, select, signal))) return null;
  const answer = await exchange(connection, concat(Uint8Array.of(0x80 | channel), GET_EID), signal);
  return succeeded(answer) ? parseEid(answer.data) : null;
}

/** A card that is gone or dumb by now must not hide why: the first error counts, so this one is dropped. */
async function close(connection: Connection, signal: AbortSignal, channel: number): Promise<void> {
  await exchange(connection, Uint8Array.of(0x00, 0x70, 0x80, channel, 0x00), signal).catch(() => undefined);
}

/** The EID in the answer to GET EID (`BF3E 12 5A 10` and 16 bytes). Throws `protocol` for anything else. */
export function parseEid(data: Uint8Array): string {
  if (data.length !== 21 || toHex(data.subarray(0, 5)) !== 'BF3E125A10') {
    throw new HardwareError('protocol', 'the eUICC answered something else than an EID');
  }
  const eid = toHex(data.subarray(5));
  if (!/^\d{32}$/.test(eid)) throw new HardwareError('protocol', 'the EID is not 32 decimal digits');
  if (BigInt(eid) % 97n !== 1n) throw new HardwareError('protocol', 'the check digits of the EID do not hold');
  return eid;
}
