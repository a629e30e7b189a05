/** A binding that an interruption has cut: the next run finishes it, whichever key is plugged in then. */
import { appendFileSync, readdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import { activation, register } from '../support/fleet.ts';
import { HoldingProxy } from '../support/holding-proxy.ts';
import { loseResponse, relayTo } from './relay.ts';
import { RosterReader } from './roster-station.ts';
import { keys } from './screen.ts';

const driver = createSimulatedDriver({ count: 0, now: Date.now });
vi.mock('../../daemon/hardware/drivers.ts', () => ({ createDrivers: () => [driver] }));

const daemon = daemonOfTests({ hardware: true });
let address = '';
const behind = { call: (...request: Parameters<TestDaemon['call']>) => daemon.call(...request) };
const reader = new RosterReader(driver, () =>
  Object.assign(behind as TestDaemon, { url: address || daemon.url, adminToken: daemon.adminToken }),
);
afterEach(async () => {
  address = '';
  await reader.pullAll();
});

/** All commands of the test go through it. */
async function proxied(): Promise<HoldingProxy> {
  const proxy = await HoldingProxy.start(daemon.url);
  address = proxy.url;
  onTestFinished(() => proxy.close());
  return proxy;
}

const cuts = (['register', 'activate'] as const).flatMap(request =>
  (['before', 'after'] as const).map(when => ({ request, when })),
);
const isAt =
  (request: string) =>
  (method: string, { pathname }: URL) =>
    method === 'POST' && pathname === `/api/devices/${request}`;

let number = 0;
const twoPeople = (): readonly [string, string] => [`ann.${++number}`, `bob.${number}`];

/** Who has which keys after the next run, which gets another key. */
async function nextRun(running: ReturnType<ReturnType<RosterReader['station']>['start']>) {
  const key = await reader.plug();
  await running.until('stderr', /PASS/);
  await reader.pull();
  const { code, stdout, stderr } = await running.ended;
  return { key, code, stdout, stderr };
}

describe.each(cuts)('a roster that is killed $when the request $request is carried out', ({ request, when }) => {
  test.each([false, true])('is continued with another key for the next person; with a spool file: %s', async spools => {
    const [ann, bob] = twoPeople();
    const proxy = await proxied();
    const { out, rows, start } = reader.station(`userId\n${ann}\n${bob}\n`);
    const spool = spools ? ['--spool', `${out}.spool`] : [];
    const first = await reader.plug();
    const killed = start('--out', out, ...spool);
    await killed.until('stderr', /PASS/);
    const reached = proxy.hold(when, isAt(request));
    await reader.pull();
    await reached;
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect(rows()).toEqual([]);

    const next = start('--out', out, ...spool);
    const { key, code, stdout } = await nextRun(next);
    expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`${first.serialNumber}[\\s\\S]*${bob}`))]);
    const holders = await reader.holders();
    const held = [...holders].filter(([, userId]) => [ann, bob].includes(userId));
    expect(new Map(held)).toEqual(
      new Map([
        [first.serialNumber, ann],
        [key.serialNumber, bob],
      ]),
    );
    expect(rows().map(row => row.split(',').slice(0, 3))).toEqual([
      [expect.stringMatching(/registered|known/), expect.stringMatching(/^DEV-/), first.serialNumber],
      ['registered', expect.stringMatching(/^DEV-/), key.serialNumber],
    ]);
  });
});

test('a run whose answer is lost ends with key and person, and the next run finishes the binding', async () => {
  const [ann, bob] = twoPeople();
  let isCut = true;
  const lose = async (forward: () => Promise<void>, answer: ServerResponse) => {
    if (!isCut) return forward();
    await loseResponse(forward, answer);
    answer.destroy();
  };
  address = await relayTo(daemon.url, (forward, answer) => void lose(forward, answer), /devices\/activate/);
  const { out, rows, start } = reader.station(`userId\n${ann}\n${bob}\n`);
  const first = await reader.plug();
  const cut = start('--out', out, '--no-wait');
  await cut.until('stderr', /PASS/);
  await reader.pull();
  const { code, stderr } = await cut.ended;
  expect([code, stderr]).toEqual([9, expect.stringContaining(`1 key is unfinished: ${first.serialNumber} of ${ann}`)]);
  expect(stderr).toContain('run the same command again: it finishes this before the next key');

  isCut = false;
  const next = start('--out', out);
  const { key, code: last } = await nextRun(next);
  expect([last, (await reader.holders()).get(first.serialNumber!)]).toEqual([0, ann]);
  expect((await reader.holders()).get(key.serialNumber!)).toBe(bob);
  expect(rows()).toHaveLength(2);
});

