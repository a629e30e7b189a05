/** `enroll spool flush` and `enroll spool list`: deliveries that are killed, conflicts, and files that cannot be used. */
import {
  appendFileSync,
  chownSync,
  existsSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { headerLine, type SpoolEntry } from '../../src/cli/commands/enrollment/spool/lines.ts';
import { SpoolFile } from '../../src/cli/commands/enrollment/spool/spool-file.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { devmgr, start, temporaryFolder } from './program.ts';
import { loseResponse, relayTo } from './relay.ts';

let registry: TestDaemon;
let instanceId: string;
beforeAll(async () => {
  registry = await startTestDaemon();
  const nonce = Buffer.alloc(32, 1).toString('base64url');
  instanceId = (await registry.call('GET', `/api/health?nonce=${nonce}`)).data.identity.instanceId;
});
afterAll(() => registry.stop());

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'keys.spool');
});

const createdAt = '2026-11-22T10:00:00.000Z';
const headerOf = (id: string | null = instanceId) => ({ registry: id, servers: [registry.url], createdAt });
let number = 0;

const entryOf = (more: Partial<SpoolEntry> = {}): SpoolEntry => ({
  id: crypto.randomUUID(),
  at: new Date().toISOString(),
  registration: { deviceType: 'UKEY', serialNumber: `SPL-${++number}`, manufacturer: 'Acme', model: 'One' },
  userId: null,
  serialSource: 'usb-descriptor',
  simulated: false,
  label: false,
  ...more,
});

/** A file with these keys; `sent`: a run that was killed had sent them. */
async function spooled(
  entries: readonly SpoolEntry[],
  { sent = false, header = headerOf() } = {},
): Promise<readonly string[]> {
  const spool = SpoolFile.open(file, header);
  for (const entry of entries) await spool.add(entry, sent);
  await spool.close();
  return entries.map(({ registration }) => registration.serialNumber);
}

const env = (url = registry.url) => ({ DEVMGR_TOKEN: registry.adminToken, DEVMGR_SERVER: url });
const flush = (...args: string[]) => devmgr(['enroll', 'spool', 'flush', file, ...args], { home: folder, env: env() });
const list = (...args: string[]) => devmgr(['enroll', 'spool', 'list', file, ...args], { home: folder });
const deviceOf = async (serial: string) =>
  (await registry.call('GET', `/api/devices/list?serialNumber=${serial}`)).data.list[0];
const register = async (serialNumber: string, manufacturer = 'Acme') =>
  (
    await registry.call('POST', '/api/devices/register', {
      deviceType: 'UKEY',
      serialNumber,
      manufacturer,
      model: 'One',
    })
  ).data;
const lines = () => readFileSync(file, 'utf8').trimEnd().split('\n');
const code = /[A-Z2-9]{4}(-[A-Z2-9]{4}){3}/;

/** Kills a flush at its `at`-th request for this path, before it reaches the registry or after it was carried out. */
async function killed(path: RegExp, isExecuted: boolean, at = 1): Promise<void> {
  const reached = Promise.withResolvers<void>();
  let seen = 0;
  const relay = await relayTo(
    registry.url,
    (forward, answer) => {
      if (++seen !== at) return void forward();
      if (isExecuted) loseResponse(forward, answer).then(reached.resolve, reached.reject);
      else reached.resolve();
    },
    path,
  );
  const running = start(['enroll', 'spool', 'flush', file], { home: folder, env: env(relay) });
  await reached.promise;
  running.child.kill('SIGKILL');
  await running.ended;
}

/** As so many hours after the registrations were sent, with a registry that has forgotten their keys. */
function aged(hours: number): void {
  const at = new Date(Date.now() - hours * 3_600_000).toISOString();
  const old = lines().map(line => (line.startsWith('{"sent"') ? JSON.stringify({ ...JSON.parse(line), at }) : line));
  const ids = new Set(old.flatMap(line => JSON.parse(line).key?.id ?? []));
  let text = `${old.join('\n')}\n`;
  for (const id of ids) text = text.replaceAll(id, crypto.randomUUID());
  writeFileSync(file, text);
}

