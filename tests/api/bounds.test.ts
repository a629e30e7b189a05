import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fastify from 'fastify';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { boundBody, boundConnections } from '../../daemon/plugins/connections.ts';
import { buildServer } from '../../daemon/server.ts';

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
