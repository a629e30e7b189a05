/**
 * A FIDO key behind a reader, by contacts or NFC: the FIDO application with chained commands, GET RESPONSE and the question whether it
 * still waits for a touch (FIDO CTAP 2.1, 11.3), beside the applications of another card program. Written from the standard.
 */

import { expectMap, readCbor } from '../../drivers/protocols/cbor.ts';
import { allowCtap, allowReset, type CtapGate } from '../../drivers/protocols/gate.ts';
import { fromHex, toHex } from '../../drivers/protocols/hex.ts';
import { received } from './received-commands.ts';
import { asksForTouch, type TestAuthenticator } from './test-authenticator.ts';
import { type CardProgram, cardOf, on } from './vcard-programs.ts';

const SELECT_FIDO = '00A4040008A0000006472F0001';
/** As a contactless reader makes it up. */
const NFC_ATR = '3B8080010101';
const DONE = Buffer.from('9000', 'hex');
/** Bytes that one response carries. */
const PART = 256;

export interface FidoCardOptions {
  readonly authenticator: TestAuthenticator;
  /** Its other applications. Default: none. */
  readonly others?: CardProgram;
  /** UID of the card, in hex; a 4-byte one that begins with 08 is random. */
  readonly uid?: string;
  /** How often a command that needs a touch is answered by "still waiting". Over NFC the tap is the touch. Default: 0. */
  readonly waits?: number;
  readonly issued?: boolean;
  /** Only U2F. */
  readonly ctap2?: boolean;
}

export interface FidoCard extends CardProgram {
  /** Messages that it has received as a whole, command and payload in hex. */
  readonly messages: string[];
  /** Commands that only continue or fetch: chained parts, GET RESPONSE, NFCCTAP_GETRESPONSE. */
  readonly parts: string[];
}

export function fidoCard(options: FidoCardOptions): FidoCard {
  const { authenticator, uid, waits = 0, ctap2 = true } = options;
  const others =
    options.others ??
    cardOf([...(uid === undefined ? [] : [on('FFCA0000', `${uid}9000`)]), on('00A4', '6A82')], NFC_ATR);
  const gate: CtapGate = options.issued ? allowReset : allowCtap;
  const messages: string[] = [];
  const parts: string[] = [];
  let selected = false;
  let chained = Buffer.alloc(0);
  let unread = Buffer.alloc(0);
  let waiting: { left: number; readonly payload: Uint8Array } | null = null;

  /** The part of a response that fits, and how much follows. */
  const given = (response: Uint8Array): Uint8Array => {
    unread = Buffer.from(response);
    return nextPart();
  };
  const nextPart = (): Uint8Array => {
    const part = unread.subarray(0, PART);
    unread = unread.subarray(PART);
    const status = unread.length === 0 ? DONE : Buffer.from([0x61, Math.min(unread.length, 0xff)]);
    return Buffer.concat([part, status]);
  };
  const cbor = (payload: Uint8Array): Uint8Array => {
    messages.push(`10${toHex(payload)}`);
    received.ctap(0x10, payload, gate);
    if (!ctap2) return fromHex('6D00');
    const needsTouch = [1, 7].includes(payload[0]!) || (payload[0] === 2 && asksForTouch(parametersOf(payload)));
    if (!needsTouch || waits === 0) return given(authenticator.cbor(payload));
    waiting = { left: waits, payload };
    return fromHex('029100');
  };
  const stillWaits = (p1: number): Uint8Array => {
    if (waiting === null) return fromHex('6985');
    const { payload } = waiting;
    if (p1 === 0x11) {
      waiting = null;
      return given(Buffer.from([0x2d]));
    }
    if (--waiting.left > 0) return fromHex('029100');
    waiting = null;
    return given(authenticator.cbor(payload));
  };
  const u2f = (head: Uint8Array, data: Uint8Array): Uint8Array => {
    const [, ins, p1] = head;
    const extended = Buffer.concat([
      head,
      Buffer.from([0, data.length >> 8, data.length & 0xff]),
      data,
      Buffer.alloc(2),
    ]);
    messages.push(`03${toHex(extended)}`);
    received.ctap(0x03, extended, gate);
    const [challenge, application] = [data.subarray(0, 32), data.subarray(32, 64)];
    if (ins === 0x01) return given(authenticator.u2fRegister(challenge, application));
    const signed = authenticator.u2fAuthenticate(challenge, application, data.subarray(65, 65 + data[64]!));
    if (signed === null) return fromHex('6A80');
    return p1 === 0x07 ? fromHex('6985') : given(signed);
  };

  return {
    ...others,
    messages,
    parts,
    reset() {
      others.reset();
      selected = false;
      waiting = null;
      chained = Buffer.alloc(0);
    },
    answer(command) {
      const hex = toHex(command);
      if (hex.startsWith('00A404')) {
        received.apdu(command);
        selected = hex.startsWith(SELECT_FIDO);
        if (!selected) return others.answer(command);
        return Buffer.from(`${Buffer.from(ctap2 ? 'FIDO_2_0' : 'U2F_V2').toString('hex')}9000`, 'hex');
      }
      const [cla = 0, ins, p1 = 0] = command;
      if (!selected || cla === 0xff) return others.answer(command);
      const data = command.subarray(5, 5 + (command.length > 5 ? command[4]! : 0));
      if (ins === 0xc0 || (cla & 0x10) !== 0 || ins === 0x11) parts.push(hex);
      if (ins === 0xc0 && cla === 0) return nextPart();
      if ((cla & 0x10) !== 0) {
        chained = Buffer.concat([chained, data]);
        return DONE;
      }
      const whole = Buffer.concat([chained, data]);
      chained = Buffer.alloc(0);
      if (ins === 0x11) return stillWaits(p1);
      if (cla === 0x80 && ins === 0x10) return cbor(whole);
      return cla === 0 && (ins === 0x01 || ins === 0x02) ? u2f(command.subarray(0, 4), whole) : others.answer(command);
    },
  };
}

const parametersOf = (payload: Uint8Array) => expectMap(readCbor(payload.subarray(1)), 'parameters');
