/** Retries: which failures lead to another attempt, after which waits. */
import { describe, expect, test } from 'vitest';
import { NotServing, ServerRefusal, Unreachable } from '../../src/cli/client/failures.ts';
import { type Repeatable, RequestRetry } from '../../src/cli/client/request-retry.ts';
import { pause, poll } from '../../src/cli/retry.ts';
import { retry, waitMs } from '../../src/delivery/retry.ts';
import { schedules } from '../../src/delivery/schedules.ts';

const never = new AbortController().signal;
const lost = () => new Unreachable('the connection was lost', true);
const silent = () => new Unreachable('no response in time', true, null, true);
const unsent = () => new Unreachable('no server answers', false);
const stopping = () => new NotServing(500, 'stopping');
const limited = (seconds: number | null) => new ServerRefusal(429, 'slow down', { waitSeconds: seconds });
const refused = () => new ServerRefusal(2002, 'active');

/** Returns or throws the outcomes in turn; the last one repeats. */
function taking(outcomes: readonly unknown[]) {
  const left = [...outcomes];
  return async () => {
    const next = left.length > 1 ? left.shift() : left[0];
    if (next instanceof Error) throw next;
    return next;
  };
}

/** The result of a request whose attempts have these outcomes. */
async function requested(
  outcomes: readonly unknown[],
  repeatable: Repeatable,
  more: { wait?: boolean; starts?: number } = {},
) {
  const seen = { pauses: [] as number[], restarts: 0, waits: 0 };
  const take = taking(outcomes);
  const requests = new RequestRetry({
    wait: more.wait ?? true,
    waiting: () => void seen.waits++,
    trace: () => undefined,
    pause: async milliseconds => void seen.pauses.push(milliseconds),
    restart: async () => seen.restarts++ < (more.starts ?? 0),
  });
  const result = await requests.run(take, repeatable).catch(error => error.message);
  return { ...seen, result };
}

describe('a request', () => {
  const reading = [0, 1].map(failures => waitMs(schedules.reading, failures));
  test.each<[string, readonly unknown[], Repeatable, object]>([
    ['that succeeds is sent once', ['a'], 'lost', { result: 'a', pauses: [], restarts: 0 }],
    ['that is a read is sent again after a loss', [lost(), 'a'], 'lost', { result: 'a', pauses: [200] }],
    [
      'that is a read is sent again to a server that stops',
      [stopping(), lost(), 'a'],
      'lost',
      { result: 'a', pauses: reading },
    ],
    [
      'that is a read fails after the third loss',
      [lost()],
      'lost',
      { result: 'the connection was lost', pauses: reading },
    ],
    [
      'that is a read is not sent again to a silent server',
      [silent(), 'a'],
      'lost',
      { result: 'no response in time', pauses: [] },
    ],
    [
      'that is a write is not sent again after a loss',
      [lost(), 'a'],
      'unsent',
      { result: 'the connection was lost', pauses: [] },
    ],
    ['that is refused is not sent again', [refused(), 'a'], 'lost', { result: 'active', pauses: [] }],
    [
      'waits for the limit, also a transfer',
      [limited(2), limited(null), 'a'],
      'none',
      { result: 'a', waits: 2, pauses: [2_050, 15_050] },
    ],
    ['waits for the limit for an hour at most', [limited(1e9), 'a'], 'unsent', { result: 'a', pauses: [3_600_050] }],
  ])('%s', async (_, outcomes, repeatable, expected) => {
    expect(await requested(outcomes, repeatable)).toMatchObject(expected);
  });

  test('does not wait for the limit if it must not', async () => {
    expect(await requested([limited(1), 'a'], 'lost', { wait: false })).toMatchObject({
      result: 'slow down',
      pauses: [],
    });
  });

  test.each<[Repeatable, number, object]>([
    ['unsent', 1, { result: 'a', restarts: 1, pauses: [] }],
    ['unsent', 0, { result: 'no server answers', restarts: 1 }],
    ['none', 1, { result: 'no server answers', restarts: 0 }],
  ])(
    'that did not leave and is repeatable if %s, with %d servers that can be started',
    async (repeatable, starts, expected) => {
      expect(await requested([unsent(), 'a'], repeatable, { starts })).toMatchObject(expected);
    },
  );

  test('starts the server again once', async () => {
    expect(await requested([unsent()], 'lost', { starts: 9 })).toMatchObject({
      result: 'no server answers',
      restarts: 1,
    });
  });
});

describe('a retry', () => {
  test('reports each failure with the number of those before it, and rejects with what the report throws', async () => {
    const failures: number[] = [];
    const result = retry(taking([lost(), lost(), unsent()]), async (error, before) => {
      failures.push(before);
      if (before === 2) throw new Error(`gave up: ${(error as Error).message}`);
    });
    await expect(result).rejects.toThrow('gave up: no server answers');
    expect(failures).toEqual([0, 1, 2]);
  });

  test('has waits that never become shorter', () => {
    for (const { pauses } of Object.values(schedules))
      expect([...pauses].sort((one, other) => one - other)).toEqual(pauses);
  });
});

describe('a poll', () => {
  test('returns the first value', async () => {
    expect(await poll(taking([null, null, 'a']), { everyMs: 0, signal: never })).toBe('a');
  });

  test('reads once, and returns null, if there is no time', async () => {
    let reads = 0;
    const read = () => {
      reads++;
      return null;
    };
    expect(await poll(read, { everyMs: 1e6, forMs: 0, signal: never })).toBeNull();
    expect(reads).toBe(1);
  });

  test('fails as its read does, and ends with its signal', async () => {
    await expect(poll(taking([refused()]), { everyMs: 0, signal: never })).rejects.toThrow('active');
    const ending = new AbortController();
    const abort = () => {
      ending.abort();
      return null;
    };
    const waiting = poll(abort, { everyMs: 1e6, signal: ending.signal });
    await expect(waiting).rejects.toMatchObject({ kind: 'interrupted' });
    await expect(pause(1e6, ending.signal)).rejects.toMatchObject({ kind: 'interrupted' });
  });
});
