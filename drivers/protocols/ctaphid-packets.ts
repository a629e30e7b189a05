/**
 * CTAPHID packets: reports of 64 bytes that carry a message in one initialization packet and up to 128 continuation packets.
 * Source: FIDO CTAP 2.1, 11.2.4.
 */
import { HardwareError } from '../hardware-error.ts';

/** Length of a report, without the report number. */
const REPORT_BYTES = 64;
const CHANNEL_BYTES = 4;
/** Channel, command and length. */
const INIT_HEADER = 7;
/** Channel and sequence number. */
const CONTINUATION_HEADER = 5;
const MAX_CONTINUATIONS = 128;
/** Length of the longest message in bytes. */
export const MAX_MESSAGE_BYTES = REPORT_BYTES - INIT_HEADER + MAX_CONTINUATIONS * (REPORT_BYTES - CONTINUATION_HEADER);

/** Bit that tells the command of an initialization packet from the sequence number of a continuation packet. */
const INIT_PACKET = 0x80;

/** The channel for INIT, before the key has assigned one. */
export const BROADCAST_CHANNEL = 0xffffffff;

/** Splits a message into reports, padded with zeros. Throws a RangeError if it is too long: that is a mistake of the caller. */
export function toPackets(channel: number, command: number, message: Uint8Array): Uint8Array[] {
  if (message.length > MAX_MESSAGE_BYTES) throw new RangeError(`a message of ${message.length} bytes is too long`);
  let at = REPORT_BYTES - INIT_HEADER;
  const header = [INIT_PACKET | command, message.length >> 8, message.length & 0xff];
  const packets = [packet(channel, header, message.subarray(0, at))];
  for (let sequence = 0; at < message.length; sequence += 1) {
    const end = at + REPORT_BYTES - CONTINUATION_HEADER;
    packets.push(packet(channel, [sequence], message.subarray(at, end)));
    at = end;
  }
  return packets;
}

function packet(channel: number, header: readonly number[], data: Uint8Array): Uint8Array {
  const report = new Uint8Array(REPORT_BYTES);
  new DataView(report.buffer).setUint32(0, channel);
  report.set(header, CHANNEL_BYTES);
  report.set(data, CHANNEL_BYTES + header.length);
  return report;
}

/** A complete message. */
export interface CtaphidMessage {
  readonly command: number;
  readonly data: Uint8Array;
}

/** Assembles the messages of one channel. Reports of other channels are skipped: other programs may be using the key. */
export class MessageAssembler {
  readonly #channel: number;
  #command = 0;
  #data: Uint8Array | null = null;
  #filled = 0;
  #sequence = 0;

  constructor(channel: number) {
    this.#channel = channel;
  }

  /** The message if this report completes it, else null. Throws HardwareError `protocol` for an invalid report. */
  add(report: Uint8Array): CtaphidMessage | null {
    if (report.length < INIT_HEADER) {
      throw new HardwareError('protocol', `the key sent a report of ${report.length} bytes`);
    }
    const view = new DataView(report.buffer, report.byteOffset, report.length);
    if (view.getUint32(0) !== this.#channel) return null;
    const kind = view.getUint8(CHANNEL_BYTES);
    return kind & INIT_PACKET
      ? this.#begin(kind & ~INIT_PACKET, view.getUint16(CHANNEL_BYTES + 1), report)
      : this.#continue(kind, report);
  }

  #begin(command: number, length: number, report: Uint8Array): CtaphidMessage | null {
    if (length > MAX_MESSAGE_BYTES) {
      throw new HardwareError('protocol', `the key announced a message of ${length} bytes`);
    }
    this.#command = command;
    this.#data = new Uint8Array(length);
    this.#filled = 0;
    this.#sequence = 0;
    return this.#fill(this.#data, report.subarray(INIT_HEADER));
  }

  #continue(sequence: number, report: Uint8Array): CtaphidMessage | null {
    if (this.#data === null) throw new HardwareError('protocol', 'the key sent a continuation without a message');
    if (sequence !== this.#sequence) {
      throw new HardwareError('protocol', `the key sent continuation ${sequence} instead of ${this.#sequence}`);
    }
    this.#sequence += 1;
    return this.#fill(this.#data, report.subarray(CONTINUATION_HEADER));
  }

  #fill(data: Uint8Array, bytes: Uint8Array): CtaphidMessage | null {
    const part = bytes.subarray(0, data.length - this.#filled);
    data.set(part, this.#filled);
    this.#filled += part.length;
    if (this.#filled < data.length) return null;
    this.#data = null;
    return { command: this.#command, data };
  }
}
