import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bitsFor, countBits, hasBit, setBit, setRange } from '../../daemon/devices/sqlite/lists/bits.ts';
import { addIdsWith } from '../../daemon/devices/sqlite/lists/id-digits.ts';
import { matching } from '../../daemon/devices/sqlite/lists/matches.ts';
import { NumberSet } from '../../daemon/devices/sqlite/lists/number-set.ts';
import { select } from '../../daemon/devices/sqlite/lists/select.ts';
import { Serials } from '../../daemon/devices/sqlite/lists/serials.ts';
import { TimeOrder } from '../../daemon/devices/sqlite/lists/sorted-page.ts';
import { Postings, Trigrams } from '../../daemon/devices/sqlite/lists/trigrams.ts';

const finish = <T>(work: Generator<void, T>): T => {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
};

const members = (bits: Uint32Array): number[] =>
  Array.from({ length: bits.length * 32 }, (_, n) => n).filter(n => hasBit(bits, n));

const ascending = (a: number, b: number) => a - b;

describe('sets of numbers', () => {
  it('contain what was added and not deleted, as a list and as bits', () => {
    const step = fc.record({ n: fc.integer({ min: 1, max: 3000 }), add: fc.boolean() });
    // In some runs, many low numbers make it switch to bits.
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600 }), fc.array(step, { maxLength: 300 }), (filled, steps) => {
        const set = new NumberSet();
        const model = new Set<number>();
        for (let n = 1; n <= filled; n++) {
          set.add(n);
          model.add(n);
        }
        for (const { n, add } of steps) {
          if (add) set.add(n);
          else set.delete(n);
          if (add) model.add(n);
          else model.delete(n);
        }
        expect(set.size).toBe(model.size);
        const held = set.list ? [...set.list] : members(set.bits!);
        expect(held).toEqual([...model].sort(ascending));
        for (const { n } of steps) expect(set.has(n)).toBe(model.has(n));
      }),
    );
  });

  it('do not contain the last number after it was deleted', () => {
    const set = NumberSet.of([3, 5]);
    set.delete(5);
    expect([set.has(5), set.has(3), set.size]).toEqual([false, true, 1]);
  });

  it('become bits when they are dense', () => {
    const set = NumberSet.of(Array.from({ length: 257 }, (_, i) => i + 1));
    expect([set.list, set.size, set.has(257), set.has(258)]).toEqual([null, 257, true, false]);
    const sparse = NumberSet.of(Array.from({ length: 257 }, (_, i) => i * 1000 + 1));
    expect(sparse.bits).toBeNull();
  });

  it('set ranges at every alignment', () => {
    const end = fc.integer({ min: 0, max: 200 });
    fc.assert(
      fc.property(end, end, (from, to) => {
        const bits = bitsFor(200);
        setRange(bits, from, to);
        expect(members(bits)).toEqual(Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i));
        expect(countBits(bits)).toBe(Math.max(0, to - from + 1));
      }),
    );
  });

  it('combine to what is in each of them, paged from both ends', () => {
    const numbers = (density: number) =>
      fc.integer({ min: 0, max: 1 << 30 }).map(seed => {
        const chosen: number[] = [];
        let state = seed;
        for (let n = 1; n <= 20_000; n++) {
          state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
          if (state / 0x7fffffff < density) chosen.push(n);
        }
        return chosen;
      });
    const sets = fc.array(fc.oneof(numbers(0.7), numbers(0.05), numbers(0.004)), { maxLength: 3 });
    const windows = fc.record({
      offset: fc.integer({ min: 0, max: 20_000 }),
      limit: fc.integer({ min: 1, max: 100 }),
      descending: fc.boolean(),
    });
    fc.assert(
      fc.property(
        sets,
        fc.option(numbers(0.5)),
        windows,
        fc.constantFrom(20_000, 15_001),
        (lists, also, window, last) => {
          const wanted = Array.from({ length: last }, (_, i) => i + 1).filter(
            n => lists.every(list => list.includes(n)) && (also?.includes(n) ?? true),
          );
          const bits = also && bitsFor(last);
          for (const n of also ?? []) if (n <= last) setBit(bits!, n);
          const matches = matching(last, lists.map(NumberSet.of), bits);
          const { offset, limit, descending } = window;
          expect(matches.count()).toBe(wanted.length);
          expect(members(matches.toBits())).toEqual(wanted);
          const ordered = descending ? wanted.toReversed() : wanted;
          expect(matches.page(offset, limit, descending)).toEqual(ordered.slice(offset, offset + limit));
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('postings', () => {
  it('return what was added, near and far apart, as distances and as bits', () => {
    const gaps = fc.array(
      fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 40_000 })),
      {
        maxLength: 900,
      },
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 300 }),
        gaps,
        fc.integer({ min: 0, max: 5000 }),
        (first, distances, limit) => {
          const wanted = new Set([first]);
          const postings = new Postings(first);
          let n = first;
          for (const distance of distances) {
            n += distance;
            postings.add(n);
            wanted.add(n);
          }
          const bits = bitsFor(n);
          postings.addTo(bits);
          expect(members(bits)).toEqual([...wanted]);
          expect(postings.count).toBe(wanted.size);
          const some = bitsFor(limit);
          postings.addTo(some);
          expect(members(some)).toEqual([...wanted].filter(member => member < some.length * 32));
        },
      ),
    );
  });

  it('never remove their own numbers', () => {
    for (const share of [1, 3, 50]) {
      const postings = new Postings(share);
      for (let n = 2 * share; n < 20_000; n += share) postings.add(n);
      const bits = bitsFor(30_000);
      setRange(bits, 1, 30_000);
      postings.keepIn(bits);
      const left = new Set(members(bits));
      for (let n = share; n < 20_000; n += share) expect(left.has(n)).toBe(true);
      if (share === 3) expect(left.has(20) || left.has(29_999)).toBe(false);
    }
  });
});

