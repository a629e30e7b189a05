/** The key of the journal is replaced: verification crosses the replacement, and an interruption at any point does no harm. */
import { cp, mkdtemp, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rotateSigningKey } from '../../daemon/accounts/signing-keys.ts';
import { HeadFile } from '../../daemon/home/head-file.ts';
import { Home } from '../../daemon/home/home.ts';
import { journalKeys, prepareNextKey } from '../../daemon/home/journal-keys.ts';
import { audit } from '../../daemon/maintenance/audit.ts';
import { backup } from '../../daemon/maintenance/backup.ts';
import { check } from '../../daemon/maintenance/maintenance.ts';
import { restore } from '../../daemon/maintenance/restore.ts';
import { rotateKey } from '../../daemon/maintenance/rotate-key.ts';
import { type RunningDaemon, startDaemon } from '../../daemon/start/main.ts';
import { entryMac, macWith, sealOf } from '../../daemon/store/chain.ts';
import type { AuditOptions } from '../../src/contract/programs.ts';
import { copyHome } from '../support/copied-home.ts';
import { startTestDaemon, testSettings } from '../support/daemon.ts';
import { runDaemonProgram } from '../support/programs.ts';

let made: string;
let folder: string;
let home: string;
beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), 'devmgr-key-'));
  const daemon = await startTestDaemon();
  await daemon.user('eve', 'VIEWER');
  await daemon.restart();
  await copyHome(daemon.home, made);
  await daemon.stop();
  for (const file of ['daemon.json', 'local-token', 'daemon.lock', 'daemon.lock.pid'])
    await rm(join(made, file), { force: true });
});
afterAll(() => rm(made, { recursive: true, force: true }));
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'devmgr-key-'));
  home = join(folder, 'home');
  await cp(made, home, { recursive: true });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const everything: Omit<AuditOptions, 'home'> = { json: true, device: null, since: null, limit: null, verify: false };
const run = (options: Partial<AuditOptions>) => runDaemonProgram(audit, { ...everything, home, ...options });
const problems = async () => JSON.parse((await run({ verify: true })).stdout).problems as string[];
const entries = async (...types: string[]) =>
  (await run({ types })).stdout
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line));
const content = (name: string) => readFile(join(home, name), 'utf8').catch(() => null);
const rotate = (options: object = { journal: true }) => runDaemonProgram(rotateKey, { home, json: true, ...options });
const start = (): Promise<RunningDaemon> => startDaemon(testSettings(home), '0.0.0-test', pino({ level: 'silent' }));
const startAndStop = async () => (await start()).stop();
const copyOf = async () => {
  const file = join(folder, `${Math.random()}.db`);
  expect((await runDaemonProgram(backup, { home, json: true, file })).code).toBe(0);
  return file;
};

