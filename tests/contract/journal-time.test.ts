import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lastIdBefore } from '../../src/contract/journal-time.ts';

it('the last event before a time is found among events with gaps and equal times, in few reads', async () => {
  const event = fc.record({ gap: fc.integer({ min: 1, max: 9 }), pause: fc.integer({ min: 0, max: 3 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 200 }), fc.integer({ min: 0, max: 400 }), async (steps, time) => {
      const journal: { id: number; at: number }[] = [];
      for (const { gap, pause } of steps) {
        const { id, at } = journal.at(-1) ?? { id: 0, at: 0 };
        journal.push({ id: id + gap, at: at + pause });
      }
      const head = journal.at(-1)?.id ?? 0;
      let reads = 0;
      const found = await lastIdBefore(time, head, async after => {
        reads++;
        return journal.find(entry => entry.id > after);
      });
      expect(found).toBe(journal.findLast(entry => entry.at < time)?.id ?? 0);
      expect(reads).toBeLessThan(2 + Math.log2(head + 1) * 2);
    }),
  );
});
