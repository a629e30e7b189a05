/** What a YubiKey tells of itself in its management answer: a length byte, then tag-length-value triples. */
import { HardwareError } from '../../driver.ts';

const TAG_SERIAL = 0x02;
const TAG_VERSION = 0x05;
const TAG_MORE_PAGES = 0x10;

export interface YubiKeyConfig {
  /** Decimal, as printed on the key; null where this page holds none, as with the Security Key series. */
  readonly serial: string | null;
  /** `5.4.3`; null where this page holds none. */
  readonly firmwareVersion: string | null;
  readonly morePages: boolean;
}

/** Reads one page. Fails with HardwareError `protocol`. */
export function parseConfig(page: Uint8Array): YubiKeyConfig {
  const length = page[0];
  if (length === undefined || length > page.length - 1) {
    throw new HardwareError('protocol', 'the management answer is shorter than it says');
  }
  const values = parseTlvs(page.subarray(1, 1 + length));
  const version = values.get(TAG_VERSION);
  return {
    serial: serialOf(values.get(TAG_SERIAL)),
    firmwareVersion: version?.length === 3 ? version.join('.') : null,
    morePages: values.get(TAG_MORE_PAGES)?.[0] === 1,
  };
}

/** A big-endian number in decimal; zero stands for a key without a serial. Fails with HardwareError `protocol`. */
export function serialOf(bytes: Uint8Array | undefined): string | null {
  if (bytes === undefined) return null;
  if (bytes.length === 0 || bytes.length > 8) {
    throw new HardwareError('protocol', `the serial has ${bytes.length} bytes`);
  }
  const number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  return number === 0n ? null : number.toString();
}

function parseTlvs(bytes: Uint8Array): Map<number, Uint8Array> {
  const values = new Map<number, Uint8Array>();
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at]!;
    const length = bytes[at + 1];
    if (length === undefined || at + 2 + length > bytes.length) {
      throw new HardwareError('protocol', `value ${tag.toString(16)} of the management answer is cut short`);
    }
    values.set(tag, bytes.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return values;
}
