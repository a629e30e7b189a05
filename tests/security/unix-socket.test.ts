/** The Unix socket in the home: for the user of the daemon alone, judged like a peer on loopback, replaced after a crash. */
import { once } from 'node:events';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DaemonInfo } from '../../src/contract/local.ts';
import { makeCertificate } from '../support/certificates.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { needs } from '../support/needs.ts';
import { openStream } from '../support/stream-client.ts';
import { callSocket, socketIn } from '../support/unix-socket.ts';

const noLimits = { login: null, query: null, modify: null, upload: null };
const infoIn = (home: string) => JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as DaemonInfo;
const modeOf = (file: string) => lstatSync(file).mode & 0o777;

describe('a running daemon', () => {
  let daemon: TestDaemon;
  beforeEach(async () => {
    daemon = await startTestDaemon();
  });
  afterEach(() => daemon?.stop());

  const health = { path: '/api/health' };
  const wrongLogin = (headers = {}) =>
    callSocket(daemon.home, {
      method: 'POST',
      path: '/api/auth/login',
      headers,
      body: { username: 'admin', password: 'wrong one' },
    });

  it('answers on a socket that only its user can open, and names it in daemon.json', async () => {
    expect(infoIn(daemon.home).socket).toBe(socketIn(daemon.home));
    expect([modeOf(socketIn(daemon.home)), modeOf(daemon.home)]).toEqual([0o600, 0o700]);
    expect(await callSocket(daemon.home, health)).toMatchObject({
      status: 200,
      code: 200,
      data: { service: 'devmgr' },
    });
  });

  it('counts logins on the socket with those on loopback', async () => {
    await daemon.restart({ limits: { ...noLimits, login: { count: 2, seconds: 60 } } });
    expect((await wrongLogin()).code).toBe(1003);
    const tcp = await daemon.call(
      'POST',
      '/api/auth/login',
      { username: 'admin', password: 'wrong one' },
      { token: null },
    );
    expect(tcp.code).toBe(1003);
    expect((await wrongLogin()).code).toBe(429);
  });

  it('uses X-Forwarded-For on the socket only if loopback is a trusted proxy', async () => {
    const limits = { ...noLimits, login: { count: 1, seconds: 60 } };
    const from = (address: string) => wrongLogin({ 'x-forwarded-for': address });
    await daemon.restart({ limits, trustProxy: ['127.0.0.1'] });
    expect([(await from('192.0.2.1')).code, (await from('192.0.2.2')).code]).toEqual([1003, 1003]);
    expect((await from('192.0.2.2')).code).toBe(429);
    await daemon.restart({ limits, trustProxy: ['10.0.0.0/8'] });
    expect([(await from('192.0.2.1')).code, (await from('192.0.2.2')).code]).toEqual([1003, 429]);
  });

  it('refuses another Host and the pages of another site', async () => {
    expect(await callSocket(daemon.home, { ...health, headers: { host: 'evil.example' } })).toMatchObject({
      code: 2007,
    });
    expect(await callSocket(daemon.home, { ...health, headers: { origin: 'http://evil.example' } })).toMatchObject({
      code: 2007,
    });
  });

  it('gives metrics without a token, like on loopback', async () => {
    expect((await callSocket(daemon.home, { path: '/metrics' })).status).toBe(200);
  });

  it('sends notifications', async () => {
    const createConnection = () => connect(socketIn(daemon.home));
    const stream = await openStream('http://localhost', { token: daemon.adminToken }, { createConnection });
    const device = { deviceType: 'UKEY', serialNumber: 'S-1', manufacturer: 'Feitian', model: 'K9' };
    const headers = { authorization: `Bearer ${daemon.adminToken}` };
    await callSocket(daemon.home, { method: 'POST', path: '/api/devices/register', headers, body: device });
    expect((await stream.until(1))[0]).toMatchObject({ type: 'DEVICE_REGISTERED', data: { serialNumber: 'S-1' } });
    stream.ws.terminate();
  });

  it('leaves a file that is not a socket alone, and explains why there is no socket', async () => {
    const { home } = daemon;
    await daemon.stopKeepingHome();
    writeFileSync(socketIn(home), 'precious');
    await daemon.startAgain();
    expect(readFileSync(socketIn(home), 'utf8')).toBe('precious');
    expect(infoIn(home).socket).toBeNull();
    expect(daemon.logged()).toContain('is not a socket');
    expect((await daemon.call('GET', '/api/health')).code).toBe(200);
  });
});

describe('as a process', () => {
  let home: string;
  let daemon: DaemonProcess | undefined;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'devmgr-socket-'));
  });
  afterEach(async () => {
    if (daemon && daemon.child.exitCode === null && daemon.child.signalCode === null) await daemon.kill();
    daemon = undefined;
    rmSync(home, { recursive: true, force: true });
  });

  it('replaces the socket that a killed daemon left, and removes its own when it stops', async () => {
    daemon = await spawnDaemon({ home });
    await daemon.kill();
    expect(lstatSync(socketIn(home)).isSocket()).toBe(true);
    daemon = await spawnDaemon({ home });
    expect((await callSocket(home, { path: '/api/health' })).code).toBe(200);
    expect(await daemon.stop()).toBe(0);
    expect(readdirSync(home)).not.toContain('daemon.sock');
  });

  it('finishes a request on the socket before it ends', async () => {
    daemon = await spawnDaemon({ home });
    const body = JSON.stringify({ deviceType: 'UKEY', serialNumber: 'S-1', manufacturer: 'Feitian', model: 'K9' });
    const headers = {
      authorization: `Bearer ${daemon.token}`,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const path = '/api/devices/register';
    const sent = request({ socketPath: socketIn(home), method: 'POST', path, headers });
    sent.write(body.slice(0, 10));
    // Another connection that was accepted later has been answered: so the daemon has the first one.
    await once(sent, 'socket').then(([socket]) => socket.connecting && once(socket, 'connect'));
    await callSocket(home, { path: '/api/health' });
    daemon.child.kill('SIGTERM');
    await expect.poll(daemon.output).toContain('"stopping"');
    sent.end(body.slice(10));
    const [response] = await once(sent, 'response');
    expect(response.statusCode).toBe(200);
    response.resume();
    const [exitCode] = daemon.child.exitCode === null ? await once(daemon.child, 'exit') : [daemon.child.exitCode];
    expect(exitCode).toBe(0);
  });

  it('uses the port alone if the path of the home is too long for a socket, and reports this', async () => {
    const long = join(home, 'x'.repeat(100));
    daemon = await spawnDaemon({ home: long });
    expect(infoIn(long).socket).toBeNull();
    expect(daemon.output()).toContain('longer than the');
    expect((await daemon.call('GET', '/api/users/me')).code).toBe(200);
  });
});

needs('openssl')('with TLS', () => {
  it('speaks plain HTTP on the socket, which the file system protects', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'devmgr-socket-tls-'));
    const { cert, key } = makeCertificate(folder, 'registry');
    const daemon = await startTestDaemon();
    try {
      await daemon.restart({ tlsCert: cert, tlsKey: key });
      const login = { username: 'admin', password: adminPassword };
      const { data } = await callSocket(daemon.home, { method: 'POST', path: '/api/auth/login', body: login });
      const createConnection = () => connect(socketIn(daemon.home));
      const stream = await openStream('http://localhost', { token: data.token }, { createConnection });
      stream.ws.terminate();
      const headers = { authorization: `Bearer ${data.token}` };
      expect((await callSocket(daemon.home, { path: '/api/users/me', headers })).code).toBe(200);
    } finally {
      await daemon.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
