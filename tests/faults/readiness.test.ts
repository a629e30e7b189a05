/** GET /api/health shows whether requests should be sent to a daemon: 200, or 503 with the reason in words. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Readiness } from '../../daemon/requests/readiness.ts';
import { Primary } from '../../daemon/store/postgres/primary.ts';
import { Watch } from '../../daemon/store/postgres/watch.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, registration } from '../support/fleet.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { openStream, refusedUpgrade } from '../support/stream-client.ts';

const health = (daemon: TestDaemon) => daemon.call('GET', '/api/health', undefined, { token: null });

needsPostgres('a daemon on PostgreSQL', () => {
  let server: PostgresServer;
  let daemon: TestDaemon;
  beforeAll(async () => {
    server = await PostgresServer.start();
    const url = server.url(await server.database());
    const many = { count: 1000, seconds: 60 };
    const limits = { login: many, query: many, modify: many, upload: many };
    daemon = await startTestDaemon({ store: { url, env: {} }, node: 'node-1', limits });
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await daemon?.stop();
    await server?.stop();
  });

  const faults: readonly [what: string, breakIt: () => unknown, repair: () => unknown, reason: RegExp][] = [
    ['its server is away', () => server.kill(), () => server.run(), /^the database cannot be reached/],
    [
      'its clock is off',
      () => vi.spyOn(Primary.prototype, 'now').mockImplementation(() => Date.now() + 6000),
      () => vi.restoreAllMocks(),
      /^the clock of this machine is 6 s off that of the database$/,
    ],
    [
      'it does not learn of the changes of others',
      () => vi.spyOn(Watch.prototype, 'look').mockResolvedValue(),
      () => vi.restoreAllMocks(),
      /^the daemon has not received the changes of other daemons for \d+ s$/,
    ],
  ];

  it.each(faults)(
    'is not ready while %s, explains why, and is ready again afterwards',
    async (_, breakIt, repair, reason) => {
      expect(await health(daemon)).toMatchObject({ status: 200, code: 200, data: { ready: true, reason: null } });
      await breakIt();
      const answer = await vi.waitFor(async () => {
        const found = await health(daemon);
        expect(found).toMatchObject({ status: 503, code: 500, message: expect.stringMatching(reason) });
        return found;
      }, 10_000);
      expect(answer.data).toMatchObject({ status: 'degraded', ready: false, reason: answer.message, node: 'node-1' });
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(JSON.stringify(answer.data)).not.toContain(server.folder);
      expect(daemon.logged()).toContain('"msg":"the daemon is not ready"');
      await repair();
      await vi.waitFor(async () => expect(await health(daemon)).toMatchObject({ status: 200 }), 10_000);
      expect(daemon.logged()).toContain('"msg":"the daemon is ready again"');
    },
  );

  it.each(faults)('logs once that %s, and that it ended, even if no request asks for the health', async (...fault) => {
    const [, breakIt, repair] = fault;
    const lines = (message: string) => daemon.logged().split(`"msg":"${message}"`).length - 1;
    const counts = () => [lines('the daemon is not ready'), lines('the daemon is ready again')] as const;
    const [lost, found] = counts();
    await breakIt();
    try {
      await vi.waitFor(() => expect(counts()).toEqual([lost + 1, found]), 10_000);
    } finally {
      await repair();
    }
    await vi.waitFor(() => expect(counts()).toEqual([lost + 1, found + 1]), 10_000);
    await Promise.all(Array.from({ length: 20 }, () => health(daemon)));
    expect(counts()).toEqual([lost + 1, found + 1]);
  });

  it('answers every request 503 with Retry-After while its server is unreachable, and works again afterwards', async () => {
    const limited = { username: 'admin', password: 'wrong password' };
    await server.kill();
    onTestFinished(() => server.run().catch(() => {}));
    const requests = [
      ['POST', '/api/devices/register', registration()],
      ['GET', '/api/devices/list', undefined],
      ['GET', '/api/devices/DEV-1', undefined],
      ['GET', '/api/statistics', undefined],
      ['GET', '/api/events', undefined],
      ['POST', '/api/auth/login', limited],
    ] as const;
    for (const [method, path, body] of requests) {
      const { status, code, headers } = await daemon.call(method, path, body);
      expect([path, status, code, headers.get('retry-after')]).toEqual([path, 503, 500, '1']);
    }
    const refused = await refusedUpgrade(daemon.url, `/api/ws/notifications?token=${daemon.adminToken}&deviceId=DEV-1`);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    await server.run();
    await vi.waitFor(async () => data(await daemon.call('POST', '/api/devices/register', registration())), 10_000);
  });
});

it('asks its store at most once in 200 ms, however often the health is asked for', async () => {
  let [now, asked, ready] = [0, 0, true];
  const store = { behind: () => 0, health: async () => ({ ready, detail: `answer ${++asked}` }) };
  const log = { info: () => {}, warn: () => {} };
  const readiness = new Readiness({ store, log, freshMs: 200, monotonic: () => now });
  const reports = () => Promise.all(Array.from({ length: 50 }, () => readiness.report()));
  expect(new Set((await reports()).map(report => report.store.detail))).toEqual(new Set(['answer 1']));
  ready = false;
  now = 199;
  expect(await readiness.report()).toMatchObject({ ready: true });
  now = 200;
  expect((await reports()).every(report => !report.ready)).toBe(true);
  expect(asked).toBe(2);
  readiness.stopping();
  expect(await readiness.report()).toMatchObject({ reason: 'the daemon is stopping' });
});

describe('while its store answers late', () => {
  const slow = () => {
    const pending: ((ready: boolean) => void)[] = [];
    const health = () =>
      new Promise<{ ready: boolean; detail: string }>(resolve =>
        pending.push(ready => resolve({ ready, detail: ready ? 'ready' : 'away' })),
      );
    let now = 0;
    const log = { info: () => {}, warn: () => {} };
    const parts = { store: { behind: () => 0, health }, log, freshMs: 200, patienceMs: 0, monotonic: () => now };
    return { readiness: new Readiness(parts), pending, pass: (ms: number) => (now += ms) };
  };
  it('answers with the last answer for two seconds, and after that when the store does', async () => {
    const { readiness, pending, pass } = slow();
    const first = readiness.report();
    pending[0]!(true);
    expect(await first).toMatchObject({ ready: true });
    pass(1999);
    expect(await readiness.report()).toMatchObject({ ready: true, store: { detail: 'ready' } });
    expect(pending).toHaveLength(2);
    pass(1);
    const late = readiness.report();
    for (const answer of pending.slice(1)) answer(false);
    expect(await late).toMatchObject({ ready: false, reason: 'away' });
  });
  it('an answer that it is not ready counts at once, and is never kept', async () => {
    const { readiness, pending, pass } = slow();
    const first = readiness.report();
    pending[0]!(false);
    expect(await first).toMatchObject({ ready: false });
    pass(200);
    const second = readiness.report();
    pending[1]!(true);
    expect(await second).toMatchObject({ ready: true });
  });
});

describe('a daemon that is stopped', () => {
  it('is not ready while it drains, serves requests, and closes streams with 1001 at the end', async () => {
    const daemon = await startTestDaemon({ drain: 1 });
    const stream = await openStream(daemon.url, { token: daemon.adminToken });
    const stopped = daemon.stop();
    expect(await health(daemon)).toMatchObject({
      status: 503,
      message: 'the daemon is stopping',
      data: { ready: false, reason: 'the daemon is stopping', store: { state: 'ready' } },
    });
    data(await daemon.call('POST', '/api/devices/register', registration()));
    await stream.until(1);
    expect((await stream.closed).code).toBe(1001);
    await stopped;
    await expect(health(daemon)).rejects.toThrow();
  });
});
