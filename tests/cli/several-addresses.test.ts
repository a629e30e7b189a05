/** `--server URL,URL`: one daemon behind several addresses, of which some fail. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { adminPassword, type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';
import { relayTo, type Tunnel, tunnelTo } from './relay.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const env = () => ({ DEVMGR_TOKEN: daemon.token });
const runAt = (servers: readonly string[], ...args: string[]) =>
  daemon.run([...args, '--server', servers.join(',')], { env: env() });
const eventsOf = async (deviceId: string, type: string) =>
  (await daemon.call('GET', `/api/events?deviceId=${deviceId}&types=${type}`)).list.length as number;

/** A device in use. */
async function active(serial: string): Promise<string> {
  const { deviceId, activationCode } = await daemon.register(serial);
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
  return deviceId;
}

let deadPort = 0;
/** An address where nothing listens: ports below 7 are not given to other tests. */
const deadAddress = () => `http://127.0.0.1:${(deadPort++ % 6) + 1}`;

/** A server that answers every request like this, and the requests that it got. */
async function answering(answer: (response: ServerResponse) => void) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
    request.resume().on('end', () => answer(response));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** Executes the request; the program gets no response, because the address is killed. */
async function killInRequest(tunnel: Tunnel, forward: () => Promise<void>, answer: ServerResponse): Promise<void> {
  Object.defineProperty(answer, 'write', { value: () => true });
  Object.defineProperty(answer, 'writeHead', { value: () => answer });
  Object.defineProperty(answer, 'end', { value: () => answer });
  await forward();
  await tunnel.kill();
}

/** An address that is killed once it has executed the `nth` request whose path matches. */
async function dyingAt(nth: number, path?: RegExp) {
  let count = 0;
  const relay = await relayTo(
    daemon.url,
    (forward, answer) => void (++count === nth ? killInRequest(tunnel, forward, answer) : forward()),
    path,
  );
  const tunnel = await tunnelTo(relay);
  return { url: tunnel.url, isDead: () => count >= nth };
}

describe('a read', () => {
  test('uses the next address if the first one is away, and shows this in one line', async () => {
    const dead = deadAddress();
    const { code, stderr } = await runAt([dead, daemon.url], 'list');
    expect(code).toBe(0);
    expect(stderr.split('\n').filter(line => line.includes('using '))).toEqual([
      expect.stringContaining(`no server answers at ${dead} (connection refused); using ${daemon.url}`),
    ]);
  });

  test('writes nothing about it with --json, and the addresses with --verbose', async () => {
    const servers = [deadAddress(), daemon.url];
    expect((await runAt(servers, 'list', '--json')).stderr).toBe('');
    const { stderr } = await runAt(servers, 'list', '--json', '--verbose');
    expect(stderr).toContain(`using ${daemon.url}`);
    expect(stderr).toContain(`${daemon.url}: GET /api/devices`);
  });

  test.each([
    ['a daemon that is not ready', '{"code":500,"message":"starting","data":null}'],
    ['a proxy without its server', '<html>'],
  ])('uses the next address if %s answers 503', async (_what, body) => {
    const { url, requests } = await answering(response => response.writeHead(503).end(body));
    const { code, stderr } = await runAt([url, daemon.url], 'list');
    expect({ code, requests: requests.length }).toEqual({ code: 0, requests: 1 });
    expect(stderr).toContain(`using ${daemon.url}`);
  });

  test('asks only the first address if it answers', async () => {
    const second = await tunnelTo(daemon.url);
    expect((await runAt([daemon.url, second.url], 'list')).code).toBe(0);
    expect(second.connections()).toBe(0);
  });

  test('ends with exit code 9 and names every address if none answers; no daemon is started', async () => {
    const [one, other] = [deadAddress(), deadAddress()];
    const home = temporaryFolder();
    const { code, stderr } = await devmgr(['list', '--server', `${one},${other}`], { home, env: env() });
    expect(code).toBe(9);
    expect(stderr).toContain(`no server answers at ${one} (connection refused); no server answers at ${other}`);
    expect(existsSync(join(home, 'daemon.json'))).toBe(false);
  });

  test('shows a refusal of the first address that answers', async () => {
    const second = await tunnelTo(daemon.url);
    expect((await runAt([daemon.url, second.url], 'show', 'DEV-9999999')).code).toBe(5);
    expect(second.connections()).toBe(0);
  });
});

