/** `devmgr backups` against a real daemon: what is downloaded is what was stored, or nothing is kept. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listening, success } from '../support/http-servers.ts';
import { type Daemon, devmgr, discard, programFile, startDaemon, temporaryFolder } from './program.ts';
import { atTerminal, withoutColors } from './screen.ts';

const content = randomBytes(300_000);
/** A device is looked up by its serial number too: no other device has the id as its serial number. */
const asksForDevices = ({ url }: IncomingMessage) => url!.startsWith('/api/devices/list?');
const noDevices = { list: [], pagination: { page: 1, size: 1, total: 0, totalPages: 0 } };
let daemon: Daemon;
let file: string;
beforeAll(async () => {
  daemon = await startDaemon();
  for (const serial of ['BAK-1', 'BAK-2', 'BAK-3']) await daemon.register(serial);
  const { activationCode } = await daemon.call('GET', '/api/devices/DEV-1');
  await daemon.call('POST', '/api/devices/activate', { deviceId: 'DEV-1', activationCode, userId: 'alice' });
  file = join(daemon.home, 'key.age');
  writeFileSync(file, content);
  const first = await daemon.run(['device-backups', 'add', 'BAK-1', file, '--note', 'first', '--json']);
  expect(first).toMatchObject({ code: 0, json: { backupId: 'BKP-1', deviceId: 'DEV-1', fileName: 'key.age' } });
  const second = await daemon.run(['device-backups', 'add', 'DEV-1', '-', '--name', 'piped.age', '--quiet'], {
    input: 'piped',
  });
  expect(second).toMatchObject({ code: 0, stdout: 'BKP-2\n' });
});
afterAll(() => discard(daemon));

describe('list', () => {
  test('shows the newest first, as a table, as CSV, as JSON and as ids', async () => {
    const { stdout } = await daemon.run(['device-backups', 'list', 'BAK-1']);
    expect(stdout).toMatch(/^BACKUP .*\nBKP-2 .*piped\.age.*\nBKP-1 .*key\.age.*first/);
    expect((await daemon.run(['device-backups', 'list', 'DEV-1', '--quiet'])).stdout).toBe('BKP-2\nBKP-1\n');
    const { json } = await daemon.run(['device-backups', 'list', 'DEV-1', '--json', '--size', '1']);
    expect(json).toMatchObject({ list: [{ backupId: 'BKP-2', fileSize: 5 }], pagination: { total: 2, totalPages: 2 } });
    const csv = await daemon.run(['device-backups', 'list', 'DEV-1', '--csv']);
    expect(csv.stdout).toMatch(
      /^backupId,deviceId,fileName,fileSize,sha256,note,createdAt\r?\nBKP-2,DEV-1,piped\.age,5,/,
    );
  });

  test('a device without backups has an empty list', async () => {
    const none = await daemon.run(['device-backups', 'list', 'BAK-2']);
    expect(none).toMatchObject({ code: 0, stdout: '' });
    expect(none.stderr).toContain('DEV-2 has no backups');
  });
});

describe('add', () => {
  test.each([
    ['of a device that is not active', ['BAK-2', 'FILE'], {}, 2, 'not active'],
    ['of an unknown device', ['DEV-99', 'FILE'], {}, 5, 'DEV-99'],
    ['of a file that does not exist', ['DEV-1', '/nowhere/key.age'], {}, 2, 'it does not exist'],
    ['of an empty standard input', ['DEV-1', '-'], { input: '' }, 1, 'standard input is empty'],
    ['of a folder', ['DEV-1', '/'], {}, 2, 'is not a file'],
  ])('%s is refused', async (_, args, options, exit, words) => {
    const { code, stdout, stderr } = await daemon.run(
      ['device-backups', 'add', ...args.map(arg => (arg === 'FILE' ? file : arg))],
      options,
    );
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr).toContain(words);
  });

  test('more than 64 MiB are refused before anything is sent, from a file and from a pipe', async () => {
    const large = Buffer.alloc(64 * 1024 * 1024 + 1);
    const name = join(temporaryFolder(), 'large');
    writeFileSync(name, large);
    const fromFile = await daemon.run(['device-backups', 'add', 'DEV-1', name]);
    expect(fromFile.stderr).toContain('the maximum is 64.0 MiB');
    const piped = await daemon.run(['device-backups', 'add', 'DEV-1', '-'], { input: large });
    expect(piped.stderr).toContain('more than 64.0 MiB');
    expect([fromFile.code, piped.code]).toEqual([1, 1]);
  });

  test('a server that stores something else is reported', async () => {
    const record = { backupId: 'BKP-7', deviceId: 'DEV-1', fileName: 'x', fileSize: 1, sha256: '0'.repeat(64) };
    const server = createServer((request, response) =>
      request
        .resume()
        .on('end', () =>
          response.end(success(asksForDevices(request) ? noDevices : { ...record, note: null, createdAt: '' })),
        ),
    );
    const { url } = await listening(server);
    const { code, stderr } = await devmgr(['device-backups', 'add', 'DEV-1', file, '--server', url], {
      env: { DEVMGR_TOKEN: 'token' },
    });
    expect(code).toBe(1);
    expect(stderr).toContain('the server stored a different file: BKP-7');
  });
});

