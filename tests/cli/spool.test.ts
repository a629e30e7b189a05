/** `enroll --spool` with a registry that stops and starts again, and a hardware service that stays. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { type TracedCall, traceDisk } from '../support/disk-trace.ts';
import { needs } from '../support/needs.ts';
import { mountSmallDisk, needsMount } from '../support/small-disk.ts';
import { devmgr, type Running, start, temporaryFolder } from './program.ts';

const driver = createSimulatedDriver({ count: 0, now: Date.now });
vi.mock('../../daemon/hardware/drivers.ts', () => ({
  createDrivers: (settings: { readonly role: string }) => (settings.role === 'registry' ? [] : [driver]),
}));

let hardware: TestDaemon;
let registry: TestDaemon;
/** A station that is logged in to both. */
let home: string;
let url: string;
let isAway = false;
beforeAll(async () => {
  [hardware, registry] = await Promise.all([
    startTestDaemon({ hardware: true }),
    startTestDaemon({ role: 'registry' }),
  ]);
  home = mkdtempSync(join(tmpdir(), 'devmgr-station-'));
  url = registry.url;
  for (const server of [hardware.url, url]) {
    const login = ['login', 'admin', '--password-stdin', '--server', server];
    expect(await devmgr(login, { home, input: adminPassword })).toMatchObject({ code: 0 });
  }
});
afterAll(async () => {
  await back();
  await Promise.all([hardware.stop(), registry.stop()]);
  rmSync(home, { recursive: true });
});

async function away(): Promise<void> {
  isAway = true;
  await registry.stopKeepingHome();
}
async function back(): Promise<void> {
  if (isAway) await registry.startAgain({ role: 'registry', port: Number(new URL(url).port) });
  isAway = false;
}

let number = 0;
let folder: string;
let spool: string;
let out: string;
beforeEach(() => {
  folder = temporaryFolder();
  spool = join(folder, 'keys.spool');
  out = join(folder, 'codes.jsonl');
});
afterEach(async () => {
  for (const { keyId } of [...driver.keys()]) await driver.detach(keyId);
  await back();
});

/** Plugs in a key that no test has used; its serial number. */
const plug = async () => (await driver.attach(++number)).serialNumber!;
const there = () => ['--server', url, '--hardware', hardware.url];
const enroll = (...args: string[]) => start(['enroll', '--spool', spool, ...there(), ...args], { home });
const flush = (...args: string[]) => devmgr(['enroll', 'spool', 'flush', spool, '--server', url, ...args], { home });
const listed = async () => (await devmgr(['enroll', 'spool', 'list', spool, '--json'], { home })).json;
const deviceOf = async (serial: string) =>
  (await registry.call('GET', `/api/devices/list?serialNumber=${serial}`)).data.list[0];
const rowsIn = (file: string) =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
const results = (rows: readonly { result: string; serialNumber: string }[]) =>
  rows.map(({ result, serialNumber }) => [result, serialNumber]);
const code = /[A-Z2-9]{4}(-[A-Z2-9]{4}){3}/;

async function interrupt(running: Running) {
  running.child.kill('SIGINT');
  return running.ended;
}

