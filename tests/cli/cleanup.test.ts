/** cleanup plan and cleanup apply: a plan is made, read by a person, and carried out. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminPassword, type Daemon, discard, programFile, startDaemon, temporaryFolder } from './program.ts';
import { atTerminal } from './screen.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

let groups = 0;

/** ACTIVE devices of a manufacturer of their own. */
async function active(count: number) {
  const manufacturer = `JAN${++groups}`;
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const device = { deviceType: 'UKEY', serialNumber: `${manufacturer}-${n}`, manufacturer, model: 'One' };
    const { deviceId, activationCode } = await daemon.call('POST', '/api/devices/register', device);
    await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
    ids.push(deviceId);
  }
  return { manufacturer, ids };
}

const newFile = () => join(temporaryFolder(), 'a.plan');

/** The plan to lock these devices. */
async function planned(manufacturer: string, ...more: string[]): Promise<string> {
  const file = newFile();
  const plan = ['cleanup', 'plan', '--action', 'lock', '--manufacturer', manufacturer, '--out', file, ...more];
  expect(await daemon.run([...plan, '--reason', 'not in use'])).toMatchObject({ code: 0 });
  return file;
}

const apply = (file: string, ...more: string[]) => daemon.run(['cleanup', 'apply', file, '--yes', ...more]);
const stateOf = async (id: string) => (await daemon.call('GET', `/api/devices/${id}`)).status as string;
const statesOf = (ids: readonly string[]) => Promise.all(ids.map(stateOf));

describe('a plan', () => {
  test('names the devices as they are, is private, and changes nothing', async () => {
    const { manufacturer, ids } = await active(2);
    const file = await planned(manufacturer);
    const [header, ...devices] = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(header).toMatchObject({
      plan: 'devmgr cleanup',
      registry: expect.stringMatching(/^[0-9a-f]{32}$/),
      action: 'lock',
      reason: 'not in use',
      criteria: { manufacturer, status: ['ACTIVE'] },
    });
    expect(devices).toMatchObject(ids.map(deviceId => ({ deviceId, status: 'ACTIVE', userId: 'alice' })));
    expect(Object.keys(devices[0])).not.toContain('activationCode');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await statesOf(ids)).toEqual(['ACTIVE', 'ACTIVE']);
  });

  test('selects by the time since the last use', async () => {
    const { manufacturer } = await active(1);
    const totalFor = async (age: string) => {
      const args = ['cleanup', 'plan', '--action', 'lock', '--manufacturer', manufacturer, '--unused-since', age];
      return (await daemon.run([...args, '--reason', 'r', '--out', newFile(), '--json'])).json.total;
    };
    expect([await totalFor('1d'), await totalFor('2w'), await totalFor('0h'), await totalFor('2999-01-01')]).toEqual([
      0, 0, 1, 1,
    ]);
  });

  test('without devices names no next command', async () => {
    const plan = (name: string) =>
      daemon.run(['cleanup', 'plan', '--action', 'lock', '--manufacturer', name, '--reason', 'r', '--out', newFile()]);
    const empty = await plan('nothing of this name');
    expect(empty.stdout).toMatch(/: Lock 0 devices/);
    expect(empty.stderr).not.toMatch(/Next:/);
    expect((await plan((await active(1)).manufacturer)).stderr).toMatch(/Next: devmgr cleanup apply/);
  });

  test('is refused without a filter, an action or a reason, with an unknown age, and over a file that exists', async () => {
    const file = newFile();
    const plan = (...args: string[]) => daemon.run(['cleanup', 'plan', '--out', file, ...args]);
    const whole = ['--action', 'lock', '--keyword', 'x', '--reason', 'r'];
    expect((await plan('--action', 'lock', '--status', 'ACTIVE', '--reason', 'r')).stderr).toMatch(/needs a filter/);
    const unfit = await plan('--action', 'lock', '--status', 'ACTIVE,INACTIVE', '--user', 'a', '--reason', 'r');
    expect(unfit).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/does not change a device that is INACTIVE/),
    });
    expect((await plan('--keyword', 'x', '--reason', 'r')).stderr).toMatch(/--action is missing/);
    expect((await plan('--action', 'lock', '--keyword', 'x')).stderr).toMatch(/--reason/);
    expect((await plan(...whole, '--unused-since', '90 days')).stderr).toMatch(
      /--unused-since must be an age such as 36h, 90d or 12w, or a time/,
    );
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, 'mine');
    const { code, stderr } = await plan(...whole);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/a\.plan exists/) });
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });
});