describe('a write', () => {
  const registration = (serial: string) => [
    ...['register', '--type', 'UKEY', '--serial', serial],
    ...['--manufacturer', 'A', '--model', 'B', '--json'],
  ];

  test('whose address dies before the response is carried out once, and its response comes from the next one', async () => {
    const dying = await dyingAt(1, /devices\/register$/);
    const { code, json } = await runAt([dying.url, daemon.url], ...registration('SEVERAL-1'));
    expect(code).toBe(0);
    const device = await daemon.call('GET', `/api/devices/${json.deviceId}`);
    expect(device).toMatchObject({ serialNumber: 'SEVERAL-1', activationCode: json.activationCode });
  });

  test('is sent again after a 503', async () => {
    const deviceId = await active('SEVERAL-2');
    let refused = 0;
    const closing = await relayTo(
      daemon.url,
      (_, answer) => {
        refused++;
        answer.writeHead(503, { 'retry-after': '1' }).end('{"code":500,"message":"stopping","data":null}');
      },
      /lock$/,
    );
    expect((await runAt([closing, daemon.url], 'lock', deviceId, '--reason', 'r')).code).toBe(0);
    expect(refused).toBe(1);
    expect(await eventsOf(deviceId, 'DEVICE_LOCKED')).toBe(1);
  });

  test('is not sent again to an address that does not accept keys', async () => {
    const { deviceId } = await daemon.register('SEVERAL-3');
    const data = { service: 'devmgr', version: '0.0.1', status: 'ok', ready: true };
    const old = await answering(response => response.end(JSON.stringify({ code: 200, message: 'success', data })));
    const dying = await dyingAt(1, /generate-activation-code$/);
    const { code } = await runAt([dying.url, old.url], 'code', deviceId, '--reason', 'letter lost');
    expect(code).toBe(9);
    expect(old.requests.filter(request => request.startsWith('POST'))).toEqual([]);
    expect(await eventsOf(deviceId, 'ACTIVATION_CODE_GENERATED')).toBe(1);
  });

  test('register --file: an address that dies during a batch costs no code and no device', async () => {
    const serials = Array.from({ length: 1_500 }, (_, n) => `SEVERAL-FILE-${n}`);
    const file = join(temporaryFolder(), 'keys.csv');
    writeFileSync(file, `serialNumber\n${serials.join('\n')}\n`);
    const dying = await dyingAt(1);
    const { code, rows } = await runAt(
      [dying.url, daemon.url],
      ...['register', '--file', file, '--type', 'UKEY', '--manufacturer', 'Several', '--model', 'B', '--json'],
    );
    expect({ code, isDead: dying.isDead() }).toEqual({ code: 0, isDead: true });
    expect(rows.map(({ serialNumber, status }) => [serialNumber, status])).toEqual(
      serials.map(serial => [serial, 'success']),
    );
    const { activationCode } = await daemon.call('GET', `/api/devices/${rows.at(-1).deviceId}`);
    expect(rows.at(-1).activationCode).toBe(activationCode);
    expect((await daemon.call('GET', '/api/devices/list?keyword=SEVERAL-FILE-')).pagination.total).toBe(1_500);
  });

  test('lock --file: an address that dies during a batch changes no device twice', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 20; n++) ids.push(await active(`SEVERAL-LOCK-${n}`));
    const file = join(temporaryFolder(), 'ids.txt');
    writeFileSync(file, `${ids.join('\n')}\n`);
    const args = ['lock', '--file', file, '--reason', 'r', '--yes', '--json'];
    const dying = await dyingAt(1);
    const { code, rows } = await runAt([dying.url, daemon.url], ...args);
    expect({ code, locked: rows.filter(({ status }) => status === 'success').length }).toEqual({ code: 0, locked: 20 });
    expect(dying.isDead()).toBe(true);
    expect(await eventsOf(ids[0]!, 'DEVICE_LOCKED')).toBe(1);
  });
});

describe('a file', () => {
  const upload = (file: string, version: string) => [
    'apps',
    'add',
    file,
    '--platform',
    'ANDROID',
    '--version',
    version,
  ];

  test('is uploaded to the next address if nothing was sent, and not sent again otherwise', async () => {
    const file = join(temporaryFolder(), 'package.apk');
    writeFileSync(file, 'a package');
    const dead = deadAddress();
    const uploaded = await runAt([dead, daemon.url], ...upload(file, '1.0.0'), '--json');
    expect(uploaded).toMatchObject({ code: 0 });
    const lost = await runAt([(await dyingAt(1, /upload$/)).url, daemon.url], ...upload(file, '2.0.0'));
    expect(lost.code).toBe(9);
    const downloaded = await runAt([dead, daemon.url], 'apps', 'download', uploaded.json.versionId, '--out', '-');
    expect({ code: downloaded.code, stdout: downloaded.stdout }).toEqual({ code: 0, stdout: 'a package' });
  });

  test('an export begins at the next address', async () => {
    await daemon.register('SEVERAL-EXPORT');
    const { code, stdout } = await runAt([deadAddress(), daemon.url], 'export', '--format', 'ndjson');
    expect(code).toBe(0);
    expect(JSON.parse(stdout.split('\n')[0]!)).toMatchObject({ deviceId: 'DEV-1' });
  });
});

