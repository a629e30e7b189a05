/** A profile knows its server. Another one at the same address gets neither a password nor a token. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { makeCertificate } from '../support/certificates.ts';
import { needs } from '../support/needs.ts';
import { adminPassword, type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

const send = (response: Parameters<RequestListener>[1], data: unknown) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ code: 200, message: 'success', data }));
const healthData = { service: 'devmgr', version: '1', status: 'ok', ready: true, uptimeSeconds: 1 };

async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** Records all requests in full. `identityOf` answers the question who it is. */
function recorder(identityOf: (request: IncomingMessage) => Promise<unknown> = async () => undefined) {
  const heard: string[] = [];
  const server = createServer(async (request, response) => {
    heard.push(`${request.url} ${request.headers.authorization ?? ''}`);
    for await (const chunk of request) heard.push(String(chunk));
    send(response, { ...healthData, identity: await identityOf(request) });
  });
  return { server, heard: () => heard.join('\n') };
}

let daemon: Daemon;
let home: string;
let port: number;
beforeEach(async () => {
  daemon = await startDaemon();
  port = Number(new URL(daemon.url).port);
  home = mkdtempSync(join(tmpdir(), 'devmgr-client-'));
});
afterEach(async () => {
  await discard(daemon);
  rmSync(home, { recursive: true, force: true });
});

const address = (name = '127.0.0.1') => `http://${name}:${port}`;
const login = (server: string, ...more: string[]) =>
  devmgr(['login', 'admin', '--password-stdin', '--server', server, ...more], { home, input: adminPassword });
const list = () => devmgr(['list', '--json'], { home });
const secrets = () => [adminPassword, tokenOf(home)];
const tokenOf = (folder: string) =>
  /"token": "([^"]+)"/.exec(readFileSync(join(folder, 'credentials.json'), 'utf8'))![1]!;

async function expectNothingSecret(heard: () => string): Promise<void> {
  const listed = await list();
  expect(listed.stderr).toContain('Nothing secret was sent');
  expect(listed.stderr).toContain('--accept-new-server');
  expect(listed.code).toBe(1);
  expect((await login(address())).code).toBe(1);
  for (const secret of secrets()) expect(heard()).not.toContain(secret);
  expect(heard()).toContain('nonce=');
}

test('the same registry is recognized on both loopback addresses and after a restart', async () => {
  expect((await login(address('localhost'))).code).toBe(0);
  expect((await list()).code).toBe(0);
  await daemon.end('SIGTERM');
  daemon = await startDaemon({ home: daemon.home, args: [`--port=${port}`] });
  expect((await list()).code).toBe(0);
  expect((await login(address())).code).toBe(0);
});

test('a program that answers instead gets nothing', async () => {
  await login(address());
  await daemon.end('SIGTERM');
  const { server, heard } = recorder();
  await listen(server, port);
  await expectNothingSecret(heard);
});

test('a program that passes the question on to the registry gets nothing', async () => {
  await login(address());
  await daemon.end('SIGTERM');
  daemon = await startDaemon({ home: daemon.home });
  const { server, heard } = recorder(async ({ url }) => {
    const answer = (await (await fetch(daemon.url + url)).json()) as { data: { identity: unknown } };
    return answer.data.identity;
  });
  await listen(server, port);
  await expectNothingSecret(heard);
});

test.each(['{"default":5}', '{"default":{"http://127.0.0.1:1":null}}', '{"default":[]}', '[]'])(
  'nothing is sent if what is known of servers was replaced by %s',
  async content => {
    await login(address());
    await daemon.end('SIGTERM');
    const { server, heard } = recorder();
    await listen(server, port);
    writeFileSync(join(home, 'known-servers.json'), content);
    const { code, stderr } = await list();
    expect(code).toBe(1);
    expect(stderr).toContain('known-servers.json is damaged');
    expect(heard()).toBe('');
  },
);

test('a token in the environment is not sent to another program either', async () => {
  await login(address());
  await daemon.end('SIGTERM');
  const { server, heard } = recorder();
  await listen(server, port);
  expect((await devmgr(['list'], { home, env: { DEVMGR_TOKEN: 'a.secret.token' } })).code).toBe(1);
  expect(heard()).not.toContain('a.secret.token');
});

