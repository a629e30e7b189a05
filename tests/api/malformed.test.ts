/** Malformed input gets an envelope at once and never a 500, and the daemon continues. `npm run fuzz` tries ten times as much. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildServer } from '../../daemon/http/server.ts';
import type { Input } from '../fuzz/inputs.ts';
import { spawnTried, tryDaemon } from '../fuzz/leaks.ts';
import { tryInputs } from '../fuzz/run.ts';
import type { DaemonProcess } from '../support/daemon-process.ts';
import { rawRequest } from '../support/raw-request.ts';

async function started() {
  const home = await mkdtemp(join(tmpdir(), 'devmgr-malformed-'));
  const daemon = await spawnTried(home);
  const stop = async () => {
    await daemon.stop();
    await rm(home, { recursive: true, force: true });
  };
  return { daemon, stop };
}

it('answers 6,000 malformed requests, uploads, upgrades and frames within 1 s each, with an envelope and without a 500, and leaves nothing behind', async () => {
  // A second attempt needs a daemon that the first one did not use.
  const { daemon, stop } = await started();
  onTestFinished(stop);
  const seed = Number(process.env.DEVMGR_TEST_SEED ?? Date.now() % 1_000_000_000);
  const { report, problems } = await tryDaemon(daemon, { seed, count: 6_000 });
  expect(problems, `seed ${seed}: ${problems.join('\n')}`).toEqual([]);
  expect(report.sent).toBe(6_000);
  // Many inputs reach the operations.
  for (const status of [101, 200, 400, 401, 403, 404]) expect(report.statuses.get(status)).toBeGreaterThan(30);
  // `npm run fuzz` tries more: these take 6 s of processor time.
}, 180_000);

describe('what the fuzzer sends on a connection', () => {
  /** Answers like a daemon to whose client the connection is closed after `sent`. */
  async function tried(kind: Input['kind'], sent: string) {
    const server = createServer(socket => {
      socket.on('error', () => {}).once('data', () => socket.end(sent));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const bytes = Buffer.from('GET /api/webhooks/list HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\r\n');
    const target = { url: `http://127.0.0.1:${port}`, token: 'x', pid: process.pid };
    return (await tryInputs(target, { seed: 1, count: 1, inputs: fc.constant({ kind, method: 'GET', bytes }) })).faults;
  }
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n';

  it('accepts an interim answer alone if the client has ended: Node closes such a connection before a later answer is ready', async () => {
    expect(await tried('bytes', interim)).toEqual([]);
    expect(await tried('bytes', '')).toEqual([]);
  });

  it('reports a half answer, and an interim answer alone to a client that waits', async () => {
    expect(await tried('bytes', `${interim}HTTP/1.1 200 OK\r\n`)).toEqual([expect.stringContaining('half an answer')]);
    expect(await tried('bytes', interim.slice(0, -2))).toEqual([expect.stringContaining('half an answer')]);
    expect(await tried('request', interim)).toEqual([expect.stringContaining('no answer')]);
  });
});

describe('input that once stopped or silenced a daemon', () => {
  let daemon: DaemonProcess;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    ({ daemon, stop } = await started());
  });
  afterAll(() => stop());

  const upgrade = ['Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket', 'Transfer-Encoding: chunked'];
  const valid = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='];
  const token = () => `Authorization: Bearer ${daemon.token}`;
  const open = (lines: readonly string[], body: string) =>
    rawRequest(daemon.url, `GET /api/ws/notifications HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);

  it.each([
    ['that is refused', () => [...upgrade], '"code":1004'],
    ['that would be granted', () => [...upgrade, ...valid, token()], '"code":1001'],
  ] as const)('an upgrade with a body %s', async (_what, lines, code) => {
    expect(await open(lines(), '5\r\nhello\r\n')).toContain(code);
    expect((await daemon.call('GET', '/api/health')).code).toBe(200);
  });

  it('an offer of another protocol with a body: the connection ends with the response', async () => {
    const offer = 'Host: localhost\r\nConnection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 200000';
    const response = await rawRequest(daemon.url, `GET /api/health HTTP/1.1\r\n${offer}\r\n\r\n${'x'.repeat(200_000)}`);
    expect(response).toMatch(/^HTTP\/1\.1 200 .*connection: close/is);
  });

  it('a tunnel whose client continues to send: refused, and the connection is closed', async () => {
    const app = await buildServer({ logger: pino({ level: 'silent' }), origin: { hosts: null }, trustProxy: [] }, []);
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const open = promisify(app.server.getConnections.bind(app.server));
    const socket = connect(port, '127.0.0.1');
    socket.write(`CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n${'x'.repeat(200_000)}`);
    await once(socket.resume(), 'end');
    socket.end();
    await expect.poll(() => open()).toBe(0);
    await app.close();
  });

  it('an upgrade to another protocol on a path that cannot be decoded is the last request of its connection', async () => {
    const lines = ['POST /api/webhooks/%ff/remove HTTP/1.1', 'Host: localhost', 'Connection: upgrade', 'Upgrade: h2c'];
    const answer = await rawRequest(daemon.url, `${lines.join('\r\n')}\r\nContent-Length: 2\r\n\r\n{}`);
    expect(answer).toMatch(/^HTTP\/1\.1 404 [\s\S]*connection: close/i);
  });
});
