/** `daemon backup` and `restore` of a registry in PostgreSQL, also from and into SQLite. */

import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fill } from '../../benchmarks/fill.ts';
import { Home } from '../../daemon/home/home.ts';
import { audit } from '../../daemon/maintenance/audit.ts';
import { backup } from '../../daemon/maintenance/backup.ts';
import { copy } from '../../daemon/maintenance/copy.ts';
import { init } from '../../daemon/maintenance/init.ts';
import { check } from '../../daemon/maintenance/maintenance.ts';
import { restore } from '../../daemon/maintenance/restore.ts';
import { writeRegistry } from '../../daemon/maintenance/write-registry.ts';
import type { RestoreOptions } from '../../src/contract/programs.ts';
import { type DaemonProcess, spawnDaemon, uploadApp } from '../support/daemon-process.ts';
import { imageOf, rowsOf } from '../support/database.ts';
import { killWhileItWaits, maintenanceCommand } from '../support/maintenance-process.ts';
import { needsPostgres, PostgresServer, postgresServers } from '../support/postgres.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const DEVICES = 3000;
const secretFiles = ['journal-key', 'instance-key', 'signing-key'];

const register = (daemon: DaemonProcess, serialNumber: string) =>
  daemon.call('POST', '/api/devices/register', {
    deviceType: 'UKEY',
    manufacturer: 'Feitian',
    model: 'K9',
    serialNumber,
    tags: { lot: '7', alpha: 'ü:x' },
  });

const save = (home: string, url: string | null, file: string, more: object = {}) =>
  runDaemonProgram(backup, { home, json: true, file, ...more }, url === null ? {} : { DEVMGR_STORE: url });
const bring = (home: string, url: string | null, file: string, more: Partial<RestoreOptions> = {}) =>
  runDaemonProgram(restore, { home, json: true, file, ...more }, url === null ? {} : { DEVMGR_STORE: url });
const checked = async (home: string, url: string | null) =>
  JSON.parse(
    (await runDaemonProgram(check, { home, json: true }, url === null ? {} : { DEVMGR_STORE: url })).stdout,
  ) as { problems: string[]; devices: number; entries: number; files: number };
const verified = (home: string, url: string) =>
  runDaemonProgram(
    audit,
    { home, json: false, device: null, since: null, limit: null, verify: true },
    { DEVMGR_STORE: url },
  );

// The statements of the store are tested on every version: tests/contract/store-postgres.test.ts.
const programs = postgresServers().at(-1);