describe('a plan that is carried out', () => {
  test('changes its devices with its reason, and the second time nothing', async () => {
    const { manufacturer, ids } = await active(3);
    const file = await planned(manufacturer);
    const first = await apply(file, '--json');
    expect({ code: first.code, states: first.rows.map(({ status }) => status) }).toEqual({
      code: 0,
      states: ['success', 'success', 'success'],
    });
    expect(await daemon.call('GET', `/api/devices/${ids[0]}`)).toMatchObject({
      status: 'LOCKED',
      lockReason: 'not in use',
    });
    expect(await apply(file)).toMatchObject({ code: 0, stderr: expect.stringMatching(/3 devices are locked already/) });
  });

  test('leaves out lines that a person has deleted', async () => {
    const { manufacturer, ids } = await active(2);
    const file = await planned(manufacturer);
    writeFileSync(file, `${readFileSync(file, 'utf8').split('\n').slice(0, 2).join('\n')}\n`);
    expect((await apply(file)).code).toBe(0);
    expect(await statesOf(ids)).toEqual(['LOCKED', 'ACTIVE']);
  });

  test('names the devices that have changed, and leaves them as they are', async () => {
    const { manufacturer, ids } = await active(4);
    const [used, unlocked, moved, same] = ids as [string, string, string, string];
    const file = await planned(manufacturer, '--unused-since', '2999-01-01');
    await daemon.call('POST', `/api/devices/${used}/usage`, { action: 'SIGN', durationSeconds: 1 });
    await daemon.call('POST', `/api/devices/${unlocked}/lock`, { reason: 'lost' });
    await daemon.call('POST', `/api/devices/${unlocked}/unlock`, { reason: 'found' });
    await daemon.call('POST', `/api/devices/${moved}/deactivate`, { reason: 'worn', confirmPassword: adminPassword });
    const { code, rows } = await apply(file, '--json');
    expect(code).toBe(0);
    expect(rows).toMatchObject([
      { deviceId: used, status: 'skipped', message: expect.stringMatching(/^it was used: /) },
      { deviceId: moved, status: 'skipped', message: 'it was ACTIVE and is DEACTIVATED' },
      { deviceId: unlocked, status: 'success' },
      { deviceId: same, status: 'success' },
    ]);
    expect(await statesOf(ids)).toEqual(['ACTIVE', 'LOCKED', 'DEACTIVATED', 'LOCKED']);
  });

  test('changes at most --max devices in each run, and continues with the next ones', async () => {
    const { manufacturer, ids } = await active(3);
    const file = await planned(manufacturer);
    const first = await apply(file, '--max', '2');
    expect(first.stderr).toMatch(/1 more stay/);
    expect(await statesOf(ids)).toEqual(['LOCKED', 'LOCKED', 'ACTIVE']);
    expect((await apply(file, '--max', '2')).code).toBe(0);
    expect(await statesOf(ids)).toEqual(['LOCKED', 'LOCKED', 'LOCKED']);
  });

  test('reports with --dry-run what it would do', async () => {
    const { manufacturer, ids } = await active(2);
    const file = await planned(manufacturer);
    const { code, json } = await daemon.run(['cleanup', 'apply', file, '--dry-run', '--json']);
    expect({ code, json }).toEqual({ code: 0, json: { action: 'lock', total: 2, rest: 0, skipped: 0, done: 0 } });
    expect(await statesOf(ids)).toEqual(['ACTIVE', 'ACTIVE']);
  });

  test('retires devices with the password of an administrator only', async () => {
    const { manufacturer, ids } = await active(1);
    const file = newFile();
    const filters = ['--manufacturer', manufacturer, '--reason', 'worn out', '--out', file];
    await daemon.run(['cleanup', 'plan', '--action', 'deactivate', ...filters]);
    expect((await apply(file)).code).toBe(2);
    expect(await statesOf(ids)).toEqual(['ACTIVE']);
    const retire = ['cleanup', 'apply', file, '--yes', '--password-stdin'];
    expect((await daemon.run(retire, { input: `${adminPassword}\n` })).code).toBe(0);
    expect(await statesOf(ids)).toEqual(['DEACTIVATED']);
  });

  test('is asked about at a terminal; what changes while the question is open stays as it is', async () => {
    const { manufacturer, ids } = await active(2);
    const file = await planned(manufacturer);
    const ask = () => atTerminal([process.execPath, programFile, 'cleanup', 'apply', file], { home: daemon.home });
    const refused = ask();
    await refused.answer(/Lock 2 devices\?/, 'n');
    expect((await refused.ended).code).toBe(2);
    const screen = ask();
    await screen.until('stdout', /Lock 2 devices\?/);
    await daemon.call('POST', `/api/devices/${ids[0]}/usage`, { action: 'SIGN', durationSeconds: 1 });
    await screen.answer(/Lock 2 devices\?/, 'y');
    const { code, stdout } = await screen.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/skipped: it was used/) });
    expect(await statesOf(ids)).toEqual(['ACTIVE', 'LOCKED']);
  });
});

