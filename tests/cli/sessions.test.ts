/** Tokens over time: renewed while they are in use, and a clear error once they cannot be. */
import { createHmac } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import type { Client } from '../../src/cli/client/client.ts';
import { LocalHardwareSession } from '../../src/cli/session/session.ts';
import { homeFiles } from '../../src/contract/local.ts';
import { adminPassword, type Daemon, devmgr, discard, start, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

/** A token with these times and an invalid signature, for a server that does not check it. */
function unsigned(iat: number, exp: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: 'USR-1', username: 'admin', role: 'ADMIN', iat, exp, jti: 'x' })}`;
  return `${head}.${createHmac('sha256', 'another key').update(head).digest('base64url')}`;
}

const envelope = (data: unknown) => JSON.stringify({ code: 200, message: 'success', data });
const json = { 'content-type': 'application/json' };

test('a token that is about to expire is renewed before it is used, and the new one is stored', async () => {
  const now = Math.floor(Date.now() / 1000);
  const old = unsigned(now - 86_000, now + 30);
  const fresh = unsigned(now, now + 86_400);
  const seen: string[] = [];
  const server = createHttpServer((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization === `Bearer ${fresh}` ? 'fresh' : 'old'}`);
    const renewed = { token: fresh, expireTime: new Date((now + 86_400) * 1000).toISOString() };
    const user = {
      id: 'USR-1',
      username: 'admin',
      role: 'ADMIN',
      email: null,
      disabled: false,
      createdAt: '2026-01-01T00:00:00.000Z',
    };
    response.writeHead(200, json).end(envelope(request.url === '/api/auth/refresh' ? renewed : user));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const home = temporaryFolder();
  const login = {
    token: old,
    expireTime: new Date((now + 30) * 1000).toISOString(),
    username: 'admin',
    keeper: 'file',
  };
  writeFileSync(join(home, 'credentials.json'), JSON.stringify({ default: { [url]: login } }));
  for (const _ of [1, 2]) expect((await devmgr(['whoami', '--server', url], { home })).code).toBe(0);
  expect(seen).toEqual(['/api/auth/refresh old', '/api/users/me fresh', '/api/users/me fresh']);
});

test('a login that ends in the middle of a file stops the run and shows how far it came', async () => {
  const home = temporaryFolder();
  const user = await daemon.call('POST', '/api/users', { username: 'ends', password: adminPassword, role: 'DEALER' });
  const login = ['login', 'ends', '--password-stdin', '--server', daemon.url];
  await devmgr(login, { home, input: adminPassword });
  const file = join(home, 'keys.csv');
  const rows = Array.from({ length: 6 }, (_, n) => `UKEY,ENDS-${n},Acme,One`);
  writeFileSync(file, `type,serial,manufacturer,model\n${rows.join('\n')}\n`);
  // The rest of the lines is held back until the login has ended.
  const args = ['register', '--file', '-', '--format', 'csv', '--batch-size', '3', '--json'];
  const running = start(args, { home, input: null });
  running.child.stdin!.write(`type,serial,manufacturer,model\n${rows.slice(0, 4).join('\n')}\n`);
  await running.until('stdout', /ENDS-2/);
  await daemon.call('PUT', `/api/users/${user.id}`, { disabled: true });
  running.child.stdin!.end(`${rows.slice(4).join('\n')}\n`);
  const stopped = await running.ended;
  expect(stopped.code).toBe(3);
  expect(stopped.rows.map(row => row.status)).toEqual(['success', 'success', 'success']);
  expect(JSON.parse(stopped.stderr).error.message).toContain('3 registered and 0 failed up to line 4');
});

/** A server with one stream. It answers a refresh with these refusals first, and sends an event over the second connection. */
async function streaming(old: string, fresh: string, refusals: readonly number[] = []) {
  const left = [...refusals];
  const server = createHttpServer((_, response) => {
    const code = left.shift() ?? 200;
    if (code === 200) response.writeHead(200, json).end(envelope({ token: fresh, expireTime: 'later' }));
    else response.writeHead(code, json).end(JSON.stringify({ code, message: 'not now', data: null }));
  });
  const upgrades: (string | null)[][] = [];
  const sockets = new WebSocketServer({ server });
  sockets.on('headers', headers => void headers.push('X-Stream-Since: 6'));
  sockets.on('connection', (socket, request) => {
    const { searchParams } = new URL(request.url!, 'http://x');
    upgrades.push([searchParams.get('token') === fresh ? 'fresh' : 'old', searchParams.get('since')]);
    if (upgrades.length === 2)
      socket.send(JSON.stringify({ id: 7, type: 'DEVICE_UPDATED', timestamp: 'now', data: { deviceId: 'DEV-1' } }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const watched = await devmgr(['watch', '--count', '1', '--json', '--server', url], { env: { DEVMGR_TOKEN: old } });
  const { code, stderr, rows } = watched;
  return { code, stderr, rows, upgrades };
}

test('a stream continues with a new token before the old one expires, silently and without a gap', async () => {
  const now = Math.floor(Date.now() / 1000);
  const { code, stderr, rows, upgrades } = await streaming(unsigned(now - 40, now + 62), unsigned(now, now + 86_400));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(rows).toMatchObject([{ id: 7 }]);
  expect(upgrades).toEqual([
    ['old', null],
    ['fresh', '6'],
  ]);
});

test.each([[[429]], [[500, 429]]])(
  'a renewal that is refused with %j is tried again, and the stream continues',
  async refusals => {
    const now = Math.floor(Date.now() / 1000);
    const [old, fresh] = [unsigned(now - 86_000, now + 50), unsigned(now, now + 86_400)];
    const { code, stderr, upgrades } = await streaming(old, fresh, refusals);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(upgrades).toEqual([
      ['old', null],
      ['fresh', '6'],
    ]);
  },
);

test('a hardware service that is away for a moment is unreachable, and gets no earlier token', async () => {
  const home = temporaryFolder();
  const session = new LocalHardwareSession(home);
  const client = { address: () => Promise.resolve('http://127.0.0.1:1') } as Client;
  const file = join(home, homeFiles.localToken);
  await expect(session.token(client)).rejects.toMatchObject({ kind: 'login' });
  writeFileSync(file, 'first\n');
  expect(await session.token(client)).toBe('first');
  rmSync(file);
  await expect(session.token(client)).rejects.toMatchObject({ kind: 'unreachable', maybeDone: false });
  writeFileSync(file, 'second\n');
  expect(await session.token(client)).toBe('second');
});

test('the token of a login is valid for a day', () => {
  const { iat, exp } = claimsOf(daemon.token);
  expect(exp - iat).toBe(86_400);
});

test('a keychain that never responds does not hang a login: the token goes to the file', async () => {
  const folder = temporaryFolder();
  const bus = join(folder, 'bus');
  const server = createServer(() => undefined);
  await new Promise<void>(resolve => server.listen(bus, resolve));
  onTestFinished(() => void server.close());
  const env = { DEVMGR_NO_KEYCHAIN: undefined, DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}` };
  const home = temporaryFolder();
  const { code, stderr } = await devmgr(['login', 'admin', '--password-stdin', '--server', daemon.url], {
    home,
    input: adminPassword,
    env,
  });
  expect(code).toBe(0);
  expect(stderr).toContain('credentials.json');
  expect(JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8')).default[daemon.url].keeper).toBe('file');
});

test('damaged settings are an error, not empty settings', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'config.json'), '{"profile":');
  const { code, stderr } = await devmgr(['list'], { home });
  expect(code).toBe(1);
  expect(stderr).toContain('config.json is damaged');
});