describe('a flush that is killed', () => {
  test.each([
    ['before the registration reaches the registry', /register$/, false, 1],
    ['after the registration, before its response', /register$/, true, 1],
    ['between two keys', /register$/, true, 2],
    ['before the activation', /activate$/, false, 1],
    ['after the activation, before its response', /activate$/, true, 1],
  ])('%s delivers each key once, with its code', async (_, path, isExecuted, at) => {
    const serials = await spooled([entryOf({ userId: 'ann' }), entryOf({ userId: 'ben' })]);
    await killed(path, isExecuted, at);
    const { code: exit, rows } = await flush('--json');
    expect(exit).toBe(0);
    const left = at === 2 ? serials.slice(1) : serials;
    expect(rows.map(row => [row.serialNumber, row.result])).toEqual(left.map(serial => [serial, 'registered']));
    for (const row of rows)
      expect(row).toMatchObject({ activationCode: expect.stringMatching(code), status: 'ACTIVE' });
    expect(await deviceOf(serials[0]!)).toMatchObject({ status: 'ACTIVE', userId: 'ann' });
    expect(await deviceOf(serials[1]!)).toMatchObject({ status: 'ACTIVE', userId: 'ben' });
    expect(await flush()).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(file, 'utf8')).not.toMatch(code);
  });

  test('a day ago: the device that it registered is found by its serial number, with its code', async () => {
    const [serial] = await spooled([entryOf()]);
    await killed(/register$/, true);
    expect((await list('--json')).json.list).toMatchObject([{ state: 'sent', serialNumber: serial }]);
    aged(25);
    const { code: exit, rows } = await flush('--json');
    expect([exit, rows]).toMatchObject([
      0,
      [{ result: 'registered', serialNumber: serial, activationCode: expect.stringMatching(code) }],
    ]);
  });

  test('after the registration: the code of the first attempt is shown, also if it was used since', async () => {
    const [serial] = await spooled([entryOf()]);
    await killed(/register$/, true);
    const { deviceId, activationCode } = await deviceOf(serial!);
    await registry.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'ann' });
    expect((await flush('--json')).rows).toMatchObject([{ result: 'registered', deviceId, activationCode }]);
  });

  test.each([25, 1])('%i h ago: a device of another manufacturer is a conflict', async hours => {
    const [serial] = await spooled([entryOf()], { sent: true });
    aged(hours);
    await register(serial!, 'Other');
    expect(await flush()).toMatchObject({
      code: 7,
      stdout: expect.stringMatching(/conflict.*\n +already registered as/),
    });
  });

  test('and the device was registered before that: it is a conflict', async () => {
    const entry = entryOf();
    await register(entry.registration.serialNumber);
    await spooled([{ ...entry, at: new Date(Date.now() + 3_600_000).toISOString() }], { sent: true });
    expect(await flush()).toMatchObject({ code: 7, stdout: expect.stringMatching(/conflict/) });
  });

  test('a day ago, before its registration was carried out: the key is registered', async () => {
    const [serial] = await spooled([entryOf()], { sent: true });
    aged(25);
    expect((await flush('--json')).rows).toMatchObject([{ result: 'registered', serialNumber: serial }]);
  });
});

