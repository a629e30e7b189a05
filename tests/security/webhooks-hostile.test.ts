/** Receivers that want to hold, fill or mislead the daemon. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { expect, it } from 'vitest';
import { AllowedTargets, type Resolve } from '../../daemon/base/allowed-targets.ts';
import { sealSecret } from '../../daemon/base/sealed.ts';
import { Poster } from '../../daemon/webhooks/poster.ts';
import { newWebhookSecret } from '../../src/contract/webhooks/scheme.ts';
import { listening, speaking } from '../support/http-servers.ts';

const sealingKey = randomBytes(32);
const message = { id: 'evt_1', body: '{"type":"DEVICE_LOCKED"}' };

function post(
  url: string,
  { allow = ['127.0.0.1'], resolve, postMs }: { allow?: string[]; resolve?: Resolve; postMs?: number } = {},
) {
  const allowed = new AllowedTargets(allow, resolve);
  const sealed = sealSecret(sealingKey, { subject: 1, place: url }, newWebhookSecret());
  const record = {
    number: 1,
    url,
    types: null,
    sealed,
    createdBy: null,
    createdAt: 0,
    enabledAt: null,
    disabled: null,
  };
  return new Poster({ allowed, sealingKey, now: () => Date.now(), postMs }).post(record, message);
}

it('one that never answers is given up', async () => {
  const { url, open } = await listening(createServer(() => undefined));
  expect(await post(url, { postMs: 200 })).toMatchObject({ result: 'again', reason: 'no response within 0.2 s' });
  expect(open.size).toBeLessThanOrEqual(1);
});

it('one that sends its headers one byte at a time is given up', async () => {
  const server = createTcpServer(socket => {
    const timer = setInterval(() => socket.write('H'), 10);
    socket.on('close', () => clearInterval(timer)).on('error', () => undefined);
    socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
  });
  const { url } = await listening(server);
  expect(await post(url, { postMs: 200 })).toMatchObject({ result: 'again', reason: 'no response within 0.2 s' });
});

it('one whose body never ends has taken the message, and its connection is closed after a few KiB', async () => {
  let sent = 0;
  const piece = Buffer.alloc(65_536);
  const server = createServer((_, response) => {
    const more = () => {
      do sent += piece.length;
      while (response.write(piece));
    };
    response
      .writeHead(200)
      .on('drain', more)
      .on('error', () => undefined);
    more();
  });
  const { url } = await listening(server);
  expect(await post(url)).toMatchObject({ result: 'delivered', status: 200 });
  // The bytes in the buffers of the system were sent, too.
  expect(sent).toBeLessThan(16 * 1024 * 1024);
});

it('one with huge headers has failed', async () => {
  const { url } = await listening(
    createServer((_, response) => response.writeHead(200, { 'x-much': 'x'.repeat(200_000) }).end()),
  );
  expect(await post(url)).toMatchObject({ result: 'again', reason: expect.stringMatching(/longer than 16384 bytes/) });
});

it('one that changes to another protocol has failed', async () => {
  const { url } = await speaking(socket =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n'),
  );
  expect(await post(url)).toMatchObject({ result: 'again', status: 101, reason: 'the endpoint answered 101' });
});

it('one that does not speak HTTP has failed, and its words are not shown', async () => {
  const { url } = await listening(
    createTcpServer(socket => socket.on('error', () => undefined).end('secret banner\r\n\r\n')),
  );
  const { result, reason } = await post(url);
  expect(result).toBe('again');
  expect(reason).not.toContain('banner');
});

it('one that redirects to loopback is not followed', async () => {
  let reached = 0;
  const inside = await listening(createServer((_, response) => response.end(String(++reached))));
  const { url } = await listening(
    createServer((_, response) => response.writeHead(307, { location: inside.url }).end()),
  );
  expect(await post(url)).toMatchObject({
    result: 'again',
    status: 307,
    reason: 'the endpoint answered 307; redirects are not followed',
  });
  expect(reached).toBe(0);
});

const toLoopback: Resolve = (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]);

it('a name that means loopback is not connected to', async () => {
  const inside = await listening(createServer((_, response) => response.end()));
  const url = inside.url.replace('http://127.0.0.1', 'https://rebound.example.com');
  const outcome = await post(url, { allow: [], resolve: toLoopback });
  expect(outcome).toMatchObject({ result: 'again', reason: expect.stringMatching(/not a public address/) });
  expect(inside.connections()).toBe(0);
});

it('a name is connected to at the address that was checked, whatever it means the next time', async () => {
  const inside = await listening(createServer((_, response) => response.writeHead(204).end()));
  let looks = 0;
  const once: Resolve = (_host, _options, done) =>
    done(null, [{ address: looks++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4 }]);
  const url = inside.url.replace('127.0.0.1', 'hooks.internal');
  expect(await post(url, { resolve: once })).toMatchObject({ result: 'delivered' });
  expect(looks).toBe(1);
});

it('one whose secret was sealed with another key gets nothing', async () => {
  const server = await listening(createServer((_, response) => response.end()));
  const allowed = new AllowedTargets(['127.0.0.1']);
  const sealed = sealSecret(randomBytes(32), { subject: 1, place: server.url }, newWebhookSecret());
  const poster = new Poster({ allowed, sealingKey, now: () => Date.now() });
  const record = {
    number: 1,
    url: server.url,
    types: null,
    sealed,
    createdBy: null,
    createdAt: 0,
    enabledAt: null,
    disabled: null,
  };
  expect(await poster.post(record, message)).toMatchObject({
    result: 'again',
    reason: expect.stringMatching(/another key/),
  });
  expect(server.connections()).toBe(0);
});
