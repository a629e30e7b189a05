/** Reports of the kernel about devices, without any library. */
import { readdirSync, readFileSync, statSync } from 'node:fs';

function attribute(node: string, name: string): string | null {
  try {
    return readFileSync(`/sys/class/hidraw/${node}/device/../../${name}`, 'utf8').trim();
  } catch {
    return null;
  }
}

/**
 * When the kernel had listed the last interface of a key, in milliseconds since 1970: when it created the node under /dev. (udev
 * sets the time of modification later.) A null serial means a key without one. Null if the kernel lists no such key.
 */
export function listedAt(key: { vendorId: string; productId: string; serial: string | null }): number | null {
  const times = readdirSync('/sys/class/hidraw')
    .filter(node => attribute(node, 'idVendor') === key.vendorId && attribute(node, 'idProduct') === key.productId)
    .filter(node => attribute(node, 'serial') === key.serial)
    .map(node => statSync(`/dev/${node}`).birthtimeMs);
  return times.length === 0 ? null : Math.max(...times);
}

/** `name: median M, worst W (N)` in milliseconds. */
export function summary(name: string, values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number): string => (sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN).toFixed(0);
  return `${name}: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, worst ${at(1)} ms (${sorted.length})`;
}