describe('conflicts', () => {
  test('are listed with device, time and holder, end with 7, and are not sent again', async () => {
    const serials = await spooled([entryOf(), entryOf({ userId: 'ann' }), entryOf()]);
    const { deviceId } = await register(serials[0]!);
    const taken = await register(serials[1]!);
    await registry.call('POST', '/api/devices/activate', {
      deviceId: taken.deviceId,
      activationCode: taken.activationCode,
      userId: 'zoe',
    });
    const out = join(folder, 'codes.csv');
    const { code: exit, stdout, stderr } = await flush('--out', out);
    expect(exit).toBe(7);
    expect(stdout).toMatch(new RegExp(`already registered as ${deviceId} since \\S+, INACTIVE`));
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      new RegExp(`conflict UKEY ${serials[1]} already registered as ${taken.deviceId} since \\S+, ACTIVE for zoe`),
    );
    expect(stderr).toMatch(/1 key delivered, 2 conflicts; results are in/);
    expect(
      readFileSync(out, 'utf8')
        .split('\n')
        .slice(1, 4)
        .map(line => line.split(',')[0]),
    ).toEqual(['conflict', 'conflict', 'registered']);
    expect(await flush()).toMatchObject({ code: 0, stdout: '' });
    const { json } = await list('--json');
    expect(json).toMatchObject({ registry: instanceId, waiting: 0, delivered: 1 });
    expect(json.list.map((row: { state: string; serialNumber: string }) => [row.state, row.serialNumber])).toEqual([
      ['conflict', serials[0]],
      ['conflict', serials[1]],
    ]);
    expect((await list()).stdout).toMatch(/conflict +UKEY +SPL-/);
  });

  test('do not include an INACTIVE device for a user: it is activated', async () => {
    const [serial] = await spooled([entryOf({ userId: 'kim', name: 'Kim Lee' })]);
    const { deviceId } = await register(serial!, 'Other');
    const { code: exit, rows } = await flush('--json');
    expect([exit, rows]).toMatchObject([
      0,
      [{ result: 'known', deviceId, status: 'ACTIVE', userId: 'kim', name: 'Kim Lee' }],
    ]);
  });

  test('a registration that the registry refuses has failed, with the reason', async () => {
    const registration = { deviceType: 'UKEY', serialNumber: 'x'.repeat(500), manufacturer: 'A', model: 'B' } as const;
    await spooled([entryOf({ registration }), entryOf()]);
    const { code: exit, rows } = await flush('--json');
    expect([exit, rows.map(row => row.result)]).toEqual([7, ['failed', 'registered']]);
    expect(await flush()).toMatchObject({ code: 0 });
  });
});

test('a delivery names the other keys of the person, for which nothing could ask when the key was spooled', async () => {
  const userId = `two.${++number}`;
  const [first, second] = [entryOf({ userId }), entryOf({ userId })];
  await spooled([first, second]);
  const { code: exit, stdout } = await flush();
  const device = await deviceOf(first.registration.serialNumber);
  expect(exit).toBe(0);
  expect(stdout).toContain(`${userId} also has ${device.deviceId} (${device.serialNumber})`);
  expect(stdout.match(/also has/g)).toHaveLength(1);
});

describe('a registry that stops answering', () => {
  test('ends the flush with 9, and the next one continues', async () => {
    let seen = 0;
    // A daemon that does not accept keys gets no request again, so the first loss ends the flush.
    const health = { code: 200, message: 'success', data: { service: 'devmgr', version: '0.0.1', status: 'ok' } };
    const relay = await relayTo(
      registry.url,
      (forward, answer) => {
        if (answer.req.url!.includes('health')) answer.writeHead(200).end(JSON.stringify(health));
        else if (++seen === 1) void forward();
        else answer.writeHead(503, { 'content-type': 'text/html' }).end('<p>away</p>');
      },
      /health|register$/,
    );
    const serials = await spooled([entryOf(), entryOf()], {
      header: { ...headerOf(null), servers: [relay, registry.url] },
    });
    const first = await devmgr(['enroll', 'spool', 'flush', file, '--json'], { home: folder, env: env(relay) });
    expect(first).toMatchObject({ code: 9, stderr: expect.stringMatching(/1 key delivered, 1 still waiting in/) });
    expect(first.rows.map(row => row.serialNumber)).toEqual(serials.slice(0, 1));
    expect((await flush('--json')).rows.map(row => row.serialNumber)).toEqual(serials.slice(1));
  });

  test('an error of the server for one key leaves that key for the next flush', async () => {
    const serials = await spooled([entryOf(), entryOf()]);
    let seen = 0;
    const failing = JSON.stringify({ code: 500, message: 'internal error', data: null });
    const relay = await relayTo(
      registry.url,
      (forward, answer) => (++seen === 1 ? void answer.writeHead(500).end(failing) : void forward()),
      /register$/,
    );
    const first = await devmgr(['enroll', 'spool', 'flush', file, '--json'], { home: folder, env: env(relay) });
    expect([first.code, first.rows.map(row => row.result)]).toEqual([7, ['failed', 'registered']]);
    expect((await flush('--json')).rows).toMatchObject([{ result: 'registered', serialNumber: serials[0] }]);
  });
});

