/** Enrollment of attached keys, with simulated keys; `tests/hardware` uses a card and a USB key. */
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  adminPassword,
  type Daemon,
  devmgr,
  discard,
  programFile,
  start,
  startDaemon,
  temporaryFolder,
} from './program.ts';
import { atTerminal, withoutColors } from './screen.ts';

let daemon: Daemon;

const results = (rows: readonly { result: string; serialNumber: string }[]) =>
  rows.map(row => [row.result, row.serialNumber]);

describe('three keys', () => {
  beforeAll(async () => {
    daemon = await startDaemon({ args: ['--simulate-keys', '3'] });
  });
  afterAll(() => discard(daemon));

  test('are registered once each, and recognized afterwards', async () => {
    const dry = await daemon.run(['enroll', '--count', '3', '--dry-run', '--json']);
    expect(dry.rows.map(row => row.result)).toEqual(['new', 'new', 'new']);
    const folder = temporaryFolder();
    const out = join(folder, 'codes.csv');
    const first = await daemon.run(['enroll', '--count', '3', '--json', '--out', out]);
    expect(first.code).toBe(0);
    expect(first.stderr).toBe('');
    expect(first.rows.map(row => row.result)).toEqual(['registered', 'registered', 'registered']);
    expect(new Set(first.rows.map(row => row.deviceType))).toEqual(new Set(['UKEY', 'SIMKEY']));
    for (const row of first.rows) {
      expect(row).toMatchObject({
        status: 'INACTIVE',
        simulated: true,
        userId: null,
        activationCode: expect.stringMatching(/^[A-Z2-9]{4}(-[A-Z2-9]{4}){3}$/),
      });
      expect(Object.keys(row)).toEqual([
        'result',
        'deviceId',
        'serialNumber',
        'deviceType',
        'activationCode',
        'status',
        'userId',
        'manufacturer',
        'model',
        'firmwareVersion',
        'serialSource',
        'simulated',
        'message',
      ]);
    }
    const other = join(folder, 'again.jsonl');
    const again = await daemon.run(['enroll', '--count', '3', '--json', '--out', other]);
    expect(results(again.rows).sort()).toEqual(first.rows.map(row => ['known', row.serialNumber]).sort());
    expect(again.rows.map(row => row.deviceId).sort()).toEqual(first.rows.map(row => row.deviceId).sort());
    const written = readFileSync(out, 'utf8').trimEnd().split('\n');
    expect(written[0]).toMatch(/^result,deviceId,serialNumber,/);
    expect(written).toHaveLength(4);
    expect(readFileSync(other, 'utf8').trimEnd().split('\n')).toHaveLength(3);
    expect((await daemon.call('GET', '/api/devices/list')).pagination.total).toBe(3);
  });

  test('get the tags of the run, in the registry, in each row and in the file', async () => {
    const tagged = await startDaemon({ args: ['--simulate-keys', '2'] });
    onTestFinished(() => discard(tagged));
    const out = join(temporaryFolder(), 'lot-7.csv');
    const tags = { lot: '7', station: '=line-3' };
    const flags = ['--tag', 'lot=7', '--tag', 'station==line-3', '--out', out];
    const enroll = (count: string, ...more: string[]) => tagged.run(['enroll', '--count', count, '--json', ...more]);
    const one = await enroll('1', ...flags);
    expect(one.rows).toMatchObject([{ result: 'registered', tags }]);
    const rest = await enroll('2', ...flags);
    expect(rest.rows).toMatchObject([{ result: 'registered', tags }]);
    expect((await tagged.call('GET', '/api/devices/list?tag=lot:7')).list).toMatchObject([{ tags }, { tags }]);
    const [header, ...lines] = readFileSync(out, 'utf8').trimEnd().split('\n');
    expect(header).toMatch(/,message,tag:lot,tag:station,check$/);
    expect(lines).toEqual([
      expect.stringMatching(/,7,'=line-3,c[0-9a-f]{8}$/),
      expect.stringMatching(/,7,'=line-3,c[0-9a-f]{8}$/),
    ]);
    const known = await enroll('2', '--tag', 'lot=8');
    expect(known.rows.map(row => [row.result, row.tags])).toEqual([
      ['known', tags],
      ['known', tags],
    ]);
    const other = await enroll('3', '--tag', 'shelf=1', '--out', out);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringMatching(/has no column tag:shelf/) });
  });

  test.each(['codes.csv', 'codes.jsonl'])('continue from the file of an earlier run (%s)', async name => {
    const out = join(temporaryFolder(), name);
    const enroll = (count: string) => daemon.run(['enroll', '--count', count, '--json', '--out', out]);
    const first = await enroll('2');
    // As after a crash.
    appendFileSync(out, 'known,DEV-9');
    const rest = await enroll('3');
    const serials = [...first.rows, ...rest.rows].map(row => row.serialNumber);
    expect([first.rows.length, rest.rows.length, new Set(serials).size]).toEqual([2, 1, 3]);
    expect(await enroll('3')).toMatchObject({ code: 0, stdout: '' });
  });

  test('are listed with their devices', async () => {
    const { json } = await daemon.run(['keys', '--json']);
    expect(Object.keys(json)).toEqual(['list', 'drivers']);
    expect(json.list).toHaveLength(3);
    for (const key of json.list)
      expect(key.device).toMatchObject({ deviceId: expect.stringMatching(/^DEV-/), status: expect.any(String) });
    const { stdout } = await daemon.run(['keys', '--quiet']);
    expect(stdout.trimEnd().split('\n').sort()).toEqual(
      json.list.map((key: { serialNumber: string }) => key.serialNumber).sort(),
    );
    expect((await daemon.run(['keys'])).stdout).toContain('(simulated)');
  });

  test('are too many for --plugged; the error lists them', async () => {
    const { code, stderr } = await daemon.run(['show', '--plugged']);
    expect(code).toBe(2);
    expect(stderr).toContain('3 keys are attached:');
    expect(stderr.match(/DEV-\d+ {2}\w+ {2}SIM-/g)).toHaveLength(3);
  });

  test('that belong to somebody else have failed: the last line counts them, and the exit code is 7', async () => {
    const own = await startDaemon({ args: ['--simulate-keys', '3'] });
    onTestFinished(() => discard(own));
    const enroll = (...args: string[]) => own.run(['enroll', '--timeout', '20', ...args]);
    expect((await enroll('--count', '3', '--activate-for', 'alice')).code).toBe(0);
    const out = join(temporaryFolder(), 'bob.csv');
    const { code, stderr } = await enroll('--count', '3', '--activate-for', 'bob', '--out', out);
    expect({ code, last: stderr.trimEnd().split('\n').at(-1) }).toEqual({
      code: 7,
      last: `3 keys handled, 3 failed; results are in ${out}`,
    });
    const { rows } = await enroll('--count', '3', '--activate-for', 'bob', '--json', '--dry-run');
    expect(rows).toMatchObject(
      Array(3).fill({ result: 'failed', userId: 'alice', message: expect.stringContaining('bob') }),
    );
    expect((await enroll('--count', '3', '--activate-for', 'alice')).code).toBe(0);
  });

  test('are skipped if they were attached before, or have another type', async () => {
    expect((await daemon.run(['enroll', '--skip-attached', '--timeout', '1', '--json'])).code).toBe(10);
    const { code, rows } = await daemon.run(['enroll', '--type', 'SIMKEY', '--count', '1', '--json']);
    expect(code).toBe(0);
    expect(rows.map(row => row.deviceType)).toEqual(['SIMKEY']);
  });

  test('are handled even if more were expected, until the timeout', async () => {
    const { code, rows, stderr } = await daemon.run(['enroll', '--count', '4', '--timeout', '1', '--json']);
    expect(rows).toHaveLength(3);
    expect(code).toBe(10);
    expect(JSON.parse(stderr).error.message).toContain('3 of 4');
  });
});

