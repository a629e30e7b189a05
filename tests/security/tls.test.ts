/** HTTPS: network traffic is encrypted, and a renewed certificate needs no restart. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type RunningDaemon, startDaemon } from '../../daemon/start/main.ts';
import { type Certificate, makeCertificate } from '../support/certificates.ts';
import { adminPassword, testSettings } from '../support/daemon.ts';
import { needs } from '../support/needs.ts';
import { rawRequest } from '../support/raw-request.ts';
import { openStream } from '../support/stream-client.ts';

needs('openssl')('a daemon with a certificate', () => {
  let dir: string;
  let inUse: Certificate;
  let daemon: RunningDaemon;
  let logged: string[];
  let ca: Buffer;
  const start = (more: object = {}) => {
    const log = pino({}, { write: line => void logged.push(line) });
    const settings = { ...testSettings(join(dir, 'home')), tlsCert: inUse.cert, tlsKey: inUse.key, ...more };
    return startDaemon(settings, '0.0.0-test', log);
  };
  const takeUp = async (made: Certificate) => {
    await copyFile(made.cert, inUse.cert);
    await copyFile(made.key, inUse.key);
  };
  beforeEach(async () => {
    logged = [];
    dir = await mkdtemp(join(tmpdir(), 'devmgr-tls-'));
    inUse = makeCertificate(dir, 'in-use');
    ca = await readFile(inUse.cert);
    daemon = await start();
  });
  afterEach(async () => {
    await daemon.stop();
    await rm(dir, { recursive: true, force: true });
  });

  async function call(path: string, options: RequestOptions = {}, body?: object) {
    const asked = request(daemon.url + path, { ca, agent: false, ...options });
    asked.end(body && JSON.stringify(body));
    const [response] = await once(asked, 'response');
    let text = '';
    for await (const piece of response) text += piece;
    const { subject } = (response.socket as TLSSocket).getPeerCertificate();
    return { served: subject?.CN, ...(JSON.parse(text) as { code: number; data: never }) };
  }
  const login = async () => {
    const headers = { 'content-type': 'application/json' };
    const body = { username: 'admin', password: adminPassword };
    const { data } = await call('/api/auth/login', { method: 'POST', headers }, body);
    return (data as { token: string }).token;
  };

  it('serves everything over HTTPS, notifications over wss', async () => {
    expect(daemon.url).toMatch(/^https:/);
    const token = await login();
    const headers = { authorization: `Bearer ${token}` };
    expect(await call('/api/users/me', { headers })).toMatchObject({ code: 200, data: { username: 'admin' } });
    const stream = await openStream(daemon.url, { token, since: 0 }, { ca });
    stream.ws.close();
    expect((await stream.closed).code).toBe(1005);
  });

  it('warns about a key that every user can read', async () => {
    const warned = () => logged.some(line => line.includes('every user of this machine can read the key'));
    await chmod(inUse.key, 0o600);
    await daemon.reload();
    expect(warned()).toBe(false);
    await chmod(inUse.key, 0o644);
    await daemon.reload();
    expect(warned()).toBe(true);
  });

  it('warns about a key that its group can read', async () => {
    const warned = () => logged.some(line => line.includes('the group of the file can read the key'));
    await chmod(inUse.key, 0o600);
    await daemon.reload();
    expect(warned()).toBe(false);
    await chmod(inUse.key, 0o640);
    await daemon.reload();
    expect(warned()).toBe(true);
  });

  it('offers no cipher without forward secrecy, before and after a reload', async () => {
    const rsa = makeCertificate(dir, 'rsa', ['rsa:2048']);
    await takeUp(rsa);
    await daemon.reload();
    const connect = (ciphers: string) =>
      once(
        connectTls({
          port: Number(new URL(daemon.url).port),
          host: '127.0.0.1',
          maxVersion: 'TLSv1.2',
          ciphers,
          ca: readFileSync(rsa.cert),
        }),
        'secureConnect',
      );
    const staticKeys = 'AES256-GCM-SHA384:AES128-GCM-SHA256:AES256-SHA256:AES128-SHA:AES256-SHA';
    await expect(connect(staticKeys)).rejects.toThrow();
    await expect(connect('ECDHE-RSA-AES128-GCM-SHA256')).resolves.toBeDefined();
    await daemon.stop();
    daemon = await start();
    await expect(connect(staticKeys)).rejects.toThrow();
    await expect(connect('ECDHE-RSA-AES128-GCM-SHA256')).resolves.toBeDefined();
  });

  it('has browsers use HTTPS only: every response has Strict-Transport-Security', async () => {
    for (const path of ['/api/health', '/api/users/me', '/nothing']) {
      const asked = request(daemon.url + path, { ca, agent: false }).end();
      const [response] = await once(asked, 'response');
      response.resume();
      expect(response.headers['strict-transport-security']).toBe('max-age=31536000');
    }
  });

  it('does not answer unencrypted requests, and continues after them', async () => {
    const plain = daemon.url.replace('https:', 'http:');
    const response = await rawRequest(plain, 'GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n').catch(() => '');
    expect(response).not.toContain('devmgr');
    expect(response).not.toMatch(/^HTTP\/1\.1 2/);
    expect(await call('/api/health')).toMatchObject({ code: 200 });
  });

  it('refuses TLS versions before 1.2', async () => {
    const { port } = new URL(daemon.url);
    const socket = connectTls({
      port: Number(port),
      host: '127.0.0.1',
      ca,
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
    });
    await expect(once(socket, 'secureConnect')).rejects.toThrow();
  });

  it('uses a renewed certificate after a reload; open connections stay open', async () => {
    const token = await login();
    const stream = await openStream(daemon.url, { token }, { ca });
    expect((await call('/api/health')).served).toBe('in-use');
    const renewed = makeCertificate(dir, 'renewed');
    await takeUp(renewed);
    await daemon.reload();
    ca = await readFile(renewed.cert);
    expect(await call('/api/health')).toMatchObject({ code: 200, served: 'renewed' });
    expect(stream.ws.readyState).toBe(stream.ws.OPEN);
    stream.ws.terminate();
  });

  it.each([
    ['is not a certificate', () => writeFile(inUse.cert, 'no certificate')],
    ['belongs to another key', async () => copyFile(makeCertificate(dir, 'other').cert, inUse.cert)],
    ['is gone', () => rm(inUse.cert)],
  ])('keeps the current one if the renewed one %s, and logs it', async (_what, spoil) => {
    await spoil();
    await daemon.reload();
    expect(await call('/api/health')).toMatchObject({ code: 200, served: 'in-use' });
    expect(logged.join('')).toContain('could not be reloaded');
  });

  it('does not start with an invalid one, and names the file', async () => {
    await daemon.stop();
    await writeFile(inUse.cert, 'no certificate');
    await expect(start()).rejects.toMatchObject({ exitCode: 1, message: expect.stringContaining(inUse.cert) });
    await rm(inUse.cert);
    await expect(start()).rejects.toMatchObject({ exitCode: 1, message: expect.stringContaining(inUse.cert) });
  });
});

it('serves a network without encryption only if it is requested', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'devmgr-tls-'));
  const settings = { ...testSettings(dir), host: '0.0.0.0' };
  const silent = pino({ level: 'silent' });
  await expect(startDaemon(settings, '0', silent)).rejects.toMatchObject({ exitCode: 2, message: /not loopback/ });
  const daemon = await startDaemon({ ...settings, insecureHttp: true }, '0', silent);
  expect(daemon.url).toMatch(/^http:\/\/0\.0\.0\.0:/);
  await daemon.stop();
  await rm(dir, { recursive: true, force: true });
});