test('enroll --activate-for counts the key that an earlier run has begun, without its code, which was used', async () => {
  const [ann] = twoPeople();
  const proxy = await proxied();
  const { out, rows, start } = reader.station(null);
  const flags = ['--activate-for', ann, '--count', '1', '--out', out];
  const reached = proxy.hold('after', isAt('register'));
  const killed = start(...flags);
  const first = await reader.plug();
  await reached;
  killed.child.kill('SIGKILL');
  await killed.ended;
  await reader.pullAll();
  const other = await reader.plug();
  const { code, stdout } = await start(...flags).ended;
  expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^.*registered .* ACTIVE for ${ann} .*\\n$`))]);
  const holders = await reader.holders();
  expect([holders.get(first.serialNumber!), holders.has(other.serialNumber!)]).toEqual([ann, false]);
  expect(rows()).toHaveLength(1);
});

/** A run that is killed after the registry has bound its key, and the home with the record of it. */
async function killedAfterActivation(person: string) {
  const proxy = await proxied();
  const station = reader.station(`userId\n${person}\n`);
  const key = await reader.plug();
  const killed = station.start('--out', station.out);
  await killed.until('stderr', /PASS/);
  const reached = proxy.hold('after', isAt('activate'));
  await reader.pull();
  await reached;
  killed.child.kill('SIGKILL');
  await killed.ended;
  return { ...station, key, folder: join(dirname(station.out), 'bindings') };
}

test('a key that was locked after its run was killed is not taken as bound', async () => {
  const [ann] = twoPeople();
  const { out, rows, start, key } = await killedAfterActivation(ann);
  const { list } = (await daemon.call('GET', `/api/devices/list?keyword=${key.serialNumber}`)).data;
  await daemon.call('POST', `/api/devices/${list[0].deviceId}/lock`, { reason: 'lost' });
  const { code } = await start('--out', out, '--timeout', '1').ended;
  expect([code, rows()]).toEqual([10, [expect.stringMatching(/^conflict,.*LOCKED for /)]]);
});

test('bindings of earlier runs that cannot be read are named, and no other key is bound', async () => {
  const [ann] = twoPeople();
  const { out, start, folder } = await killedAfterActivation(ann);
  const [name] = readdirSync(folder).filter(file => file.endsWith('.1'));
  appendFileSync(join(folder, name!), 'garbage\n{}\n');
  const { code, stderr } = await start('--out', out).ended;
  expect([code, stderr]).toEqual([2, expect.stringMatching(/\.1, line \d: it is not a line of a spool file/)]);
});

test('a home that cannot hold bindings is named, and a key is bound and signs all the same', async () => {
  const [ann] = twoPeople();
  const { out, rows, start } = reader.station(`userId\n${ann}\n`);
  writeFileSync(join(dirname(out), 'bindings'), '');
  const running = start('--out', out, '--receipt', '--timeout', '3');
  await reader.plug();
  const { code, stderr } = await running.ended;
  expect(stderr).toContain('bindings are not recorded');
  expect([code, rows()]).toEqual([7, [expect.stringContaining(ann)]]);
});

describe('a person who has a key that the run does not count', () => {
  async function withKey(person: string) {
    const device = await register(daemon);
    await daemon.call('POST', '/api/devices/activate', activation(device, person));
    return device;
  }

  test('gets no other one in a script, unless --again is given', async () => {
    const [ann] = twoPeople();
    const { deviceId, serialNumber } = await withKey(ann);
    const { start, out } = reader.station(`userId\n${ann}\n`);
    const refused = start('--out', out, '--timeout', '3');
    const key = await reader.plug();
    await refused.until(
      'stderr',
      new RegExp(`has another key[\\s\\S]*${deviceId} \\(${serialNumber}\\)[\\s\\S]*--again`),
    );
    await reader.pull();
    expect((await refused.ended).code).toBe(7);
    expect(await reader.holders()).not.toContain(key.serialNumber);
    const again = start('--out', out, '--again');
    await reader.plugAgain();
    await again.until('stderr', /PASS/);
    await reader.pull();
    expect((await again.ended).code).toBe(0);
    expect((await reader.holders()).get(key.serialNumber!)).toBe(ann);
  });

  test('keeps it, however another roster spells the name', async () => {
    const [ann] = twoPeople();
    const first = await reader.plug();
    await reader.pull();
    for (const name of [ann, ann.toUpperCase()]) {
      const { start, out, rows } = reader.station(`userId\n${name}\n`);
      const running = start('--out', out);
      await reader.plugAgain();
      await running.until('stderr', /PASS/);
      await reader.pull();
      expect([(await running.ended).code, rows()]).toEqual([0, [expect.stringContaining(first.serialNumber!)]]);
    }
    expect((await reader.holders()).get(first.serialNumber!)).toBe(ann);
  });

  test('gets another one at a terminal after r', async () => {
    const [ann] = twoPeople();
    await withKey(ann);
    const { atTerminal, out } = reader.station(`userId\n${ann}\n`);
    const screen = atTerminal('--out', out);
    await screen.shows(/plug in a key/);
    const key = await reader.plug();
    await screen.shows(/has another\s+key[\s\S]*press\s+r/);
    screen.type(keys.enter);
    await screen.shows(/nothing to confirm/);
    screen.type('r');
    await screen.shows(/another\s+key\s+for[\s\S]*PASS/);
    screen.type(keys.enter);
    expect((await screen.ended).code).toBe(0);
    expect((await reader.holders()).get(key.serialNumber!)).toBe(ann);
  });

  test('of another station with the same roster keeps that one', async () => {
    const [ann, bob] = twoPeople();
    const roster = `userId\n${ann}\n${bob}\n`;
    const stations = [reader.station(roster), reader.station(roster)] as const;
    const one = stations[0].start('--out', stations[0].out);
    const first = await reader.plug();
    await one.until('stderr', /PASS/);
    // The check of the other station has passed as well when the first one binds.
    const proxy = await proxied();
    const two = reader.station(roster);
    const reached = proxy.hold(
      'before',
      (method, { pathname }) => method === 'GET' && pathname === '/api/devices/list',
    );
    const other = two.start('--out', two.out, '--timeout', '5');
    await reached;
    await reader.pull();
    await one.until('stdout', new RegExp(`bound {2}${ann}`));
    one.child.kill('SIGINT');
    await other.ended;
    expect([...(await reader.holders())].filter(([, userId]) => userId === ann)).toEqual([[first.serialNumber, ann]]);
  });
});
