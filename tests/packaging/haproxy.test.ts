/** HAProxy accepts the files that are delivered for it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { makeCertificate } from '../support/certificates.ts';
import { findTool, needs } from '../support/needs.ts';

const packaged = join(import.meta.dirname, '../../packaging');
const text = (name: string) => readFileSync(join(packaged, 'haproxy', name), 'utf8');
const CERTIFICATE = '/etc/haproxy/devmgr.pem';

it('the drain of the unit is the time after which HAProxy marks down a daemon that hangs: less than 3 s', () => {
  const checks = /default-server check inter (\d+)ms fastinter (\d+)ms fall 2/.exec(text('registry.cfg'))!;
  const [inter, fastinter] = checks.slice(1).map(Number) as [number, number];
  const timeout = Number(/timeout check (\d+)ms/.exec(text('registry.cfg'))![1]);
  const seconds = (inter + timeout + fastinter + timeout) / 1000;
  expect(seconds).toBeLessThan(3);
  const unit = readFileSync(join(packaged, 'systemd/devmgr@.service'), 'utf8');
  expect(unit).toContain(`DEVMGR_DRAIN=${Math.ceil(seconds)}\n`);
});

needs(['haproxy', 'openssl'])('haproxy -c', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devmgr-haproxy-'));
  const { cert, key } = makeCertificate(folder, 'registry');
  writeFileSync(join(folder, 'devmgr.pem'), readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The files as they are on a machine that has the certificate and knows the names of the others. */
  const onThisMachine = (config: string) =>
    config.replaceAll(CERTIFICATE, join(folder, 'devmgr.pem')).replace(/^( {2}server \S+ )\S+:/gm, '$1127.0.0.1:');

  function check(names: readonly string[], change = (config: string) => config): { ok: boolean; output: string } {
    const files = names.map(name => {
      const file = join(folder, name);
      writeFileSync(file, change(onThisMachine(text(name))));
      return ['-f', file];
    });
    const { status, stdout, stderr } = spawnSync(findTool('haproxy')!, ['-c', ...files.flat()], { encoding: 'utf8' });
    return { ok: status === 0, output: stdout + stderr };
  }

  it.each([[['registry.cfg']], [['registry.cfg', 'postgres.cfg']]])('accepts %s without a warning', names => {
    const { ok, output } = check(names);
    expect(output).not.toMatch(/\[(?:WARNING|ALERT)\]/);
    expect(ok, output).toBe(true);
  });

  it('refuses a line that it does not know', () => {
    expect(check(['registry.cfg'], config => config.replace('balance roundrobin', 'balance somehow')).ok).toBe(false);
  });

  it('answers 503 with Retry-After while no daemon is ready, and does not log a connection without a request', async () => {
    const socket = join(folder, 'front');
    // Only root can change to another user; one thread logs in the order of the connections.
    const config = onThisMachine(text('registry.cfg'))
      .replace(/^ {2}(?:user|group) haproxy\n/gm, '')
      .replace('global\n', 'global\n  nbthread 1\n')
      .replace(/bind :443 .*/, `bind unix@${socket}`)
      .replaceAll('127.0.0.1:7470', '127.0.0.1:1');
    const file = join(folder, 'no-daemon.cfg');
    writeFileSync(file, config);
    const haproxy = spawn(findTool('haproxy')!, ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void haproxy.kill('SIGKILL'));
    await connected(socket);
    const { status, headers } = await get(socket, '/api/devices/list');
    expect([status, headers['retry-after'], headers['content-type']]).toEqual([503, '1', 'text/plain']);
    expect(await firstRequest(haproxy.stdout)).toMatch(/ 503 \d+ \S+ GET \/api\/devices\/list$/);
  });
});

/** Connects and closes, as soon as something listens there. The test has a time limit. */
async function connected(path: string): Promise<void> {
  for (;;) {
    const socket = connect(path);
    const failed = await once(socket, 'connect').then(
      () => false,
      () => true,
    );
    socket.end();
    if (!failed) return void (await once(socket.resume(), 'close'));
  }
}

/** The response to a GET. */
async function get(socketPath: string, path: string): Promise<{ status: number; headers: IncomingHttpHeaders }> {
  const [response] = await once(request({ socketPath, path }).end(), 'response');
  response.resume();
  return { status: response.statusCode, headers: response.headers };
}

/** The first line of the log about a connection; undefined if the log ends before. */
async function firstRequest(log: Readable): Promise<string | undefined> {
  for await (const line of createInterface(log)) if (!/^(?:Server|backend) /.test(line)) return line;
  return undefined;
}
