/** The heads of the journal that are kept outside the database: what they detect, and what legitimately goes back. */
import { appendFile, cp, mkdtemp, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { backup } from '../../daemon/maintenance/backup.ts';
import { check } from '../../daemon/maintenance/maintenance.ts';
import { resetPassword } from '../../daemon/maintenance/reset-password.ts';
import { restore } from '../../daemon/maintenance/restore.ts';
import { startDaemon } from '../../daemon/start/main.ts';
import type { AuditOptions } from '../../src/contract/programs.ts';
import { copyHome } from '../support/copied-home.ts';
import { adminPassword, startTestDaemon, type TestDaemon, testSettings } from '../support/daemon.ts';
import { register } from '../support/fleet.ts';
import { runDaemonProgram } from '../support/programs.ts';

let daemon: TestDaemon;
let folder: string;
let home: string;
/** A registry after its daemon has stopped, of which each test gets a copy. */
let stopped: string;
beforeAll(async () => {
  daemon = await startTestDaemon();
  await daemon.user('eve', 'VIEWER');
  for (let i = 0; i < 3; i++) await register(daemon);
  await daemon.restart();
  await register(daemon);
  await daemon.restart();
  stopped = await mkdtemp(join(tmpdir(), 'devmgr-heads-'));
  await copyHome(daemon.home, stopped);
  for (const file of ['daemon.json', 'local-token', 'daemon.lock', 'daemon.lock.pid'])
    await rm(join(stopped, file), { force: true });
});
afterAll(async () => {
  await daemon?.stop();
  await rm(stopped, { recursive: true, force: true });
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'devmgr-heads-'));
  home = join(folder, 'home');
  await cp(stopped, home, { recursive: true, mode: 0 });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const everything: Omit<AuditOptions, 'home'> = { json: false, device: null, since: null, limit: null, verify: false };
const run = (options: Partial<AuditOptions>) => runDaemonProgram(audit, { ...everything, home, ...options });
const verify = async (head?: string) => {
  const { code, stdout, stderr } = await run({ verify: true, json: true, ...(head === undefined ? {} : { head }) });
  expect([stderr, code === 0]).toEqual(['', (JSON.parse(stdout).problems ?? []).length === 0]);
  return JSON.parse(stdout).problems as string[];
};
const presentHead = async () => (await run({ head: true })).stdout.trim();
const file = () => join(home, 'journal-heads');
const lines = async () => (await readFile(file(), 'utf8')).trimEnd().split('\n');
const log = pino({ level: 'silent' });
/** Starts a daemon on the home, does something there, and stops it. */
const inDaemon = async (use: (url: string) => Promise<void> = async () => {}) => {
  const running = await startDaemon(testSettings(home), '0.0.0-test', log);
  await use(running.url).finally(() => running.stop());
};
/** Changes by a person who can write the database, but does not have the key. */
const tamper = (sql: string) => {
  const db = new Database(join(home, 'devmgr.db'));
  db.exec(`DROP TRIGGER IF EXISTS event_is_never_changed; DROP TRIGGER IF EXISTS event_is_never_removed; ${sql}`);
  db.close();
};
const value = (sql: string) => {
  const db = new Database(join(home, 'devmgr.db'), { readonly: true });
  try {
    return db.prepare(sql).pluck().get() as string;
  } finally {
    db.close();
  }
};
const seal = () => value(`SELECT value FROM meta WHERE name = 'journal'`);
const addDevice = async (url: string) => {
  const call = (path: string, body: object, token = '') =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    }).then(response => response.json());
  const { data: login } = (await call('/api/auth/login', { username: 'admin', password: adminPassword })) as {
    data: { token: string };
  };
  const device = { deviceType: 'UKEY', serialNumber: 'ADDED-1', manufacturer: 'F', model: 'M' };
  expect(await call('/api/devices/register', device, login.token)).toMatchObject({ code: 200 });
};
describe('the signed heads', () => {
  it('are written at the start and at the stop, and the journal contains them', async () => {
    expect(await verify()).toEqual([]);
    const ids = (await lines()).map(line => Number(line.split(' ')[0]));
    expect(ids.at(-1)).toBe(Number(value('SELECT max(id) FROM event')));
    await inDaemon(addDevice);
    expect((await lines()).length).toBeGreaterThan(ids.length);
    expect((await lines()).at(-1)!.startsWith(`${(await presentHead()).replace(':', ' ')} `)).toBe(true);
    expect(await verify()).toEqual([]);
  });

  it('report entries that were removed at the end, with an earlier seal put back', async () => {
    const last = Number(value('SELECT max(id) FROM event'));
    await cp(join(home, 'devmgr.db'), join(folder, 'earlier.db'));
    await inDaemon(addDevice);
    const end = Number(value('SELECT max(id) FROM event'));
    await cp(join(folder, 'earlier.db'), join(home, 'devmgr.db'));
    const [problem, ...others] = await verify();
    expect(problem).toMatch(
      new RegExp(`^the journal ends at entry ${last}, the signed head of 20.* records ${end}: entries were removed$`),
    );
    expect(others).toEqual([]);
    const checked = await runDaemonProgram(check, { home, json: false });
    expect([checked.code, checked.stdout]).toEqual([1, expect.stringContaining(`journal: ${problem}`)]);
  });

  it('still report it after the daemon has written further entries', async () => {
    await cp(join(home, 'devmgr.db'), join(folder, 'earlier.db'));
    await inDaemon(addDevice);
    await cp(join(folder, 'earlier.db'), join(home, 'devmgr.db'));
    await inDaemon(addDevice);
    await inDaemon();
    expect((await verify())[0]).toMatch(
      /^entry \d+ is not the one of the signed head of .*: the journal was replaced or rewritten$/,
    );
  });

  it('report a line that was changed, removed or copied', async () => {
    await inDaemon(addDevice);
    const text = await readFile(file(), 'utf8');
    const rows = text.trimEnd().split('\n');
    const changed = [
      text.replace(/^\d+/, '2'),
      rows.toSpliced(1, 1).join('\n'),
      [...rows, rows[0]].join('\n'),
      rows.toReversed().join('\n'),
      `${text}nonsense`,
    ];
    for (const other of changed) {
      await writeFile(file(), other.endsWith('\n') ? other : `${other}\n`);
      expect((await verify()).at(-1)).toMatch(/^line \d+ of journal-heads was changed, inserted or moved/);
    }
  });

  it('continue after a write that was interrupted', async () => {
    await appendFile(file(), '99 half a li');
    expect(await verify()).toEqual([]);
    await inDaemon(addDevice);
    expect(await verify()).toEqual([]);
    expect(await readFile(file(), 'utf8')).not.toContain('half');
  });

  it('must exist once entries of this version were written', async () => {
    await unlink(file());
    expect(await verify()).toEqual([expect.stringMatching(/^the file journal-heads is missing/)]);
    await inDaemon();
    expect(await verify()).toEqual([]);
  });

  it('are not required for a registry of an earlier version, whose daemon wrote none', async () => {
    await unlink(file());
    tamper(`UPDATE event SET detail = json_remove(detail, '$.codeDigest', '$.passwordDigest')`);
    expect((await verify()).join('\n')).not.toContain('journal-heads');
  });

  it('end with the present one, which another place can keep and check', async () => {
    const head = await presentHead();
    expect(head).toMatch(/^\d+:[A-Za-z0-9+/]{43}=$/);
    expect(JSON.parse((await run({ head: true, json: true })).stdout)).toEqual({
      id: Number(head.split(':')[0]),
      mac: head.slice(head.indexOf(':') + 1),
    });
    await cp(home, join(folder, 'copy'), { recursive: true });
    await inDaemon(addDevice);
    expect(await verify(head)).toEqual([]);
    const later = await presentHead();
    expect(await verify(later)).toEqual([]);
    // The whole home was put back: only the head that was kept elsewhere shows it.
    await rm(home, { recursive: true });
    await cp(join(folder, 'copy'), home, { recursive: true });
    expect(await verify()).toEqual([]);
    expect(await verify(later)).toEqual([
      expect.stringMatching(/^the journal ends at entry \d+, the given head records \d+/),
    ]);
    expect(await verify(head.replace(/:./, ':_'))).toEqual([
      expect.stringMatching(/^entry \d+ is not the one of the given head/),
    ]);
  });

  it.each(['', '12', 'x:y', '0:abc', '5:'])('refuse the malformed head %j', async head => {
    expect(await run({ verify: true, head })).toMatchObject({ code: 2, stdout: '' });
  });

  it('do not print an end that was forged', async () => {
    tamper(`UPDATE meta SET value = json_set(value, '$.id', 2) WHERE name = 'journal'`);
    expect(await run({ head: true })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/the end of the journal in \S+ is not valid/),
    });
  });

  it('do not change what a backup is', async () => {
    const to = join(folder, 'copy.db');
    expect((await runDaemonProgram(backup, { home, json: false, file: to })).code).toBe(0);
    expect(await verify()).toEqual([]);
  });
});

