/** `watch --forward-to`: signed posts in order, again until the receiver has taken them. */
import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { makeCertificate } from '../support/certificates.ts';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const key = randomBytes(32);
const secret = `whsec_${key.toString('base64')}`;
let folder = '';
let head = 0;
let serials = 0;
const registered = async (count: number) => {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await daemon.register(`HOOK-${++serials}`)).deviceId);
  return ids;
};
beforeEach(async () => {
  folder = temporaryFolder();
  // Files of secrets often have a remark below.
  writeFileSync(join(folder, 'secret'), `${secret}\nof the receiver, until March\n`);
  head = (await daemon.call('GET', '/api/events?limit=1')).head;
});

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
type Reply = { readonly status: number; readonly headers?: Record<string, string> };

/** A receiver that answers the n-th post with `reply(n)`, from 1, and keeps all of them. Null never answers. */
async function receiver(reply: (post: number) => Reply | null, tls?: { cert: string; key: string }) {
  const posts: Delivery[] = [];
  const changed = new Set<() => void>();
  const listener: RequestListener = (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', text => {
      body += text;
    });
    request.on('end', () => {
      posts.push({ headers: request.headers, body });
      for (const look of changed) look();
      const answer = reply(posts.length);
      if (answer) response.writeHead(answer.status, answer.headers).end('thanks');
    });
  };
  const server: Server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const until = (count: number) =>
    new Promise<void>(resolve => {
      const look = () => {
        if (posts.length >= count) resolve();
      };
      changed.add(look);
      look();
    });
  const devices = () => posts.map(({ body }) => JSON.parse(body).data.deviceId as string);
  return { url, posts, until, devices };
}

const ok = { status: 204 };
const forward = (url: string, ...flags: string[]) => [
  ...['watch', '--since', String(head), '--type', 'DEVICE_REGISTERED', '--cursor', join(folder, 'cursor.json')],
  ...['--forward-to', url, '--secret-file', join(folder, 'secret'), ...flags],
];

test('posts events in order, signed by the scheme of Standard Webhooks', async () => {
  const { url, posts, devices } = await receiver(() => ok);
  const ids = await registered(3);
  const { code, stdout, stderr } = await daemon.run(forward(url, '--count', '3'));
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(devices()).toEqual(ids);
  for (const { headers, body } of posts) {
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body));
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const digest = createHmac('sha256', key).update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${digest}`);
  }
  expect(new Set(posts.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  expect(stderr + readFileSync(join(folder, 'cursor.json'), 'utf8')).not.toContain(secret.slice(6));
});

test('does not post who made a change, and what an update changed', async () => {
  const { url, posts } = await receiver(() => ok);
  const [id] = await registered(1);
  await daemon.call('PUT', `/api/devices/${id}`, { note: 'of alice' });
  await daemon.run(forward(url, '--type', 'DEVICE_UPDATED', '--limit', '2'));
  expect(posts.map(({ body }) => Object.keys(JSON.parse(body)))).toEqual([
    ['id', 'type', 'timestamp', 'data'],
    ['id', 'type', 'timestamp', 'data'],
  ]);
});

test('tries again with the same id, after a pause, and keeps the order', async () => {
  const answers = [
    { status: 503, headers: { 'retry-after': '0' } },
    { status: 302, headers: { 'retry-after': '0', location: '/x' } },
  ];
  const { url, posts, devices } = await receiver(post => answers[post - 1] ?? ok);
  const [first, second] = await registered(2);
  const { code, stderr } = await daemon.run(forward(url, '--count', '2'));
  expect(code).toBe(0);
  expect(devices()).toEqual([first, first, first, second]);
  expect(new Set(posts.slice(0, 3).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(stderr).toMatch(/answered 503; trying again in [01]\.\d s[\s\S]*answered 302; redirects are not followed/);
});

test('a receiver that breaks the connection is tried again after a pause', async () => {
  const server = createServer((request, response) => (posts++ === 0 ? request.socket.destroy() : response.end()));
  let posts = 0;
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  await registered(1);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { code, stderr } = await daemon.run(forward(url, '--count', '1'));
  expect({ code, posts, said: /trying again in \d/.test(stderr) }).toEqual({ code: 0, posts: 2, said: true });
});

test('410 ends the watch, and the next run starts with that event', async () => {
  const { url, devices } = await receiver(post => (post === 2 ? { status: 410 } : ok));
  const [first, second] = await registered(2);
  const { code, stderr } = await daemon.run(forward(url));
  expect({ code, said: stderr.includes('no longer accepts events (410 Gone)') }).toEqual({ code: 1, said: true });
  expect((await daemon.run(forward(url, '--count', '1'))).code).toBe(0);
  expect(devices()).toEqual([first, second, second]);
});

test('kill -9: the next run continues without a gap, with the same id for the event under way', async () => {
  const { url, posts, until, devices } = await receiver(post => (post === 3 ? null : ok));
  const ids = await registered(5);
  const running = daemon.start(forward(url));
  await until(3);
  running.child.kill('SIGKILL');
  await running.ended;
  expect((await daemon.run(forward(url, '--count', '3'))).code).toBe(0);
  expect(devices()).toEqual([...ids.slice(0, 3), ...ids.slice(2)]);
  expect(posts[3]!.headers['webhook-id']).toBe(posts[2]!.headers['webhook-id']);
});

test('verifies the certificate of the receiver; --ca names one to trust', async () => {
  const { cert, key: certKey } = makeCertificate(folder, 'receiver');
  const { url, devices } = await receiver(() => ok, {
    cert: readFileSync(cert, 'utf8'),
    key: readFileSync(certKey, 'utf8'),
  });
  const ids = await registered(1);
  const refused = await daemon.run(forward(url, '--count', '1', '--retries', '0'));
  expect({ code: refused.code, devices: devices() }).toEqual({ code: 1, devices: [] });
  expect((await daemon.run(forward(url, '--count', '1', '--ca', cert))).code).toBe(0);
  expect(devices()).toEqual(ids);
});

test('the secret can be in the environment; a wrong one is a usage error that does not show it', async () => {
  const { url, devices } = await receiver(() => ok);
  await registered(1);
  const args = forward(url, '--count', '1').filter(word => word !== '--secret-file' && !word.endsWith('/secret'));
  expect((await daemon.run(args)).code).toBe(2);
  for (const wrong of ['whsec_c2hvcnQ=', key.toString('base64'), 'whsec_not base64 at all, really not']) {
    const { code, stderr } = await daemon.run(args, { env: { DEVMGR_WEBHOOK_SECRET: wrong } });
    expect({ code, shown: stderr.includes(wrong) }).toEqual({ code: 2, shown: false });
  }
  expect((await daemon.run(args, { env: { DEVMGR_WEBHOOK_SECRET: secret } })).code).toBe(0);
  expect(devices()).toHaveLength(1);
});

test.each([
  ['ftp://127.0.0.1/', 'must be an address'],
  ['hook', 'must be an address'],
  ['https://user:word@127.0.0.1/', 'must not contain a password'],
])('--forward-to %s is a usage error', async (url, words) => {
  const { code, stderr } = await daemon.run(forward(url));
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
});
