/** Requests that a client sends without waiting for the responses (pipelining) do not delay those of other clients. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildServer } from '../../daemon/http/server.ts';
import { RequestTurns } from '../../daemon/http/turns.ts';
import { rateLimits } from '../../src/contract/limits.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { rawRequest } from '../support/raw-request.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ limits: { ...rateLimits, query: null, document: null, signIn: null } });
});
afterAll(() => daemon?.stop());

const SENT = 1000;
const head = (line: string, ...headers: string[]) =>
  `${[`${line} HTTP/1.1`, 'Host: 127.0.0.1', ...headers].join('\r\n')}\r\n\r\n`;
const answersIn = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

interface Client {
  readonly socket: Socket;
  /** Statuses of the responses that were received. */
  answers(): number[];
  until(count: number): Promise<void>;
}

async function client(url = daemon.url): Promise<Client> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await new Promise(resolve => socket.once('connect', resolve));
  let rest = '';
  const found: number[] = [];
  const answers = () => found;
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    const text = rest + chunk;
    found.push(...answersIn(text));
    // A status line can be cut.
    rest = /H[^ \r]{0,8}(?: \d{0,3})?$/.exec(text)?.[0] ?? '';
  });
  const until = (count: number) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (answers().length >= count) resolve();
      };
      socket.on('data', look).on('close', () => reject(new Error(`closed after ${answers().length} responses`)));
      look();
    });
  return { socket, answers, until };
}

/** A server without the operations of the daemon, whose connections can be counted. */
async function server(...plugins: Parameters<typeof buildServer>[1]) {
  const options = { logger: pino({ level: 'silent' }), origin: { hosts: null }, trustProxy: [] };
  const app = await buildServer(options, plugins);
  onTestFinished(() => app.close());
  return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }) };
}

/** How many of the responses to pipelined requests arrived before the response to another client. */
async function answeredBefore(request: string, other: string): Promise<{ before: number; statuses: Set<number> }> {
  const flood = await client();
  const bystander = await client();
  flood.socket.write(request.repeat(SENT));
  bystander.socket.write(other);
  await bystander.until(1);
  const before = flood.answers().length;
  await flood.until(SENT);
  flood.socket.destroy();
  bystander.socket.destroy();
  return { before, statuses: new Set(flood.answers()) };
}

/** The response is short: the client has the document. */
async function document(path: string): Promise<string> {
  const first = await rawRequest(daemon.url, head(`GET ${path}`, 'Connection: close'));
  return head(`GET ${path}`, `If-None-Match: ${/^etag: (.*)\r$/m.exec(first)![1]}`);
}

describe('1,000 pipelined requests', () => {
  const kinds: [string, () => Promise<string> | string, number][] = [
    ['of the Postman collection', () => document('/api/postman.json'), 304],
    ['of OpenAPI as YAML', () => document('/api/openapi.yaml'), 304],
    ['of OpenAPI as JSON', () => document('/api/openapi.json'), 304],
    ['of the page of the interface', () => document('/api/swagger-ui.html'), 304],
    ['of its script', () => document('/api/swagger-ui/swagger-ui-bundle.js'), 304],
    ['of a page of the console', () => document('/console/'), 304],
    ['of health', () => head('GET /api/health'), 200],
    ['of metrics', () => head('GET /metrics'), 200],
    ['of an unknown path', () => head('GET /api/nothing'), 404],
    ['with a wrong method', () => head('OPTIONS /api/devices/list'), 404],
    ['of single sign-on', () => head('GET /api/sso'), 200],
    ['without a token', () => head('GET /api/auth/session'), 401],
    ['of another site', () => head('GET /api/health', 'Origin: https://evil.example'), 403],
    ['with a token, of a list', () => head('GET /api/devices/list', `Authorization: Bearer ${daemon.adminToken}`), 200],
    ['that SCIM refuses', () => head('GET /scim/v2/Users', 'Authorization: Bearer no'), 401],
  ];
  it.each(kinds)('%s leave others their turn', async (_what, request, status) => {
    for (const other of [head('GET /api/health'), head('GET /api/devices/DEV-1')]) {
      const { before, statuses } = await answeredBefore(await request(), other);
      expect(statuses).toEqual(new Set([status]));
      expect(before).toBeLessThan(SENT / 20);
    }
  });

  it('all are answered if the client ends its side after them', async () => {
    const { socket, answers } = await client();
    socket.end(head('GET /api/openapi.json', 'If-None-Match: *').repeat(SENT));
    await new Promise(resolve => socket.once('close', resolve));
    expect(answers()).toEqual(Array(SENT).fill(304));
  });
});

