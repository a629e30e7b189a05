import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { backup } from '../../daemon/maintenance/backup.ts';
import { check } from '../../daemon/maintenance/maintenance.ts';
import { restore } from '../../daemon/maintenance/restore.ts';
import { rotateKey } from '../../daemon/maintenance/rotate-key.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const keys = ['instance-key', 'journal-heads', 'journal-key', 'secrets.lock', 'signing-key'];
const instanceOf = async (daemon: DaemonProcess) => {
  const { data } = await daemon.call('GET', '/api/health?nonce=AAAAAAAAAAAAAAAAAAAAAA');
  return (data as { identity: { instanceId: string } }).identity.instanceId;
};
const auditing = { json: false, device: null, since: null, limit: null, verify: true };

/** Starts a daemon that must refuse; returns what it wrote. */
const refused = (options: { home: string; store?: string; secrets?: string }): Promise<string> =>
  spawnDaemon(options).then(
    async daemon => {
      await daemon.kill();
      throw new Error('the daemon has started');
    },
    (error: Error) => error.message,
  );

describe('the folder of the secrets', () => {
  const start = (home: string, secrets: string, port?: number) =>
    spawnDaemon({ home, ...(port ? { port } : {}) }, { DEVMGR_SECRETS: secrets });

  it('has all keys, and the home has none of them', async () => {
    const [home, secrets] = [temporaryFolder(), join(temporaryFolder(), 'secrets')];
    const daemon = await start(home, secrets);
    await daemon.stop();
    expect(readdirSync(secrets).sort()).toEqual(keys);
    expect(readdirSync(home).filter(name => keys.includes(name))).toEqual([]);
  });

  it('is used by check, audit, key rotation, backup and restore', async () => {
    const [home, secrets] = [temporaryFolder(), join(temporaryFolder(), 'secrets')];
    const daemon = await start(home, secrets);
    await daemon.stop();
    const env = { DEVMGR_SECRETS: secrets };
    const basis = { home, json: false };
    expect(await runDaemonProgram(rotateKey, { ...basis, journal: true }, env)).toMatchObject({ code: 0 });
    expect(readdirSync(secrets)).toContain('journal-keys-earlier');
    expect(await runDaemonProgram(check, basis, env)).toMatchObject({ code: 0 });
    expect(await runDaemonProgram(audit, { ...auditing, home }, env)).toMatchObject({ code: 0 });
    const file = join(temporaryFolder(), 'backup');
    expect(await runDaemonProgram(backup, { ...basis, file }, env)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(secrets),
    });
    const inStore = { ...env, DEVMGR_FILES: 's3://devmgr-files/production?endpoint=https://s3.example.com' };
    expect((await runDaemonProgram(backup, { ...basis, file: `${file}-2` }, inStore)).stderr).toContain(
      ` and the files in s3://devmgr-files/production\n`,
    );
    expect(await runDaemonProgram(restore, { ...basis, file }, env)).toMatchObject({ code: 0 });
    expect(readdirSync(home)).not.toContain('journal-key');
    expect(await runDaemonProgram(audit, { ...auditing, home }, {})).toMatchObject({ code: 1 });
  });

  it('makes a daemon with another one refuse the registry of the home', async () => {
    const [home, secrets] = [temporaryFolder(), join(temporaryFolder(), 'secrets')];
    await (await start(home, secrets)).stop();
    const other = join(temporaryFolder(), 'other');
    expect(await refused({ home, secrets: other })).toContain('is sealed with a key that this home does not have');
    expect(readdirSync(other)).toEqual([]);
  });

  it('is refused if others can read a key, or if it is a link', async () => {
    const [home, secrets] = [temporaryFolder(), join(temporaryFolder(), 'secrets')];
    await (await start(home, secrets)).stop();
    chmodSync(join(secrets, 'journal-key'), 0o640);
    expect(await refused({ home, secrets })).toContain('journal-key can be read by others');
    chmodSync(join(secrets, 'journal-key'), 0o600);
    const link = join(temporaryFolder(), 'link');
    symlinkSync(secrets, link);
    expect(await refused({ home, secrets: link })).toContain(`the folder of the secrets ${link} is a symbolic link`);
  });
});

needsPostgres('secrets of a registry in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  it('let a daemon with an empty home continue the registry, with the same identity and tokens', async () => {
    const secrets = join(temporaryFolder(), 'secrets');
    const store = server.url(await server.database());
    const first = await spawnDaemon({ home: temporaryFolder(), store, secrets });
    const identity = await instanceOf(first);
    await first.kill();
    const second = await spawnDaemon({ home: temporaryFolder(), store, secrets });
    expect(await instanceOf(second)).toBe(identity);
    const response = await fetch(`${second.url}/api/users/list`, {
      headers: { authorization: `Bearer ${first.token}` },
    });
    expect(response.status).toBe(200);
    await second.stop();
  });

  it('are created once, and a node without them refuses the database and creates none', async () => {
    const [home, secrets] = [temporaryFolder(), join(temporaryFolder(), 'secrets')];
    const database = await server.database();
    const store = server.url(database);
    await (await spawnDaemon({ home, store, secrets })).stop();
    const before = await server.query('SELECT * FROM head', database);
    const other = temporaryFolder();
    const said = await refused({ home: other, store });
    expect(said).toMatch(/is sealed with a key that this home does not have/);
    expect(readdirSync(other).filter(name => keys.includes(name))).toEqual([]);
    expect(await server.query('SELECT * FROM head', database)).toEqual(before);
  });

  it('must have the instance-key that clients know', async () => {
    const [home, secrets] = [temporaryFolder(), join(temporaryFolder(), 'secrets')];
    const database = await server.database();
    const store = server.url(database);
    await (await spawnDaemon({ home, store, secrets })).stop();
    const copy = join(temporaryFolder(), 'copy');
    mkdirSync(copy, { mode: 0o700 });
    cpSync(secrets, copy, { recursive: true });
    rmSync(join(copy, 'instance-key'));
    expect(await refused({ home: temporaryFolder(), store, secrets: copy })).toContain('another instance-key');
    expect(readdirSync(copy)).not.toContain('instance-key');
    await server.query(`DELETE FROM meta WHERE name = 'instance'`, database);
    await (await spawnDaemon({ home: temporaryFolder(), store, secrets: copy })).stop();
    expect(readdirSync(copy)).toContain('instance-key');
  });
});
