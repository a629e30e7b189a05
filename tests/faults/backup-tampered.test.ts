/** Backups that someone changed, and databases whose schema is not that of devmgr. */
import {
  appendFile,
  chmod,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { backup, check, restore } from '../../daemon/maintenance/programs.ts';
import { type DaemonProcess, spawnDaemon, uploadApp } from '../support/daemon-process.ts';
import { runDaemonProgram } from '../support/programs.ts';

let dir: string;
let home: string;
/** A backup, and a later one of the same home. */
let backups: { readonly first: string; readonly second: string };
/** The copy that a test changes. */
let copy: string;
/** An empty home that has the keys and the files. */
let trial: string;
let tests = 0;

const register = (daemon: DaemonProcess, serialNumber: string) =>
  daemon.call('POST', '/api/devices/register', {
    deviceType: 'UKEY',
    serialNumber,
    manufacturer: 'Feitian',
    model: 'K9',
  });

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devmgr-tampered-'));
  home = join(dir, 'home');
  backups = { first: join(dir, 'first.db'), second: join(dir, 'second.db') };
  const daemon = await spawnDaemon({ home });
  await uploadApp(daemon, '1.0.0');
  await register(daemon, 'GENUINE-1');
  expect(await runDaemonProgram(backup, { home, json: true, file: backups.first })).toMatchObject({ code: 0 });
  await register(daemon, 'GENUINE-2');
  expect(await runDaemonProgram(backup, { home, json: true, file: backups.second })).toMatchObject({ code: 0 });
  await daemon.stop();
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Files that belong to a backup and are not in it: see docs/backup.md. */
const secrets = ['instance-key', 'journal-key', 'signing-key'];
beforeEach(async () => {
  const folder = join(dir, `test-${++tests}`);
  trial = join(folder, 'home');
  copy = join(folder, 'copy.db');
  await mkdir(trial, { recursive: true, mode: 0o700 });
  await copyFile(backups.second, copy);
  for (const name of secrets) await copyFile(join(home, name), join(trial, name));
  await cp(join(home, 'blobs'), join(trial, 'blobs'), { recursive: true });
});

const restoreCopy = (acceptUnverified = false, into = trial) =>
  runDaemonProgram(restore, { home: into, json: true, file: copy, acceptUnverified });
const errorOf = (stderr: string): { message: string; hint: string } => JSON.parse(stderr).error;

/** Manifest, HMAC and last line of a backup. */
async function trailerOf(file: string): Promise<Buffer> {
  const bytes = await readFile(file);
  return bytes.subarray(databaseSize(bytes));
}
const databaseSize = (bytes: Buffer) => bytes.readUInt32BE(28) * (bytes.readUInt16BE(16) || 65_536);

/** Runs SQL on the database in the copy, as anyone with the file can. The manifest stays at its end. */
async function plant(sql: string): Promise<void> {
  const trailer = await trailerOf(copy);
  await truncate(copy, databaseSize(await readFile(copy)));
  const db = new Database(copy);
  db.exec(sql);
  db.close();
  await appendFile(copy, trailer);
}

async function isRefused(reason: RegExp): Promise<void> {
  const { code, stderr } = await restoreCopy();
  expect(code).toBe(1);
  const { message, hint } = errorOf(stderr);
  expect(message).toMatch(reason);
  expect(message).toContain('copy.db');
  expect(hint).toMatch(/nothing was changed.*--accept-unverified.*may have changed passwords, roles, owners/);
  expect((await readdir(trial)).sort()).toEqual(['blobs', 'daemon.lock', ...secrets]);
}

describe('a backup', () => {
  it('is a database with a manifest at its end', async () => {
    const db = new Database(copy, { readonly: true });
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(db.prepare('SELECT count(*) FROM device').pluck().get()).toBe(2);
    db.close();
    const [manifest] = (await trailerOf(copy)).toString().split('\n');
    expect(JSON.parse(manifest!)).toMatchObject({ format: 1, size: databaseSize(await readFile(copy)) });
  });

  it('is restored in another home with the same journal-key, which reports when it was made', async () => {
    const { code, stdout, stderr } = await restoreCopy();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const restored = JSON.parse(stdout);
    expect(restored).toMatchObject({ devices: 2, kept: null, verified: true });
    expect(Date.parse(restored.createdAt)).toBeLessThanOrEqual(Date.now());
    expect(await runDaemonProgram(check, { home: trial, json: true })).toMatchObject({ code: 0 });
    expect((await stat(join(trial, 'devmgr.db'))).size % 4096).toBe(0);
  });

  it.each([0o644, 0o400])(
    'with mode %o is restored as a registry that only its user can read and write',
    async mode => {
      await chmod(copy, mode);
      expect(await restoreCopy()).toMatchObject({ code: 0 });
      expect((await stat(join(trial, 'devmgr.db'))).mode & 0o777).toBe(0o600);
    },
  );
});

describe('a restore refuses a backup', () => {
  it('with a planted password hash', async () => {
    await plant(`UPDATE user SET password_hash = 'planted'`);
    await isRefused(/not verified.*does not match its manifest/);
  });
  it('with a new owner of a device', async () => {
    await plant(`UPDATE device SET user_id = 'mallory' WHERE number = 1`);
    await isRefused(/does not match its manifest/);
  });
  it('with a trigger', async () => {
    await plant(`CREATE TRIGGER planted AFTER INSERT ON device BEGIN UPDATE user SET role = 'ADMIN'; END`);
    await isRefused(/does not match its manifest/);
  });
  it('with the manifest of another backup', async () => {
    await truncate(copy, databaseSize(await readFile(copy)));
    await appendFile(copy, await trailerOf(backups.first));
    await isRefused(/does not match its manifest|manifest is that of another backup/);
  });
  it('with a changed manifest', async () => {
    const trailer = (await trailerOf(copy)).toString();
    await truncate(copy, databaseSize(await readFile(copy)));
    await appendFile(copy, trailer.replace(/"createdAt":"\d{4}/, '"createdAt":"2099'));
    await isRefused(/its manifest was changed/);
  });
  it('with a manifest that claims another length', async () => {
    const trailer = (await trailerOf(copy)).toString();
    await truncate(copy, databaseSize(await readFile(copy)));
    await appendFile(copy, trailer.replace(/\d{8}\n$/, '99999999\n'));
    await isRefused(/has no manifest/);
  });
  it.each([1, 30, 5000])('whose last %i bytes are missing', async bytes => {
    await truncate(copy, (await stat(copy)).size - bytes);
    await isRefused(/has no manifest.*the end of the file is missing/);
  });
  it('with one changed bit, wherever it is', async () => {
    const bytes = await readFile(copy);
    for (let part = 0; part < 25; part++) {
      const changed = Buffer.from(bytes);
      changed[Math.floor((bytes.length - 1) * (part / 24))]! ^= 4;
      await writeFile(copy, changed);
      expect(await restoreCopy(), `part ${part}`).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/not verified/),
      });
    }
  });
  it('of another home', async () => {
    await writeFile(join(trial, 'journal-key'), `${'A'.repeat(43)}\n`, { mode: 0o600 });
    await isRefused(/another key.*journal-key of the backup/);
  });
  it('from before there were manifests', async () => {
    await truncate(copy, databaseSize(await readFile(copy)));
    await isRefused(/did not write manifests yet/);
  });

  it('whose stored package was changed without changing its size', async () => {
    const [name] = (await readdir(join(trial, 'blobs'))).filter(name => name !== 'incoming');
    const file = join(trial, 'blobs', name!);
    await writeFile(file, (await readFile(file)).fill(0x21, 0, 1));
    const { code, stderr } = await restoreCopy();
    expect(code).toBe(1);
    expect(errorOf(stderr).message).toMatch(/stored file of APP-1 is not the one/);
    expect((await readdir(trial)).sort()).toEqual(['blobs', 'daemon.lock', ...secrets]);
    expect(await restoreCopy(true)).toMatchObject({ code: 0 });
    expect((await runDaemonProgram(check, { home: trial, json: true })).stdout).toContain('APP-1 is damaged');
  });
});