describe('download', () => {
  const into = (cwd: string, ...args: string[]) => daemon.run(['device-backups', 'download', ...args], { cwd });

  test('only the user can read the file', async () => {
    const folder = temporaryFolder();
    expect((await into(folder, 'DEV-1', 'BKP-1', '--out', 'key.age')).code).toBe(0);
    expect(statSync(join(folder, 'key.age')).mode & 0o777).toBe(0o600);
  });

  test('is what was stored, under its own name, another one, in a folder or on standard output', async () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, 'folder'));
    expect((await into(cwd, 'BAK-1', 'BKP-1')).stdout).toContain('(checked)');
    expect((await into(cwd, 'DEV-1', 'BKP-1', '--out', 'other')).code).toBe(0);
    expect((await into(cwd, 'DEV-1', 'BKP-1', '--out', 'folder', '--quiet')).stdout).toBe('folder/key.age\n');
    for (const name of ['key.age', 'other', 'folder/key.age']) expect(readFileSync(join(cwd, name))).toEqual(content);
    expect(await into(cwd, 'DEV-1', 'BKP-2', '--out', '-')).toMatchObject({ code: 0, stdout: 'piped', stderr: '' });
  });

  test.runIf(existsSync('/dev/full'))('to a full disk behind standard output is failure 1, in words', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(
      process.execPath,
      [programFile, 'device-backups', 'download', 'DEV-1', 'BKP-1', '--out', '-'],
      { env: { ...process.env, DEVMGR_HOME: daemon.home }, stdio: ['ignore', full, 'pipe'], encoding: 'utf8' },
    );
    closeSync(full);
    expect({ status, stderr }).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('cannot write to standard output: ENOSPC'),
    });
  });

  test('without an id is the newest one', async () => {
    const cwd = temporaryFolder();
    expect((await into(cwd, 'DEV-1', '--json')).json).toMatchObject({ backupId: 'BKP-2', file: 'piped.age' });
    expect(readFileSync(join(cwd, 'piped.age'), 'utf8')).toBe('piped');
  });

  test('an existing file is overwritten only with --force', async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'key.age'), 'mine');
    expect(await into(cwd, 'DEV-1', 'BKP-1')).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') });
    expect(readFileSync(join(cwd, 'key.age'), 'utf8')).toBe('mine');
    expect((await into(cwd, 'DEV-1', 'BKP-1', '--force')).code).toBe(0);
    expect(readFileSync(join(cwd, 'key.age'))).toEqual(content);
  });

  test.each([
    ['an unknown backup', 'BAK-1', ['BKP-99'], 'DEV-1 has no backup BKP-99'],
    ['a backup of another device', 'BAK-3', ['BKP-1'], 'DEV-3 has no backup BKP-1'],
    ['the newest of a device without backups', 'BAK-3', [], 'DEV-3 has no backups'],
    ['a backup of an unknown device', 'DEV-99', ['BKP-1'], 'DEV-99'],
  ])('%s is exit code 5', async (_, device, more, words) => {
    const cwd = temporaryFolder();
    const { code, stderr } = await into(cwd, device, ...more);
    expect(code).toBe(5);
    expect(stderr).toContain(words);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('with --json the code is that of the interface', async () => {
    const { stderr } = await into(temporaryFolder(), 'DEV-1', 'BKP-99', '--json');
    expect(JSON.parse(stderr).error).toMatchObject({ code: 3001, hint: 'see: devmgr device-backups list DEV-1' });
    expect((await into(temporaryFolder(), 'DEV-1', 'BKP-1', '--json', '--out', '-')).code).toBe(2);
  });

  test('that arrives changed is not kept', async () => {
    const sha256 = '0'.repeat(64);
    const record = {
      backupId: 'BKP-7',
      deviceId: 'DEV-1',
      fileName: '../x',
      fileSize: 3,
      sha256,
      note: null,
      createdAt: '',
    };
    const pagination = { page: 1, size: 1, total: 1, totalPages: 1 };
    const server = createServer((request, response) => {
      const listed = success(asksForDevices(request) ? noDevices : { list: [record], pagination });
      response.end(request.url!.endsWith('/download') ? 'abc' : listed);
    });
    const { url } = await listening(server);
    const cwd = temporaryFolder();
    const { code, stderr } = await devmgr(['device-backups', 'download', 'DEV-1', '--server', url], {
      cwd,
      env: { DEVMGR_TOKEN: 'token' },
    });
    expect(code).toBe(1);
    expect(stderr).toContain('BKP-7 arrived damaged');
    expect([readdirSync(cwd), existsSync(join(cwd, '..', 'x'))]).toEqual([[], false]);
  });
});

