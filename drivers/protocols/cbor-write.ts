/** Writes the CBOR that CTAP2 allows: shortest lengths. The keys of a map have to be in the canonical order. */
import { concat } from './hex.ts';

/** A value to write. */
export type CborInput =
  | number
  | string
  | boolean
  | null
  | Uint8Array
  | readonly CborInput[]
  | ReadonlyMap<number | string, CborInput>;

/** The bytes of a value. Numbers are safe integers. */
export function writeCbor(value: CborInput): Uint8Array {
  if (value === null) return Uint8Array.of(0xf6);
  if (typeof value === 'boolean') return Uint8Array.of(value ? 0xf5 : 0xf4);
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return concat(head(3, Buffer.byteLength(value)), Buffer.from(value));
  if (value instanceof Uint8Array) return concat(head(2, value.length), value);
  if (value instanceof Map)
    return concat(head(5, value.size), ...[...value].flatMap(([name, one]) => [writeCbor(name), writeCbor(one)]));
  const items = value as readonly CborInput[];
  return concat(head(4, items.length), ...items.map(writeCbor));
}

/** A map without the members that are null. */
export const cborMap = (
  members: readonly (readonly [number | string, CborInput | null])[],
): ReadonlyMap<number | string, CborInput> =>
  new Map(members.filter((member): member is readonly [number | string, CborInput] => member[1] !== null));

function head(major: number, argument: number): Uint8Array {
  const first = major << 5;
  if (argument < 24) return Uint8Array.of(first | argument);
  if (argument < 0x100) return Uint8Array.of(first | 24, argument);
  if (argument < 0x10000) return Uint8Array.of(first | 25, argument >> 8, argument & 0xff);
  const [size, code] = argument < 2 ** 32 ? [4, 26] : [8, 27];
  const bytes = Array.from({ length: size }, (_, at) => Math.floor(argument / 256 ** (size - 1 - at)) % 256);
  return Uint8Array.of(first | code, ...bytes);
}
