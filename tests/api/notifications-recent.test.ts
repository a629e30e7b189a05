/** The range of the journal in memory does not claim to have what it has discarded. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { blocksOf } from '../../daemon/notifications/block.ts';
import { journalTypes } from '../../daemon/notifications/frames.ts';
import { Recent } from '../../daemon/notifications/recent.ts';
import { entry } from '../support/journal.ts';

/** Ids that a consumer receives that has everything up to `cursor`. */
function idsAfter(recent: Recent, cursor: number): number[] {
  const ids: number[] = [];
  let at = cursor;
  for (let block = recent.next(at); block; block = recent.next(at)) {
    for (const [, id] of String(block.select(at, journalTypes)).matchAll(/"id":(\d+)/g)) ids.push(Number(id));
    at = block.through;
  }
  return ids;
}

it('returns everything after a position it reaches, once and in order, and does not reach back to discarded entries', () => {
  let discarded = 0;
  fc.assert(
    fc.property(
      fc.nat(50),
      fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 12 }),
      (start, batches) => {
        const recent = new Recent(start, 8 * 1024);
        let last = start;
        for (const batch of batches) {
          const events = Array.from({ length: batch }, (_, i) => entry(last + 1 + i));
          recent.append(blocksOf(events, last), last + batch);
          last += batch;
        }
        expect(recent.through).toBe(last);
        expect(recent.reaches(last)).toBe(true);
        for (let cursor = Math.max(0, start - 1); cursor <= last; cursor++) {
          const wanted = Array.from({ length: last - cursor }, (_, i) => cursor + 1 + i);
          if (recent.reaches(cursor)) expect(idsAfter(recent, cursor)).toEqual(wanted);
          else discarded++;
        }
        if (start > 0) expect(recent.reaches(start - 1)).toBe(false);
      },
    ),
    { numRuns: 50 },
  );
  expect(discarded).toBeGreaterThan(1000);
});

it('keeps at least its newest block, however small its bound', () => {
  const recent = new Recent(0, 1);
  recent.append(blocksOf([entry(1), entry(2)], 0), 2);
  expect(idsAfter(recent, 0)).toEqual([1, 2]);
  recent.append(blocksOf([entry(3)], 2), 3);
  expect([0, 1, 2, 3].map(cursor => recent.reaches(cursor))).toEqual([false, false, true, true]);
  expect(idsAfter(recent, 2)).toEqual([3]);
});
