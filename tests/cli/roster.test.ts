/** `enroll --roster` with a real registry and simulated keys that are plugged in and unplugged, in a script and at a terminal. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { labelPrinter, reading } from '../support/label-printer.ts';
import { devmgr, programFile, start, temporaryFolder } from './program.ts';
import { atTerminal, ctrl, ESC, enter, keys, shellAtTerminal } from './screen.ts';

const driver = createSimulatedDriver({ count: 0, now: Date.now });
vi.mock('../../daemon/hardware/drivers.ts', () => ({ createDrivers: () => [driver] }));

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ hardware: true });
});
afterAll(() => daemon.stop());
afterEach(async () => {
  for (const { keyId } of [...driver.keys()]) await driver.detach(keyId);
});

let number = 0;
/** Plugs in a key that no test has used. */
const plug = () => driver.attach(++number);
const pull = (): Promise<void> => driver.detach();

/** Plugs a new key in and out. It can be unplugged before its check has ended: a row says so, and it is plugged in again. */
async function pullUntilBound(rows: () => string[]): Promise<void> {
  const key = ++number;
  for (let count = rows().length + 1; ; count++) {
    await driver.attach(key);
    await pull();
    await expect.poll(() => rows().length, { timeout: 20_000 }).toBe(count);
    if (rows().at(-1)!.startsWith('registered,')) return;
  }
}

/** A folder with a roster; the command runs in it. */
function station(roster: string) {
  const home = temporaryFolder();
  const file = join(home, 'people.csv');
  const out = join(home, 'results.csv');
  const template = join(home, 'label.zpl');
  writeFileSync(file, roster);
  writeFileSync(template, '^XA^FD{userId} {serialNumber}^FS^XZ');
  const args = ['enroll', '--roster', file, '--server', daemon.url, '--timeout', '60'];
  const env = { DEVMGR_TOKEN: daemon.adminToken };
  return {
    out,
    template,
    rows: () => readFileSync(out, 'utf8').trimEnd().split('\n').slice(1),
    run: (...more: string[]) => devmgr([...args, ...more], { home, env }),
    start: (...more: string[]) => start([...args, ...more], { home, env }),
    inShell: async () => {
      const shell = await shellAtTerminal({ home, env }, 'sh');
      enter(shell, [process.execPath, programFile, ...args]);
      return shell;
    },
    atTerminal: (...more: string[]) =>
      atTerminal([process.execPath, programFile, ...args, ...more], { home, env, columns: 60 }),
  };
}

const holders = async () => {
  const { data } = await daemon.call('GET', '/api/devices/list?status=ACTIVE&size=100');
  return new Map<string, string>(
    data.list.map((device: { serialNumber: string; userId: string }) => [device.serialNumber, device.userId]),
  );
};
const total = async (): Promise<number> => (await daemon.call('GET', '/api/devices/list')).data.pagination.total;

