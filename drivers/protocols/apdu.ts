/**
 * Command and response APDUs of smart cards: building commands, and following the responses of T=0 cards.
 * Sources: ISO/IEC 7816-4 (instructions, status words), ETSI TS 102 221 and TS 151 011 (SIM cards).
 */
import { HardwareError } from '../hardware-error.ts';
import type { CardConnection } from './connection.ts';
import { allowApdu } from './gate.ts';
import { concat, fromHex } from './hex.ts';

/** Class bytes. */
export const CLA = {
  /** Inter-industry commands on the basic channel. A logical channel is in the low two bits. */
  ISO: 0x00,
  /** Commands of GlobalPlatform, ETSI and the makers. A logical channel is in the low two bits. */
  PROPRIETARY: 0x80,
  /** SIM cards of the second generation (TS 151 011). */
  CLASSIC_SIM: 0xa0,
  /** Commands to the reader, not to the card (PC/SC part 3). */
  READER: 0xff,
} as const;

/** Instruction bytes. */
export const INS = {
  MANAGE_CHANNEL: 0x70,
  SELECT: 0xa4,
  INTERNAL_AUTHENTICATE: 0x88,
  TERMINAL_CAPABILITY: 0xaa,
  READ_BINARY: 0xb0,
  GET_RESPONSE: 0xc0,
  GET_DATA: 0xca,
  STORE_DATA: 0xe2,
} as const;

/** P1 of SELECT: the data is a file id or an application id (AID). */
export const SELECT_BY = { FILE_ID: 0x00, AID: 0x04 } as const;

/** Status words. */
export const SW = {
  OK: 0x9000,
  INS_NOT_SUPPORTED: 0x6d00,
  CLA_NOT_SUPPORTED: 0x6e00,
} as const;

/** First byte of those status words whose second byte is a number. */
export const SW1 = {
  /** This many more bytes: fetch them with GET RESPONSE. */
  MORE_DATA: 0x61,
  /** Success with a warning. */
  WARNING: 0x62,
  /** Wrong Le: send the command again with this one. */
  WRONG_LE: 0x6c,
  /** Success; the card has a proactive command waiting. devmgr never fetches that command. */
  OK_PROACTIVE: 0x91,
  /** As MORE_DATA, in class A0 only. */
  MORE_DATA_CLASSIC: 0x9f,
} as const;

const LOGICAL_CHANNEL = 0x03;
const LC_AT = 4;
const HEADER_BYTES = 4;
const STATUS_BYTES = 2;

/** The parts of a command APDU, each one byte except `data`. */
interface ApduCommand {
  /** Default: ISO. */
  readonly cla?: number;
  readonly ins: number;
  /** Default: 0. */
  readonly p1?: number;
  /** Default: 0. */
  readonly p2?: number;
  /** At most 255 bytes. Default: none, and no Lc. */
  readonly data?: Uint8Array;
  /** Length of the response data; 0 means 256. Default: no Le. */
  readonly le?: number;
}

/** Builds a short command APDU. Throws a RangeError for too much data: that is a mistake of the caller. */
export function commandApdu({ cla = CLA.ISO, ins, p1 = 0, p2 = 0, data, le }: ApduCommand): Uint8Array {
  if (data !== undefined && data.length > 0xff) throw new RangeError(`${data.length} bytes of data in a short APDU`);
  return Uint8Array.of(cla, ins, p1, p2, ...(data ? [data.length, ...data] : []), ...(le === undefined ? [] : [le]));
}

/** SELECT of an application by its AID in hex, on a logical channel (0: the basic one). */
export function selectApplication(aid: string, channel = 0): Uint8Array {
  return commandApdu({ cla: CLA.ISO | channel, ins: INS.SELECT, p1: SELECT_BY.AID, data: fromHex(aid) });
}

/** The outcome of a command: all data without status bytes, and the last status word. */
export interface CardResponse {
  readonly data: Uint8Array;
  readonly status: number;
}

/** A card that keeps announcing more data must not occupy the reader forever. */
const MAX_ROUNDS = 64;

/** 9000 or 91xx. */
export function succeeded({ status }: CardResponse): boolean {
  return status === SW.OK || status >> 8 === SW1.OK_PROACTIVE;
}

/**
 * Sends one command and follows the statuses with which a T=0 card asks for another command: 61xx and 9Fxx (fetch xx
 * bytes), 6Cxx (repeat with Le xx). A refusal by the card is a response and not an error. Fails with a HardwareError. Throws a
 * RangeError for a command that must never be sent.
 */
export async function exchange(card: CardConnection, apdu: Uint8Array, signal: AbortSignal): Promise<CardResponse> {
  const received: Uint8Array[] = [];
  let command = apdu;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    allowApdu(command);
    const { data, status } = parseResponse(await card.transmit(command, signal));
    received.push(data);
    const next = followUp(command, status, received.length === 1);
    if (next === null) return { data: concat(...received), status };
    command = next;
  }
  throw new HardwareError('protocol', 'the card keeps announcing more data; try again, or use another reader');
}

/** As `exchange`: the data of the response, or null if the card refuses the command. */
export async function query(card: CardConnection, apdu: Uint8Array, signal: AbortSignal): Promise<Uint8Array | null> {
  const response = await exchange(card, apdu, signal);
  return succeeded(response) ? response.data : null;
}

/** Splits a response APDU. Fails with HardwareError `protocol` if it is shorter than a status word. */
export function parseResponse(response: Uint8Array): CardResponse {
  const at = response.length - STATUS_BYTES;
  if (at < 0) {
    throw new HardwareError(
      'protocol',
      `the card answered with ${response.length} bytes; a status has ${STATUS_BYTES}`,
    );
  }
  return { data: response.slice(0, at), status: (response[at]! << 8) | response[at + 1]! };
}

/** The command that fetches the remaining data, or null if the status is final. */
function followUp(command: Uint8Array, status: number, first: boolean): Uint8Array | null {
  const [sw1, sw2] = [status >> 8, status & 0xff];
  const [cla = 0, ins] = command;
  if (sw1 === SW1.MORE_DATA || (sw1 === SW1.MORE_DATA_CLASSIC && cla === CLA.CLASSIC_SIM)) {
    return commandApdu({ cla, ins: INS.GET_RESPONSE, le: sw2 });
  }
  // A second INTERNAL AUTHENTICATE would be a second attempt.
  if (sw1 === SW1.WRONG_LE) return ins === INS.INTERNAL_AUTHENTICATE ? null : withLe(command, sw2);
  // Some cards support GET RESPONSE only in the inter-industry class, on the channel of the command.
  const refused = status === SW.CLA_NOT_SUPPORTED || status === SW.INS_NOT_SUPPORTED;
  const proprietary = (cla & ~LOGICAL_CHANNEL) === CLA.PROPRIETARY;
  if (refused && !first && ins === INS.GET_RESPONSE && proprietary) {
    return commandApdu({ cla: cla & LOGICAL_CHANNEL, ins: INS.GET_RESPONSE, le: command[LC_AT] ?? 0 });
  }
  return null;
}

/** A command with another Le; null if the command is too long to have one, so that 6Cxx is its final status. */
function withLe(command: Uint8Array, le: number): Uint8Array | null {
  const hasData = command.length > LC_AT + 1;
  const end = hasData ? LC_AT + 1 + (command[LC_AT] ?? 0) : HEADER_BYTES;
  return command.length > end + 1 ? null : concat(command.subarray(0, end), Uint8Array.of(le));
}
