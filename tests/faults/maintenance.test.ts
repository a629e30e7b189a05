/** Backing up, restoring and checking a registry. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { audit, backup, check, resetPassword, restore } from '../../daemon/maintenance/programs.ts';
import { startDaemon } from '../../daemon/start/main.ts';
import { adminPassword, startTestDaemon, type TestDaemon, testSettings } from '../support/daemon.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { backUp, data, deviceIn, upload } from '../support/fleet.ts';
import { filesIn } from '../support/forms.ts';
import { runDaemonProgram } from '../support/programs.ts';

let dir: string;
let home: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devmgr-maintenance-'));
  home = join(dir, 'home');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const copy = () => join(dir, 'copy.db');
const backUpTo = (file: string, json = false) => runDaemonProgram(backup, { home, json, file });
const restoreFrom = (file: string, json = false) => runDaemonProgram(restore, { home, json, file });
const runCheck = () => runDaemonProgram(check, { home, json: true });

async function running<T>(use: (daemon: DaemonProcess) => Promise<T>): Promise<T> {
  const daemon = await spawnDaemon({ home });
  try {
    return await use(daemon);
  } finally {
    await daemon.stop();
  }
}
let serial = 0;
const register = (daemon: DaemonProcess) =>
  daemon.call('POST', '/api/devices/register', {
    deviceType: 'UKEY',
    serialNumber: `COPY-${++serial}`,
    manufacturer: 'Feitian',
    model: 'K9',
  });
const total = async (daemon: DaemonProcess) => {
  const { data } = await daemon.call('GET', '/api/devices/list?size=1');
  return (data as { pagination: { total: number } }).pagination.total;
};

describe('daemon backup and daemon restore', () => {
  it('name all secrets to keep; a restore without them warns of what clients will notice', async () => {
    await running(register);
    const { stderr } = await backUpTo(copy());
    expect(stderr).toBe(
      `Also keep journal-key, signing-key, instance-key of ${home}, and the folder blobs of ${home}\n`,
    );
    const other = join(dir, 'other');
    await mkdir(other, { mode: 0o700 });
    const keep = (name: string, from = home) => copyFile(join(from, name), join(other, name));
    const warnings = async () => {
      const ran = await runDaemonProgram(restore, { home: other, json: false, file: copy() });
      expect(ran).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^restored 1 device from the backup of [\d-]+ [\d:]+ UTC; /),
      });
      return ran.stderr.match(/[a-z]+-key is missing/g) ?? [];
    };
    await keep('journal-key');
    expect(await warnings()).toEqual(['instance-key is missing', 'signing-key is missing']);
    await keep('signing-key');
    expect(await warnings()).toEqual(['instance-key is missing']);
    await keep('instance-key');
    expect(await warnings()).toEqual([]);
  });

  it('copy a registry under load as of one moment, and restore that moment', async () => {
    const kept = await running(async daemon => {
      let going = true;
      const clients = Array.from({ length: 8 }, async () => {
        while (going) expect((await register(daemon)).code).toBe(200);
      });
      await expect.poll(() => total(daemon)).toBeGreaterThan(20);
      const before = await total(daemon);
      const ran = await backUpTo(copy());
      const after = await total(daemon);
      going = false;
      await Promise.all(clients);
      expect(ran).toMatchObject({ code: 0, stdout: `${copy()}\n`, stderr: expect.stringContaining('journal-key') });
      expect((await stat(copy())).mode & 0o777).toBe(0o600);
      return { before, after };
    });
    const restored = await restoreFrom(copy(), true);
    expect(restored.code).toBe(0);
    const { devices, kept: earlier } = JSON.parse(restored.stdout);
    expect(devices).toBeGreaterThanOrEqual(kept.before);
    expect(devices).toBeLessThanOrEqual(kept.after);
    await running(async daemon => {
      expect(await total(daemon)).toBe(devices);
      expect((await register(daemon)).code).toBe(200);
    });
    expect((await runCheck()).code).toBe(0);
    // The previous registry is intact, too, and can itself be restored.
    expect(await restoreFrom(earlier)).toMatchObject({ code: 0 });
    await running(async daemon => expect(await total(daemon)).toBeGreaterThan(devices));
  });

  it('differ while a daemon is running: a backup works, a restore is refused and names the process', async () => {
    await running(async daemon => {
      await register(daemon);
      expect((await backUpTo(copy())).code).toBe(0);
      await register(daemon);
      expect(await restoreFrom(copy())).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`process ${daemon.pid}`),
      });
      expect(await total(daemon)).toBe(2);
    });
  });

  it('never overwrite an existing file with a backup', async () => {
    await running(register);
    await writeFile(copy(), 'precious');
    expect(await backUpTo(copy())).toMatchObject({ code: 1, stderr: expect.stringMatching(/already exists/) });
    expect(await readFile(copy(), 'utf8')).toBe('precious');
  });

  it('that are made at the same time into one file do not damage each other', async () => {
    await running(register);
    const results = await Promise.all([backUpTo(copy()), backUpTo(copy()), backUpTo(copy())]);
    expect(results.filter(({ code }) => code === 0)).toHaveLength(1);
    for (const { code, stderr } of results) if (code !== 0) expect(stderr).toContain('copy.db already exists');
    expect(await readdir(dir)).toEqual(['copy.db', 'home']);
    expect(JSON.parse((await restoreFrom(copy(), true)).stdout)).toMatchObject({ devices: 1, verified: true });
  });

  it('remove what was left by one that was killed: of this machine at once, of another one when it is old', async () => {
    await running(register);
    const here = createHash('sha256').update(hostname()).digest('hex').slice(0, 6);
    const there = here === '000000' ? '111111' : '000000';
    const { pid: ended } = spawnSync(process.execPath, ['-e', '']);
    const leftovers = {
      killed: `copy.db.${here}-${ended}-0123ab.new.unfinished`,
      old: `copy.db.${there}-${ended}-0123ab.new.unfinished`,
      running: `copy.db.${here}-${process.pid}-0123ab.new`,
      elsewhere: `copy.db.${there}-${ended}-ba9876.new`,
      other: 'copy.db.new',
    };
    for (const name of Object.values(leftovers)) await writeFile(join(dir, name), '');
    const hoursAgo = new Date(Date.now() - 7 * 3_600_000);
    for (const name of [leftovers.old, leftovers.other]) await utimes(join(dir, name), hoursAgo, hoursAgo);
    expect((await backUpTo(copy())).code).toBe(0);
    const left = ['copy.db', leftovers.running, leftovers.elsewhere, leftovers.other, 'home'];
    expect((await readdir(dir)).sort()).toEqual(left.sort());
  });

  it('include what a crash left in the write-ahead log, in the backup and in the registry that a restore keeps', async () => {
    const daemon = await spawnDaemon({ home });
    for (let i = 0; i < 3; i++) await register(daemon);
    await daemon.kill();
    expect((await backUpTo(copy())).code).toBe(0);
    const restored = JSON.parse((await restoreFrom(copy(), true)).stdout);
    expect(restored.devices).toBe(3);
    expect(JSON.parse((await restoreFrom(restored.kept, true)).stdout).devices).toBe(3);
  });

  it('bring a lost registry back into a home that has only its keys', async () => {
    await running(register);
    expect((await backUpTo(copy())).code).toBe(0);
    await rm(join(home, 'devmgr.db'));
    expect(await restoreFrom(copy())).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('there was no registry'),
    });
    await running(async daemon => expect(await total(daemon)).toBe(1));
  });

  describe('a restore changes nothing if the backup', () => {
    beforeEach(async () => {
      await running(register);
      await backUpTo(copy());
    });
    const isUnchanged = async () => {
      expect((await readdir(home)).filter(name => /restor/.test(name))).toEqual([]);
      await running(async daemon => expect(await total(daemon)).toBe(1));
    };

    it('is damaged', async () => {
      const bytes = await readFile(copy());
      await writeFile(copy(), bytes.fill(0xa5, 100, 9000));
      expect(await restoreFrom(copy())).toMatchObject({ code: 1, stderr: expect.stringMatching(/copy\.db/) });
      await isUnchanged();
    });
    it('is truncated', async () => {
      await writeFile(copy(), (await readFile(copy())).subarray(0, 20_000));
      expect((await restoreFrom(copy())).code).toBe(1);
      await isUnchanged();
    });
    it('is not a database', async () => {
      await copyFile(process.execPath, join(dir, 'node'));
      expect((await restoreFrom(join(dir, 'node'))).code).toBe(1);
      await isUnchanged();
    });
    it('does not exist', async () => {
      expect(await restoreFrom(join(dir, 'none'))).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/cannot be read/),
      });
      await isUnchanged();
    });
    it('belongs to another journal key', async () => {
      await rm(join(home, 'journal-key'));
      const other = join(dir, 'other');
      await (await spawnDaemon({ home: other })).stop();
      await copyFile(join(other, 'journal-key'), join(home, 'journal-key'));
      expect(await restoreFrom(copy())).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/another key.*journal-key/),
      });
    });
  });
});

describe('daemon check', () => {
  let daemon: TestDaemon;
  beforeEach(async () => {
    daemon = await startTestDaemon();
    home = daemon.home;
    data(await upload(daemon));
    data(await backUp(daemon, (await deviceIn('ACTIVE', daemon)).deviceId));
  });
  afterEach(() => daemon.stop());

  it('reports what it has checked, also while the daemon is running', async () => {
    const { code, stdout } = await runCheck();
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ problems: [], devices: 1, files: 2 });
    expect((await runDaemonProgram(check, { home, json: false })).stdout).toMatch(
      /^OK: 1 device, \d+ journal entries, 2 files checked/,
    );
  });

  it('names uploads and backups whose files are damaged or missing', async () => {
    for (const file of await filesIn(daemon)) await writeFile(file, 'an encrypted backuP');
    const { code, stdout } = await runCheck();
    expect(code).toBe(1);
    expect(JSON.parse(stdout).problems).toEqual([
      'files: the file of APP-1 is damaged',
      'files: the file of BKP-1 is damaged',
    ]);
    for (const file of await filesIn(daemon)) await rm(file);
    expect(JSON.parse((await runCheck()).stdout).problems).toEqual([
      'files: the file of APP-1 is missing',
      'files: the file of BKP-1 is missing',
    ]);
  });
});

describe('daemon reset-password', () => {
  const reset = (username: string) => runDaemonProgram(resetPassword, { home, json: true, username });

  it('sets a new password, ends earlier logins, and is recorded in the journal', async () => {
    const token = await running(async daemon => {
      expect(await reset('admin')).toMatchObject({ code: 1, stderr: expect.stringMatching(/already running/) });
      return daemon.token;
    });
    expect(await reset('unknown')).toMatchObject({ code: 1, stderr: expect.stringMatching(/no user unknown.*admin/s) });
    const firstPassword = join(home, 'initial-admin-password');
    await writeFile(firstPassword, 'obsolete\n', { mode: 0o600 });
    const { password } = JSON.parse((await reset('admin')).stdout);
    expect(existsSync(firstPassword)).toBe(false);

    const daemon = await startDaemon(testSettings(home), '0.0.0-test', pino({ level: 'silent' }));
    const code = async (path: string, init: RequestInit) =>
      ((await (await fetch(daemon.url + path, init)).json()) as { code: number }).code;
    const login = (password: string) =>
      code('/api/auth/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username: 'admin', password }),
      });
    expect(await login(adminPassword)).toBe(1003);
    expect(await login(password)).toBe(200);
    expect(await code('/api/users/me', { headers: { authorization: `Bearer ${token}` } })).toBe(1004);
    await daemon.stop();

    const journal = {
      home,
      json: true,
      types: ['PASSWORD_CHANGED'],
      device: null,
      since: null,
      limit: 1,
      verify: false,
    };
    const { stdout } = await runDaemonProgram(audit, journal);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'PASSWORD_CHANGED', user: null, details: { username: 'admin' } });
    expect(stdout).not.toContain(password);
    expect(JSON.parse((await runCheck()).stdout).problems).toEqual([]);
  });
});
