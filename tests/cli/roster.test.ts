/** `enroll --roster` in a script, with a real registry and simulated keys that are plugged in and unplugged. */

import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import { labelPrinter, reading } from '../support/label-printer.ts';
import { scimClientWith } from '../support/scim.ts';
import { mountSmallDisk, needsMount } from '../support/small-disk.ts';
import { devmgr, temporaryFolder } from './program.ts';
import { RosterReader } from './roster-station.ts';

const driver = createSimulatedDriver({ count: 0, now: Date.now });
vi.mock('../../daemon/hardware/drivers.ts', () => ({ createDrivers: () => [driver] }));

const daemon = daemonOfTests({ hardware: true });
const reader = new RosterReader(driver, () => daemon);
afterEach(() => reader.pullAll());

describe('in a script', () => {
  test('a key is bound when it is unplugged, and a run with the same --out continues', async () => {
    const { out, rows, run, start: begin } = reader.station('userId,name\nann,Ann One\nben,\n');
    const running = begin('--out', out);
    const first = await reader.plug();
    await running.until('stderr', /PASS/);
    expect(await reader.holders()).not.toContain('ann');
    await reader.pull();
    await running.until('stderr', /ben\n.*plug in a key/);
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect((await reader.holders()).get(first.serialNumber!)).toBe('ann');

    const rest = begin('--out', out, '--json', '--verbose');
    await rest.until('stderr', /^connected/m);
    await reader.pullUntilBound(rows);
    const { code, rows: all } = await rest.ended;
    expect(code).toBe(0);
    expect(all.at(-1)).toMatchObject({ result: 'registered', status: 'ACTIVE', userId: 'ben', name: null });
    for (const row of all.slice(0, -1)) expect(row).toMatchObject({ result: 'failed', userId: 'ben', deviceId: null });
    expect(rows()[0]).toMatch(/^registered,DEV-\d+,.*,ACTIVE,ann,.*,Ann One,,c[0-9a-f]{8}$/);
    expect(await run('--out', out)).toMatchObject({ code: 0, stdout: '' });
  });

  test('the members of a group are a roster, without those who have left', async () => {
    const post = async (path: string, body: object) => (await daemon.call('POST', path, body)).data;
    const { token } = await post('/api/tokens', { name: 'provider', role: 'VIEWER', expiresInDays: 1, may: ['scim'] });
    const scim = scimClientWith(() => daemon.url, token);
    const members: { value: string }[] = [];
    for (const [userName, displayName, active] of [
      ['gina', 'Gina One', true],
      ['hal', 'Hal Two', false],
    ] as const)
      members.push({ value: (await scim('POST', '/Users', { userName, displayName, active })).body.id });
    await scim('POST', '/Groups', { displayName: 'New hires 2026-12', members });
    const { rows, out, start: begin } = reader.station(null);
    const running = begin('--group', 'new hires 2026-12', '--out', out);
    const key = await reader.plug();
    await running.until('stderr', /PASS/);
    await reader.pull();
    expect(await running.ended).toMatchObject({ code: 0 });
    expect((await reader.holders()).get(key.serialNumber!)).toBe('gina');
    expect(rows()).toEqual([expect.stringContaining('Gina One')]);
    const none = await begin('--group', 'no such group').ended;
    expect(none).toMatchObject({ code: 5, stderr: expect.stringContaining('has no active member') });
  });

  test('a row without a name has the name of the person', async () => {
    await daemon.call('POST', '/api/people', { userName: 'ivy', name: 'Ivy Three' });
    const { rows, out, start: begin } = reader.station('userId\nivy\n');
    const running = begin('--out', out);
    await running.until('stderr', /Ivy Three \(ivy\)/);
    await reader.plug();
    await running.until('stderr', /PASS/);
    await reader.pull();
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(rows()).toEqual([expect.stringContaining(',Ivy Three,')]);
  });

  test('a key of another person fails, and the person still needs a key', async () => {
    const { start: begin, run } = reader.station('userId,type\ndan,\neve,UKEY\n');
    const running = begin();
    const first = await reader.plug();
    await running.until('stderr', /PASS/);
    await reader.pull();
    await running.until('stderr', /eve\n.*plug in a UKEY/);
    await reader.plugAgain();
    await running.until('stderr', /FAIL.*(bound to another person|wrong type)[\s\S]*eve still needs a key/);
    running.child.kill('SIGINT');
    await running.ended;
    expect((await reader.holders()).get(first.serialNumber!)).toBe('dan');
    const { code, stderr } = await reader.station('userId\nfay\n').run('--timeout', '1');
    expect([code, stderr]).toEqual([7, expect.stringContaining('(0 of 1 row done, 1 key failed)')]);
    expect(await run('--dry-run', '--timeout', '1', '--skip-attached')).toMatchObject({
      code: 10,
      stderr: expect.stringContaining('within 1 s (0 of 2 rows done)'),
    });
  });

  test('the end of the service of a reader binds nothing, and nothing is bound until the reader is back and empty', async () => {
    const { start: begin } = reader.station('userId\njan\n');
    const running = begin('--verbose');
    await running.until('stderr', /^connected/m);
    const first = await reader.plug();
    await running.until('stderr', /PASS/);
    const ready = driver.status();
    const status = vi.spyOn(driver, 'status').mockReturnValue({ ...ready, state: 'unavailable' });
    onTestFinished(() => status.mockRestore());
    await reader.pull();
    await running.until('stderr', /lost: nothing is bound/);
    status.mockRestore();
    // It was never taken out.
    const { keyId } = await reader.plugAgain();
    await reader.pull(keyId);
    // Each list has the state of the drivers.
    const lists = vi.spyOn(driver, 'status');
    await expect.poll(() => lists.mock.calls.length, { timeout: 20_000 }).toBeGreaterThan(1);
    await reader.plug();
    await running.until('stderr', /PASS[\s\S]*PASS/);
    await reader.pull();
    const { code, stderr } = await running.ended;
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('FAIL')]);
    const bound = await reader.holders();
    expect([...bound].filter(([, userId]) => userId === 'jan')).toHaveLength(1);
    expect(bound.get(first.serialNumber!)).toBeUndefined();
  });

  test('a key that does not prove enough is neither registered nor bound', async () => {
    const { out, rows, start: begin } = reader.station('userId\nhal\n');
    const before = await reader.total();
    const running = begin('--require-proof', 'unit', '--out', out);
    await reader.plug();
    await running.until('stderr', /FAIL.* proof\n[\s\S]*hal still needs a key/);
    await reader.pull();
    running.child.kill('SIGINT');
    expect((await running.ended).stderr).toMatch(/0 of 1 row done; 0 passed, 1 failed \(proof: 1\), yield 0 %/);
    expect(rows()).toEqual([expect.stringMatching(/^failed,,.*,hal,.*--require-proof unit.*,proof,c[0-9a-f]{8}$/)]);
    expect(await reader.total()).toBe(before);
  });

  test('a registered key is activated, counts once, and fails when it is locked', async () => {
    const { start: begin } = reader.station('userId,count\nivo,2\n');
    const { deviceType, serialNumber } = await reader.plug();
    const body = { deviceType, serialNumber, manufacturer: 'Acme', model: 'One' };
    const { data: device } = await daemon.call('POST', '/api/devices/register', body);
    await reader.pull();
    const running = begin();
    await reader.plugAgain();
    await running.until('stderr', /PASS/);
    await reader.pull();
    await running.until('stdout', new RegExp(`bound {2}ivo {2}${device.deviceId} ACTIVE`));
    await reader.plugAgain();
    await running.until('stderr', /FAIL.* counted before\n.*it is already counted for ivo/);
    await reader.pull();
    running.child.kill('SIGINT');
    await running.ended;
    const locked = await daemon.call('POST', `/api/devices/${device.deviceId}/lock`, { reason: 'test' });
    expect(locked.code).toBe(200);
    const again = begin();
    await reader.plugAgain();
    await again.until('stderr', /FAIL.* LOCKED\n.*Unlock it/);
    again.child.kill('SIGINT');
    await again.ended;
    expect((await reader.holders()).get(serialNumber!)).toBeUndefined();
  });

  test.each([
    ['name\nAnn\n', /has no column for userId[\s\S]*--map userId=COLUMN/],
    ['User Id,Name\n00u7k2m1,Ann\n', /column "User Id" has ids that a system generated, not logins/],
    ['userId,count\nann,1\nann,2\n', /line 3: ann is already in line 2/],
    ['userId,type,count\nann,UKEY,1\nann,SIMKEY,1\nann,ukey,2\n', /line 4: ann is already in line 2 with type UKEY/],
    ['userId,type\nann,UKEY\nann,\n', /line 3: ann is already in line 2/],
    ['userId,type\nann,CARD\n', /line 2: type must be UKEY or SIMKEY/],
    ['userId,count\nann,0\n', /line 2: count must be a whole number from 1 to 100/],
    ['userId,count\nann,101\n', /line 2: count must be/],
    ['userId,count\nann,1\nbob,1\nANN,2\n', /line 4: ANN is already in line 2/],
    ['userId,status\nann,Terminated\n', /no people who can get a key/],
    [`userId${`,${'\0'.repeat(40)}`.repeat(5)}\nann\n`, /not a text file/],
    [`userId\nann\n${'x'.repeat(129)}\n`, /line 3: userId/],
    ['userId,name\n,Ann\n', /line 2: userId/],
    ['', /is empty/],
    ['userId\n', /has no people/],
    [`userId\n${Array.from({ length: 100_001 }, (_, at) => `u${at}`).join('\n')}\n`, /line 100002: .*at most 100,000/],
  ])('an invalid roster is refused before the first key (%#)', async (roster, message) => {
    const { code, stdout, stderr } = await reader.station(roster).run();
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });

  test.each<readonly [string, readonly string[], readonly RegExp[]]>([
    ['room,userId,building\n7,ann,B\n', [], [/ignored columns: room, building/]],
    [
      'userId,name,status\nann,Ann,Active\nbob,Bob,Suspended\n',
      [],
      [/no key for .* gone: bob \(line 3, status: Suspended\)/],
    ],
    ['userId\nju\u0308ann\nJ\u00dcANN\n', [], [/line 3 repeats line 2/]],
    ['Kennwort,Personal,Vorname,Nachname\ngeheim,ann,Ann,One\n', ['--map', 'userId=Personal'], [/Ann One \(ann\)/]],
    ['userId,Site\nann,North\nbob,South\n', ['--where', 'Site=north'], [/\[1 of 1\] ann/]],
  ])('a roster of another system is read: who is left out is named (%#)', async (roster, flags, messages) => {
    const { code, stderr } = await reader.station(roster).run(...flags, '--timeout', '1', '--skip-attached');
    expect(code).toBe(10);
    for (const message of messages) expect(stderr).toMatch(message);
    expect(stderr).toContain('[1 of 1] ');
    expect(stderr).not.toContain('geheim');
  });

  test('a roster can be LDIF', async () => {
    const file = join(temporaryFolder(), 'people.ldif');
    writeFileSync(file, 'dn: uid=ann,dc=example\nuid: ann\ncn:: QW5uIE9uZQ==\n');
    const { code, stderr } = await reader.station(null).run('--roster', file, '--timeout', '1', '--skip-attached');
    expect([code, stderr]).toEqual([10, expect.stringContaining('Ann One (ann)')]);
  });

  test('a key that is bound and inserted again does not lower the yield', async () => {
    const { out, start: begin } = reader.station('userId\nken\nlea\n');
    const running = begin('--out', out);
    await reader.plug();
    await running.until('stderr', /PASS/);
    await reader.pull();
    await running.until('stderr', /lea\n.*plug in/);
    await reader.plugAgain();
    await running.until('stderr', /FAIL.*bound to another person/);
    running.child.kill('SIGINT');
    expect((await running.ended).stderr).toContain('1 of 2 rows done; 1 passed, 0 failed, yield 100 %');
    const args = ['report', '--serial', 'none', '--results', out, '--json', '--server', daemon.url];
    const { json } = await devmgr(args, { env: { DEVMGR_TOKEN: daemon.adminToken } });
    expect(json.attempts).toMatchObject({ attempts: 2, failedAttempts: 1, keys: { passed: 1, failed: 0 }, yield: 100 });
  });

  test.each([
    ['--count', '1'],
    ['--activate-for', 'ann'],
  ])('%s is refused', async (...flag) => {
    expect(await reader.station('userId\nann\n').run(...flag)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(flag[0]!),
    });
  });
});