describe('watch', () => {
  test('continues at another address without a gap or a repeat', async () => {
    const [one, other] = [await tunnelTo(daemon.url), await tunnelTo(daemon.url)];
    const { head } = await daemon.call('GET', '/api/events?limit=1');
    const args = ['watch', '--since', String(head), '--type', 'DEVICE_REGISTERED', '--count', '60', '--json'];
    const running = daemon.start([...args, '--server', `${one.url},${other.url}`], { env: env() });
    const register = async (from: number, to: number) => {
      for (let n = from; n < to; n++) await daemon.register(`SEVERAL-WATCH-${n}`);
    };
    const before = register(0, 30);
    await running.until('stdout', /SEVERAL-WATCH-5"/);
    await one.kill();
    await before;
    // The stream cannot end before its first address has died.
    await register(30, 60);
    const { code, rows } = await running.ended;
    expect(code).toBe(0);
    expect(rows.map(({ data }) => data.serialNumber)).toEqual(
      Array.from({ length: 60 }, (_, n) => `SEVERAL-WATCH-${n}`),
    );
    expect(other.connections()).toBeGreaterThan(0);
  });

  test('--exec: a cursor continues with the addresses in another order', async () => {
    const [one, other] = [await tunnelTo(daemon.url), await tunnelTo(daemon.url)];
    const { head } = await daemon.call('GET', '/api/events?limit=1');
    const log = join(temporaryFolder(), 'log');
    const write = `require('node:fs').appendFileSync(process.argv[1], JSON.parse(require('node:fs').readFileSync(0)).id + '\\n')`;
    const home = temporaryFolder();
    const run = (servers: string) =>
      devmgr(
        [
          ...['watch', '--since', String(head), '--type', 'DEVICE_REGISTERED', '--count', '2', '--server', servers],
          ...['--exec', process.execPath, '--', '-e', write, log],
        ],
        { home, env: env() },
      );
    for (let n = 0; n < 4; n++) await daemon.register(`SEVERAL-EXEC-${n}`);
    expect((await run(`${one.url},${other.url}`)).code).toBe(0);
    await one.kill();
    expect((await run(`${other.url},${one.url},${daemon.url}`)).code).toBe(0);
    const ids = readFileSync(log, 'utf8').trim().split('\n').map(Number);
    expect(ids).toEqual(ids.toSorted((left, right) => left - right));
    expect(new Set(ids).size).toBe(4);
  });
});

describe('a login', () => {
  let home: string;
  const login = (servers: readonly string[], ...more: string[]) =>
    devmgr(['login', 'admin', '--password-stdin', '--server', servers.join(','), ...more], {
      home,
      input: adminPassword,
    });
  const list = (...servers: string[]) =>
    devmgr(['list', '--json', ...(servers.length ? ['--server', servers.join(',')] : [])], { home });

  test('is that of the list: in the profile, in another order, and with an added address', async () => {
    home = temporaryFolder();
    const [one, other, added] = [await tunnelTo(daemon.url), await tunnelTo(daemon.url), await tunnelTo(daemon.url)];
    expect((await login([one.url, other.url])).code).toBe(0);
    expect((await list()).code).toBe(0);
    expect((await list(other.url, one.url)).code).toBe(0);
    expect((await list(added.url, other.url, one.url)).code).toBe(0);
    await one.kill();
    expect((await list()).code).toBe(0);
    const known = JSON.parse(readFileSync(join(home, 'known-servers.json'), 'utf8')).default;
    expect(Object.keys(known).sort()).toEqual([one.url, other.url, added.url].sort());
    const server = `${one.url},${other.url}`;
    expect((await devmgr(['logout', '--json'], { home })).json).toMatchObject({ loggedOut: true, server });
    expect((await list()).code).toBe(3);
  });

  test('is refused if the addresses are different registries, and no password is sent', async () => {
    home = temporaryFolder();
    const stranger = await startDaemon();
    onTestFinished(() => discard(stranger));
    const { code, stderr } = await login([daemon.url, stranger.url]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${daemon.url} and ${stranger.url} are different registries (instance `);
    expect(stderr).toContain('Nothing secret was sent');
    expect(existsSync(join(home, 'credentials.json'))).toBe(false);
  });

  test('is not used at an address that is added and is another registry', async () => {
    home = temporaryFolder();
    const one = await tunnelTo(daemon.url);
    expect((await login([one.url])).code).toBe(0);
    const data = { service: 'devmgr', version: '1', status: 'ok', ready: true };
    const stranger = await answering(response => response.end(JSON.stringify({ code: 200, message: 'success', data })));
    const { code, stderr } = await list(stranger.url, one.url);
    expect(code).toBe(1);
    expect(stderr).toContain(`the server at ${stranger.url} is not the one that this profile knows`);
    expect(stranger.requests.map(request => request.split('?')[0])).toEqual(['GET /api/health']);
  });

  test('at two registries does not become one by a list of both', async () => {
    home = temporaryFolder();
    const stranger = await startDaemon();
    onTestFinished(() => discard(stranger));
    expect((await login([daemon.url])).code).toBe(0);
    expect((await login([stranger.url])).code).toBe(0);
    const { code, stderr } = await list(daemon.url, stranger.url);
    expect(code).toBe(1);
    expect(stderr).toContain('are different registries');
  });

  test('accepts another registry for all addresses, those that are away included', async () => {
    home = temporaryFolder();
    const other = await tunnelTo(daemon.url);
    const servers = [daemon.url, other.url];
    expect((await login(servers)).code).toBe(0);
    const file = join(home, 'known-servers.json');
    const known = JSON.parse(readFileSync(file, 'utf8'));
    const strange = { instanceId: 'another', publicKey: 'another', direct: false };
    const entries = servers.map(address => [address, strange]);
    writeFileSync(file, JSON.stringify({ ...known, default: Object.fromEntries(entries) }));
    expect((await list()).code).toBe(1);
    expect((await login(servers)).code).toBe(1);
    await other.kill();
    expect((await login(servers, '--accept-new-server')).code).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8')).default[other.url]).toEqual({
      ...known.default[other.url],
      direct: false,
    });
    expect((await list()).code).toBe(0);
  });

  test('needs only one address that answers; the others are checked when they are used', async () => {
    home = mkdtempSync(join(tmpdir(), 'devmgr-several-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const dead = deadAddress();
    const { code, stderr } = await login([dead, daemon.url]);
    expect(code).toBe(0);
    expect(stderr).toContain('its identity is checked when it is first used');
    expect((await list()).code).toBe(0);
  });
});

describe('attached keys', () => {
  test('are those of any address on this machine', async () => {
    const { code, stderr } = await runAt([deadAddress(), daemon.url], 'keys');
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining(`using ${daemon.url}`) });
  });

  test('are those of the one address that --hardware names', async () => {
    const dead = deadAddress();
    expect((await runAt([daemon.url, dead], 'keys', '--hardware', dead)).code).toBe(9);
    expect((await runAt([dead, daemon.url], 'keys', '--hardware', daemon.url)).code).toBe(0);
    expect((await runAt([daemon.url], 'keys', '--hardware', `${daemon.url},${dead}`)).code).toBe(2);
  });
});

test('doctor checks each address, and warns if one is away', async () => {
  const dead = deadAddress();
  const { stdout } = await runAt([daemon.url, dead], 'doctor', '--json');
  const servers = JSON.parse(stdout).checks.filter(({ name }: { name: string }) => name === 'server');
  expect(servers).toMatchObject([
    { state: 'ok', detail: expect.stringContaining(daemon.url) },
    { state: 'warning', detail: expect.stringContaining(dead) },
  ]);
});

test('config set accepts several addresses and rejects an empty one', async () => {
  const home = temporaryFolder();
  const set = (value: string) => devmgr(['config', 'set', 'server', value], { home });
  expect((await set('https://b.example.com/, https://A.example.com,https://b.example.com')).code).toBe(0);
  const { json } = await devmgr(['config', 'get', 'server', '--json'], { home });
  expect(json).toBe('https://b.example.com,https://a.example.com');
  expect((await set('https://a.example.com,')).code).toBe(2);
  expect((await set(Array.from({ length: 17 }, (_, n) => `https://n${n}.example.com`).join(','))).code).toBe(2);
});
