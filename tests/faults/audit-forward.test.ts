/** The journal, forwarded to real receivers that fail, return, hang and lie. */
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Logger } from '../../daemon/base/logger.ts';
import { Forwarder } from '../../daemon/forwarding/forwarder.ts';
import { forwardTarget } from '../../daemon/home/forward-target.ts';
import { Home } from '../../daemon/home/home.ts';
import { audit, backup, restore } from '../../daemon/maintenance/programs.ts';
import { addDevice, commit } from '../contract/store/fixtures.ts';
import { type Certificate, makeCertificate } from '../support/certificates.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { needs } from '../support/needs.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { openTemporary } from '../support/sqlite.ts';
import { receiveSyslog, type SyslogReceiver } from '../support/syslog-receiver.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devmgr-forward-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

type Env = Readonly<Record<string, string>>;

async function forwarding(url: string, env: Env = {}): Promise<TestDaemon> {
  const daemon = await startTestDaemon({ forward: forwardTarget(url, env)! });
  onTestFinished(() => daemon.stop());
  return daemon;
}

let serial = 0;
const device = () => ({ deviceType: 'UKEY', serialNumber: `FWD-${++serial}`, manufacturer: 'Feitian', model: 'K9' });
async function register(daemon: Pick<TestDaemon, 'call'> | DaemonProcess): Promise<string> {
  const { code, data } = await daemon.call('POST', '/api/devices/register', device());
  expect(code).toBe(200);
  return (data as { activationCode: string }).activationCode;
}

async function journal(home: string): Promise<unknown[]> {
  const options = { home, json: true, device: null, since: null, limit: null, verify: false };
  const { stdout } = await runDaemonProgram(audit, options);
  return stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
}
const entriesOf = ({ messages }: SyslogReceiver) => messages.map(({ entry }) => entry);
const idsOf = (receiver: SyslogReceiver) => entriesOf(receiver).map(({ id }) => id);
const patient = { timeout: 20_000 };
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** The gauge, and the number of entries in the journal at that moment. */
async function scrape({ url }: { readonly url: string }): Promise<{ lag: number; last: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'm').exec(text)?.[1]);
  return { lag: value('devmgr_audit_forward_lag_entries'), last: value('devmgr_journal_entries') };
}

/** Waits until everything is delivered. Resolves to the id of the last entry. */
async function delivered(daemon: { readonly url: string }): Promise<number> {
  let last = 0;
  await expect
    .poll(async () => {
      const now = await scrape(daemon);
      last = now.last;
      return now.lag;
    }, patient)
    .toBe(0);
  return last;
}

/** Nothing was delivered. */
async function isBehind(daemon: { readonly url: string }): Promise<void> {
  const { lag, last } = await scrape(daemon);
  expect(lag).toBe(last);
  expect(last).toBeGreaterThan(0);
}