describe('keys that are plugged in while the registry is away', () => {
  test('are spooled, and delivered in order when it answers in the same run', async () => {
    const running = enroll('--out', out, '--tag', 'lot=7');
    const first = await plug();
    await running.until('stdout', new RegExp(`registered.*${first}`));
    await away();
    const second = await plug();
    await running.until('stdout', new RegExp(`spooled +UKEY ${second}|spooled +SIMKEY ${second}`));
    const third = await plug();
    await running.until('stdout', new RegExp(`spooled.*${third}`));
    await driver.detach();
    await driver.attach(number);
    await running.until('stderr', new RegExp(`${third}.* again: it is in the spool file`));
    expect(statSync(spool).mode & 0o777).toBe(0o600);
    expect(await listed()).toMatchObject({ waiting: 2, list: [{ state: 'waiting' }, { state: 'waiting' }] });

    await back();
    await running.until('stdout', new RegExp(`registered.*${second}[\\s\\S]*registered.*${third}`));
    const fourth = await plug();
    await running.until('stdout', new RegExp(`registered.*${fourth}`));
    const { stderr } = await interrupt(running);
    expect(stderr).toMatch(/Keys are spooled in .*keys\.spool until the registry responds/);
    expect(stderr).toMatch(/The registry responds again: 2 spooled keys to deliver/);
    expect(results(rowsIn(out))).toEqual([
      ['registered', first],
      ['spooled', second],
      ['spooled', third],
      ['registered', second],
      ['registered', third],
      ['registered', fourth],
    ]);
    expect(readFileSync(spool, 'utf8')).not.toMatch(code);
    expect(rowsIn(out)[3]).toMatchObject({ status: 'INACTIVE', activationCode: expect.stringMatching(code) });
    for (const serial of [second, third])
      expect(await deviceOf(serial)).toMatchObject({ status: 'INACTIVE', tags: { lot: '7' } });
    expect(await listed()).toMatchObject({ waiting: 0, delivered: 2, list: [] });
  });

  test('wait after kill -9, and are delivered once by enroll spool flush', async () => {
    await away();
    const running = enroll('--activate-for', 'ann', '--json', '--out', out);
    const first = await plug();
    await running.until('stdout', new RegExp(`"spooled".*${first}`));
    const second = await plug();
    await running.until('stdout', new RegExp(`"spooled".*${second}`));
    running.child.kill('SIGKILL');
    await running.ended;
    expect(await flush()).toMatchObject({ code: 9, stderr: expect.stringMatching(/2 still waiting in/) });

    await back();
    const flushed = await flush('--json', '--out', out);
    expect(flushed.code).toBe(0);
    expect(results(flushed.rows)).toEqual([
      ['registered', first],
      ['registered', second],
    ]);
    expect(flushed.rows[0]).toMatchObject({ status: 'ACTIVE', userId: 'ann' });
    expect(rowsIn(out).slice(-2)).toEqual(flushed.rows);
    expect(await deviceOf(second)).toMatchObject({ status: 'ACTIVE', userId: 'ann' });
    expect(await flush()).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(/No key is waiting/) });
  });

  test('count for --count, and an earlier run that was killed is continued', async () => {
    await away();
    const first = enroll('--count', '2', '--out', out);
    const serial = await plug();
    await first.until('stdout', /spooled/);
    first.child.kill('SIGKILL');
    await first.ended;
    const rest = enroll('--count', '2', '--out', out, '--skip-attached');
    await rest.until('stderr', /Continuing .* with 1 key/);
    await rest.until('stderr', /already attached/);
    await plug();
    const ended = await rest.ended;
    expect(ended).toMatchObject({
      code: 9,
      stderr: expect.stringMatching(/2 keys are waiting in .*enroll spool flush/),
    });
    await back();
    const { code: ok, stdout } = await flush('--quiet');
    expect([ok, stdout.split('\n').length]).toEqual([0, 3]);
    expect(await deviceOf(serial)).toBeDefined();
  });

  test('of a roster are bound when they are delivered; a conflict gives the person back to the roster', async () => {
    const people = join(folder, 'people.csv');
    writeFileSync(people, 'userId,name\nrob,Rob One\nsue,\n');
    out = join(folder, 'handed-out.csv');
    await away();
    const running = enroll('--roster', people, '--out', out);
    const first = await plug();
    await running.until('stderr', /PASS[\s\S]*it is unknown whether/);
    await driver.detach();
    await running.until('stdout', new RegExp(`spooled {2}rob .*${first}`));
    const second = await plug();
    await running.until('stderr', /PASS[\s\S]*PASS/);
    await driver.detach();
    await running.until('stdout', new RegExp(`spooled {2}sue .*${second}`));
    expect(await running.ended).toMatchObject({ code: 9, stderr: expect.stringMatching(/2 of 2 rows done/) });

    await back();
    const other = { deviceType: second.split('-')[1], serialNumber: second, manufacturer: 'Other', model: 'One' };
    const { data } = await registry.call('POST', '/api/devices/register', other);
    const { deviceId, activationCode } = data;
    await registry.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'tom' });
    const flushed = await flush('--out', out);
    expect(flushed.code).toBe(7);
    expect(flushed.stdout).toMatch(
      new RegExp(
        `registered.* ACTIVE for rob[\\s\\S]*conflict.*${second}[\\s\\S]*as ${deviceId} since .*, ACTIVE for tom`,
      ),
    );
    expect(await deviceOf(first)).toMatchObject({ status: 'ACTIVE', userId: 'rob' });
    expect(readFileSync(out, 'utf8')).toMatch(/^conflict,DEV-.*,sue,/m);

    const again = enroll('--roster', people, '--out', out);
    await again.until('stderr', /1 of 2 rows done[\s\S]*sue/);
    const third = await plug();
    await again.until('stderr', /PASS/);
    await driver.detach();
    expect(await again.ended).toMatchObject({ code: 0 });
    expect(await deviceOf(third)).toMatchObject({ status: 'ACTIVE', userId: 'sue' });
  });

  test('of a roster that are conflicts in the same run: the roster comes back to the person', async () => {
    const { serialNumber, deviceType } = await driver.attach(++number);
    await driver.detach();
    const { data } = await registry.call('POST', '/api/devices/register', {
      ...{ deviceType, serialNumber, manufacturer: 'Acme', model: 'One' },
    });
    const { deviceId, activationCode } = data;
    await registry.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'tom' });
    const people = join(folder, 'people.csv');
    writeFileSync(people, 'userId\nuna\nvic\n');
    await away();
    const running = enroll('--roster', people);
    await driver.attach(number);
    await running.until('stderr', /PASS/);
    await driver.detach();
    await running.until('stdout', /spooled {2}una/);
    await back();
    await running.until('stderr', /una needs another key/);
    for (const person of ['vic', 'una']) {
      await running.until('stderr', new RegExp(`needs another key[\\s\\S]*${person}\n +plug in`));
      const serial = await plug();
      await running.until('stderr', new RegExp(`${serial}\\S*[^\n]*\n[^\n]*bound to ${person}`));
      await driver.detach();
      await running.until('stdout', new RegExp(`bound {2}${person}`));
    }
    const { code: exit, stdout } = await running.ended;
    expect([exit, stdout]).toEqual([
      0,
      expect.stringMatching(/conflict[\s\S]*for tom[\s\S]*bound {2}vic[\s\S]*bound {2}una/),
    ]);
  });
});