needsPostgres(`backups of a registry in PostgreSQL ${programs?.version}`, () => {
  let server: PostgresServer;
  /** A home in SQLite with some of everything, its backup, and that of its copy in PostgreSQL. */
  let filled: string;
  let ofSqlite: string;
  let ofPostgres: string;
  let filledUrl: string;
  beforeAll(async () => {
    server = await PostgresServer.start({ programs });
    filled = mkdtempSync(join(tmpdir(), 'devmgr-backups-'));
    const daemon = await spawnDaemon({ home: filled });
    for (const serial of ['A-1', 'A-2']) expect((await register(daemon, serial)).code).toBe(200);
    await daemon.call('POST', '/api/tokens', { name: 'line', role: 'DEALER', expiresInDays: 30 });
    await uploadApp(daemon, '1.0.0');
    await daemon.stop();
    await fill(filled, DEVICES);
    filledUrl = server.url(await server.database());
    expect(
      await runDaemonProgram(copy, { home: filled, json: false, from: 'sqlite:', to: filledUrl }, {}),
    ).toMatchObject({ code: 0 });
    [ofSqlite, ofPostgres] = [join(filled, 'of-sqlite'), join(filled, 'of-postgres')];
    expect(await save(filled, null, ofSqlite)).toMatchObject({ code: 0, stderr: '' });
    expect(await save(filled, filledUrl, ofPostgres)).toMatchObject({ code: 0, stderr: '' });
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
    rmSync(filled, { recursive: true, force: true });
  });

  /** A home with the secrets and files of the filled one, and an empty database. */
  const newHome = () => {
    const home = temporaryFolder();
    for (const name of secretFiles) copyFileSync(join(filled, name), join(home, name));
    cpSync(join(filled, 'blobs'), join(home, 'blobs'), { recursive: true });
    return home;
  };
  const newStore = async () => {
    const database = await server.database();
    return { database, url: server.url(database) };
  };

  it('has the same rows as the backup of the same registry in SQLite, and each engine restores both', async () => {
    expect(rowsOf(ofPostgres)).toEqual(rowsOf(ofSqlite));
    const images = [];
    for (const file of [ofSqlite, ofPostgres]) {
      const [home, { database, url }] = [newHome(), await newStore()];
      const result = await bring(home, url, file);
      expect(result).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(result.stdout)).toMatchObject({ devices: DEVICES, kept: null, verified: true });
      expect(await checked(home, url)).toMatchObject({ problems: [], devices: DEVICES, files: 1 });
      images.push(await imageOf(server, database));
      const other = newHome();
      expect(await bring(other, null, file)).toMatchObject({ code: 0 });
      expect(await checked(other, null)).toMatchObject({ problems: [], devices: DEVICES, files: 1 });
    }
    expect(images[0]).toEqual(images[1]);
  }, 180_000);

  it('has one consistent state while a daemon writes; the restored registry continues and records the restore', async () => {
    const [home, { url }] = [newHome(), await newStore()];
    expect(await bring(home, url, ofPostgres)).toMatchObject({ code: 0 });
    const daemon = await spawnDaemon({ home, store: url });
    let last = 0;
    let isDone = false;
    const underWay = Promise.withResolvers<void>();
    const load = Promise.all(
      ['B', 'C', 'D'].map(async name => {
        for (let i = 0; i < 100_000 && !isDone; i++) {
          expect((await register(daemon, `${name}-${i}`)).code).toBe(200);
          if (++last === 10) underWay.resolve();
        }
      }),
    );
    await Promise.race([underWay.promise, load]);
    const file = join(home, 'running');
    const saved = await save(home, url, file);
    isDone = true;
    await load;
    expect(saved).toMatchObject({ code: 0, stderr: '' });
    await daemon.stop();
    const [elsewhere, target] = [newHome(), await newStore()];
    expect(await bring(elsewhere, target.url, file)).toMatchObject({ code: 0, stderr: '' });
    const { problems, devices } = await checked(elsewhere, target.url);
    expect(problems).toEqual([]);
    expect(devices).toBeGreaterThan(DEVICES);
    const next = await spawnDaemon({ home: elsewhere, store: target.url });
    expect((await register(next, 'A-1')).code).toBe(2006);
    expect((await register(next, 'Z-1')).data).toMatchObject({ deviceId: `DEV-${devices + 1}` });
    await next.stop();
    const entries = await server.query(
      `SELECT count(*)::int AS n FROM event WHERE type = 'REGISTRY_RESTORED'`,
      target.database,
    );
    // That of the first restore is in the backup.
    expect(entries).toEqual([{ n: 2 }]);
    expect(await verified(elsewhere, target.url)).toMatchObject({ code: 0 });
  }, 180_000);

  it('replaces a registry, keeps it in the home, and brings it back with its files', async () => {
    const [home, { database, url }] = [newHome(), await newStore()];
    expect(await bring(home, url, ofPostgres)).toMatchObject({ code: 0 });
    const daemon = await spawnDaemon({ home, store: url });
    await uploadApp(daemon, '2.0.0');
    await register(daemon, 'later');
    await daemon.stop();
    const before = await imageOf(server, database);
    const replaced = await bring(home, url, ofSqlite);
    expect(replaced).toMatchObject({ code: 0, stderr: '' });
    const { kept } = JSON.parse(replaced.stdout) as { kept: string };
    expect(readdirSync(home).filter(name => name.startsWith('devmgr.db'))).toEqual([kept.slice(home.length + 1)]);
    expect(await checked(home, url)).toMatchObject({ problems: [], devices: DEVICES, files: 1 });
    expect(await bring(home, url, kept)).toMatchObject({ code: 0 });
    expect(await imageOf(server, database)).toEqual(before);
    expect(await checked(home, url)).toMatchObject({ problems: [], devices: DEVICES + 1, files: 2 });
  }, 180_000);

  it('is killed in the middle: daemons find the earlier registry, and the next attempt completes', async () => {
    const [home, { database, url }] = [newHome(), await newStore()];
    expect(await bring(home, url, ofPostgres)).toMatchObject({ code: 0 });
    const daemon = await spawnDaemon({ home, store: url });
    await register(daemon, 'later');
    await daemon.stop();
    const before = await imageOf(server, database);
    // The restore waits before it removes rows, and then when it has written all rows.
    for (const [held, waits] of [
      ['device', 'TRUNCATE%'],
      ['registration_count', 'DELETE FROM registration_count%'],
    ]) {
      await killWhileItWaits({
        server,
        database,
        command: maintenanceCommand('restore', { home, file: ofSqlite }),
        env: { DEVMGR_STORE: url },
        lock: `${held} IN SHARE MODE`,
        statement: waits!,
        duringWait: () =>
          expect(spawnDaemon({ home: newHome(), store: url })).rejects.toThrow(
            /ended with 9 .*(daemon uses|is being)/s,
          ),
      });
      await server.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${database}'`);
      expect(await imageOf(server, database)).toEqual(before);
      expect(await checked(home, url)).toMatchObject({ problems: [], devices: DEVICES + 1 });
      // The next use does not say that it was restored.
      const target = { url, env: {} };
      await writeRegistry({ home: await Home.open(home), target }, expect.unreachable, async () => {});
      expect(await imageOf(server, database)).toEqual(before);
    }
    expect(await bring(home, url, ofSqlite)).toMatchObject({ code: 0 });
    expect(await checked(home, url)).toMatchObject({ problems: [], devices: DEVICES });
  }, 180_000);

  it('leaves no file under the name if it is killed while it writes, and the next attempt completes', async () => {
    const [home, folder] = [newHome(), temporaryFolder()];
    const file = join(folder, 'backup');
    const database = filledUrl.match(/\/(\w+)\?/)![1]!;
    const before = await imageOf(server, database);
    // The rows of all other tables are written by then.
    await killWhileItWaits({
      server,
      database,
      command: maintenanceCommand('backup', { home, file }),
      env: { DEVMGR_STORE: filledUrl },
      lock: 'event IN ACCESS EXCLUSIVE MODE',
      statement: '%FROM "event"%',
    });
    expect(readdirSync(folder)).not.toContain('backup');
    expect(await imageOf(server, database)).toEqual(before);
    expect(await save(home, filledUrl, file)).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toEqual(['backup']);
    expect(rowsOf(file)).toEqual(rowsOf(ofSqlite));
  }, 60_000);

  it('does not change the registry if a backup was changed, has other secrets, or its rows are written wrong', async () => {
    const [home, { database, url }] = [newHome(), await newStore()];
    expect(await bring(home, url, ofPostgres)).toMatchObject({ code: 0 });
    const before = await imageOf(server, database);
    const changed = join(home, 'changed');
    const bytes = readFileSync(ofPostgres);
    bytes[Math.trunc(bytes.length / 2)]! ^= 1;
    writeFileSync(changed, bytes);
    expect(await bring(home, url, changed)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not verified'),
    });
    const other = temporaryFolder();
    expect(await runDaemonProgram(init, { home: other, json: false }, {})).toMatchObject({ code: 0 });
    const foreign = join(other, 'backup');
    expect(await save(other, null, foreign)).toMatchObject({ code: 0 });
    expect(await bring(home, url, foreign, { acceptUnverified: true })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${foreign} is sealed with a key that this home does not have`),
    });
    expect(await bring(other, url, foreign)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is sealed with a key that this home does not have'),
    });
    await server.query(
      `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.note = 'spoiled'; RETURN NEW; END $$;
       CREATE TRIGGER spoil BEFORE INSERT ON device FOR EACH ROW WHEN (NEW.number = 7) EXECUTE FUNCTION spoil()`,
      database,
    );
    expect(await bring(home, url, ofPostgres)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the rows of device are not those of the source'),
    });
    expect(await imageOf(server, database)).toEqual(before);
    expect(await checked(home, url)).toMatchObject({ problems: [] });
  }, 180_000);

  it('is encrypted if asked for, and restored with the passphrase only', async () => {
    const [home, { url }] = [newHome(), await newStore()];
    const file = join(home, 'sealed.age');
    const passphraseFile = join(home, 'passphrase');
    writeFileSync(passphraseFile, 'a long passphrase\n');
    expect(await save(home, filledUrl, file, { passphraseFile })).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'latin1')).toMatch(/^age-encryption\.org/);
    expect(await bring(home, url, file)).toMatchObject({ code: 2 });
    expect(await bring(home, url, file, { passphraseFile })).toMatchObject({ code: 0 });
    expect(await checked(home, url)).toMatchObject({ problems: [], devices: DEVICES });
  }, 180_000);

  it('is refused for a database without a registry, a file that exists, and while a daemon runs', async () => {
    const [home, { url }] = [newHome(), await newStore()];
    expect(await save(home, url, join(home, 'none'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no registry in'),
    });
    expect(await save(home, filledUrl, ofSqlite)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already exists'),
    });
    expect(await bring(home, url, ofPostgres)).toMatchObject({ code: 0 });
    const daemon = await spawnDaemon({ home: newHome(), store: url });
    expect(await bring(home, url, ofPostgres)).toMatchObject({
      code: 9,
      stderr: expect.stringMatching(/daemon uses/),
    });
    await daemon.stop();
  }, 120_000);
});
