/** The daemon detects when its event loop is held, and logs the request that did it. */
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LoopWatch } from '../../daemon/http/loop-watch.ts';
import { buildServer } from '../../daemon/http/server.ts';
import type { RouteShape } from '../../src/contract/define.ts';
import { startTestDaemon } from '../support/daemon.ts';

interface Warning {
  readonly msg: string;
  readonly heldMs: number;
  readonly workMs: number;
  readonly operation?: string;
  readonly requestId?: string;
}

/** A watch whose clocks the test controls. */
function watched() {
  const clock = { now: 1000, work: 0 };
  const warnings: Partial<Warning>[] = [];
  const log = { warn: (details: object, msg: string) => void warnings.push({ ...details, msg }) };
  const watch = new LoopWatch({ log, monotonic: () => clock.now, work: () => clock.work });
  watch.start();
  onTestFinished(() => watch.stop());
  const pass = (milliseconds: number) => {
    clock.now += milliseconds;
    clock.work += milliseconds / 2;
  };
  return { watch, warnings, pass };
}

describe('a hold of the event loop', () => {
  it('is logged with the request that started last before it', () => {
    const { watch, warnings, pass } = watched();
    watch.enter('listDevices', 'r1');
    watch.enter('uploadApp', 'r2');
    pass(400);
    watch.sample();
    expect(warnings).toEqual([
      { heldMs: 380, workMs: 200, operation: 'uploadApp', requestId: 'r2', msg: expect.stringContaining('was held') },
    ]);
  });

  it('is logged once, even if other requests come before the timer', () => {
    const { watch, warnings, pass } = watched();
    watch.enter('uploadApp', 'r1');
    pass(400);
    for (const id of ['r2', 'r3']) watch.enter('listDevices', id);
    pass(1);
    watch.sample();
    expect(warnings.map(({ requestId }) => requestId)).toEqual(['r1']);
  });

  it('is logged without a request if none started since the last sample on time', () => {
    const { watch, warnings, pass } = watched();
    watch.enter('listDevices', 'r1');
    pass(20);
    watch.sample();
    pass(400);
    watch.sample();
    expect(warnings).toMatchObject([{ heldMs: 380, msg: expect.stringContaining('no request') }]);
    expect(warnings[0]).not.toHaveProperty('requestId');
  });

  it('is not logged up to 250 ms', () => {
    const { watch, warnings, pass } = watched();
    for (const milliseconds of [20, 21, 270]) {
      watch.enter('listDevices', 'r1');
      pass(milliseconds);
      watch.sample();
    }
    expect(warnings).toEqual([]);
  });

  it('is counted in a histogram by its length', () => {
    const { watch, pass } = watched();
    for (const milliseconds of [20, 21, 80, 20_000]) {
      pass(milliseconds);
      watch.sample();
    }
    const { buckets, count, sum } = watch.delays;
    expect(buckets.map(([, below]) => below)).toEqual([2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4]);
    expect([count, sum]).toEqual([4, 20.041]);
  });
});

it('logs a handler that holds the loop with the request id that the client received', async () => {
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: line => void lines.push(line) });
  const app = await buildServer({ logger, origin: { hosts: null }, trustProxy: [] }, [
    app => {
      app.route({
        method: 'GET',
        url: '/api/held',
        config: { operation: { id: 'listDevices' } as RouteShape },
        handler: async () => {
          const started = performance.now();
          while (performance.now() - started < 400);
          return 'done';
        },
      });
    },
  ]);
  onTestFinished(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const { headers } = await fetch(`http://127.0.0.1:${port}/api/held`);
  const named = () =>
    lines.map(line => JSON.parse(line) as Warning).map(({ operation, requestId }) => [operation, requestId]);
  await expect.poll(named).toContainEqual(['listDevices', headers.get('x-request-id')]);
});

it('/metrics has the delays as a histogram', async () => {
  const daemon = await startTestDaemon();
  onTestFinished(() => daemon.stop());
  const scrape = async () => (await fetch(`${daemon.url}/metrics`)).text();
  await expect.poll(scrape).toMatch(/^devmgr_event_loop_delay_seconds_count\{[^}]*\} [1-9]/m);
  const text = await scrape();
  expect(text).toContain('# TYPE devmgr_event_loop_delay_seconds histogram\n');
  const buckets = [...text.matchAll(/^devmgr_event_loop_delay_seconds_bucket\{[^}]*le="([^"]+)"[^}]*\} (\d+)$/gm)];
  expect(buckets.map(([, bound]) => bound)).toEqual([
    '0.001',
    '0.0025',
    '0.005',
    '0.01',
    '0.025',
    '0.05',
    '0.1',
    '0.25',
    '0.5',
    '1',
    '2.5',
    '5',
    '+Inf',
  ]);
  const counts = buckets.map(([, , count]) => Number(count));
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(text).toMatch(new RegExp(`^devmgr_event_loop_delay_seconds_count\\{[^}]*\\} ${counts.at(-1)}$`, 'm'));
});
