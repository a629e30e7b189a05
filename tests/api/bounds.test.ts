import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import fastify from 'fastify';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { boundBody, connectionBounds, HttpConnections } from '../../daemon/http/connections.ts';
import { buildServer } from '../../daemon/http/server.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { spawnDaemon, uploadApp } from '../support/daemon-process.ts';
import { openStream } from '../support/stream-client.ts';

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

interface Accepting {
  readonly connections: HttpConnections;
  /** Responses that were not sent yet. */
  readonly responses: ServerResponse[];
  /** The server's ends of the connections. */
  readonly accepted: Socket[];
  open(): Promise<Socket>;
  /** Opens a connection and sends a request that waits for its response. */
  ask(): Promise<Socket>;
}

/** A server that sends no response on its own. */
async function accepting(each: number, all: number, isExempt: boolean): Promise<Accepting> {
  const responses: ServerResponse[] = [];
  const accepted: Socket[] = [];
  const server = createServer((_request, response) => void responses.push(response));
  const connections = new HttpConnections(server, () => isExempt, { each, all });
  server.on('connection', socket => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of accepted) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const open = async () => (await opened(port)).resume();
  const ask = async () => {
    const socket = await open();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(server, 'request');
    return socket;
  };
  return { connections, responses, accepted, open, ask };
}

test('limits the connections of one address; a closed or idle one makes room', async () => {
  const { responses, open, ask } = await accepting(2, 100, false);
  const first = await ask();
  const second = await ask();
  await once(await open(), 'close');
  responses[0]!.setHeader('connection', 'close').end();
  await once(first, 'close');
  const idle = await open();
  const gone = once(idle, 'close');
  const last = await open();
  await gone;
  expect([second.destroyed, last.destroyed]).toEqual([false, false]);
});

test('beyond the total bound, the oldest idle connection is closed, but not a stream or one with a running request', async () => {
  const { connections, responses, accepted, open, ask } = await accepting(100, 4, true);
  const stream = await open();
  await expect.poll(() => accepted.length).toBe(1);
  connections.keep(accepted[0]!);
  const asking = await ask();
  const done = await ask();
  responses[1]!.end('response');
  await once(done, 'data');
  const silent = await open();
  const later = [];
  for (const leaver of [done, silent]) {
    const gone = once(leaver, 'close');
    later.push(await open());
    await gone;
  }
  expect([stream, asking, ...later].map(socket => socket.destroyed)).toEqual([false, false, false, false]);
  responses[0]!.end('response');
  expect(String(await once(asking, 'data'))).toContain('200 OK');
});

test('derives the bounds from the number of file descriptors', () => {
  expect(connectionBounds(256)).toEqual({ each: 36, all: 144 });
  expect(connectionBounds(1_048_576)).toEqual({ each: 1_000, all: 1_046_464 });
  expect(connectionBounds(Number.POSITIVE_INFINITY)).toEqual({ each: 1_000, all: Number.POSITIVE_INFINITY });
});

test.runIf(process.platform === 'linux')(
  '300 idle connections to a daemon with 256 file descriptors keep no client out, and end no stream and no request',
  async () => {
    const home = await mkdtemp(join(tmpdir(), 'devmgr-descriptors-'));
    onTestFinished(() => rm(home, { recursive: true, force: true }));
    const daemon = await spawnDaemon({ home }, {}, ['sh', '-c', 'ulimit -n 256 && exec "$@"', 'sh']);
    onTestFinished(async () => void (await daemon.stop()));
    const port = Number(new URL(daemon.url).port);
    const stream = await openStream(daemon.url, { token: daemon.token });
    const device = JSON.stringify({ deviceType: 'UKEY', serialNumber: 'D-1', manufacturer: 'Acme', model: 'K1' });
    const slow = await opened(port);
    const [first, rest] = [device.slice(0, 10), device.slice(10)];
    slow.write(
      `POST /api/devices/register HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${daemon.token}\r\nContent-Type: application/json\r\nContent-Length: ${device.length}\r\n\r\n${first}`,
    );
    const idle: Socket[] = [];
    onTestFinished(() => {
      for (const socket of idle) socket.destroy();
      stream.ws.terminate();
    });
    for (let i = 0; i < 300; i++) idle.push((await opened(port)).resume());
    // The login's connection is among those that are closed: a request must not find it still open here.
    await expect.poll(() => idle.filter(socket => socket.destroyed).length).toBeGreaterThan(150);
    expect(await daemon.call('GET', '/api/devices/list')).toMatchObject({ status: 200 });
    await uploadApp(daemon, '1.0.0');
    slow.write(rest);
    expect(String(await once(slow, 'data'))).toContain('HTTP/1.1 200 OK');
    expect(await stream.until(2)).toMatchObject([{ type: 'APP_VERSION_UPLOADED' }, { type: 'DEVICE_REGISTERED' }]);
    slow.destroy();
  },
);

