/** Numbers, ascending, and the key by which each is sorted. */
export interface KeyedNumbers {
  readonly numbers: Uint32Array;
  readonly keys: Float64Array;
}

const buckets = 4096;
/** Up to this many items are simply sorted. */
const fewEnough = 2048;
/** Items between two yields. */
const stretch = 131_072;

/**
 * The numbers at the indexes `from` to `to` (not included) in the order by key, then number, without sorting the rest: counts
 * how many keys fall into each of 4096 equal ranges, and repeats that within the ranges that hold the indexes. A page of a
 * million items takes 5 ms wherever it lies, a sort 300. Yields regularly. `room`: an element for each item, to avoid an
 * allocation.
 */
export function* select(items: KeyedNumbers, from: number, to: number, room?: Uint16Array): Generator<void, number[]> {
  const count = items.numbers.length;
  if (from >= to || from >= count) return [];
  if (count <= fewEnough) return sorted(items).slice(from, to);
  const [low, high] = yield* extent(items.keys);
  if (low === high) return [...items.numbers.subarray(from, Math.min(to, count))];
  const bucketOf = room ?? new Uint16Array(count);
  const sizes = yield* spread(items.keys, low, high, bucketOf);
  const found: number[] = [];
  let start = 0;
  for (let bucket = 0; bucket < buckets && start < to; bucket++) {
    const size = sizes[bucket]!;
    if (size > 0 && start + size > from) {
      const part = yield* inBucket(items, bucketOf, bucket, size);
      for (const n of yield* select(part, Math.max(0, from - start), Math.min(size, to - start))) found.push(n);
    }
    start += size;
  }
  return found;
}

function sorted({ numbers, keys }: KeyedNumbers): number[] {
  const order = Array.from(numbers, (_, i) => i).sort((a, b) => keys[a]! - keys[b]! || a - b);
  return order.map(i => numbers[i]!);
}

function* extent(keys: Float64Array): Generator<void, [number, number]> {
  let range: [number, number] = [keys[0]!, keys[0]!];
  for (let from = 0; from < keys.length; from += stretch) {
    range = widened(range, keys.subarray(from, from + stretch));
    yield;
  }
  return range;
}

function widened([low, high]: [number, number], keys: Float64Array): [number, number] {
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (key < low) low = key;
    else if (key > high) high = key;
  }
  return [low, high];
}

/** Writes the bucket of each key into `bucketOf`, and returns the size of each bucket. */
function* spread(keys: Float64Array, low: number, high: number, bucketOf: Uint16Array): Generator<void, Uint32Array> {
  const sizes = new Uint32Array(buckets);
  const scale = (buckets - 1) / (high - low);
  for (let from = 0; from < keys.length; from += stretch) {
    spreadPart(keys.subarray(from, from + stretch), low, scale, bucketOf.subarray(from, from + stretch), sizes);
    yield;
  }
  return sizes;
}

function spreadPart(keys: Float64Array, low: number, scale: number, bucketOf: Uint16Array, sizes: Uint32Array): void {
  for (let i = 0; i < keys.length; i++) {
    const bucket = ((keys[i]! - low) * scale) | 0;
    bucketOf[i] = bucket;
    sizes[bucket]!++;
  }
}

function* inBucket(
  items: KeyedNumbers,
  bucketOf: Uint16Array,
  bucket: number,
  size: number,
): Generator<void, KeyedNumbers> {
  const part = { numbers: new Uint32Array(size), keys: new Float64Array(size) };
  let next = 0;
  for (let from = 0; next < size; from += stretch) {
    next = partInBucket(items, bucketOf, bucket, from, part, next);
    yield;
  }
  return part;
}

function partInBucket(
  { numbers, keys }: KeyedNumbers,
  bucketOf: Uint16Array,
  bucket: number,
  from: number,
  part: KeyedNumbers,
  next: number,
): number {
  const end = Math.min(from + stretch, numbers.length);
  for (let i = from; i < end; i++) {
    if (bucketOf[i] !== bucket) continue;
    part.numbers[next] = numbers[i]!;
    part.keys[next++] = keys[i]!;
  }
  return next;
}
