/** CTAPHID's packets: 64 bytes that carry a message in an initialization packet and as many continuations as it needs. */
import { HardwareError } from '../driver.ts';

export const REPORT_BYTES = 64;
const INIT_HEADER = 7;
const CONTINUATION_HEADER = 5;
const MOST_CONTINUATIONS = 128;
/** The longest message the packets can carry. */
export const LONGEST_MESSAGE = REPORT_BYTES - INIT_HEADER + MOST_CONTINUATIONS * (REPORT_BYTES - CONTINUATION_HEADER);

/** Commands of the standard that are used here; the vendors' own are in the files of the vendors. */
export const CTAPHID_INIT = 0x06;
export const CTAPHID_KEEPALIVE = 0x3b;
export const CTAPHID_ERROR = 0x3f;
const INIT_PACKET = 0x80;

export const BROADCAST_CHANNEL = 0xffffffff;

/** Splits a message into reports, zero-padded. Throws a RangeError for one that is too long: that is a caller's mistake. */
export function toPackets(channel: number, command: number, message: Uint8Array): Uint8Array[] {
  if (message.length > LONGEST_MESSAGE) throw new RangeError(`a message of ${message.length} bytes is too long`);
  const packet = (header: number[], data: Uint8Array): Uint8Array => {
    const report = new Uint8Array(REPORT_BYTES);
    new DataView(report.buffer).setUint32(0, channel);
    report.set(header, 4);
    report.set(data, 4 + header.length);
    return report;
  };
  let at = REPORT_BYTES - INIT_HEADER;
  const first = [INIT_PACKET | command, message.length >> 8, message.length & 0xff];
  const packets = [packet(first, message.subarray(0, at))];
  for (let sequence = 0; at < message.length; sequence += 1) {
    const end = at + REPORT_BYTES - CONTINUATION_HEADER;
    packets.push(packet([sequence], message.subarray(at, end)));
    at = end;
  }
  return packets;
}

export interface Message {
  readonly command: number;
  readonly data: Uint8Array;
}

/**
 * Puts the reports of one channel together. Reports of other channels are skipped: other programs may be talking with
 * the same key.
 */
export class Assembler {
  readonly #channel: number;
  #command = 0;
  #data: Uint8Array | null = null;
  #filled = 0;
  #sequence = 0;

  constructor(channel: number) {
    this.#channel = channel;
  }

  /** The whole message when this report completes one, else null. Fails with HardwareError `protocol`. */
  add(report: Uint8Array): Message | null {
    if (report.length < INIT_HEADER) throw new HardwareError('protocol', `a report of ${report.length} bytes came`);
    const view = new DataView(report.buffer, report.byteOffset, report.length);
    if (view.getUint32(0) !== this.#channel) return null;
    const kind = view.getUint8(4);
    return kind & INIT_PACKET ? this.#begin(kind & ~INIT_PACKET, view.getUint16(5), report) : this.#go(kind, report);
  }

  #begin(command: number, length: number, report: Uint8Array): Message | null {
    if (length > LONGEST_MESSAGE) throw new HardwareError('protocol', `a message of ${length} bytes was announced`);
    this.#command = command;
    this.#data = new Uint8Array(length);
    this.#filled = 0;
    this.#sequence = 0;
    return this.#fill(report.subarray(INIT_HEADER));
  }

  #go(sequence: number, report: Uint8Array): Message | null {
    if (this.#data === null) throw new HardwareError('protocol', 'a continuation came before any message');
    if (sequence !== this.#sequence) {
      throw new HardwareError('protocol', `continuation ${sequence} came where ${this.#sequence} was due`);
    }
    this.#sequence += 1;
    return this.#fill(report.subarray(CONTINUATION_HEADER));
  }

  #fill(bytes: Uint8Array): Message | null {
    const data = this.#data!;
    const part = bytes.subarray(0, data.length - this.#filled);
    data.set(part, this.#filled);
    this.#filled += part.length;
    if (this.#filled < data.length) return null;
    this.#data = null;
    return { command: this.#command, data };
  }
}