describe('in a script', () => {
  test('a key is bound when it is unplugged, and a run with the same --out continues', async () => {
    const { out, rows, run, start: begin } = station('userId,name\nann,Ann One\nben,\n');
    const running = begin('--out', out);
    const first = await plug();
    await running.until('stderr', /PASS/);
    expect(await holders()).not.toContain('ann');
    await pull();
    await running.until('stderr', /ben\n.*plug in a key/);
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect((await holders()).get(first.serialNumber!)).toBe('ann');

    const rest = begin('--out', out, '--json', '--verbose');
    await rest.until('stderr', /^connected/m);
    await pullUntilBound(rows);
    const { code, rows: all } = await rest.ended;
    expect(code).toBe(0);
    expect(all.at(-1)).toMatchObject({ result: 'registered', status: 'ACTIVE', userId: 'ben', name: null });
    for (const row of all.slice(0, -1)) expect(row).toMatchObject({ result: 'failed', userId: 'ben', deviceId: null });
    expect(rows()[0]).toMatch(/^registered,DEV-\d+,.*,ACTIVE,ann,.*,Ann One,$/);
    expect(await run('--out', out)).toMatchObject({ code: 0, stdout: '' });
  });

  test('a key of another person fails, and the person still needs a key', async () => {
    const { start: begin, run } = station('userId,type\ndan,\neve,UKEY\n');
    const running = begin();
    const first = await plug();
    await running.until('stderr', /PASS/);
    await pull();
    await running.until('stderr', /eve\n.*plug in a UKEY/);
    await driver.attach(number);
    await running.until('stderr', /FAIL.*(bound to another person|wrong type)[\s\S]*eve still needs a key/);
    running.child.kill('SIGINT');
    await running.ended;
    expect((await holders()).get(first.serialNumber!)).toBe('dan');
    expect((await run('--dry-run', '--timeout', '1', '--skip-attached')).code).toBe(10);
  });

  test('a key that does not prove enough is neither registered nor bound', async () => {
    const { out, rows, start: begin } = station('userId\nhal\n');
    const before = await total();
    const running = begin('--require-proof', 'unit', '--out', out);
    await plug();
    await running.until('stderr', /FAIL.* proof\n[\s\S]*hal still needs a key/);
    await pull();
    running.child.kill('SIGINT');
    expect((await running.ended).stderr).toMatch(/0 of 1 row done; 0 passed, 1 failed \(proof: 1\), yield 0 %/);
    expect(rows()).toEqual([expect.stringMatching(/^failed,,.*,hal,.*--require-proof unit.*,proof$/)]);
    expect(await total()).toBe(before);
  });

  test('a registered key is activated, counts once, and fails when it is locked', async () => {
    const { start: begin } = station('userId,count\nivy,2\n');
    const { deviceType, serialNumber } = await plug();
    const body = { deviceType, serialNumber, manufacturer: 'Acme', model: 'One' };
    const { data: device } = await daemon.call('POST', '/api/devices/register', body);
    await pull();
    const running = begin();
    await driver.attach(number);
    await running.until('stderr', /PASS/);
    await pull();
    await running.until('stdout', new RegExp(`bound {2}ivy {2}${device.deviceId} ACTIVE`));
    await driver.attach(number);
    await running.until('stderr', /FAIL.* counted before\n.*it already counts for ivy/);
    await pull();
    running.child.kill('SIGINT');
    await running.ended;
    const locked = await daemon.call('POST', `/api/devices/${device.deviceId}/lock`, { reason: 'test' });
    expect(locked.code).toBe(200);
    const again = begin();
    await driver.attach(number);
    await again.until('stderr', /FAIL.* LOCKED\n.*Unlock it/);
    again.child.kill('SIGINT');
    await again.ended;
    expect((await holders()).get(serialNumber!)).toBeUndefined();
  });

  test.each([
    ['userId,room\nann,7\n', /line 1: unknown columns: room/],
    ['name\nAnn\n', /line 1: the column userId is missing/],
    ['userId\nann\nann\n', /line 3: ann is already in line 2/],
    ['userId,type\nann,UKEY\nann,SIMKEY\nann,ukey\n', /line 4: ann is already in line 2 with type UKEY/],
    ['userId,type\nann,UKEY\nann,\n', /line 3: ann is already in line 2/],
    ['userId,type\nann,CARD\n', /line 2: type must be UKEY or SIMKEY/],
    ['userId,count\nann,0\n', /line 2: count must be a whole number from 1 to 100/],
    ['userId,count\nann,101\n', /line 2: count must be/],
    [`userId\nann\n${'x'.repeat(65)}\n`, /line 3: userId/],
    ['userId,name\n,Ann\n', /line 2: userId/],
    ['', /has no people/],
    ['userId\n', /has no people/],
    [`userId\n${Array.from({ length: 100_001 }, (_, at) => `u${at}`).join('\n')}\n`, /line 100002: .*at most 100,000/],
  ])('an invalid roster is refused before the first key (%#)', async (roster, message) => {
    const { code, stdout, stderr } = await station(roster).run();
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });

  test.each([
    ['--count', '1'],
    ['--activate-for', 'ann'],
  ])('%s is refused', async (...flag) => {
    expect(await station('userId\nann\n').run(...flag)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(flag[0]!),
    });
  });
});

