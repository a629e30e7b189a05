import { describe, expect, it } from 'vitest';
import { cooperatively, KeyedMutex, TimeSlice, TurnBatch, visitCooperatively } from '../../daemon/base/concurrency.ts';

describe('KeyedMutex', () => {
  it('runs tasks with the same key one after the other, even if one fails', async () => {
    const mutex = new KeyedMutex<string>();
    const order: string[] = [];
    const first = Promise.withResolvers<void>();
    const failed = mutex.run('a', async () => {
      await first.promise;
      order.push('first');
      throw new Error('failed');
    });
    const second = mutex.run('a', async () => void order.push('second'));
    expect(order).toEqual([]);
    first.resolve();
    await expect(failed).rejects.toThrow('failed');
    await second;
    expect(order).toEqual(['first', 'second']);
  });

  it('runs tasks with different keys side by side', async () => {
    const mutex = new KeyedMutex<string>();
    const blocked = Promise.withResolvers<void>();
    const first = mutex.run('a', () => blocked.promise);
    expect(await mutex.run('b', async () => 'done')).toBe('done');
    blocked.resolve();
    await first;
  });

  it('queues for several keys in one step: tasks that share keys run one after the other and do not block each other', async () => {
    const mutex = new KeyedMutex<string>();
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = mutex.run('a', async () => {
      await gate.promise;
      order.push('a');
    });
    const both = mutex.runAll(['b', 'a'], async () => void order.push('b and a'));
    const again = mutex.runAll(['a', 'b'], async () => void order.push('a and b'));
    const last = mutex.run('b', async () => void order.push('b'));
    const apart = await mutex.runAll(['c'], async () => 'c');
    expect([apart, order]).toEqual(['c', []]);
    gate.resolve();
    await Promise.all([first, both, again, last]);
    expect(order).toEqual(['a', 'b and a', 'a and b', 'b']);
  });
});

describe('TurnBatch', () => {
  it('handles what arrives in one turn together, at the end of the turn', async () => {
    const batches: number[][] = [];
    const batch = new TurnBatch<number>({ handle: items => void batches.push(items) });
    batch.add(1);
    await Promise.resolve();
    batch.add(2);
    expect(batches).toEqual([]);
    await batch.idle();
    expect(batches).toEqual([[1, 2]]);
    expect(batch.busy).toBe(false);
  });

  it('collects what arrives while it works into the next batch', async () => {
    const batches: number[][] = [];
    const batch = new TurnBatch<number>({
      handle: async items => {
        batches.push(items);
        if (items.includes(1)) for (const more of [2, 3]) batch.add(more);
      },
    });
    batch.add(1);
    await batch.idle();
    expect(batches).toEqual([[1], [2, 3]]);
  });

  it('takes only as many items as its option specifies, in order', async () => {
    const batches: number[][] = [];
    const batch = new TurnBatch<number>({ handle: items => void batches.push(items), take: () => 2 });
    for (const n of [1, 2, 3, 4, 5]) batch.add(n);
    await batch.idle();
    expect(batches).toEqual([[1, 2], [3, 4], [5]]);
  });
});

describe('time slices', () => {
  function* steps(count: number): Generator<void, number> {
    for (let i = 0; i < count; i++) yield;
    return count;
  }

  it('let other work run in between when they are over', async () => {
    const turns: string[] = [];
    setImmediate(() => turns.push('other'));
    expect(await cooperatively(steps(1), { slice: new TimeSlice(0) })).toBe(1);
    expect(turns).toEqual(['other']);
  });

  it('hold the event loop until they are over', async () => {
    const turns: string[] = [];
    setImmediate(() => turns.push('other'));
    expect(await cooperatively(steps(1000), { slice: new TimeSlice(Number.POSITIVE_INFINITY) })).toBe(1000);
    expect(turns).toEqual([]);
  });

  it('visit every item, the first ones at once', async () => {
    const seen: number[] = [];
    const done = visitCooperatively([1, 2, 3], n => seen.push(n));
    expect(seen.length).toBeGreaterThan(0);
    await done;
    expect(seen).toEqual([1, 2, 3]);
  });
});

it('each turn of the event loop resumes one of all tasks that wait for their next slice', async () => {
  let turn = 0;
  const count = () => {
    turn++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const turns = await Promise.all(
    Array.from({ length: 20 }, async () => {
      await new TimeSlice().pass();
      return turn;
    }),
  );
  clearImmediate(timer);
  expect(new Set(turns).size).toBe(20);
});

it('tasks that follow each other in one turn share its slice', async () => {
  const first = new TimeSlice(5);
  while (!first.over);
  expect(new TimeSlice(5).over).toBe(true);
  await new TimeSlice().pass();
  expect(new TimeSlice(5000).over).toBe(false);
});
