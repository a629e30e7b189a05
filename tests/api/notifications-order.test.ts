import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { typeSet } from '../../daemon/notifications/frames.ts';
import { Hub } from '../../daemon/notifications/hub.ts';
import type { EventRecord } from '../../daemon/store/journal.ts';
import { type EventType, eventTypes } from '../../src/contract/event-types.ts';
import { FakeJournal, FakeSink } from '../support/fake-stream.ts';

const log = { warn: () => {} };
const turn = () => new Promise(setImmediate);

interface Watcher {
  readonly sink: FakeSink;
  readonly types: readonly EventType[];
  /** Id after which it must receive everything. */
  readonly from: number;
  readonly keysFrom: number;
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      types: fc.array(
        fc.constantFrom<EventRecord['type']>('DEVICE_REGISTERED', 'DEVICE_LOCKED', 'DEVICE_USED', 'PASSWORD_CHANGED'),
        { minLength: 1, maxLength: 900, size: 'max' },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('watch' as const),
      back: fc.option(fc.nat(3000)),
      types: fc.subarray([...eventTypes], { minLength: 1 }),
      room: fc.constantFrom(1, 300, 20_000, 1e9),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('key' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('take' as const), who: fc.nat(9), bytes: fc.nat(50_000) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), turns: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const) }) },
);

class World {
  readonly journal = new FakeJournal();
  readonly watchers: Watcher[] = [];
  /** End of the journal at each key event. */
  readonly keys: number[] = [];
  readonly hub: Hub;
  sweep = () => {};

  constructor() {
    this.hub = new Hub({
      store: this.journal,
      log,
      now: () => 0,
      monotonic: () => 0,
      pause: turn,
      every: (_, call) => {
        this.sweep = call;
        return () => {};
      },
    });
  }

  watch(back: number | null, types: readonly EventType[], room: number): void {
    const head = this.journal.entries.length;
    const since = back === null ? null : Math.max(0, head - back);
    const sink = new FakeSink(room);
    const connection = this.hub.subscribe({
      sink,
      holder: '1',
      expiresAt: 1,
      isTokenValid: async () => true,
      wanted: typeSet(types),
      since,
    });
    sink.drained = () => connection.drained();
    this.watchers.push({ sink, types, from: since ?? head, keysFrom: this.keys.length });
  }

  key(): void {
    this.hub.publish('KEY_ATTACHED', 0, { number: this.keys.length });
    this.keys.push(this.journal.entries.length);
  }

  /** Resolves when nothing changes any more. */
  async settle(): Promise<void> {
    this.journal.failures = 0;
    for (let quiet = 0, before = -1; quiet < 20; ) {
      this.sweep();
      for (const { sink } of this.watchers) sink.take();
      await turn();
      const now = this.journal.reads + this.watchers.reduce((sum, { sink }) => sum + sink.taken, 0);
      quiet = now === before ? quiet + 1 : 0;
      before = now;
    }
  }

  check({ sink, types, from, keysFrom }: Watcher): void {
    const frames = sink.frames();
    const ids = frames.flatMap(frame => frame.id ?? []);
    const expected = this.journal.entries.filter(
      event => event.id > from && (types as readonly string[]).includes(event.type),
    );
    expect(ids).toEqual(expected.map(event => event.id));
    const keys = frames.flatMap((frame, index) => (frame.id === undefined ? [{ ...frame, index }] : []));
    expect(keys.map(key => key.data.number)).toEqual(
      types.includes('KEY_ATTACHED') ? this.keys.map((_, number) => number).slice(keysFrom) : [],
    );
    for (const key of keys) {
      const later = frames.slice(key.index).flatMap(frame => frame.id ?? []);
      expect(later.every(id => id > this.keys[key.data.number]!)).toBe(true);
    }
    expect(sink.mostWaiting).toBeLessThanOrEqual(1024 * 1024);
  }
}

describe('in any sequence of events', () => {
  it('sends each consumer every wanted event after its cursor, once and in order, within the bound of its buffer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async steps => {
        const world = new World();
        await world.hub.ready();
        for (const one of steps) {
          if (one.do === 'commit') world.journal.commit(one.types);
          else if (one.do === 'watch') world.watch(one.back, one.types, one.room);
          else if (one.do === 'key') world.key();
          else if (one.do === 'take') world.watchers[one.who]?.sink.take(one.bytes);
          else if (one.do === 'fail') world.journal.failures++;
          else for (let i = 0; i < one.turns; i++) await turn();
        }
        await world.settle();
        for (const watcher of world.watchers) world.check(watcher);
      }),
      { numRuns: 150 },
    );
  });

  it('reads live events once, however many consumers there are', async () => {
    const world = new World();
    await world.hub.ready();
    for (let i = 0; i < 100; i++) world.watch(null, eventTypes, 1e9);
    world.journal.commit(['DEVICE_REGISTERED']);
    await world.settle();
    expect(world.journal.reads).toBe(1);
    for (const watcher of world.watchers) world.check(watcher);
  });

  it('reads nothing while no consumer wants events of the journal', async () => {
    const world = new World();
    await world.hub.ready();
    world.watch(null, ['KEY_ATTACHED'], 1e9);
    world.journal.commit(['DEVICE_REGISTERED']);
    await world.settle();
    expect(world.journal.reads).toBe(0);
  });
});

describe('a stream that was admitted before the stop, and opened after it began', () => {
  it('is closed with 1001, and destroyed if the client does not answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const world = new World();
    await world.hub.ready();
    await world.hub.close();
    world.watch(null, eventTypes, 1e9);
    const { sink } = world.watchers[0]!;
    expect(sink.closed).toMatchObject({ code: 1001 });
    expect(sink.terminated).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(sink.terminated).toBe(true);
  });
});
