/** Limits that several nodes share through one database. */
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { Guessing } from '../../daemon/accounts/guessing.ts';
import { fileBudget } from '../../daemon/files/file-budget.ts';
import type { Allowance, RequestLimits } from '../../daemon/requests/limiter.ts';
import { SharedLimiter } from '../../daemon/requests/shared-limiter.ts';
import { StoreFailure } from '../../daemon/store/commit.ts';
import type { SharedCounters } from '../../daemon/store/short-lived.ts';
import { type Limit, rateLimits } from '../../src/contract/limits.ts';
import { openNodes } from '../support/limit-stores.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';

needsPostgres('limits in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  /** As many daemons, and what lets time pass. */
  async function limiters(count: number, query: Limit = rateLimits.query) {
    const opened = await openNodes(server, count);
    const all = opened.nodes.map(node => new SharedLimiter({ ...rateLimits, query }, node, opened.monotonic));
    onTestFinished(async () => {
      await Promise.all(all.map(limiter => limiter.stop()));
    });
    return { ...opened, limiters: all };
  }
  /** Sends requests to the nodes in turn, one after the other. */
  async function inTurn(nodes: readonly RequestLimits[], requests: number, key = 'a') {
    const answers: Allowance[] = [];
    for (let i = 0; i < requests; i++) answers.push((await nodes[i % nodes.length]!.count('query', key))!);
    return answers;
  }
  const allowed = (answers: readonly (Allowance | null)[]) => answers.filter(answer => answer?.allowed).length;
  test.each(['login', 'modify', 'upload'] as const)('%s: all nodes together allow exactly the limit', async scope => {
    const { limiters: nodes } = await limiters(2);
    const { count } = rateLimits[scope];
    const answers = await Promise.all(Array.from({ length: 4 * count }, (_, i) => nodes[i % 2]!.count(scope, 'a')));
    expect(allowed(answers)).toBe(count);
    const ends = new Set(answers.map(answer => answer!.resetAt));
    expect(ends.size).toBe(1);
    const remaining = answers.filter(answer => answer!.allowed).map(answer => answer!.remaining);
    expect(remaining.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
    nodes[0]!.giveBack(scope, 'a');
    expect((await nodes[0]!.count(scope, 'a'))!.allowed).toBe(true);
    expect((await nodes[1]!.count(scope, 'a'))!.allowed).toBe(false);
  });

  test('changes of one user that arrive together are counted with one statement', async () => {
    const { nodes } = await limiters(1);
    const taken: number[] = [];
    const counted: SharedCounters = {
      ...bound(nodes[0]!),
      take: taking => {
        taken.push(taking.want ?? 1);
        return nodes[0]!.take(taking);
      },
    };
    const limiter = new SharedLimiter(rateLimits, counted);
    const many = (key: string) => Array.from({ length: 7 }, () => limiter.count('modify', key));
    const answers = await Promise.all([...many('a'), ...many('b'), limiter.count('upload', 'a')]);
    expect(taken).toEqual([7, 7, 1]);
    const { count } = rateLimits.modify;
    const one = Array.from({ length: 7 }, (_, i) => count - i - 1);
    expect(answers.map(answer => answer!.remaining)).toEqual([...one, ...one, rateLimits.upload.count - 1]);
    await limiter.stop();
  });

  test('queries: a lone node allows the limit with ten statements, and its headers count down', async () => {
    const { nodes, monotonic } = await limiters(1);
    let statements = 0;
    const counted: SharedCounters = {
      ...bound(nodes[0]!),
      take: taking => {
        statements++;
        return nodes[0]!.take(taking);
      },
    };
    const limiter = new SharedLimiter(rateLimits, counted, monotonic);
    onTestFinished(() => limiter.stop());
    const answers = await inTurn([limiter], 130);
    expect(allowed(answers)).toBe(100);
    expect(answers.slice(0, 100).map(({ remaining }) => remaining)).toEqual(
      Array.from({ length: 100 }, (_, i) => 99 - i),
    );
    expect(answers.at(-1)).toMatchObject({ allowed: false, limit: 100, remaining: 0, retryAfter: 60 });
    expect(statements).toBeLessThanOrEqual(10);
  });

  test.each([2, 3, 16])(
    'queries: %i nodes never allow more, and allow all of it once leases have ended',
    async count => {
      const { limiters: nodes, clock } = await limiters(count);
      const burst = await Promise.all(Array.from({ length: 400 }, (_, i) => nodes[i % count]!.count('query', 'a')));
      const first = allowed(burst);
      expect(first).toBeLessThanOrEqual(100);
      await clock.advance(3000);
      await Promise.all(nodes.map(node => node.stop()));
      expect(first + allowed(await inTurn(nodes, 300))).toBe(100);
      await clock.advance(60_000);
      expect((await nodes[0]!.count('query', 'a'))!.allowed).toBe(true);
    },
  );

  test('queries in turn over two nodes: exactly the limit', async () => {
    const { limiters: nodes } = await limiters(2);
    const answers = await inTurn(nodes, 250);
    expect(allowed(answers)).toBe(100);
    expect(new Set(answers.map(({ resetAt }) => resetAt)).size).toBe(1);
    // A node learns what the other has taken when it takes its next portion.
    const ofFirst = answers.filter((answer, i) => i % 2 === 0 && answer.allowed);
    for (const [i, { remaining }] of ofFirst.entries()) expect(remaining).toBeLessThanOrEqual(99 - i);
    expect(ofFirst.map(({ remaining }) => remaining)).toEqual(
      ofFirst.map(({ remaining }) => remaining).toSorted((one, other) => other - one),
    );
    expect(answers.at(-1)).toMatchObject({ allowed: false, remaining: 0 });
  });

  test('queries: a node that dies takes what it has leased with it, until the window ends', async () => {
    const { limiters: all, nodes, clock, monotonic } = await limiters(1);
    const dead = new SharedLimiter(rateLimits, { ...bound(nodes[0]!), giveBack: async () => {} }, monotonic);
    await dead.count('query', 'a');
    await dead.stop();
    expect(allowed(await inTurn(all, 150))).toBe(93);
    await clock.advance(60_000);
    expect(allowed(await inTurn(all, 150))).toBe(100);
  });

  test('queries: what a node does not use goes back when its lease ends, not into a later window', async () => {
    const { limiters: nodes, clock } = await limiters(2);
    const [first, second] = nodes as [SharedLimiter, SharedLimiter];
    await first.count('query', 'a');
    await clock.advance(2000);
    await first.returnEnded();
    expect(allowed(await inTurn([second], 150))).toBe(99);
    await clock.advance(58_000);
    await first.count('query', 'a');
    await clock.advance(60_000);
    expect(allowed(await inTurn([second], 10))).toBe(10);
    await first.stop();
    expect(allowed(await inTurn([second], 150))).toBe(90);
  });

  test('a node whose clock jumps by 10 minutes changes nothing', async () => {
    const { limiters: nodes } = await limiters(2);
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const answers: Allowance[] = [];
    for (const jump of [0, 600_000, -1_200_000]) {
      vi.setSystemTime(Date.now() + jump);
      for (let i = 0; i < 10; i++) answers.push((await nodes[i % 2]!.count('login', 'a'))!);
      answers.push(...(await inTurn(nodes, 10)));
    }
    expect(allowed(answers)).toBe(rateLimits.login.count + 30);
    expect(new Set(answers.map(({ resetAt }) => resetAt)).size).toBe(1);
    expect(new Set(answers.map(({ retryAfter }) => retryAfter))).toEqual(new Set([60]));
  });

  test('the local user of each machine has limits of its own', async () => {
    const { limiters: nodes } = await limiters(2);
    for (const node of nodes) expect(allowed(await inTurn([node], 150, 'local'))).toBe(100);
  });

  test('guessing at the same time on two nodes gets ten answers', async () => {
    const { nodes } = await openNodes(server, 2);
    const all = nodes.map(counters => new Guessing({ enabled: true, counters }));
    const answered = async (attempt: (guessing: Guessing) => Promise<unknown>) => {
      const settled = await Promise.allSettled(Array.from({ length: 30 }, (_, i) => attempt(all[i % 2]!)));
      return settled.filter(({ status }) => status === 'fulfilled').length;
    };
    expect(await answered(guessing => guessing.login('ada', 7, async () => false))).toBe(10);
    expect(await answered(guessing => guessing.login('no one', null, async () => false))).toBe(10);
    expect(await answered(guessing => guessing.confirmation({ name: 'ada', user: 7 }, [7], async () => false))).toBe(
      10,
    );
    expect(await answered(guessing => guessing.code(1, false))).toBe(10);
    expect(await answered(guessing => guessing.login('ada', 7, async () => true))).toBe(0);
    expect(await answered(guessing => guessing.code(1, true))).toBe(0);
  });

  test('entries by others for an account are counted over all nodes, apart from those of its owner', async () => {
    const { nodes } = await openNodes(server, 2);
    const [one, other] = nodes.map(counters => new Guessing({ enabled: true, counters })) as [Guessing, Guessing];
    const dealer = (number: number) => ({ name: `dealer-${number}`, user: number });
    for (let i = 0; i < 10; i++) await (i % 2 ? one : other).confirmation(dealer(i + 100), [7], async () => false);
    for (const node of [one, other]) {
      await expect(node.confirmation(dealer(200), [7], async () => true)).rejects.toMatchObject({ code: 429 });
      expect(await node.confirmation({ name: 'ada', user: 7 }, [7], async () => true)).toBe(true);
    }
  });

  test('a right password is not revealed if wrong ones on another node have started a block since', async () => {
    const { nodes } = await openNodes(server, 2);
    const [one, other] = nodes.map(counters => new Guessing({ enabled: true, counters })) as [Guessing, Guessing];
    const attempt = one.login('ada', 7, async () => {
      for (let i = 0; i < 10; i++) await other.login('ada', 7, async () => false);
      return true;
    });
    await expect(attempt).rejects.toMatchObject({ code: 429, retryAfter: 15 });
  });

  test('the total of files that nodes share is the sum of all records, of other nodes too', async () => {
    const { store, query } = await openNodes(server, 1);
    const disk = { shared: true, stored: async () => 0, space: async () => ({ free: Infinity, size: Infinity }) };
    const bounds = { total: 1000, reserve: () => 0, daily: null };
    const budget = fileBudget(bounds, disk, store);
    const before = await budget.admit('1', 5000, 0);
    expect(before.maxBytes).toBe(1000);
    before.end();
    await query(`INSERT INTO app (number, platform, version, version_name, force_update, file_name, extension, file_size,
      sha256, uploaded_by, created_at, blob) VALUES (1, 'ANDROID', '1.0.0', '1', false, 'a.apk', 'apk', 600, '', 'b', 0, 'c')`);
    await expect(budget.admit('1', 5000, 401)).rejects.toMatchObject({ code: 4002 });
    expect((await budget.admit('1', 5000, 0)).maxBytes).toBe(400);
  });

  test('a sweep removes what has ended, and of one scope what is too much', async () => {
    const { nodes, clock, query } = await openNodes(server, 1);
    const [counters] = nodes as [SharedCounters];
    const take = (key: string, milliseconds: number) =>
      counters.take({ scope: 's', key, want: 1, need: 1, most: 1, share: 1, milliseconds });
    await Promise.all(Array.from({ length: 2500 }, (_, i) => take(`ended ${i}`, 1000)));
    for (const [i, key] of ['first', 'second', 'third'].entries()) await take(key, 5000 + i);
    await clock.advance(1000);
    await counters.sweep('s', 2);
    expect(await query('SELECT key FROM counter ORDER BY key')).toEqual([{ key: 'second' }, { key: 'third' }]);
  });

  test('a server that does not answer lifts no limit: counts fail in bounded time and number', async () => {
    const { nodes, database } = await openNodes(server, 1, 300);
    const limiter = new SharedLimiter(rateLimits, nodes[0]!);
    onTestFinished(() => limiter.stop());
    // A new connection can take longer than the 300 ms of an answer.
    const isAllowed = async () => (await limiter.count('login', 'a'))!.allowed;
    await expect.poll(isAllowed).toBe(true);
    const blocking = await server.connect(database);
    await blocking.query('BEGIN; LOCK TABLE counter');
    const settled = await Promise.allSettled(
      Array.from({ length: 10_050 }, (_, i) => Promise.resolve(limiter.count('login', `${i}`))),
    );
    const failures = settled.map(result => (result.status === 'rejected' ? result.reason : null));
    expect(failures.every(failure => failure instanceof StoreFailure)).toBe(true);
    expect(failures.filter(({ message }) => /does not keep up/.test(message))).toHaveLength(50);
    await expect(limiter.count('query', 'b')).rejects.toThrow(StoreFailure);
    const guessing = new Guessing({ enabled: true, counters: nodes[0]! });
    await expect(guessing.login('ada', 7, async () => true)).rejects.toThrow(StoreFailure);
    await blocking.query('ROLLBACK');
    await blocking.end();
    await expect.poll(isAllowed).toBe(true);
  });

  test('a crash of the server begins new windows; the counts continue without a restart of the daemon', async () => {
    const own = await PostgresServer.start();
    onTestFinished(() => own.stop());
    const { nodes } = await openNodes(own, 1);
    const limiter = new SharedLimiter(rateLimits, nodes[0]!);
    for (let i = 0; i < 6; i++) await limiter.count('login', 'a');
    await own.kill();
    await expect(limiter.count('login', 'a')).rejects.toThrow(StoreFailure);
    await own.run();
    expect(await limiter.count('login', 'a')).toMatchObject({ allowed: true, remaining: 4 });
    await limiter.stop();
  });
});

/** The methods of counters, to replace some of them. */
function bound(counters: SharedCounters): SharedCounters {
  return {
    take: taking => counters.take(taking),
    giveBack: (...all) => counters.giveBack(...all),
    blockedFor: (...all) => counters.blockedFor(...all),
    wrong: (...all) => counters.wrong(...all),
    right: (...all) => counters.right(...all),
    sweep: (...all) => counters.sweep(...all),
    storedBytes: () => counters.storedBytes(),
  };
}