describe('keys that are attached at the start', () => {
  test.each(['restarted', 'killed'])('are skipped after the daemon was %s', async how => {
    const home = temporaryFolder();
    const env = { DEVMGR_ADMIN_PASSWORD: adminPassword };
    const devmgrHere = (...args: string[]) => devmgr(args, { home, env });
    onTestFinished(() => devmgrHere('daemon', 'stop').then(() => undefined));
    const { json } = await devmgrHere('daemon', 'start', '--simulate-keys', '2', '--json');
    await devmgr(['login', 'admin', '--password-stdin'], { home, input: `${adminPassword}\n` });
    const enrolling = start(['enroll', '--skip-attached'], { home });
    await enrolling.until('stderr', /(was already attached: skipped[\s\S]*){2}/);
    if (how === 'killed') process.kill(json.pid, 'SIGKILL');
    else expect((await devmgrHere('daemon', 'restart')).code).toBe(0);
    await Promise.race([
      enrolling.until('stderr', /(was already attached: skipped[\s\S]*){4}/),
      enrolling.until('stdout', /DEV-1/),
    ]);
    enrolling.child.kill('SIGINT');
    expect((await enrolling.ended).stdout).toBe('');
  });
});

describe('one key', () => {
  test.each(['', ' ', 'x'.repeat(129)])('is not awaited if the user to activate it for is invalid: %j', async user => {
    const { code, stdout, stderr } = await daemon.run(['enroll', '--count', '1', '--activate-for', user]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(user.trim() === '' ? /--activate-for <USER>.* must not be empty/ : /--activate-for: userId/);
  });

  beforeEach(async () => {
    daemon = await startDaemon({ args: ['--simulate-keys', '1'] });
    return () => discard(daemon);
  });

  test('is registered with the values of the options, activated, and then named by --plugged', async () => {
    const { rows } = await daemon.run([
      'enroll',
      '--count',
      '1',
      '--manufacturer',
      'Acme',
      '--model',
      'Two',
      '--activate-for',
      'alice',
      '--json',
    ]);
    expect(rows).toMatchObject([
      { result: 'registered', status: 'ACTIVE', userId: 'alice', manufacturer: 'Acme', model: 'Two' },
    ]);
    const { deviceId } = rows[0];
    expect((await daemon.run(['show', '--plugged', '--json'])).json).toMatchObject({
      deviceId,
      manufacturer: 'Acme',
      status: 'ACTIVE',
    });
    expect((await daemon.run(['lock', '--plugged', '--reason', 'test', '--quiet'])).stdout).toBe(`${deviceId}\n`);
    expect((await daemon.run(['lock', deviceId, '--plugged', '--reason', 'test'])).code).toBe(2);
    const again = await daemon.run(['enroll', '--count', '1', '--activate-for', 'bob', '--json']);
    expect(again.rows).toMatchObject([{ result: 'failed', status: 'LOCKED', userId: 'alice' }]);
  });

  test('that was activated has no activation code on the screen: it was used', async () => {
    const { stdout } = await daemon.run(['enroll', '--count', '1', '--activate-for', 'alice']);
    expect(stdout).toContain('ACTIVE for alice');
    expect(stdout).not.toContain('activation code');
  });

  test('is not appended to a foreign file, and a pipe is only written', async () => {
    const out = join(temporaryFolder(), 'codes.csv');
    writeFileSync(out, 'line,serialNumber\n2,X\n');
    const refused = await daemon.run(['enroll', '--count', '1', '--out', out]);
    expect([refused.code, readFileSync(out, 'utf8')]).toEqual([2, 'line,serialNumber\n2,X\n']);
    const pipe = join(dirname(out), 'pipe.csv');
    spawnSync('mkfifo', [pipe]);
    const reader = spawn('cat', [pipe]);
    const told = text(reader.stdout);
    expect((await daemon.run(['enroll', '--count', '1', '--out', pipe])).code).toBe(0);
    expect((await told).split('\n').map(line => line.split(',')[0])).toEqual(['result', 'registered', '']);
  });

  test.each(['csv', 'jsonl'])('is not looked up in a %s file with a line of 2 MiB', async ending => {
    const out = join(temporaryFolder(), `codes.${ending}`);
    expect((await daemon.run(['enroll', '--count', '1', '--out', out])).code).toBe(0);
    appendFileSync(out, 'x'.repeat(2 ** 21));
    const { code, stderr } = await daemon.run(['enroll', '--count', '1', '--out', out]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${out} does not contain results of an enrollment`)]);
  });

  test('has its code on the screen if the file cannot be written, and the run ends with one error', async () => {
    const out = join(temporaryFolder(), 'codes.jsonl');
    symlinkSync('/dev/full', out);
    const { code, stdout, stderr } = await daemon.run(['enroll', '--count', '1', '--out', out]);
    expect(code).toBe(1);
    expect(stderr.split('devmgr: ').slice(1)).toEqual([
      expect.stringMatching(`^results cannot be written to ${out}: the disk is full; 1 key is unfinished: \\S+\n`),
    ]);
    expect(stdout).toMatch(/registered {2}DEV-\d+ .*\n.*activation code/);
  });

  test('that is bound to another user is not activated; the message names the user and what to do', async () => {
    const enroll = (user: string, ...more: string[]) =>
      daemon.run(['enroll', '--count', '1', '--activate-for', user, ...more]);
    const message = async () => (await enroll('bob', '--json')).rows[0].message as string;
    expect((await enroll('alice', '--json')).rows).toMatchObject([{ result: 'registered', message: null }]);
    expect((await enroll('alice', '--json')).rows).toMatchObject([{ result: 'known', message: null }]);

    expect(await message()).toBe(
      'not activated for bob: it is ACTIVE for alice. Return it to that user, or retire it and use another key: devmgr deactivate DEV-1 --reason TEXT',
    );
    expect((await enroll('bob')).stdout).toMatch(/✗ failed .*DEV-1 ACTIVE for alice.*\n +not activated for bob/);
    await daemon.run(['lock', 'DEV-1', '--reason', 'test']);
    expect(await message()).toMatch(/not activated for bob: it is LOCKED, and bound to alice/);
    expect((await enroll('alice', '--json')).rows[0].message).toMatch(/Unlock it: devmgr unlock DEV-1/);
    await daemon.run(['deactivate', 'DEV-1', '--reason', 'test', '--yes', '--password-stdin'], {
      input: adminPassword,
    });
    expect(await message()).toMatch(/it is DEACTIVATED permanently/);
  });

  test('is shown at a terminal with its code', async () => {
    const { stdout, stderr } = await daemon.run(['enroll', '--count', '1']);
    expect(stdout).toMatch(
      /^✓ registered {2}DEV-1 INACTIVE {2}UKEY SIM-UKEY-0001 \(simulated\)\n {4}activation code {2}[A-Z2-9-]{19}\n$/,
    );
    expect(stderr).toContain('Plug in a key');
  });

  test('is enrolled at a remote registry by the local hardware service', async () => {
    const registry = await startDaemon();
    try {
      // In the home of the hardware service, logged in to the registry; --hardware names the daemon of this home.
      const login = ['login', 'admin', '--password-stdin', '--server', registry.url];
      expect((await daemon.run(login, { input: adminPassword })).code).toBe(0);
      const { code, rows } = await daemon.run(['enroll', '--count', '1', '--hardware', daemon.url, '--json']);
      expect(code).toBe(0);
      expect(rows).toMatchObject([{ result: 'registered', deviceId: 'DEV-1' }]);
      expect((await registry.call('GET', '/api/devices/list')).pagination.total).toBe(1);
      expect((await daemon.call('GET', '/api/devices/list')).pagination.total).toBe(0);
      expect((await daemon.run(['show', '--plugged', '--hardware', daemon.url, '--quiet'])).stdout).toBe('DEV-1\n');
    } finally {
      await discard(registry);
    }
  });

  test('is reported as attached by keys --watch', async () => {
    const running = daemon.start(['keys', '--watch', '--json']);
    const [line] = await running.until('stdout', /.*\n/);
    expect(JSON.parse(line)).toMatchObject({ type: 'KEY_ATTACHED', data: { serialNumber: 'SIM-UKEY-0001' } });
    running.child.kill('SIGINT');
    const { code, stderr } = await running.ended;
    // Ctrl-C is how watching ends, so it is not reported as an error.
    expect({ code, stderr }).toEqual({ code: 130, stderr: expect.not.stringMatching(/interrupted/i) });
  });
});

test('enroll shows which drivers find no keys, as keys does', async () => {
  const daemon = await startDaemon({
    args: ['--simulate-keys', '1'],
    env: { PCSCLITE_CSOCK_NAME: '/nonexistent/pcscd' },
  });
  onTestFinished(() => discard(daemon));
  const words = /^pcsc is not available: .+$/m;
  const [shown] = words.exec((await daemon.run(['keys'])).stderr)!;
  const { code, stderr } = await daemon.run(['enroll', '--type', 'SIMKEY', '--timeout', '1']);
  expect({ code, lines: stderr.split('\n') }).toEqual({ code: 10, lines: expect.arrayContaining([shown]) });
  const narrow = { home: daemon.home, columns: 50 };
  const screen = await atTerminal([process.execPath, programFile, 'keys'], narrow).ended;
  const lines = withoutColors(screen.stdout).split('\r\n');
  const notice = lines.slice(lines.findIndex(line => line.startsWith('pcsc is not')));
  expect(notice.join(' ').trim()).toBe(shown);
  for (const line of notice) expect(line.length).toBeLessThanOrEqual(50);
});