/** A connection from this address, as a server receives it. */
function connectedFrom(remoteAddress: string): Duplex {
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  return Object.assign(socket, {
    remoteAddress,
    setTimeout: () => socket,
    setKeepAlive: () => socket,
    setNoDelay: () => socket,
  });
}

const daemonServer = (trustProxy: string[] = []) =>
  buildServer({ logger: pino({ level: 'silent' }), origin: { hosts: null }, trustProxy }, []);

/** How many of these connections are closed at once. */
async function cutOff(addresses: readonly string[], trustProxy?: string[]): Promise<number> {
  const app = await daemonServer(trustProxy);
  const sockets = addresses.map(connectedFrom);
  for (const socket of sockets) app.server.emit('connection', socket);
  const cut = sockets.filter(socket => socket.destroyed).length;
  for (const socket of sockets) socket.destroy();
  await app.close();
  return cut;
}
const times = (count: number, address: (n: number) => string) => Array.from({ length: count }, (_, n) => address(n));

test.each([
  ['an address may have 1,000 connections', times(1_003, () => '192.0.2.1'), undefined, 3],
  ['so may another address', [...times(1_000, () => '192.0.2.1'), ...times(1_000, () => '192.0.2.2')], undefined, 0],
  [
    'the addresses of one IPv6 network (/64) count together',
    times(1_002, n => `2001:db8:0:1::${(n + 1).toString(16)}`),
    undefined,
    2,
  ],
  [
    'those of another network count separately',
    [...times(1_000, () => '2001:db8:0:1::1'), '2001:db8:0:2::1'],
    undefined,
    0,
  ],
  [
    'an IPv4 address and its IPv6 form are the same',
    [...times(1_000, () => '192.0.2.1'), '::ffff:192.0.2.1'],
    undefined,
    1,
  ],
  ['this machine has no bound', times(1_100, () => '127.0.0.1'), undefined, 0],
  ['a trusted proxy has no bound', times(1_100, () => '10.1.2.3'), ['10.0.0.0/8'], 0],
  ['a trusted proxy in its IPv6 form has no bound', times(1_100, () => '::ffff:10.1.2.3'), ['10.0.0.0/8'], 0],
  ['a trusted IPv6 proxy has no bound', times(1_100, () => '2001:db8::1'), ['192.0.2.7', '2001:db8::/32'], 0],
  ['a trusted address has no bound', times(1_100, () => '192.0.2.7'), ['192.0.2.7'], 0],
  ['other clients have a bound even with a trusted proxy', times(1_001, () => '192.0.2.1'), ['10.0.0.0/8'], 1],
])('%s', async (_rule, addresses, trusted, expected) => {
  expect(await cutOff(addresses, trusted)).toBe(expected);
});

test('a body must arrive within a minute', async () => {
  const daemon = await startTestDaemon();
  onTestFinished(() => daemon.stop());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const socket = await opened(Number(new URL(daemon.url).port));
  let response = '';
  socket.on('data', chunk => {
    response += chunk;
  });
  const before = vi.getTimerCount();
  socket.write(
    'POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"u',
  );
  while (vi.getTimerCount() === before) await new Promise(resolve => setImmediate(resolve));
  vi.advanceTimersByTime(59_000);
  expect(socket.destroyed).toBe(false);
  vi.advanceTimersByTime(1_001);
  await once(socket, 'close');
  expect(response).toMatch(/^HTTP\/1\.1 400 .*"code":1001/s);
});

test('a body that arrives too slowly is answered with 1001, and the connection is closed', async () => {
  const app = fastify();
  app.addHook('onRequest', async (request, reply) => boundBody(request, reply, 50));
  app.post('/', async () => 'taken');
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = await opened((app.server.address() as AddressInfo).port);
  let response = '';
  socket.on('data', chunk => {
    response += chunk;
  });
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":');
  await once(socket, 'close');
  expect(response).toContain('400 Bad Request');
  expect(response).toContain('"code":1001');
  await app.close();
});

test('a header that arrives too slowly is answered with 1001, and the connection is closed', async () => {
  const app = await buildServer(
    { logger: pino({ level: 'silent' }), origin: { hosts: null }, trustProxy: [], headersTimeout: 200 },
    [],
  );
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = await opened((app.server.address() as AddressInfo).port);
  let response = '';
  socket.on('data', chunk => {
    response += chunk;
  });
  socket.write('GET /api/health HTTP/1.1\r\nHost: x\r\n');
  const trickle = setInterval(() => socket.write('X: y\r\n'), 20);
  await once(socket, 'close');
  clearInterval(trickle);
  expect(response).toMatch(/^HTTP\/1\.1 400 .*did not arrive in time/s);
  await app.close();
});

test('the connection of a silent client is closed', async () => {
  const app = await buildServer(
    { logger: pino({ level: 'silent' }), origin: { hosts: null }, trustProxy: [], headersTimeout: 200 },
    [],
  );
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = await opened((app.server.address() as AddressInfo).port);
  await once(socket.resume(), 'close');
  await app.close();
});