describe('the signed heads after', () => {
  it('a restore say that the journal went back, and so does the journal', async () => {
    const copy = join(folder, 'copy.db');
    await runDaemonProgram(backup, { home, json: false, file: copy });
    await inDaemon(addDevice);
    const end = await presentHead();
    const restored = await runDaemonProgram(restore, { home, json: true, file: copy });
    expect(restored).toMatchObject({ code: 0 });
    expect(await verify()).toEqual([]);
    expect((await lines()).at(-1)).toContain(' restored ');
    await inDaemon();
    expect(await verify()).toEqual([]);
    const { stdout } = await run({ json: true, types: ['REGISTRY_RESTORED'] });
    expect(JSON.parse(stdout)).toMatchObject({ user: null, details: { restoredTo: expect.any(Number) } });
    await inDaemon();
    expect((await run({ json: true, types: ['REGISTRY_RESTORED'] })).stdout).toBe(stdout);
    // A head that was kept elsewhere before the restore is not in the restored journal.
    expect(await verify(end)).toEqual([expect.stringMatching(/the given head/)]);
    // The restore is undone.
    const kept = JSON.parse(restored.stdout).kept as string;
    expect(await runDaemonProgram(restore, { home, json: true, file: kept })).toMatchObject({ code: 0 });
    expect(await verify(end)).toEqual([]);
  });

  it('a restore into another home, as the page on backups describes it', async () => {
    const copy = join(folder, 'copy.db');
    await runDaemonProgram(backup, { home, json: false, file: copy });
    const trial = join(folder, 'trial');
    await cp(join(home, 'journal-key'), join(trial, 'journal-key'));
    expect(await runDaemonProgram(restore, { home: trial, json: true, file: copy })).toMatchObject({ code: 0 });
    expect(await run({ home: trial, verify: true })).toMatchObject({ code: 0, stderr: '' });
    expect((await runDaemonProgram(check, { home: trial, json: true })).code).toBe(0);
  });

  it('a reset of a password include its entry', async () => {
    expect(await runDaemonProgram(resetPassword, { home, json: true, username: 'eve' })).toMatchObject({ code: 0 });
    expect((await lines()).at(-1)!.startsWith(`${(await presentHead()).replace(':', ' ')} `)).toBe(true);
    expect(await verify()).toEqual([]);
  });

  it('a restore and a reset before the next start contain both', async () => {
    const copy = join(folder, 'copy.db');
    await runDaemonProgram(backup, { home, json: false, file: copy });
    await runDaemonProgram(restore, { home, json: true, file: copy });
    await runDaemonProgram(resetPassword, { home, json: true, username: 'eve' });
    const types = (await run({ json: true, limit: 2 })).stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).type);
    expect(types).toEqual(['REGISTRY_RESTORED', 'PASSWORD_CHANGED']);
    expect(await verify()).toEqual([]);
  });

  it('a restore refuse a file of heads that was changed', async () => {
    const copy = join(folder, 'copy.db');
    await runDaemonProgram(backup, { home, json: false, file: copy });
    await writeFile(file(), 'nonsense\n');
    const before = seal();
    expect(await runDaemonProgram(restore, { home, json: false, file: copy })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/line 1 of journal-heads was changed[\s\S]*as evidence/),
    });
    expect(seal()).toBe(before);
  });
});