test('a roster of 100,000 lines begins with its first person', async () => {
  const { start: begin } = reader.station(
    `userId\n${Array.from({ length: 100_000 }, (_, at) => `u${at}`).join('\n')}\n`,
  );
  const running = begin();
  await running.until('stderr', /\[1 of 100,000\] u0\n/);
  await reader.plug();
  await running.until('stderr', /PASS/);
  await reader.pull();
  await running.until('stderr', /\[2 of 100,000\] u1\n/);
  running.child.kill('SIGINT');
  expect((await running.ended).stderr).toContain('1 of 100,000 rows done; 1 passed');
});

needsMount('a disk that is full', () => {
  test('ends the run with one error and the key that is not in the file; the next run writes its row', async () => {
    // A page for the lock, and one for the results.
    const disk = await mountSmallDisk(2 * 4096);
    onTestFinished(() => disk.unmount());
    const out = join(disk.dir, 'results.csv');
    const { start: begin, run } = reader.station('userId\npia\n');
    expect((await run('--out', out, '--timeout', '1')).code).toBe(10);
    const filler = `failed${','.repeat(13)}\n`;
    appendFileSync(out, filler.repeat(Math.floor((4096 - statSync(out).size) / filler.length)));
    const running = begin('--out', out);
    const { serialNumber } = await reader.plug();
    await running.until('stderr', /PASS/);
    await reader.pull();
    const { code, stdout, stderr } = await running.ended;
    const { deviceId } = /bound {2}pia {2}(?<deviceId>DEV-\d+)/.exec(stdout)!.groups!;
    expect(code).toBe(2);
    expect(stderr.split('devmgr: ').slice(1)).toEqual([
      expect.stringMatching(
        `results cannot be written to ${out}: .*\n.*${deviceId} is bound to pia and is not in the file`,
      ),
    ]);
    expect((await reader.holders()).get(serialNumber!)).toBe('pia');
    writeFileSync(out, readFileSync(out, 'utf8').replaceAll(filler, ''));
    const again = begin('--out', out);
    expect(await again.ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`${deviceId} ACTIVE for pia[\\s\\S]*${serialNumber}`)),
    });
    expect(readFileSync(out, 'utf8')).toMatch(new RegExp(`,${deviceId},${serialNumber},.*,ACTIVE,pia,`));
  });
});