describe('selecting a part of an order', () => {
  const key = fc.oneof(
    fc.integer({ min: 0, max: 3 }),
    fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 }),
    fc.constant(-5),
  );

  it('returns what a sort would have there', () => {
    fc.assert(
      fc.property(
        fc.array(key, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 9000 }),
        fc.integer({ min: 0, max: 9000 }),
        fc.integer({ min: 0, max: 100 }),
        (values, count, from, length) => {
          const keys = Float64Array.from({ length: count }, (_, i) => values[(i * 7919) % values.length]! + (i % 97));
          const numbers = Uint32Array.from(keys, (_, i) => i * 2 + 1);
          const order = [...keys.keys()].sort((a, b) => keys[a]! - keys[b]! || a - b);
          const wanted = order.map(i => numbers[i]!).slice(from, from + length);
          expect(finish(select({ numbers, keys }, from, from + length))).toEqual(wanted);
        },
      ),
    );
  });

  it('puts devices without a time last in both directions', () => {
    const room = new TimeOrder();
    const times = Float64Array.from({ length: 6001 }, (_, n) => (n % 3 === 0 ? Number.NaN : (n * 31) % 500));
    const bits = bitsFor(6000);
    setRange(bits, 1, 6000);
    for (const descending of [true, false]) {
      const sign = descending ? -1 : 1;
      const order = Array.from({ length: 6000 }, (_, i) => i + 1).sort((a, b) => {
        const [x, y] = [times[a]!, times[b]!];
        if (Number.isNaN(x) || Number.isNaN(y))
          return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || sign * (a - b);
        return sign * (x - y || a - b);
      });
      for (const offset of [0, 3950, 3995, 4000, 4001, 5990, 7000])
        expect(finish(room.page(times, bits, { descending, offset, limit: 30 }))).toEqual(
          order.slice(offset, offset + 30),
        );
    }
  });
});

describe('keywords', () => {
  it('match the ids that contain them', () => {
    const keyword = fc.oneof(
      fc.constantFrom(
        'd',
        'de',
        'dev',
        'dev-',
        'ev-',
        'v-',
        '-',
        'dev-0',
        '0',
        '00',
        'dve',
        'dev--',
        '-dev',
        '1-',
        'x',
      ),
      fc.integer({ min: 0, max: 12_000 }).map(String),
      fc.tuple(fc.constantFrom('dev-', 'v-', '-', '0'), fc.integer({ min: 0, max: 1200 })).map(parts => parts.join('')),
    );
    fc.assert(
      fc.property(keyword, fc.integer({ min: 1, max: 11_111 }), (word, last) => {
        const bits = bitsFor(last);
        addIdsWith(bits, word, last);
        const wanted = Array.from({ length: last }, (_, i) => i + 1).filter(n => `dev-${n}`.includes(word));
        expect(members(bits)).toEqual(wanted);
      }),
      { numRuns: 300 },
    );
  });

  it('match the serial numbers that contain them, ignoring case, few or many', () => {
    const letters = fc.constantFrom(...'aAbBxX019-_.:/', '%', 'é', '\u{1F511}');
    const text = (max: number) => fc.array(letters, { minLength: 1, maxLength: max }).map(parts => parts.join(''));
    fc.assert(
      fc.property(
        fc.array(text(12), { minLength: 1, maxLength: 700 }),
        fc.array(text(6), { minLength: 5 }),
        (texts, words) => {
          const serials = new Serials();
          for (const serial of texts) serials.add(serial);
          const trigrams = new Trigrams(serials);
          finish(trigrams.upTo(texts.length));
          const lower = (value: string) => value.replace(/[A-Z]/g, letter => letter.toLowerCase());
          for (const word of [...words.map(lower), ...texts.slice(0, 5).map(lower)]) {
            const wanted = [...texts.keys()].filter(i => lower(texts[i]!).includes(word)).map(i => i + 1);
            expect([word, members(finish(trigrams.find(new TextEncoder().encode(word), texts.length)))]).toEqual([
              word,
              wanted,
            ]);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
