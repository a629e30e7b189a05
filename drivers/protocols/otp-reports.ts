/** The frames of a YubiKey's OTP side: 70 bytes to the key and a checked answer back, in feature reports of 7 bytes and a flag. */
import { HardwareError } from '../driver.ts';

const PAYLOAD_BYTES = 64;
const FRAME_BYTES = 70;
const PIECE_BYTES = 7;
export const FEATURE_REPORT_BYTES = PIECE_BYTES + 1;
const LAST_PIECE = FRAME_BYTES / PIECE_BYTES - 1;
const WRITE_FLAG = 0x80;
const RESPONSE_FLAG = 0x40;
const SEQUENCE = 0x1f;
/** What is left when the checksum is taken over data and checksum together. */
const CRC_RESIDUAL = 0xf0b8;
const CRC_BYTES = 2;

/** CRC-16 as in ISO 13239: reflected 1021, from FFFF, not inverted. */
export function crc16(bytes: Uint8Array): number {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0x8408 : crc >>> 1;
  }
  return crc;
}

/** The feature reports that send a payload (at most 64 bytes) to a slot. Pieces that are all zero are left out in between. */
export function toReports(slot: number, payload: Uint8Array): Uint8Array[] {
  const frame = new Uint8Array(FRAME_BYTES);
  frame.set(payload);
  frame[PAYLOAD_BYTES] = slot;
  new DataView(frame.buffer).setUint16(PAYLOAD_BYTES + 1, crc16(frame.subarray(0, PAYLOAD_BYTES)), true);
  const reports: Uint8Array[] = [];
  for (let sequence = 0; sequence <= LAST_PIECE; sequence += 1) {
    const piece = frame.subarray(sequence * PIECE_BYTES, (sequence + 1) * PIECE_BYTES);
    const empty = piece.every(byte => byte === 0);
    if (!empty || sequence === 0 || sequence === LAST_PIECE)
      reports.push(Uint8Array.of(...piece, WRITE_FLAG | sequence));
  }
  return reports;
}

/** The firmware version in a status report. Fails with HardwareError `protocol`. */
export function versionOf(report: Uint8Array): string {
  if (report.length < FEATURE_REPORT_BYTES) throw new HardwareError('protocol', 'the status report is cut short');
  return report.subarray(1, 4).join('.');
}

/** Collects the answer of the OTP side. */
export class OtpReply {
  readonly #length: number;
  readonly #bytes: number[] = [];
  #sequence = 0;

  /** `length` is that of the data asked for, without its checksum. */
  constructor(length: number) {
    this.#length = length;
  }

  /**
   * Takes one feature report: `more` follows at once, `wait` a little and ask again, `whole` when the key has started
   * over, `none` where the key has no data for this question. Fails with HardwareError `protocol`.
   */
  add(report: Uint8Array): 'more' | 'wait' | 'whole' | 'none' {
    const flags = report[PIECE_BYTES];
    if (flags === undefined) throw new HardwareError('protocol', 'a feature report is cut short');
    if (flags & RESPONSE_FLAG) return this.#piece(flags & SEQUENCE, report);
    if (flags !== 0) return 'wait';
    if (this.#sequence > 0) throw new HardwareError('protocol', 'the answer of the OTP side broke off');
    return 'none';
  }

  #piece(sequence: number, report: Uint8Array): 'more' | 'wait' | 'whole' {
    if (sequence === this.#sequence) {
      this.#bytes.push(...report.subarray(0, PIECE_BYTES));
      this.#sequence += 1;
      return 'more';
    }
    // The same piece again: the key has not moved on yet.
    return sequence === 0 && this.#sequence > 0 ? 'whole' : 'wait';
  }

  /** The data, checked. Fails with HardwareError `protocol`. */
  data(): Uint8Array {
    const checked = Uint8Array.from(this.#bytes.slice(0, this.#length + CRC_BYTES));
    if (checked.length < this.#length + CRC_BYTES || crc16(checked) !== CRC_RESIDUAL) {
      throw new HardwareError('protocol', 'the checksum of the OTP answer is wrong');
    }
    return checked.subarray(0, this.#length);
  }
}
