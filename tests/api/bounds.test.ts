import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import fastify from 'fastify';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { boundBody, boundConnections } from '../../daemon/http/connections.ts';
import { buildServer } from '../../daemon/http/server.ts';
import { startTestDaemon } from '../support/daemon.ts';

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

test('an address has no more connections than its bound; a closed one makes room', async () => {
  const server = createServer((_request, response) => response.end('ok'));
  boundConnections(server, [], 2, () => false);
  const accepted: Socket[] = [];
  server.on('connection', socket => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const first = await opened(port);
  await opened(port);
  const third = await opened(port);
  await once(third.resume(), 'close');
  first.resume().end('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await once(accepted[0]!, 'close');
  const fourth = await opened(port);
  fourth.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [answer] = await once(fourth, 'data');
  expect(String(answer)).toContain('200 OK');
  server.closeAllConnections();
  server.close();
});

/** What a server is given when somebody of that address connects. */
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

/** How many of so many connections are cut off at once. */
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
  ['an address of the network has 1,000 connections to the daemon', times(1_003, () => '192.0.2.1'), undefined, 3],
  [
    'two addresses have as many each',
    [...times(1_000, () => '192.0.2.1'), ...times(1_000, () => '192.0.2.2')],
    undefined,
    0,
  ],
  [
    'all addresses of one IPv6 network count together',
    times(1_002, n => `2001:db8:0:1::${(n + 1).toString(16)}`),
    undefined,
    2,
  ],
  ['those of another do not', [...times(1_000, () => '2001:db8:0:1::1'), '2001:db8:0:2::1'], undefined, 0],
  [
    'an address of IPv4 is itself however it is written',
    [...times(1_000, () => '192.0.2.1'), '::ffff:192.0.2.1'],
    undefined,
    1,
  ],
  ['this machine has no bound', times(1_100, () => '127.0.0.1'), undefined, 0],
  ['nor has a trusted proxy', times(1_100, () => '10.1.2.3'), ['10.0.0.0/8'], 0],
  ['whoever is no proxy has one all the same', times(1_001, () => '192.0.2.1'), ['10.0.0.0/8'], 1],
])('%s', async (_rule, addresses, trusted, expected) => {
  expect(await cutOff(addresses, trusted)).toBe(expected);
});

test('the body of an operation has a minute to arrive', async () => {
  const daemon = await startTestDaemon();
  onTestFinished(() => daemon.stop());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const socket = await opened(Number(new URL(daemon.url).port));
  let answer = '';
  socket.on('data', chunk => {
    answer += chunk;
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
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*"code":1001/s);
});

test('a body that trickles in is answered with 1001 and cut off', async () => {
  const app = fastify();
  app.addHook('onRequest', async (request, reply) => boundBody(request, reply, 50));
  app.post('/', async () => 'taken');
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = await opened((app.server.address() as AddressInfo).port);
  let answer = '';
  socket.on('data', chunk => {
    answer += chunk;
  });
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":');
  await once(socket, 'close');
  expect(answer).toContain('400 Bad Request');
  expect(answer).toContain('"code":1001');
  await app.close();
});

test('a header that trickles in is answered with 1001 and cut off, however steadily it comes', async () => {
  const app = await buildServer(
    { logger: pino({ level: 'silent' }), origin: { hosts: null }, trustProxy: [], headersTimeout: 200 },
    [],
  );
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = await opened((app.server.address() as AddressInfo).port);
  let answer = '';
  socket.on('data', chunk => {
    answer += chunk;
  });
  socket.write('GET /api/health HTTP/1.1\r\nHost: x\r\n');
  const trickle = setInterval(() => socket.write('X: y\r\n'), 20);
  await once(socket, 'close');
  clearInterval(trickle);
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*did not arrive in time/s);
  await app.close();
});

test('a client that says nothing at all is cut off', async () => {
  const app = await buildServer(
    { logger: pino({ level: 'silent' }), origin: { hosts: null }, trustProxy: [], headersTimeout: 200 },
    [],
  );
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = await opened((app.server.address() as AddressInfo).port);
  await once(socket.resume(), 'close');
  await app.close();
});