describe('with --accept-unverified a restore', () => {
  it('accepts a backup from before there were manifests, and shows what that means', async () => {
    await truncate(copy, databaseSize(await readFile(copy)));
    const { code, stdout, stderr } = await restoreCopy(true);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ devices: 2, verified: false, createdAt: null });
    expect(stderr).toMatch(
      /not verified.*did not write manifests.*may have changed passwords, roles, owners.*users list/,
    );
  });

  it('accepts a backup of a home whose journal-key is lost, and reports that its journal is not proven', async () => {
    await rm(join(trial, 'journal-key'));
    expect(await restoreCopy()).toMatchObject({ code: 1, stderr: expect.stringContaining('journal-key is missing') });
    const { code, stderr } = await restoreCopy(true);
    expect(code).toBe(0);
    expect(stderr).toMatch(/another key/);
    expect(stderr).toMatch(/Warning: journal: .*journal key is a different one/);
    const daemon = await spawnDaemon({ home: trial });
    await daemon.stop();
  });

  it('reports stored files that are missing', async () => {
    await rm(join(trial, 'blobs'), { recursive: true });
    expect(await restoreCopy()).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/1 stored file is missing.*APP-1/),
    });
  });

  it.each([
    [
      'trigger',
      `CREATE TRIGGER planted AFTER INSERT ON device BEGIN UPDATE user SET role = 'ADMIN'; END`,
      /trigger "planted" is foreign/,
    ],
    ['view', 'CREATE VIEW planted AS SELECT * FROM user', /view "planted" is foreign/],
    ['index', 'CREATE INDEX planted ON user (email)', /index "planted" is foreign/],
    ['table', 'CREATE TABLE planted (a)', /table "planted" is foreign/],
    ['virtual table', 'CREATE VIRTUAL TABLE planted USING fts5(a)', /table "planted" is foreign/],
    ['missing trigger', 'DROP TRIGGER event_is_never_changed', /trigger "event_is_never_changed" is missing/],
    [
      'trigger of another meaning',
      'DROP TRIGGER event_is_never_changed; CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event BEGIN SELECT 1; END',
      /trigger "event_is_never_changed" was changed/,
    ],
    ['name with control characters', 'CREATE TABLE "a\u001b[2Jb" (a)', /table "a\\u001b\[2Jb" is foreign/],
  ])('still refuses a foreign schema: %s', async (_, sql, reason) => {
    await plant(sql);
    const { code, stderr } = await restoreCopy(true);
    expect(code).toBe(1);
    expect(errorOf(stderr).message).toMatch(/is damaged: schema: /);
    expect(errorOf(stderr).message).toMatch(reason);
    expect((await readdir(trial)).sort()).toEqual(['blobs', 'daemon.lock', ...secrets]);
  });

  it('never reads a file outside of blobs that a record names', async () => {
    await plant(`UPDATE app SET blob = '../journal-key'`);
    const { stderr } = await restoreCopy(true);
    expect(stderr).not.toMatch(/missing/);
    expect((await runDaemonProgram(check, { home: trial, json: true })).stdout).toContain('APP-1 is damaged');
  });
});

describe('daemon check', () => {
  it('reports a trigger that is not one of devmgr', async () => {
    expect(await restoreCopy()).toMatchObject({ code: 0 });
    const db = new Database(join(trial, 'devmgr.db'));
    db.exec(`CREATE TRIGGER planted AFTER INSERT ON device BEGIN UPDATE user SET role = 'ADMIN'; END`);
    db.close();
    const { code, stdout } = await runDaemonProgram(check, { home: trial, json: true });
    expect(code).toBe(1);
    expect(JSON.parse(stdout).problems).toContain('schema: trigger "planted" is foreign');
  });
});