describe('daemon rotate-key --journal', () => {
  it('without a daemon: the journal records where, and verifies across two replacements and later entries', async () => {
    const first = await content('journal-key');
    expect(await rotate()).toMatchObject({ code: 0, stdout: '{"daemon":null}\n', stderr: '' });
    const second = await content('journal-key');
    expect([second === first, await content('journal-keys-earlier'), await content('journal-key-next')]).toEqual([
      false,
      first,
      null,
    ]);
    expect(await problems()).toEqual([]);
    await startAndStop();
    await rotate();
    await startAndStop();
    expect(await content('journal-keys-earlier')).toBe(`${first}${second}`);
    expect(await problems()).toEqual([]);
    expect(await entries('JOURNAL_KEY_ROTATED')).toHaveLength(2);
    expect((await runDaemonProgram(check, { home, json: true })).code).toBe(0);
    expect((await run({ head: true })).code).toBe(0);
  });

  it('leaves no waiting key if the store cannot be opened', async () => {
    const before = await content('journal-key');
    await writeFile(join(home, 'devmgr.db'), 'not a database');
    expect((await rotate()).code).not.toBe(0);
    expect([await content('journal-key'), await content('journal-key-next')]).toEqual([before, null]);
  });

  it('with a daemon: it uses the new key from its reload on', async () => {
    const daemon = await start();
    await prepareNextKey(await Home.open(home));
    await daemon.reload();
    const login = { username: 'eve', password: 'correct horse battery' };
    await fetch(`${daemon.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(login),
    });
    expect(await content('journal-key-next')).toBeNull();
    await daemon.reload();
    await daemon.stop();
    expect((await entries('JOURNAL_KEY_ROTATED', 'LOGIN_SUCCEEDED')).map(({ type }) => type).slice(-2)).toEqual([
      'JOURNAL_KEY_ROTATED',
      'LOGIN_SUCCEEDED',
    ]);
    expect(await problems()).toEqual([]);
  });

  it.each([
    'nothing but the new key is stored',
    'the heads are signed',
    'the entry is written',
    'the earlier key is kept',
  ])('can be interrupted when %s', async point => {
    const opened = await Home.open(home);
    const before = (await content('journal-key'))!;
    await prepareNextKey(opened);
    const next = (await content('journal-key-next'))!;
    const keys = await journalKeys(opened);
    if (point === 'the heads are signed') await (await HeadFile.open(opened, keys)).useKey(keys.next!);
    if (point === 'the entry is written' || point === 'the earlier key is kept') {
      await rotate();
      await writeFile(join(home, 'journal-key'), before, { mode: 0o600 });
      await writeFile(join(home, 'journal-key-next'), next, { mode: 0o600 });
      if (point === 'the entry is written') await unlink(join(home, 'journal-keys-earlier'));
    }
    expect(await problems()).toEqual([]);
    await startAndStop();
    expect([await content('journal-key'), await content('journal-keys-earlier')]).toEqual([next, before]);
    expect(await problems()).toEqual([]);
    expect(await entries('JOURNAL_KEY_ROTATED')).toHaveLength(1);
  });

  it('needs the earlier keys for the entries of their time', async () => {
    await rotate();
    await unlink(join(home, 'journal-keys-earlier'));
    expect((await problems())[0]).toMatch(
      /^entry 1 was changed, inserted or moved, or the journal key is a different one/,
    );
  });

  it('leaves a person with the earlier key unable to continue the journal from before the replacement', async () => {
    const key = macWith(Buffer.from((await content('journal-key'))!.trim(), 'base64url'));
    await rotate();
    const db = new Database(join(home, 'devmgr.db'));
    db.exec('DROP TRIGGER event_is_never_changed; DROP TRIGGER event_is_never_removed');
    const { id, mac } = db
      .prepare(`SELECT id, mac FROM event WHERE type <> 'JOURNAL_KEY_ROTATED' ORDER BY id DESC`)
      .get() as {
      id: number;
      mac: string;
    };
    db.exec(`DELETE FROM event WHERE id > ${id}`);
    const row = {
      id: id + 1,
      at: 1,
      type: 'DEVICE_USED',
      device: 1,
      subject: null,
      actor: 'x',
      request_id: null,
      data: '{}',
      detail: '{}',
    };
    const forged = entryMac(key, mac, row);
    db.prepare(`INSERT INTO event VALUES (?, 1, 'DEVICE_USED', 1, NULL, 'x', NULL, '{}', '{}', ?)`).run(row.id, forged);
    const head = { id: row.id, mac: forged };
    db.prepare(`UPDATE meta SET value = ? WHERE name = 'journal'`).run(
      JSON.stringify({ ...head, seal: sealOf(key, head) }),
    );
    db.close();
    expect(await problems()).toEqual([expect.stringMatching(/is not the one of the signed head of/)]);
  });

  it('allows a backup of before to be restored: the journal then continues with the present key', async () => {
    const file = await copyOf();
    await rotate();
    expect((await runDaemonProgram(restore, { home, json: true, file })).code).toBe(0);
    expect(await problems()).toEqual([]);
    await startAndStop();
    expect((await entries('JOURNAL_KEY_ROTATED', 'REGISTRY_RESTORED')).map(({ type }) => type)).toEqual([
      'REGISTRY_RESTORED',
      'JOURNAL_KEY_ROTATED',
    ]);
    expect(await problems()).toEqual([]);
  });
});

describe('the journal records that the signing key was replaced', () => {
  it('without a daemon', async () => {
    await rotate({});
    await rotate({ revokeNow: true });
    expect((await entries('SIGNING_KEY_ROTATED')).map(({ details }) => details)).toEqual([
      { revoked: false },
      { revoked: true },
    ]);
    expect(await problems()).toEqual([]);
  });

  it('at the reload of a daemon, once', async () => {
    const daemon = await start();
    await daemon.reload();
    await rotateSigningKey(await Home.open(home), Date.now());
    await daemon.reload();
    await daemon.reload();
    await daemon.stop();
    expect((await entries('SIGNING_KEY_ROTATED')).map(({ details }) => details)).toEqual([{ revoked: false }]);
  });
});