describe('a syslog receiver', () => {
  it('gets each entry of the journal as RFC 5424, in order, as daemon audit shows it', async () => {
    const receiver = await receiveSyslog();
    const daemon = await forwarding(`syslog+tcp://127.0.0.1:${receiver.port}`);
    const codes = [await register(daemon), await register(daemon)];
    await daemon.user('dora', 'DEALER');
    const last = await delivered(daemon);
    expect(entriesOf(receiver)).toEqual((await journal(daemon.home)).slice(0, last));
    const { header, entry } = receiver.messages.find(message => message.entry.type === 'DEVICE_REGISTERED')!;
    expect(header).toMatch(/^<110>1 \d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z [!-~]+ devmgr - DEVICE_REGISTERED -$/);
    expect(header).toContain(` ${entry.timestamp} `);
    const sent = JSON.stringify(receiver.messages);
    for (const secret of [...codes, 'scrypt', daemon.adminToken]) expect(sent).not.toContain(secret);
  });

  it('can listen on a Unix socket', async () => {
    const path = join(dir, 'socket with space');
    const receiver = await receiveSyslog({ at: path });
    const daemon = await forwarding(`syslog+unix://${encodeURI(path)}`);
    await register(daemon);
    const end = await delivered(daemon);
    expect(idsOf(receiver)).toEqual(upTo(end));
  });

  it('that goes away gets what it has missed when it returns, in order', async () => {
    const first = await receiveSyslog();
    const daemon = await forwarding(`syslog+tcp://127.0.0.1:${first.port}`);
    await register(daemon);
    const before = await delivered(daemon);
    await first.close();
    for (let i = 0; i < 3; i++) await register(daemon);
    await expect
      .poll(() => daemon.logged(), patient)
      .toMatch(/could not be forwarded.*ECONNREFUSED|ECONNREFUSED.*could not be forwarded/);
    const { lag, last } = await scrape(daemon);
    expect(lag).toBe(last - before);
    expect(lag).toBeGreaterThanOrEqual(3);
    const second = await receiveSyslog({ at: first.port });
    const end = await delivered(daemon);
    expect(idsOf(second)).toEqual(upTo(end, before + 1));
  });

  it('that closes connections at once has confirmed nothing', async () => {
    const rude = await receiveSyslog({ manner: 'rude' });
    const daemon = await forwarding(`syslog+tcp://127.0.0.1:${rude.port}`);
    await register(daemon);
    await expect.poll(() => daemon.logged(), patient).toContain('could not be forwarded');
    await isBehind(daemon);
    await rude.close();
    const polite = await receiveSyslog({ at: rude.port });
    const end = await delivered(daemon);
    expect(idsOf(polite)).toEqual(upTo(end));
  });

  it('that does not read holds up no change, and a stop does not wait for it', async () => {
    const deaf = await receiveSyslog({ manner: 'deaf' });
    const daemon = await forwarding(`syslog+tcp://127.0.0.1:${deaf.port}`);
    const items = Array.from({ length: 2000 }, device);
    // Far more than the buffers of a connection: the delivery is under way during all of these changes.
    expect(await daemon.call('POST', '/api/devices/batch-register', { devices: items })).toMatchObject({ code: 200 });
    for (let i = 0; i < 20; i++) await register(daemon);
    await isBehind(daemon);
    await daemon.restart({ forward: null });
    expect(existsSync(join(daemon.home, 'audit-forward.json'))).toBe(false);
  });

  it.each(['syslog+tcp', 'http'])('that sends on and on but never confirms is reported (%s)', async scheme => {
    const drip = (send: () => unknown) => {
      const timer = setInterval(send, 5);
      onTestFinished(() => clearInterval(timer));
    };
    const server =
      scheme === 'http'
        ? createHttpServer((_, response) => drip(() => response.write('x')))
        : createTcpServer({ allowHalfOpen: true }, socket => {
            socket.on('error', () => undefined).resume();
            drip(() => socket.write('x'));
          });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const opened = await openTemporary();
    await commit(opened.store, [addDevice('A')]);
    const warnings: unknown[] = [];
    const forwarder = new Forwarder({
      store: opened.store,
      home: await Home.open(join(dir, 'home')),
      target: forwardTarget(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`, {})!,
      log: { info: () => undefined, warn: (fields: unknown) => warnings.push(fields) } as unknown as Logger,
      deliveryMs: 300,
    });
    forwarder.start();
    onTestFinished(async () => {
      await forwarder.stop();
      await opened.cleanup();
      server.close();
    });
    await expect
      .poll(() => warnings, patient)
      .toMatchObject([{ reason: 'the delivery was not confirmed within 0.3 s' }]);
  });

  it('gets a long journal in parts of bounded size', async () => {
    const receiver = await receiveSyslog();
    const daemon = await forwarding(`syslog+tcp://127.0.0.1:${receiver.port}`);
    const items = Array.from({ length: 1000 }, device);
    expect(await daemon.call('POST', '/api/devices/batch-register', { devices: items })).toMatchObject({ code: 200 });
    const end = await delivered(daemon);
    expect(idsOf(receiver)).toEqual(upTo(end));
    expect(Math.max(...receiver.perConnection)).toBeLessThanOrEqual(500);
  });

  it('gets nothing twice after a restart, and everything if it is a new one', async () => {
    const receiver = await receiveSyslog();
    const daemon = await forwarding(`syslog+tcp://127.0.0.1:${receiver.port}`);
    await register(daemon);
    await delivered(daemon);
    await daemon.restart();
    await register(daemon);
    const end = await delivered(daemon);
    expect(idsOf(receiver)).toEqual(upTo(end));
    const other = await receiveSyslog();
    await daemon.restart({ forward: forwardTarget(`syslog+tcp://127.0.0.1:${other.port}`, {})! });
    const all = await delivered(daemon);
    expect(idsOf(other)).toEqual(upTo(all));
  });
});

describe('a daemon that is killed', () => {
  it('between a delivery and its record delivers these entries again', async () => {
    const home = join(dir, 'home');
    // It has read the entries but does not confirm them, so that the daemon cannot record them.
    const silent = await receiveSyslog({ manner: 'silent' });
    const options = { home, forward: `syslog+tcp://127.0.0.1:${silent.port}` };
    const first = await spawnDaemon(options);
    await register(first);
    await expect.poll(() => idsOf(silent).includes(1), patient).toBe(true);
    await first.kill();
    const { port } = silent;
    await silent.close();
    const receiver = await receiveSyslog({ at: port });
    const second = await spawnDaemon(options);
    await register(second);
    const end = await delivered(second);
    expect(idsOf(receiver)).toEqual(upTo(end));
    await second.stop();
  });

  it('and whose registry is replaced by an earlier one forwards the new entries with the same ids', async () => {
    const home = join(dir, 'home');
    const copy = join(dir, 'copy.db');
    const receiver = await receiveSyslog();
    const options = { home, forward: `syslog+tcp://127.0.0.1:${receiver.port}` };
    const first = await spawnDaemon(options);
    expect((await runDaemonProgram(backup, { home, json: true, file: copy })).code).toBe(0);
    await register(first);
    await delivered(first);
    await first.kill();
    expect((await runDaemonProgram(restore, { home, json: true, file: copy })).code).toBe(0);
    const between = await spawnDaemon({ home });
    await register(between);
    await between.stop();
    const before = receiver.messages.length;
    const second = await spawnDaemon(options);
    const last = await delivered(second);
    expect(entriesOf(receiver).slice(before)).toEqual((await journal(home)).slice(0, last));
    expect(second.output()).toMatch(/the journal was replaced/);
    await second.stop();
  });
});

describe('an HTTP receiver', () => {
  interface Received {
    readonly authorization: string | undefined;
    readonly type: string | undefined;
    readonly body: string;
  }
  /** Responds with the statuses in turn, then with 204. */
  async function receiveHttp(statuses: readonly number[], certificate?: Certificate) {
    const received: Received[] = [];
    const files = certificate && { cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) };
    const listener: Parameters<typeof createHttpServer>[1] = async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { authorization, 'content-type': type } = request.headers;
      const status = statuses[received.length] ?? 204;
      received.push({ authorization, type, body: Buffer.concat(chunks).toString() });
      const upgrade = status === 101 ? { connection: 'Upgrade', upgrade: 'other' } : {};
      response.writeHead(status, { location: '/elsewhere', ...upgrade }).end();
    };
    const server = files ? createHttpsServer(files, listener) : createHttpServer(listener!);
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return { port: (server.address() as AddressInfo).port, received };
  }
  const idsIn = ({ body }: Received) =>
    body
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).id);

  it('gets NDJSON with the token of a file; an error, a redirect or another protocol is repeated; no secret is logged', async () => {
    const tokenFile = join(dir, 'token');
    await writeFile(tokenFile, 'very-secret-token\n', { mode: 0o600 });
    const { port, received } = await receiveHttp([503, 302, 101]);
    const daemon = await forwarding(`http://127.0.0.1:${port}/in?key=also-secret`, {
      DEVMGR_AUDIT_FORWARD_TOKEN_FILE: tokenFile,
    });
    await delivered(daemon);
    await register(daemon);
    const last = await delivered(daemon);
    const [refused, redirected, upgraded, ...accepted] = received.map(idsIn);
    expect([refused![0], redirected![0], upgraded![0]]).toEqual([1, 1, 1]);
    expect(accepted.flat()).toEqual(upTo(last));
    expect(received.at(-1)).toMatchObject({ authorization: 'Bearer very-secret-token', type: 'application/x-ndjson' });
    const lines = received.slice(3).flatMap(({ body }) => body.trim().split('\n'));
    expect(lines.map(line => JSON.parse(line))).toEqual((await journal(daemon.home)).slice(0, last));
    expect(daemon.logged()).toContain('the response is 503');
    expect(daemon.logged()).not.toMatch(/very-secret-token|also-secret/);
    expect(readFileSync(join(daemon.home, 'audit-forward.json'), 'utf8')).not.toMatch(/secret/);
  });

  needs('openssl')('with a certificate', () => {
    it('must have one that the daemon trusts, over HTTPS and as syslog over TLS', async () => {
      const [right, wrong] = [makeCertificate(dir, 'right'), makeCertificate(dir, 'wrong')];
      const http = await receiveHttp([], right);
      const syslog = await receiveSyslog({ certificate: right });
      const urls = [`https://localhost:${http.port}/`, `syslog+tls://127.0.0.1:${syslog.port}`];
      let before = 0;
      for (const url of urls) {
        const daemon = await forwarding(url, { DEVMGR_AUDIT_FORWARD_CA: wrong.cert });
        await expect.poll(() => daemon.logged(), patient).toMatch(/could not be forwarded/);
        await isBehind(daemon);
        await daemon.restart({ forward: forwardTarget(url, { DEVMGR_AUDIT_FORWARD_CA: right.cert })! });
        const last = await delivered(daemon);
        expect([...http.received.flatMap(idsIn), ...idsOf(syslog)].slice(before)).toEqual(upTo(last));
        before += last;
      }
    });
  });
});