describe('restore', () => {
  test('is recorded with --yes, and needs it if no one can be asked', async () => {
    const asked = await daemon.run(['device-backups', 'restore', 'BAK-1', 'BKP-1']);
    expect(asked).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--yes') });
    const done = await daemon.run(['device-backups', 'restore', 'BAK-1', 'BKP-1', '--yes', '--json']);
    expect(done).toMatchObject({ code: 0, json: { backupId: 'BKP-1', restoredAt: expect.stringMatching(/Z$/) } });
    const audit = await daemon.run(['daemon', 'audit', '--device', 'DEV-1', '--json']);
    expect(audit.stdout.match(/BACKUP_RESTORED/g)).toHaveLength(1);
  });

  test.each([
    ['n', 2, 0],
    ['y', 0, 1],
  ])('asks at a terminal, in whole words: %j ends with %i', async (answer, code, more) => {
    const count = async () =>
      (await daemon.run(['daemon', 'audit', '--device', 'DEV-1', '--json'])).stdout.split('BACKUP_RESTORED').length;
    const before = await count();
    const command = [process.execPath, programFile, 'device-backups', 'restore', 'BAK-1', 'BKP-1'];
    const screen = atTerminal(command, { home: daemon.home, columns: 60 });
    await screen.shows(/BKP-1 of DEV-1 \([^)]*\)\s+will\s+be\s+recorded\s+as\s+restored\.\r\n/);
    await screen.answer(/Restore it\? \(y\/N\)/, answer);
    const ended = await screen.ended;
    expect(ended.code).toBe(code);
    for (const line of withoutColors(ended.stdout).split('?')[0]!.split('\r\n'))
      expect(line.length).toBeLessThanOrEqual(60);
    expect((await count()) - before).toBe(more);
  });

  test('of an unknown backup is exit code 5, of a retired device 6, and a VIEWER may not do it', async () => {
    expect((await daemon.run(['device-backups', 'restore', 'DEV-1', 'BKP-99', '--yes'])).code).toBe(5);
    await daemon.call('POST', '/api/users', { username: 'viewer', password: 'a long password', role: 'VIEWER' });
    const home = temporaryFolder();
    const login = ['login', 'viewer', '--password-stdin', '--server', daemon.url];
    expect((await devmgr(login, { home, input: 'a long password\n' })).code).toBe(0);
    expect((await devmgr(['device-backups', 'restore', 'DEV-1', 'BKP-1', '--yes'], { home })).code).toBe(4);
    expect((await devmgr(['device-backups', 'list', 'DEV-1', '--quiet'], { home })).stdout).toBe('BKP-2\nBKP-1\n');
    const body = { reason: 'worn out', confirmPassword: 'correct horse battery' };
    await daemon.call('POST', '/api/devices/DEV-1/deactivate', body);
    expect((await daemon.run(['device-backups', 'restore', 'DEV-1', 'BKP-1', '--yes'])).code).toBe(6);
  });
});