test.each([['--prove'], ['--require-proof', 'unit']])(
  'a proof needs the registry: --spool refuses %s',
  async (...flag) => {
    const { code: exit, stderr } = await enroll(...flag).ended;
    expect([exit, stderr]).toEqual([2, expect.stringMatching(/a proof answers a challenge of the registry/)]);
  },
);

needs('strace')('the disk', () => {
  test('has the key before the screen reports that it is spooled', async () => {
    await away();
    const running = enroll();
    await plug();
    await running.until('stdout', /spooled/);
    const trace = await traceDisk(running.child.pid!);
    const serial = await plug();
    await running.until('stdout', new RegExp(`spooled.*${serial}`));
    const isShown = ({ name, args }: TracedCall) =>
      name.startsWith('write') && args.includes('spooled') && args.includes(serial);
    const calls = await trace.end(isShown);
    const synced = calls.findIndex(({ name, args }) => name === 'fsync' && args.includes('keys.spool'));
    const shown = calls.findIndex(isShown);
    expect(synced).toBeGreaterThanOrEqual(0);
    expect(shown).toBeGreaterThan(synced);
    await interrupt(running);
  });
});

needsMount('a full disk', () => {
  test('is reported for the key, which does not count; with room the next key is spooled', async () => {
    const disk = await mountSmallDisk(64 * 1024);
    try {
      spool = join(disk.dir, 'keys.spool');
      await away();
      const running = enroll('--json');
      await plug();
      await running.until('stdout', /"spooled"/);
      const filler = join(disk.dir, 'filler');
      expect(() => writeFileSync(filler, Buffer.alloc(128 * 1024))).toThrow(/ENOSPC/);
      // The file has room in its last page for some keys more.
      for (let tries = 0; tries < 20; tries++) await plug();
      const [, message] = await running.until('stdout', /"failed".*"message":"([^"]*)"/);
      expect(message).toMatch(/not spooled: cannot write .*keys\.spool: the disk is full/);
      writeFileSync(filler, '');
      const last = await plug();
      await running.until('stdout', new RegExp(`"spooled".*${last}`));
      const { rows } = await interrupt(running);
      const spooled = rows.filter(({ result }) => result === 'spooled').length;
      await back();
      expect((await flush('--json')).rows).toHaveLength(spooled);
    } finally {
      await disk.unmount();
    }
  });
});