test('a service token in a file is not sent to another program either', async () => {
  await login(address());
  await daemon.end('SIGTERM');
  const { server, heard } = recorder();
  await listen(server, port);
  const file = join(home, 'token');
  writeFileSync(file, 'devmgr_secret\n', { mode: 0o600 });
  const refused = await devmgr(['login', '--token-file', file, '--server', address()], { home });
  expect(refused.stderr).toContain('is not the one that this profile knows');
  expect(refused.code).toBe(1);
  expect(heard()).not.toContain('devmgr_secret');
});

test('a registry with another identity is refused until it is accepted', async () => {
  await login(address());
  await daemon.end('SIGTERM');
  rmSync(join(daemon.home, 'instance-key'));
  daemon = await startDaemon({ home: daemon.home, args: [`--port=${port}`] });
  const refused = await login(address());
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('is not the one that this profile knows');
  expect((await login(address(), '--accept-new-server')).code).toBe(0);
  expect((await list()).code).toBe(0);
});

test('the identity outlives a logout, and belongs to one profile', async () => {
  await login(address());
  await devmgr(['logout'], { home });
  await daemon.end('SIGTERM');
  const { server, heard } = recorder();
  await listen(server, port);
  expect((await login(address())).code).toBe(1);
  expect(heard()).not.toContain(adminPassword);
});

test('a registry that is first met through a tunnel is recognized through it', async () => {
  const tunnel = createServer(async (request, response) => {
    const body = request.method === 'POST' ? { body: Buffer.concat(await request.toArray()) } : {};
    const headers = { 'content-type': 'application/json', authorization: request.headers.authorization ?? '' };
    const answer = await fetch(daemon.url + request.url, { method: request.method!, headers, ...body });
    response.setHeader('content-type', 'application/json').end(await answer.text());
  });
  const end = await listen(tunnel);
  expect((await login(`http://127.0.0.1:${end}`)).code).toBe(0);
  expect((await list()).code).toBe(0);
});

test('a wrong signature is refused even at the first login', async () => {
  const { publicKey } = generateKeyPairSync('ed25519');
  const der = publicKey.export({ format: 'der', type: 'spki' }).toString('base64url');
  const { server, heard } = recorder(async () => ({
    instanceId: '0'.repeat(32),
    publicKey: der,
    address: 'unix',
    signature: Buffer.alloc(64).toString('base64url'),
  }));
  const refused = await login(`http://127.0.0.1:${await listen(server)}`, '--accept-new-server');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('wrong proof of its identity');
  expect(heard()).not.toContain(adminPassword);
});

needs('openssl')('over HTTPS', () => {
  describe('a renewal', () => {
    test('is not sent to another registry', async () => {
      const folder = temporaryFolder();
      const { cert, key } = makeCertificate(folder, 'registry');
      let pair = generateKeyPairSync('ed25519');
      const heard: string[] = [];
      const seconds = Math.floor(Date.now() / 1000);
      const claims = Buffer.from(JSON.stringify({ iat: seconds, exp: seconds + 30 })).toString('base64url');
      const server = createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
        heard.push(`${request.url} ${request.headers.authorization ?? ''}`);
        const { pathname, searchParams } = new URL(request.url!, 'https://localhost');
        if (pathname === '/api/health') {
          const proof = { instanceId: 'a'.repeat(32), address: '10.0.0.1:443' };
          const text = `devmgr instance 1\n${proof.instanceId}\n${searchParams.get('nonce')}\n${proof.address}\n`;
          const signature = sign(null, Buffer.from(text), pair.privateKey).toString('base64url');
          const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64url');
          send(response, { ...healthData, identity: { ...proof, publicKey, signature } });
        } else send(response, { token: `h.${claims}.s`, expireTime: '2999-01-01T00:00:00.000Z', user });
      });
      const user = { id: 'USR-1', username: 'admin', role: 'ADMIN', email: null };
      const url = `https://localhost:${await listen(server)}`;
      expect((await login(url, '--ca', cert)).code).toBe(0);
      heard.length = 0;
      pair = generateKeyPairSync('ed25519');
      expect((await list()).code).toBe(1);
      expect(heard.join('\n')).not.toContain(claims);
      expect(heard.join('\n')).toContain('nonce=');
    });
  });
});