test('a plan that an editor has stored with a byte order mark and other ends of lines is carried out', async () => {
  const { manufacturer, ids } = await active(1);
  const file = await planned(manufacturer);
  writeFileSync(file, `\ufeff${readFileSync(file, 'utf8').replaceAll('\n', '\r\n')}`);
  expect(await apply(file)).toMatchObject({ code: 0 });
  expect(await statesOf(ids)).toEqual(['LOCKED']);
});

describe('a file that cannot be carried out', () => {
  test.each([
    ['that does not exist', null, /does not exist/],
    ['that is empty', '', /is not a plan/],
    ['of something else', '{"deviceId":"DEV-1"}\n', /is not a plan/],
    ['of text', 'DEV-1\nDEV-2\n', /is not a plan/],
    ['of a later version', '{"plan":"devmgr janitor","version":9}\n', /made by another version/],
  ])('%s is refused in one line', async (_, text, message) => {
    const file = newFile();
    if (text !== null) writeFileSync(file, text);
    const { code, stderr } = await apply(file);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
    // The file is what is wrong, also without --yes.
    const unconfirmed = await daemon.run(['cleanup', 'apply', file]);
    expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  });

  test.each([
    [
      'with a device without its fields',
      (lines: string[]) => [...lines, '{"deviceId":"DEV-1"}'],
      /line 3: it is not a device/,
    ],
    [
      'whose last line was cut',
      (lines: string[]) => [lines[0]!, lines[1]!.slice(0, -9)],
      /line 2: .* or it is incomplete/,
    ],
    [
      'of another registry',
      ([header, ...rest]: string[]) => [header!.replace(/"registry":"..../, '"registry":"0000'), ...rest],
      /plan is for another registry/,
    ],
  ])('%s changes nothing', async (_, edit, message) => {
    const { manufacturer, ids } = await active(1);
    const file = await planned(manufacturer);
    writeFileSync(file, `${edit(readFileSync(file, 'utf8').trim().split('\n')).join('\n')}\n`);
    const { code, stderr } = await apply(file);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
    expect(await statesOf(ids)).toEqual(['ACTIVE']);
  });
});