describe('--forward', () => {
  it('without a target shows no gauge', async () => {
    const daemon = await startTestDaemon();
    onTestFinished(() => daemon.stop());
    expect((await scrape(daemon)).lag).toBeNaN();
  });

  it('with a target that the daemon does not know ends the start with exit code 2, also from the environment', async () => {
    const home = join(dir, 'home');
    await expect(spawnDaemon({ home, forward: 'ftp://host/' })).rejects.toThrow(
      /ended with 2 .*scheme ftp.*syslog\+tcp:/s,
    );
    const env = { DEVMGR_AUDIT_FORWARD: 'syslog://host' };
    await expect(spawnDaemon({ home }, env)).rejects.toThrow(/ended with 2 .*scheme syslog/s);
    expect(existsSync(home)).toBe(false);
  });

  it('starts over if its record is damaged', async () => {
    const receiver = await receiveSyslog();
    const daemon = await forwarding(`syslog+tcp://127.0.0.1:${receiver.port}`);
    const before = await delivered(daemon);
    const file = join(daemon.home, 'audit-forward.json');
    await daemon.restart({ forward: null });
    await copyFile(file, join(dir, 'record'));
    await writeFile(file, readFileSync(file).subarray(0, 20), { mode: 0o600 });
    await daemon.restart();
    const last = await delivered(daemon);
    expect(idsOf(receiver)).toEqual([...upTo(before), ...upTo(last)]);
  });
});