describe('with labels', () => {
  test('each bound key gets one, also a key that was registered before', async () => {
    const labels: string[] = [];
    const { address, server } = await labelPrinter(reading(labels));
    const { template, start: begin } = station('userId\nlea\nleo\n');
    const running = begin('--label', '--printer', address, '--template', template);
    const first = await plug();
    await running.until('stderr', /PASS/);
    await pull();
    await running.until('stderr', /leo\n.*plug in a key/);
    const { deviceType, serialNumber } = await plug();
    const body = { deviceType, serialNumber, manufacturer: 'Acme', model: 'One' };
    await daemon.call('POST', '/api/devices/register', body);
    await running.until('stderr', /PASS[\s\S]*PASS/);
    await pull();
    const { code, stderr } = await running.ended;
    server.close();
    expect(code).toBe(0);
    expect(stderr).not.toContain('not printed');
    expect(labels.map(label => /\^FD(.*?)\^FS/.exec(label)?.[1])).toEqual([
      `lea ${first.serialNumber}`,
      `leo ${serialNumber}`,
    ]);
  });

  test('a printer that does not respond holds up no person; what is not printed is named', async () => {
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const { address, server } = await labelPrinter(socket => void isOver.then(() => socket.resetAndDestroy()));
    const { out, rows, start: begin } = station('userId\nmia\nned\n');
    const running = begin('--label', '--printer', address, '--out', out);
    for (const user of ['mia', 'ned']) {
      await plug();
      await running.until('stderr', new RegExp(`PASS[\\s\\S]*it is bound to ${user}`));
      await pull();
      await running.until('stdout', new RegExp(`bound {2}${user}`));
    }
    const ids = rows().map(row => /^registered,(DEV-\d+),.*,ACTIVE,/.exec(row)?.[1]);
    end();
    const { code, stderr } = await running.ended;
    server.close();
    expect(code).toBe(0);
    const why = `label: failed: printer ${address} has closed the connection before it had the label`;
    expect(stderr).toContain(`! ${why}: it is the label of ${ids[0]} for mia\n`);
    expect(stderr).toContain(
      `2 labels are not printed. Print them later: devmgr label ${ids.join(' ')} --printer ${address}`,
    );
  });

  test('the row of a script says whether the label is printed', async () => {
    const { rows, out, start: begin } = station('userId\nora\n');
    const running = begin('--json', '--verbose', '--out', out, '--label', '--printer', '127.0.0.1:1');
    await running.until('stderr', /^connected/m);
    await pullUntilBound(rows);
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

describe('at a terminal', () => {
  test('Esc undoes without a trace, Enter binds, s skips, r returns, a badge names the person', async () => {
    const { out, rows, atTerminal: begin } = station('userId,name\nann2,Ann Two\nben2,\ncid2,Cid\n');
    const before = await total();
    const screen = begin('--out', out);
    await screen.shows(/Ann Two \(ann2\)[\s\S]*plug in a key/);
    const first = await plug();
    await screen.shows(/PASS[\s\S]*bound to ann2/);
    screen.type(ESC);
    await screen.shows(/undone: nothing was written/);
    await pull();
    expect(await total()).toBe(before);
    const second = await plug();
    await screen.shows(/PASS/);
    screen.type(keys.enter);
    await screen.shows(/bound {2}ann2 [\s\S]*1 of 3 rows done[\s\S]*ben2/);
    screen.type('s');
    await screen.shows(/skipped ben2/);
    screen.type('r');
    await screen.shows(/back to ben2/);
    screen.type(`cid2${keys.enter}`);
    await screen.shows(/badge of Cid/);
    await pull();
    const third = await plug();
    await screen.shows(/PASS/);
    await pull();
    await screen.shows(/bound {2}cid2/);
    screen.type('s');
    const { code, stdout } = await screen.ended;
    expect(stdout).toMatch(/2 of 3 rows done; 2 passed, 0 failed, yield 100 %, .*1 skipped/s);
    expect(code).toBe(7);
    const bound = await holders();
    expect([first, second, third].map(key => bound.get(key.serialNumber!))).toEqual([undefined, 'ann2', 'cid2']);
    expect(rows()).toHaveLength(2);
  });

  test('two keys stop the line, an unknown badge binds nothing, and r keeps what is bound', async () => {
    const { atTerminal: begin } = station('userId,name\nfay,Fay Three\ngus,\n');
    const screen = begin('--big', '--bell');
    await screen.shows(/fay\s+F a y {3}T h r e e/);
    const first = await plug();
    await screen.shows(/PASS/);
    const second = await plug();
    await screen.shows(/two new keys at once: nothing is bound/);
    await driver.detach(first.keyId);
    await screen.shows(/PASS/);
    screen.type(`mallory${keys.enter}`);
    await screen.shows(/userId or name mallory/);
    await pull();
    screen.type(ESC);
    await screen.shows(/undone[\s\S]*F a y/);
    await driver.attach(number);
    await screen.shows(/PASS/);
    await pull();
    await screen.shows(/bound {2}fay[\s\S]*gus/);
    screen.type('r');
    await screen.shows(/back to Fay Three \(fay\), for another key\. DEV-\d+ stays\s+bound/);
    screen.type('\u0003');
    const { code, stdout } = await screen.ended;
    expect(code).toBe(130);
    expect(stdout).toContain('\u0007');
    const bound = await holders();
    expect([first, second].map(key => bound.get(key.serialNumber!))).toEqual([undefined, 'fay']);
  });

  test('Ctrl-Z leaves a usable terminal; after fg the person and the key that has passed are shown again', async () => {
    const shell = await station('userId,name\nkim,Kim Four\n').inShell();
    await shell.shows(/Kim Four[\s\S]*plug in a key/);
    const key = await plug();
    await shell.shows(/PASS/);
    shell.type(ctrl.z);
    await shell.shows(/Stopped[\s\S]*\$ $/);
    shell.type('stty -a\r');
    await shell.shows(/ icanon [\s\S]* echo /);
    expect(await holders()).not.toContain('kim');
    shell.type('fg\r');
    await shell.shows(/Kim Four \(kim\)[\s\S]*PASS[\s\S]*press Enter: it is bound to kim/);
    shell.type(keys.enter);
    await shell.shows(/bound {2}kim[\s\S]*\$ $/);
    shell.type('exit $?\r');
    expect((await shell.ended).code).toBe(0);
    expect((await holders()).get(key.serialNumber!)).toBe('kim');
  });

  test('Ctrl-Z is ignored where no shell could continue the program', async () => {
    const screen = station('userId\nlea\n').atTerminal();
    await screen.shows(/lea[\s\S]*plug in a key/);
    screen.type(`${ctrl.z}r`);
    await screen.shows(/nothing to redo/);
    screen.type('s');
    expect((await screen.ended).code).toBe(7);
  });
});
