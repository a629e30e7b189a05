/** `localhost` has two addresses. A daemon on one of them has both, so that no other program answers on the other. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StartRefused } from '../../daemon/base/start-refused.ts';
import { otherLoopback } from '../../daemon/http/extra-listeners.ts';
import { type RunningDaemon, startDaemon } from '../../daemon/start/main.ts';
import { startTestDaemon, testSettings } from '../support/daemon.ts';
import { openStream } from '../support/stream-client.ts';

const [v4, v6] = ['127.0.0.1', '::1'];

async function hold(host: string, port = 0): Promise<Server> {
  const server = createServer(socket => socket.destroy());
  server.listen({ host, port, exclusive: true });
  await once(server, 'listening');
  return server;
}
const portOf = (server: Server) => (server.address() as AddressInfo).port;
const hasIpv6 = await hold(v6).then(
  server => Boolean(server.close()),
  () => false,
);

it.each([
  ['127.0.0.1', v6],
  ['localhost', v6],
  ['::1', v4],
  ['[::1]', v4],
  ['127.0.0.2', null],
  ['0.0.0.0', null],
  ['registry.example.com', null],
])('a daemon on %s also listens on %s', (host, other) => {
  expect(otherLoopback(host)).toBe(other);
});

describe.skipIf(!hasIpv6 && !process.env.CI)('with IPv6', () => {
  let home: string;
  let running: RunningDaemon | undefined;
  let other: Server | undefined;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'devmgr-loopback-'));
  });
  afterEach(async () => {
    await running?.stop();
    other?.close();
    running = undefined;
    other = undefined;
    rmSync(home, { recursive: true, force: true });
  });
  const start = async (host: string, port = 0) => {
    running = await startDaemon({ ...testSettings(home), host, port }, '0.0.0-test', pino({ level: 'silent' }));
    return new URL(running.url);
  };
  const isDaemonAt = async (host: string, port: string) =>
    ((await (await fetch(`http://${host}:${port}/api/health`)).json()) as { data: { service: string } }).data.service;

  it.each(['127.0.0.1', 'localhost', '::1'])('on %s, both addresses are its own', async host => {
    const { port } = await start(host);
    expect([await isDaemonAt(v4, port), await isDaemonAt(`[${v6}]`, port)]).toEqual(['devmgr', 'devmgr']);
    await expect(hold(v4, Number(port))).rejects.toThrow('EADDRINUSE');
    await expect(hold(v6, Number(port))).rejects.toThrow('EADDRINUSE');
    await running!.stop();
    for (const address of [v4, v6]) (await hold(address, Number(port))).close();
  });

  it.each([
    ['127.0.0.1', v6, '[::1]'],
    ['localhost', v4, '127.0.0.1'],
    ['::1', v4, '127.0.0.1'],
  ])('on %s, it does not start while another program has the port on %s', async (host, held, named) => {
    other = await hold(held);
    const refusal = await start(host, portOf(other)).catch(error => error);
    expect(refusal).toBeInstanceOf(StartRefused);
    expect(refusal.message).toBe(`${named}:${portOf(other)} is in use by another program`);
    expect(refusal.reason).toBe('PORT_IN_USE');
  });
});

it.skipIf(!hasIpv6 && !process.env.CI)('serves notifications and limits on both addresses alike', async () => {
  const daemon = await startTestDaemon();
  try {
    const other = daemon.url.replace(v4, `[${v6}]`);
    const stream = await openStream(other, { token: daemon.adminToken });
    stream.ws.terminate();
    await daemon.restart({ limits: { login: { count: 1, seconds: 60 }, query: null, modify: null, upload: null } });
    const body = JSON.stringify({ username: 'admin', password: 'wrong one' });
    const wrong = (url: string) =>
      fetch(`${url}/api/auth/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect((await wrong(daemon.url)).status).toBe(401);
    expect((await wrong(daemon.url.replace(v4, `[${v6}]`))).status).toBe(429);
  } finally {
    await daemon.stop();
  }
});
