/**
 * Frames of a YubiKey's OTP interface: 70 bytes to the key and a checksummed answer from it, in feature reports of 7 bytes
 * and a flag byte. Source: Yubico/yubikey-manager (yubikit/core/otp.py).
 */
import { HardwareError } from '../hardware-error.ts';
import { allowSlot } from './gate.ts';

const PAYLOAD_BYTES = 64;
const FRAME_BYTES = 70;
const PIECE_BYTES = 7;
/** Length of a feature report: a piece and its flags. */
export const FEATURE_REPORT_BYTES = PIECE_BYTES + 1;
/** Where a feature report has its flags. */
export const FLAGS_AT = PIECE_BYTES;
const LAST_PIECE = FRAME_BYTES / PIECE_BYTES - 1;

/** Flags of a feature report. */
export const FLAG = {
  /** To the key: this is a piece of a frame. From the key: it has not taken the last piece yet. */
  WRITE_PENDING: 0x80,
  /** From the key: this is a piece of an answer. */
  RESPONSE_PENDING: 0x40,
} as const;
const SEQUENCE_MASK = 0x1f;

/** Ends an answer and makes the key ready for the next frame. */
export const RESET_REPORT = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0xff);

/** Remainder of the checksum over data and checksum together. */
const CRC_RESIDUAL = 0xf0b8;
const CRC_BYTES = 2;

/** CRC-16 of ISO 13239: polynomial 1021 reflected, initial value FFFF, not inverted. */
export function crc16(bytes: Uint8Array): number {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0x8408 : crc >>> 1;
  }
  return crc;
}

/** The feature reports that send a payload (at most 64 bytes) to a slot. Pieces of zeros between the first and the last are left out. */
export function toReports(slot: number, payload: Uint8Array): Uint8Array[] {
  allowSlot(slot);
  const frame = new Uint8Array(FRAME_BYTES);
  frame.set(payload);
  frame[PAYLOAD_BYTES] = slot;
  new DataView(frame.buffer).setUint16(PAYLOAD_BYTES + 1, crc16(frame.subarray(0, PAYLOAD_BYTES)), true);
  const reports: Uint8Array[] = [];
  for (let sequence = 0; sequence <= LAST_PIECE; sequence += 1) {
    const piece = frame.subarray(sequence * PIECE_BYTES, (sequence + 1) * PIECE_BYTES);
    const empty = piece.every(byte => byte === 0);
    if (empty && sequence !== 0 && sequence !== LAST_PIECE) continue;
    reports.push(Uint8Array.of(...piece, FLAG.WRITE_PENDING | sequence));
  }
  return reports;
}

/** The firmware version in a status report, such as `5.4.3`. Throws HardwareError `protocol` if the report is too short. */
export function firmwareVersionOf(report: Uint8Array): string {
  if (report.length < FEATURE_REPORT_BYTES) throw new HardwareError('protocol', 'the status report is too short');
  return report.subarray(1, 4).join('.');
}

/**
 * The next step after a report: `more`: read the next at once; `wait`: read again after a pause; `complete`: the answer is
 * there, reset the key; `none`: the key has no answer to this frame.
 */
type OtpProgress = 'more' | 'wait' | 'complete' | 'none';

/** Collects the answer of the OTP interface. */
export class OtpAnswer {
  readonly #length: number;
  readonly #bytes: number[] = [];
  #sequence = 0;

  /** `length` is that of the expected data, without its checksum. */
  constructor(length: number) {
    this.#length = length;
  }

  /** Takes one feature report. Throws HardwareError `protocol`. */
  add(report: Uint8Array): OtpProgress {
    const flags = report[FLAGS_AT];
    if (flags === undefined) throw new HardwareError('protocol', 'a feature report is too short');
    if (flags & FLAG.RESPONSE_PENDING) return this.#addPiece(flags & SEQUENCE_MASK, report);
    if (flags !== 0) return 'wait';
    if (this.#sequence > 0)
      throw new HardwareError('protocol', 'the OTP interface stopped in the middle of its answer');
    return 'none';
  }

  #addPiece(sequence: number, report: Uint8Array): OtpProgress {
    if (sequence === this.#sequence) {
      this.#bytes.push(...report.subarray(0, PIECE_BYTES));
      this.#sequence += 1;
      return 'more';
    }
    // The key starts over after the last piece. Any other piece is the same one again.
    return sequence === 0 && this.#sequence > 0 ? 'complete' : 'wait';
  }

  /** The data after its checksum was verified. Throws HardwareError `protocol`. */
  data(): Uint8Array {
    const checked = Uint8Array.from(this.#bytes.slice(0, this.#length + CRC_BYTES));
    if (checked.length < this.#length + CRC_BYTES || crc16(checked) !== CRC_RESIDUAL) {
      throw new HardwareError('protocol', 'the checksum of the OTP answer is wrong');
    }
    return checked.subarray(0, this.#length);
  }
}