it('a document is made once for each origin', async () => {
  const get = async (host: string) => {
    const answer = await rawRequest(
      daemon.url,
      `GET /api/postman.json HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
    return { etag: /^etag: (.*)$/m.exec(answer)![1], url: /"http:[^"]*"/.exec(answer)![0] };
  };
  const own = await get('127.0.0.1:7470');
  expect(own.url).toBe('"http://127.0.0.1:7470"');
  for (let i = 0; i < 40; i++) expect((await get(`localhost:${7000 + i}`)).url).toBe(`"http://localhost:${7000 + i}"`);
  expect(await get('127.0.0.1:7470')).toEqual(own);
});

describe('responses come in the order of the requests', () => {
  const list = () => head('GET /api/devices/list', `Authorization: Bearer ${daemon.adminToken}`);
  it.each([
    ['what is not HTTP', 'NOT HTTP\r\n\r\n', 400],
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 404],
    ['an expectation that is not supported', head('GET /api/health', 'Expect: magic'), 400],
    ['a refused stream', head('GET /api/ws/notifications', 'Connection: Upgrade', 'Upgrade: websocket'), 401],
    [
      'a body that breaks off',
      `${head('POST /api/auth/login', 'Content-Type: application/json', 'Transfer-Encoding: chunked')}Z\r\n`,
      400,
    ],
  ])('before %s', async (_what, last, status) => {
    for (const count of [0, 1, 3])
      expect(answersIn(await rawRequest(daemon.url, list().repeat(count) + last))).toEqual([
        ...Array(count).fill(200),
        status,
      ]);
  });

  it('and a stream begins after them', async () => {
    const { socket, answers, until } = await client();
    const upgrade = head(
      `GET /api/ws/notifications?token=${daemon.adminToken}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    );
    socket.write(list().repeat(3) + upgrade);
    await until(4);
    expect(answers()).toEqual([200, 200, 200, 101]);
    // A frame that asks for the end is answered, and the connection ends (RFC 6455, 5.5.1): the stream is read.
    socket.write(Buffer.from('888000000000', 'hex'));
    await new Promise(resolve => socket.once('close', resolve));
  });

  it('and the connection of a body that breaks off after them is closed with that of its client', async () => {
    const { app, url } = await server();
    const open = promisify(app.server.getConnections.bind(app.server));
    const broken = `${head('POST /api/nothing', 'Transfer-Encoding: chunked')}Z\r\n`;
    for (const count of [1, 3]) {
      const { socket, until } = await client(url);
      socket.write(head('GET /api/nothing').repeat(count) + broken);
      await until(count + 1);
      socket.destroy();
      await expect.poll(() => open()).toBe(0);
    }
  });
});

describe('a body that breaks off after its request was answered', () => {
  const withBody = (line: string) => head(line, 'Content-Type: application/json', 'Transfer-Encoding: chunked');
  /** All that the client gets after the connection ends. */
  const whole = async (socket: Socket): Promise<string> => {
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    await new Promise(resolve => socket.once('close', resolve));
    return text;
  };

  it.each(['Z\r\n', null])('has no second response: %j', async bad => {
    for (const count of [0, 1, 3]) {
      const { socket, answers, until } = await client();
      socket.write(head('GET /api/health').repeat(count) + withBody('POST /api/devices/register'));
      await until(count + 1);
      if (bad) socket.write(bad);
      else socket.end();
      await new Promise(resolve => socket.once('close', resolve));
      expect(answers()).toEqual([...Array(count).fill(200), 401]);
    }
  });

  it('puts nothing into a response that has begun', async () => {
    const { url } = await server(app => {
      app.get('/slow', (_request, reply) => {
        reply.hijack();
        reply.raw.writeHead(200, { 'content-length': 1000 });
        reply.raw.write('begun');
      });
    });
    const { socket, until } = await client(url);
    socket.write(withBody('GET /slow'));
    await until(1);
    const rest = whole(socket);
    socket.write('Z\r\n');
    expect(await rest).toMatch(/^(?:begun)?$/);
  });
});

it.each([
  ['a stream', head('GET /api/nothing', 'Connection: Upgrade', 'Upgrade: websocket'), 'upgrade'],
  [
    'a stream, with a body',
    `${head('GET /', 'Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 9')}a`,
    'upgrade',
  ],
  ['a tunnel', head('CONNECT a:1'), 'connect'],
])(
  'a client that goes after it has asked for %s, before the response to an earlier request, ends no process',
  async (_what, last, event) => {
    const held = Promise.withResolvers<object>();
    const { app, url } = await server(plain => {
      plain.get('/held', () => held.promise);
      plain.server.on('upgrade', ({ socket }, stream) => plain.turns.last(socket, () => socket.destroy(), stream));
    });
    const arrived = once(app.server, event);
    const { socket } = await client(url);
    socket.write(head('GET /held') + last);
    const [{ socket: served }, stream] = (await arrived) as [IncomingMessage, Duplex];
    expect(stream.listenerCount('error')).toBeGreaterThan(0);
    // Without a listener, the error of a read or of the response is an uncaught exception, with which the test fails.
    const ended = new Promise(resolve => served.once('close', resolve));
    socket.resetAndDestroy();
    await once(socket, 'close');
    held.resolve({});
    await ended;
    expect(served.errored).not.toBeNull();
  },
);

it('a connection with more waiting requests than the daemon keeps is closed, and others are served', async () => {
  const server = createServer((_request, response) => response.end());
  new RequestTurns(server, () => false, 10);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sent = (count: number) => rawRequest(url, head('GET /').repeat(count - 1) + head('GET /', 'Connection: close'));
  expect(answersIn(await sent(11))).toEqual(Array(11).fill(200));
  expect(answersIn(await sent(12)).length).toBeLessThan(12);
  expect(answersIn(await sent(11))).toEqual(Array(11).fill(200));
});