const fieldOf = (label: string): string | undefined => /\^FD(.*?)\^FS/.exec(label)?.[1];

describe('with labels', () => {
  test('each bound key gets one, also a key that was registered before', async () => {
    const labels: string[] = [];
    const { address, server } = await labelPrinter(reading(labels));
    const { out, template, start: begin } = reader.station('userId,name\nlea,"Ott ^XZ, Lea"\nleo,\n');
    const running = begin('--label', '--printer', address, '--template', template, '--out', out);
    const first = await reader.plug();
    await running.until('stderr', /PASS/);
    await reader.pull();
    await running.until('stderr', /leo\n.*plug in a key/);
    const { deviceType, serialNumber } = await reader.plug();
    const body = { deviceType, serialNumber, manufacturer: 'Acme', model: 'One' };
    await daemon.call('POST', '/api/devices/register', body);
    await running.until('stderr', /PASS[\s\S]*PASS/);
    await reader.pull();
    const { code, stderr } = await running.ended;
    server.close();
    expect(code).toBe(0);
    expect(stderr).not.toContain('not printed');
    const expected = [`Ott _5EXZ_2C Lea ${first.serialNumber}`, `leo ${serialNumber}`];
    expect(labels.map(fieldOf)).toEqual(expected);
    // The results have the names, for a label that is printed later.
    const later = await devmgr(['label', '--file', out, '--template', template, '--dry-run', '--server', daemon.url], {
      env: { DEVMGR_TOKEN: daemon.adminToken },
    });
    expect(later.stdout.trimEnd().split('\n').map(fieldOf)).toEqual(expected);
  });

  test('a printer that does not respond holds up no person; what is not printed is named', async () => {
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const { address, server } = await labelPrinter(socket => void isOver.then(() => socket.resetAndDestroy()));
    const { out, rows, template, start: begin } = reader.station('userId\nmia\nned\n');
    const running = begin('--label', '--printer', address, '--template', template, '--out', out);
    for (const user of ['mia', 'ned']) {
      await reader.plug();
      await running.until('stderr', new RegExp(`PASS[\\s\\S]*it will be bound to ${user}`));
      await reader.pull();
      await running.until('stdout', new RegExp(`bound {2}${user}`));
    }
    const ids = rows().map(row => /^registered,(DEV-\d+),.*,ACTIVE,/.exec(row)?.[1]);
    end();
    const { code, stderr } = await running.ended;
    server.close();
    expect(code).toBe(0);
    const why = `label: failed: printer ${address} closed the connection before it had received the label`;
    expect(stderr).toContain(`! ${why}: it is the label of ${ids[0]} for mia\n`);
    expect(stderr).toContain(
      `2 labels are not printed. Print them later: devmgr label ${ids.join(' ')} --file ${out} --printer ${address} --template ${template}`,
    );
  });

  test('a label in a queue that is stopped is named: it waits', async () => {
    const programs = temporaryFolder();
    const program = (name: string, script: string) =>
      writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    program('lp', 'cat >/dev/null');
    program('lpstat', 'echo "printer zebra disabled since Sun Nov 22 2026 -"');
    const { start: begin } = reader.station('userId\nmax\n', { PATH: `${programs}:${process.env.PATH}` });
    const running = begin('--label', '--lp', 'zebra');
    await reader.plug();
    await running.until('stderr', /PASS/);
    await reader.pull();
    const { code, stderr } = await running.ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(/! label: queue zebra is stopped: its labels wait .*: it is the label of DEV-\d+ for max\n/);
    expect(stderr).not.toContain('not printed');
  });

  test('the row of a script shows whether the label is printed', async () => {
    const { rows, out, start: begin } = reader.station('userId\nora\n');
    const running = begin('--json', '--verbose', '--out', out, '--label', '--printer', '127.0.0.1:1');
    await running.until('stderr', /^connected/m);
    await reader.pullUntilBound(rows);
    const { code, rows: all } = await running.ended;
    expect(code).toBe(0);
    expect(all.at(-1)).toMatchObject({
      result: 'registered',
      userId: 'ora',
      label: 'failed',
      message: 'label: failed: printer 127.0.0.1:1 refuses the connection',
    });
  });
});
