/**
 * CTAP over the commands of smart cards: FIDO keys on contactless and contact readers. Sources: FIDO CTAP 2.1, 11.3 (NFC); ISO/IEC 7816-4
 * (chaining, GET RESPONSE). Short commands are chained, which keys of all generations and all readers support.
 */
import { pause } from '../deadline.ts';
import { HardwareError } from '../hardware-error.ts';
import { type CardResponse, CLA, commandApdu, INS, parseResponse, query, SW, SW1, selectApplication } from './apdu.ts';
import type { CardConnection, CtapChannel } from './connection.ts';
import { MAX_MESSAGE_BYTES } from './ctaphid-packets.ts';
import { allowCtap, CTAPHID, type CtapGate } from './gate.ts';
import { concat } from './hex.ts';

const FIDO_AID = 'A0000006472F0001';
/** Answers of the application to its selection: cards that accept every selection answer otherwise. */
const VERSION = /^(?:U2F_V2|FIDO_2_\d)/;

/** NFCCTAP_MSG with P1 for a key that may ask to wait, and NFCCTAP_GETRESPONSE, which asks whether it still waits or cancels (11.3.7). */
const MSG = { ins: 0x10, p1: 0x80 } as const;
const GET_RESPONSE = { ins: 0x11, wait: 0x00, cancel: 0x11 } as const;
/** More parts of the data follow. */
const CHAINED = 0x10;
/** Bytes in one part. */
const PART_BYTES = 250;
/** The key waits; the data is the status of its keepalive. */
const WAITS = 0x9100;
/** Milliseconds between two questions whether it still waits, and in which it has to answer to the cancellation. */
const ASK_AGAIN_AFTER = 100;
const CANCEL_LIMIT = 500;
/** Commands for one response before the key counts as one that never stops announcing more. */
const MAX_ROUNDS = 64;

/** A card whose FIDO application is selected. Any other selection ends it. */
export class CtapCardChannel implements CtapChannel {
  readonly #card: CardConnection;
  readonly #allow: CtapGate;

  private constructor(card: CardConnection, allow: CtapGate) {
    this.#card = card;
    this.#allow = allow;
  }

  /** Selects the application; null if the card has no FIDO. Fails with a HardwareError. */
  static async open(
    card: CardConnection,
    signal: AbortSignal,
    allow: CtapGate = allowCtap,
  ): Promise<CtapCardChannel | null> {
    const version = await query(card, selectApplication(FIDO_AID), signal);
    return version && VERSION.test(Buffer.from(version).toString('latin1')) ? new CtapCardChannel(card, allow) : null;
  }

  async call(
    command: number,
    payload: Uint8Array,
    signal: AbortSignal,
    onKeepalive?: (status: number) => void,
  ): Promise<Uint8Array | null> {
    this.#allow(command, payload);
    if (command === CTAPHID.CBOR) return this.#cbor(payload, signal, onKeepalive);
    return command === CTAPHID.MSG ? this.#u2f(payload, signal) : null;
  }

  async #cbor(payload: Uint8Array, signal: AbortSignal, onKeepalive?: (status: number) => void) {
    let response = await this.#exchange({ cla: CLA.PROPRIETARY, ...MSG }, payload, signal);
    while (response.status === WAITS) {
      onKeepalive?.(response.data[0] ?? 0);
      response = await this.#waited(signal);
    }
    if (response.status === SW.INS_NOT_SUPPORTED || response.status === SW.CLA_NOT_SUPPORTED) return null;
    if (response.status === SW.OK) return response.data;
    throw new HardwareError('protocol', `the key refuses the request (status word ${response.status.toString(16)})`);
  }

  async #waited(signal: AbortSignal): Promise<CardResponse> {
    const ask = { cla: CLA.PROPRIETARY, ins: GET_RESPONSE.ins };
    try {
      await pause(ASK_AGAIN_AFTER, signal);
      return await this.#exchange({ ...ask, p1: GET_RESPONSE.wait }, new Uint8Array(), signal);
    } catch (error) {
      const limit = AbortSignal.timeout(CANCEL_LIMIT);
      if (signal.aborted)
        await this.#exchange({ ...ask, p1: GET_RESPONSE.cancel }, new Uint8Array(), limit).catch(() => undefined);
      throw error;
    }
  }

  /** A message of U2F is an APDU of extended length, and is sent as short ones. */
  async #u2f(apdu: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const [cla = 0, ins = 0, p1 = 0, p2 = 0, , high = 0, low = 0] = apdu;
    const data = apdu.subarray(DATA_AT, DATA_AT + high * 256 + low);
    const { data: answer, status } = await this.#exchange({ cla, ins, p1, p2 }, data, signal);
    return concat(answer, Uint8Array.of(status >> 8, status & 0xff));
  }

  /** Sends the data in parts, and fetches all parts of the response. */
  async #exchange(head: Omit<Parameters<typeof commandApdu>[0], 'data' | 'le'>, data: Uint8Array, signal: AbortSignal) {
    const { cla = CLA.ISO } = head;
    let rest = data;
    for (; rest.length > PART_BYTES; rest = rest.subarray(PART_BYTES)) {
      const part = commandApdu({ ...head, cla: cla | CHAINED, data: rest.subarray(0, PART_BYTES) });
      const response = parseResponse(await this.#card.transmit(part, signal));
      if (response.status !== SW.OK) return response;
    }
    return this.#received(commandApdu({ ...head, ...(rest.length > 0 ? { data: rest } : {}), le: 0 }), signal);
  }

  async #received(command: Uint8Array, signal: AbortSignal): Promise<CardResponse> {
    const parts: Uint8Array[] = [];
    let [next, bytes] = [command, 0];
    for (let round = 0; round < MAX_ROUNDS && bytes <= MAX_MESSAGE_BYTES; round += 1) {
      const { data, status } = parseResponse(await this.#card.transmit(next, signal));
      parts.push(data);
      bytes += data.length;
      const le = status & 0xff;
      if (status >> 8 === SW1.MORE_DATA) next = commandApdu({ ins: INS.GET_RESPONSE, le });
      else if (status >> 8 === SW1.WRONG_LE) next = concat(next.subarray(0, -1), Uint8Array.of(le));
      else return { data: concat(...parts), status };
    }
    throw new HardwareError('protocol', 'the key announces more data without end');
  }
}

/** Offset of the data in an APDU of extended length. */
const DATA_AT = 7;
