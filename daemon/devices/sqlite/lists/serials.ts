import { grown } from './number-set.ts';

const encoder = new TextEncoder();

/** For each byte: ASCII letters in lower case, all other bytes unchanged. */
export const lowerByte = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

/** The serial numbers of all devices in one array, as UTF-8: a third of the memory of strings. */
export class Serials {
  bytes = new Uint8Array(1024);
  /** The serial number of device n is the bytes from `ends[n - 1]` to `ends[n]`. */
  ends = new Uint32Array(64);
  count = 0;

  /** Adds the serial number of the next device. */
  add(serial: string): void {
    const n = this.count + 1;
    let end = this.ends[this.count]!;
    // UTF-8 takes at most three bytes for a code unit.
    if (end + serial.length * 3 > this.bytes.length) this.bytes = grown(this.bytes, end + serial.length * 3);
    if (n >= this.ends.length) this.ends = grown(this.ends, n + 1);
    let i = 0;
    for (; i < serial.length; i++) {
      const code = serial.charCodeAt(i);
      if (code > 127) break;
      this.bytes[end++] = code;
    }
    if (i < serial.length) end += encoder.encodeInto(serial.slice(i), this.bytes.subarray(end)).written;
    this.ends[n] = end;
    this.count = n;
  }

  /** Compares the serial numbers of two devices by their bytes: negative, 0 or positive. */
  compare(a: number, b: number): number {
    const { bytes, ends } = this;
    let [i, j] = [ends[a - 1]!, ends[b - 1]!];
    const [endA, endB] = [ends[a]!, ends[b]!];
    while (i < endA && j < endB) {
      const difference = bytes[i++]! - bytes[j++]!;
      if (difference !== 0) return difference;
    }
    return endA - i - (endB - j);
  }

  /** Whether the serial number of device n contains `part` (lower case), ignoring the case of ASCII letters. */
  includes(n: number, part: Uint8Array): boolean {
    const { bytes, ends } = this;
    const first = part[0]!;
    const last = ends[n]! - part.length;
    for (let i = ends[n - 1]!; i <= last; i++) {
      if (lowerByte[bytes[i]!] !== first) continue;
      let j = 1;
      while (j < part.length && lowerByte[bytes[i + j]!] === part[j]) j++;
      if (j === part.length) return true;
    }
    return false;
  }
}