describe('labels', () => {
  test('are printed with --label; without it the flush explains how', async () => {
    const printed: string[] = [];
    const printer = createServer({ allowHalfOpen: true }, socket => {
      let text = '';
      socket.on('data', data => {
        text += data;
      });
      socket.on('end', () => {
        printed.push(text);
        socket.end();
      });
    });
    await new Promise<void>(resolve => printer.listen(0, '127.0.0.1', resolve));
    const { port } = printer.address() as { port: number };
    const [serial] = await spooled([entryOf({ label: true })]);
    const { rows } = await flush('--json', '--label', '--printer', `127.0.0.1:${port}`);
    printer.close();
    expect(rows).toMatchObject([{ label: 'printed' }]);
    expect(printed).toEqual([expect.stringContaining(serial!)]);
    await spooled([entryOf({ label: true })]);
    const out = join(folder, 'codes.csv');
    expect((await flush('--out', out)).stderr).toMatch(/1 key had no label printed: devmgr label --file .*codes\.csv/);
  });
});

describe('a file', () => {
  const refused = async (text: RegExp, exit = 2) => {
    for (const run of [await flush(), await list()])
      expect(run).toMatchObject({ code: exit, stdout: '', stderr: expect.stringMatching(text) });
  };

  test('of another registry delivers nothing', async () => {
    const [serial] = await spooled([entryOf()], { header: headerOf('0'.repeat(32)) });
    const { code: exit, stderr } = await flush();
    expect([exit, stderr]).toEqual([
      2,
      expect.stringMatching(/is for another registry: .*instance 0{32}.*, and this is/),
    ]);
    expect(await deviceOf(serial!)).toBeUndefined();
  });

  test('of another registry is named also if no key of it waits; without a login, or while the registry is away, it is done', async () => {
    await spooled([], { header: headerOf('0'.repeat(32)) });
    expect(await flush()).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/is for another registry: .*\n.*no key is waiting in it/),
    });
    const isDone = { code: 0, stderr: expect.stringMatching(/^No key is waiting in/) };
    const elsewhere = { home: folder, env: { ...env(), DEVMGR_SERVER: 'http://127.0.0.1:1' } };
    expect(await devmgr(['enroll', 'spool', 'flush', file], elsewhere)).toMatchObject(isDone);
    file = join(folder, 'own.spool');
    await spooled([]);
    const anyone = { home: temporaryFolder(), env: { DEVMGR_SERVER: registry.url } };
    expect(await devmgr(['enroll', 'spool', 'flush', file], anyone)).toMatchObject(isDone);
  });

  test('of a registry that was never met is known by the address', async () => {
    await spooled([entryOf()], { header: { ...headerOf(null), servers: ['https://elsewhere.test'] } });
    expect(await flush()).toMatchObject({ code: 2, stderr: expect.stringMatching(/for another registry/) });
    file = join(folder, 'other.spool');
    await spooled([entryOf()], { header: headerOf(null) });
    expect(await flush()).toMatchObject({ code: 0 });
  });

  test.each(['{"key"', '{"key":{"id":"7"}}\n', '\0\0\0\0\n', '{"sent":"x","at":"2026-11-22T10:00:00.000Z"}\n'])(
    'with an incomplete last line keeps the keys before it (%j)',
    async tail => {
      const serials = await spooled([entryOf(), entryOf()]);
      appendFileSync(file, tail);
      expect((await list('--json')).json.list).toHaveLength(2);
      const flushed = await flush('--json', '--verbose');
      expect(flushed.rows.map(row => row.serialNumber)).toEqual(serials);
      expect(flushed.stderr).toMatch(/last line .* incomplete/);
      expect(lines().every(line => JSON.parse(line))).toBe(true);
    },
  );

  test('that was cut anywhere in its last line keeps the keys before it', async () => {
    const serials = await spooled([entryOf(), entryOf()]);
    const whole = readFileSync(file);
    const start = whole.lastIndexOf('\n', whole.length - 2) + 1;
    for (let end = start; end < whole.length; end += 7) {
      writeFileSync(file, whole);
      truncateSync(file, end);
      const spool = SpoolFile.open(file, null);
      expect([...spool.items()].map(({ entry }) => entry.registration.serialNumber)).toEqual(serials.slice(0, 1));
      await spool.close();
    }
  });

  test('with a line in the middle that is not valid is refused as a whole', async () => {
    const [serial] = await spooled([entryOf()]);
    const all = readFileSync(file, 'utf8');
    writeFileSync(file, all.replace('\n', '\n{"key":{}}\n'));
    await refused(/keys\.spool, line 2: it is not a line of a spool file/);
    expect(await deviceOf(serial!)).toBeUndefined();
  });

  test.each([
    ['', /is not a spool file of devmgr/],
    ['serialNumber\nUK-1\n', /is not a spool file of devmgr/],
    ['\0'.repeat(200_000), /is not a spool file of devmgr/],
    [
      `${JSON.stringify({ ...headerLine({ registry: 'x', servers: [], createdAt }), version: 2 })}\n`,
      /was written by a later version/,
    ],
  ])('that is not a spool file, or of a later version, is refused (%#)', async (text, message) => {
    writeFileSync(file, text);
    await refused(message);
  });

  test('that does not exist, or is a folder, is refused; a flush does not create it', async () => {
    await refused(/keys\.spool does not exist/);
    expect(existsSync(file)).toBe(false);
    file = folder;
    await refused(/is not a file/);
  });

  test.runIf(process.getuid?.() === 0)('of another user is refused', async () => {
    await spooled([entryOf()]);
    chownSync(file, 1234, 1234);
    await refused(/belongs to another user \(uid 1234\)/);
  });

  test('with 100,001 keys is refused, one with 100,000 takes no further key', { timeout: 60_000 }, async () => {
    const header = JSON.stringify(headerLine(headerOf()));
    const line = (n: number) =>
      JSON.stringify({
        key: entryOf({
          id: `k${n}`,
          registration: { deviceType: 'UKEY', serialNumber: `M-${n}`, manufacturer: 'A', model: 'B' },
        }),
      });
    const all = Array.from({ length: 100_000 }, (_, n) => line(n));
    writeFileSync(file, `${[header, ...all].join('\n')}\n`);
    const spool = SpoolFile.open(file, null);
    expect(spool.waiting).toBe(100_000);
    await expect(spool.add(entryOf(), false)).rejects.toThrow(/more than 100,000 keys/);
    await spool.close();
    appendFileSync(file, `${line(100_000)}\n`);
    await refused(/has more than 100,000 keys/);
  });

  test('that another run uses is refused, also by the name of a link to it', async () => {
    await spooled([entryOf()]);
    const spool = SpoolFile.open(file, null);
    const { code: exit, stderr } = await flush();
    expect([exit, stderr]).toEqual([1, expect.stringMatching(/another run uses .*keys\.spool \(process \d+\)/)]);
    const link = join(folder, 'current.spool');
    symlinkSync(file, link);
    expect(() => SpoolFile.open(link, null)).toThrow(/another run uses .*current\.spool \(process \d+\)/);
    expect((await list('--json')).json.waiting).toBe(1);
    await spool.close();
    expect((await flush()).code).toBe(0);
  });

  test('that was removed during a run takes no key', async () => {
    const spool = SpoolFile.open(file, headerOf());
    rmSync(file);
    await expect(spool.add(entryOf(), false)).rejects.toThrow(/was removed or replaced/);
    expect(spool.waiting).toBe(0);
    writeFileSync(file, '');
    await expect(spool.add(entryOf(), false)).rejects.toThrow(/was removed or replaced/);
    await spool.close();
  });
});
