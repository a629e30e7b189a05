/** The usages of the top-level collections in an HID report descriptor. Source: USB HID 1.11, 6.2.2. */
import type { Usage } from './known.ts';

/** Item prefixes without their length bits. */
const USAGE_PAGE = 0x04;
const USAGE = 0x08;
const COLLECTION = 0xa0;
const END_COLLECTION = 0xc0;
const INPUT = 0x80;
const OUTPUT = 0x90;
const FEATURE = 0xb0;
const PUSH = 0xa4;
const POP = 0xb4;
/** The whole prefix of a long item. */
const LONG_ITEM = 0xfe;

interface ReportDescriptorItem {
  /** Type and tag, without the length bits. */
  readonly tag: number;
  readonly length: number;
  /** The data as a little-endian number. */
  readonly value: number;
}

/** The usages in their order. Accepts any bytes; stops at an item that is cut off. */
export function topLevelUsages(descriptor: Uint8Array): Usage[] {
  const found: Usage[] = [];
  const saved: number[] = [];
  let page = 0;
  let usage: ReportDescriptorItem | null = null;
  let depth = 0;
  for (const item of items(descriptor)) {
    switch (item.tag) {
      case USAGE_PAGE:
        page = item.value;
        break;
      case USAGE:
        usage ??= item;
        break;
      case PUSH:
        saved.push(page);
        break;
      case POP:
        page = saved.pop() ?? page;
        break;
      case COLLECTION:
        if (depth === 0) found.push(usageOf(usage, page));
        depth += 1;
        usage = null;
        break;
      case END_COLLECTION:
        depth = Math.max(0, depth - 1);
        usage = null;
        break;
      case INPUT:
      case OUTPUT:
      case FEATURE:
        usage = null;
    }
  }
  return found;
}

/** A usage of four bytes contains its page. */
function usageOf(item: ReportDescriptorItem | null, page: number): Usage {
  if (item === null) return { usagePage: page, usage: 0 };
  return item.length === 4
    ? { usagePage: item.value >>> 16, usage: item.value & 0xffff }
    : { usagePage: page, usage: item.value };
}

function* items(bytes: Uint8Array): Generator<ReportDescriptorItem> {
  for (let at = 0; at < bytes.length; ) {
    const prefix = bytes[at]!;
    const isLong = prefix === LONG_ITEM;
    const length = isLong ? (bytes[at + 1] ?? 0) : [0, 1, 2, 4][prefix & 3]!;
    const start = at + (isLong ? 3 : 1);
    at = start + length;
    if (at > bytes.length) return;
    if (isLong) continue;
    let value = 0;
    for (let i = length - 1; i >= 0; i -= 1) value = value * 256 + bytes[start + i]!;
    yield { tag: prefix & 0xfc, length, value };
  }
}
