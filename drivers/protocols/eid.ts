/** The EID of an eUICC. Sources: GSMA SGP.02 and SGP.22 (ISD-R, GET EID), ETSI TS 102 221 (TERMINAL CAPABILITY), lpac, pySim. */
import { HardwareError } from '../hardware-error.ts';
import { CLA, commandApdu, exchange, INS, query, selectApplication, succeeded } from './apdu.ts';
import type { CardConnection } from './connection.ts';
import { fromHex, toHex } from './hex.ts';

/** AID of the issuer security domain root, which answers for an eUICC. Some makers use another one. */
const ISD_R = 'A0000005591010FFFFFFFF8900000100';

/** Tag A9: additional interfaces supported; 81 extended logical channels (none), 82 and 83 eUICC capabilities. */
const TERMINAL_CAPABILITY = commandApdu({
  cla: CLA.PROPRIETARY,
  ins: INS.TERMINAL_CAPABILITY,
  data: fromHex('A9088100820101830107'),
});
const OPEN_CHANNEL = commandApdu({ ins: INS.MANAGE_CHANNEL, le: 1 });
const closeChannel = (channel: number) => commandApdu({ ins: INS.MANAGE_CHANNEL, p1: 0x80, p2: channel, le: 0 });

/** GetEuiccDataRequest (BF3E) for tag 5A, in one last block (P1 91). */
const getEid = (channel: number) =>
  commandApdu({ cla: CLA.PROPRIETARY | channel, ins: INS.STORE_DATA, p1: 0x91, data: fromHex('BF3E035C015A'), le: 0 });

/** GetEuiccInfo1Request (BF20), in one last block. */
const getInfo = (channel: number) =>
  commandApdu({ cla: CLA.PROPRIETARY | channel, ins: INS.STORE_DATA, p1: 0x91, data: fromHex('BF2000'), le: 0 });

/** GetEuiccDataResponse (BF3E, 18 bytes) with the EID (tag 5A, 16 bytes). */
const EID_PREFIX = 'BF3E125A10';
const RESPONSE_BYTES = 21;
const LAST_CHANNEL = 3;

/** Reads the EID over a new logical channel, and closes that channel. Null if the card is not an eUICC. Fails with a HardwareError. */
export async function readEid(
  card: CardConnection,
  signal: AbortSignal,
  applications: readonly string[] = [ISD_R],
): Promise<string | null> {
  const data = await readEuicc(card, signal, applications, getEid);
  return data && parseEid(data);
}

/** Reads EUICCInfo1 as `readEid` reads the EID: the bytes as the eUICC gives them. */
export function readEuiccInfo(
  card: CardConnection,
  signal: AbortSignal,
  applications: readonly string[] = [ISD_R],
): Promise<Uint8Array | null> {
  return readEuicc(card, signal, applications, getInfo);
}

async function readEuicc(
  card: CardConnection,
  signal: AbortSignal,
  applications: readonly string[],
  request: (channel: number) => Uint8Array,
): Promise<Uint8Array | null> {
  // Without it some eUICCs refuse to open a channel. The response does not matter.
  await exchange(card, TERMINAL_CAPABILITY, signal);
  for (const application of applications) {
    const opened = await exchange(card, OPEN_CHANNEL, signal);
    const channel = opened.data[0] ?? 0;
    if (!succeeded(opened) || opened.data.length !== 1 || channel < 1 || channel > LAST_CHANNEL) return null;
    try {
      const selected = await query(card, selectApplication(application, channel), signal);
      const data = selected && (await query(card, request(channel), signal));
      if (data !== null) return data;
    } finally {
      // If this fails as well, the first error is the one that explains why.
      await exchange(card, closeChannel(channel), signal).catch(() => undefined);
    }
  }
  return null;
}

/**
 * Parses the response to GET EID: 32 decimal digits without swapped nibbles, valid if the number mod 97 is 1. Throws
 * HardwareError `protocol` for anything else.
 */
export function parseEid(data: Uint8Array): string {
  const hex = toHex(data);
  if (data.length !== RESPONSE_BYTES || !hex.startsWith(EID_PREFIX)) {
    throw new HardwareError('protocol', 'the response of the eUICC is not an EID');
  }
  const eid = hex.slice(EID_PREFIX.length);
  if (!/^\d{32}$/.test(eid)) throw new HardwareError('protocol', 'the EID is not 32 decimal digits');
  if (BigInt(eid) % 97n !== 1n) throw new HardwareError('protocol', 'the check digits of the EID are wrong');
  return eid;
}
