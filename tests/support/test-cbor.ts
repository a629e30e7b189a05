/** Writes CBOR as authenticators do: shortest lengths, keys in the given order. */

export type CborInput =
  | number
  | string
  | boolean
  | Uint8Array
  | readonly CborInput[]
  | ReadonlyMap<number | string, CborInput>;

export function writeCbor(value: CborInput): Buffer {
  if (typeof value === 'boolean') return Buffer.from([value ? 0xf5 : 0xf4]);
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map)
    return Buffer.concat([
      head(5, value.size),
      ...[...value].flatMap(([key, item]) => [writeCbor(key), writeCbor(item)]),
    ]);
  const items = value as readonly CborInput[];
  return Buffer.concat([head(4, items.length), ...items.map(writeCbor)]);
}

function head(major: number, argument: number): Buffer {
  const first = major << 5;
  if (argument < 24) return Buffer.from([first | argument]);
  if (argument < 0x100) return Buffer.from([first | 24, argument]);
  if (argument < 0x10000) return Buffer.from([first | 25, argument >> 8, argument & 0xff]);
  const wide = Buffer.alloc(5);
  wide[0] = first | 26;
  wide.writeUInt32BE(argument, 1);
  return wide;
}
