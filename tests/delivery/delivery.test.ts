/** The engine that delivers items, with a receiver and a stored position in memory and a clock that only pauses move. */
import { expect, it } from 'vitest';
import { Delivery, type DeliveryItem, type DeliveryPorts } from '../../src/delivery/delivery.ts';
import { type AttemptResult, delivered, failed, untried } from '../../src/delivery/retry.ts';

type Ports = DeliveryPorts<string, AttemptResult>;
const gone: AttemptResult = { result: 'gone', reason: 'gone', waitSeconds: null };

/** A delivery of items a, b, c … with the positions 1, 2, 3 …, that sees no item after them. */
function setUp(letters: string, answer: (text: string, attempt: number) => AttemptResult, more: Partial<Ports> = {}) {
  const items = [...letters].map((content, index): DeliveryItem<string> => ({ id: index + 1, content }));
  const sent: string[] = [];
  const stored = { through: 0 };
  let now = 0;
  const store = (through = stored.through) => {
    stored.through = through;
  };
  const delivery = new Delivery<string, AttemptResult>({
    policy: { pauses: [1], retries: 2, patienceMs: 1e9, longestWait: 0, jitter: [1, 1] },
    onGiveUp: 'end',
    graceMs: null,
    position: async () => ({ ...stored, retry: untried }),
    items: async function* (after) {
      yield* items.slice(after ?? 0);
    },
    attempt: async text => {
      sent.push(text);
      return answer(text, sent.filter(one => one === text).length);
    },
    settle: async ({ through }) => store(through),
    now: () => now,
    sleep: async milliseconds => {
      now += milliseconds;
    },
    ...more,
  });
  return { delivery, sent: () => sent.join(''), stored, store, now: () => now };
}
const never = new AbortController().signal;

it('repeats an item until it is delivered, before the next one', async () => {
  const { delivery, sent, stored, now } = setUp('abc', (text, n) =>
    text === 'b' && n < 3 ? failed('busy') : delivered,
  );
  await delivery.run(never);
  expect({ sent: sent(), through: stored.through, now: now() }).toEqual({ sent: 'abbbc', through: 3, now: 2000 });
});

it.each([
  ['end', 'abbb', 1],
  ['skip', 'abbbc', 3],
] as const)('an item whose attempts all failed: %s', async (onGiveUp, sent, through) => {
  const made = setUp('abc', text => (text === 'b' ? failed('busy') : delivered), { onGiveUp });
  await made.delivery.run(never);
  expect({ sent: made.sent(), through: made.stored.through }).toEqual({ sent, through });
});

it('ends when the receiver refuses', async () => {
  const { delivery, sent } = setUp('abc', text => (text === 'b' ? gone : delivered));
  await delivery.run(never);
  expect(sent()).toBe('ab');
});

it('sends nothing again if only the position could not be stored', async () => {
  let isAway = true;
  const made: ReturnType<typeof setUp> = setUp('ab', () => delivered, {
    onFailure: () => {},
    settle: async ({ through }) => {
      if (isAway) {
        isAway = false;
        throw new Error('the store is away');
      }
      made.store(through);
    },
  });
  await made.delivery.run(never);
  expect({ sent: made.sent(), through: made.stored.through, now: made.now() }).toEqual({
    sent: 'ab',
    through: 2,
    now: 2000,
  });
});

it('continues from a position that someone else has stored in the same time', async () => {
  let isFirst = true;
  const made: ReturnType<typeof setUp> = setUp('abcd', () => delivered, {
    onFailure: () => {},
    settle: async ({ through }) => {
      if (!isFirst) return made.store(through);
      isFirst = false;
      made.store(2);
      throw new Error('conflict');
    },
  });
  await made.delivery.run(never);
  expect({ sent: made.sent(), through: made.stored.through }).toEqual({ sent: 'acd', through: 4 });
});

it('ends with the error of a port if it cannot recover', async () => {
  const { delivery, sent } = setUp('ab', () => delivered, { settle: () => Promise.reject(new Error('no space')) });
  await expect(delivery.run(never)).rejects.toThrow('no space');
  expect(sent()).toBe('a');
});

it('makes no further attempt after it was stopped during a pause', async () => {
  const stop = new AbortController();
  const { delivery, sent } = setUp('ab', () => failed('busy'), { sleep: async () => stop.abort() });
  await delivery.run(stop.signal);
  expect(sent()).toBe('a');
});

it('cuts an attempt when its grace has ended, and stores nothing of it', async () => {
  const stop = new AbortController();
  const settled: unknown[] = [];
  const { delivery } = setUp('ab', () => delivered, {
    graceMs: 1,
    attempt: (_, signal) =>
      new Promise(resolve => {
        signal.addEventListener('abort', () => resolve(failed('cut')));
        stop.abort();
      }),
    settle: async settlement => void settled.push(settlement),
  });
  await delivery.run(stop.signal);
  expect(settled).toEqual([]);
});

it('with several at a time, stores the position of the slowest and keeps the order of a key', async () => {
  const release = Promise.withResolvers<void>();
  const sent: string[] = [];
  const positions: number[] = [];
  const { delivery } = setUp('', () => delivered, {
    concurrency: 3,
    items: async function* () {
      for (const [index, content] of ['a1', 'b1', 'a2', 'b2'].entries())
        yield { id: index + 1, key: content[0]!, content };
    },
    attempt: async text => {
      if (text === 'a1') await release.promise;
      sent.push(text);
      if (text === 'b2') release.resolve();
      return delivered;
    },
    settle: async ({ through }) => {
      if (through !== undefined) positions.push(through);
    },
  });
  await delivery.run(never);
  expect({ sent, positions }).toEqual({ sent: ['b1', 'b2', 'a1', 'a2'], positions: [2, 4] });
});
