/** Whatever is sent: an envelope and no 500, at once; and the daemon goes on as before. `npm run fuzz` tries five times as much. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildServer } from '../../daemon/http/server.ts';
import { tryDaemon } from '../fuzz/leaks.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { rawRequest } from '../support/raw-request.ts';

let home: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'devmgr-malformed-'));
  daemon = await spawnDaemon({ home });
});
afterAll(async () => {
  await daemon?.stop();
  await rm(home, { recursive: true, force: true });
});

it('20,000 malformed requests, uploads, upgrades and frames: never a 500, never an answer without an envelope, never more than 1 s, nothing left behind', async () => {
  const seed = Number(process.env.DEVMGR_TEST_SEED ?? Date.now() % 1_000_000_000);
  const { report, problems } = await tryDaemon(daemon, { seed, count: 20_000 });
  expect(problems, `seed ${seed}`).toEqual([]);
  expect(report.sent).toBe(20_000);
  // The inputs reach the operations, and are no mere noise.
  for (const status of [101, 200, 400, 401, 403, 404]) expect(report.statuses.get(status)).toBeGreaterThan(100);
});

describe('what has brought a daemon down, or silenced it, does not any more', () => {
  const upgrade = ['Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket', 'Transfer-Encoding: chunked'];
  const good = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='];
  const token = () => `Authorization: Bearer ${daemon.token}`;
  const open = (lines: readonly string[], body: string) =>
    rawRequest(daemon.url, `GET /api/ws/notifications HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);

  it.each([
    ['that is refused', () => [...upgrade], '"code":1004'],
    ['that would be granted', () => [...upgrade, ...good, token()], '"code":1001'],
  ] as const)('an upgrade with a body %s', async (_what, lines, code) => {
    expect(await open(lines(), '5\r\nhello\r\n')).toContain(code);
    expect((await daemon.call('GET', '/api/health')).code).toBe(200);
  });

  it('an offer of another protocol with a body: the connection ends with the answer', async () => {
    const offer = 'Host: localhost\r\nConnection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 200000';
    const answer = await rawRequest(daemon.url, `GET /api/health HTTP/1.1\r\n${offer}\r\n\r\n${'x'.repeat(200_000)}`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*connection: close/is);
  });

  it('a tunnel whose client goes on sending: refused, and nothing of it is left', async () => {
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
});
