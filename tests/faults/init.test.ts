import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { init } from '../../daemon/maintenance/init.ts';
import { check } from '../../daemon/maintenance/maintenance.ts';
import { adminPassword } from '../support/daemon.ts';
import { spawnDaemon } from '../support/daemon-process.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const given = { DEVMGR_ADMIN_PASSWORD: adminPassword };
const run = (options: { home: string; store?: string; secrets?: string; json?: boolean }, env = {}) =>
  runDaemonProgram(init, { json: false, ...options }, env);

describe('daemon init', () => {
  it('creates a registry that a daemon continues, and changes nothing the second time', async () => {
    const [home, secrets] = [temporaryFolder(), join(temporaryFolder(), 'secrets')];
    const first = await run({ home, secrets, json: true });
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const file = join(home, 'initial-admin-password');
    const registry = join(home, 'devmgr.db');
    expect(JSON.parse(first.stdout)).toEqual({
      created: true,
      registry,
      secrets,
      administrator: 'admin',
      initialPasswordFile: file,
    });
    expect(readFileSync(file, 'utf8')).toMatch(/^\S{20,}\n$/);
    const keys = () => readdirSync(secrets).map(name => [name, readFileSync(join(secrets, name), 'utf8')]);
    const before = keys();
    expect(before.map(([name]) => name).sort()).toEqual([
      'instance-key',
      'journal-heads',
      'journal-key',
      'secrets.lock',
      'signing-key',
    ]);
    expect(await run({ home, secrets })).toEqual({
      code: 0,
      stdout: `the registry in ${registry} exists, with its keys in ${secrets}; nothing was changed\n`,
      stderr: '',
    });
    expect(keys()).toEqual(before);
    expect(await runDaemonProgram(check, { home, json: false }, { DEVMGR_SECRETS: secrets })).toMatchObject({
      code: 0,
    });
  });

  it('refuses a registry with other keys, and a password that is too short', async () => {
    const home = temporaryFolder();
    expect(await run({ home }, { DEVMGR_ADMIN_PASSWORD: 'short' })).toMatchObject({ code: 2 });
    expect(await run({ home })).toMatchObject({ code: 0 });
    const other = join(temporaryFolder(), 'other');
    expect(await run({ home, secrets: other })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is sealed with a key that this home does not have'),
    });
    expect(readdirSync(other)).toEqual([]);
  });
});

needsPostgres('daemon init with PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  it('creates the registry once if several nodes run it at the same time, for a daemon with an empty home', async () => {
    const secrets = join(temporaryFolder(), 'secrets');
    const database = await server.database();
    const store = server.url(database);
    const results = await Promise.all(
      [1, 2, 3].map(() => run({ home: temporaryFolder(), store, secrets, json: true }, given)),
    );
    expect(results.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
      [0, ''],
    ]);
    expect(results.map(({ stdout }) => JSON.parse(stdout).created).sort()).toEqual([false, false, true]);
    expect(await server.query('SELECT count(*)::int AS n FROM "user"', database)).toEqual([{ n: 1 }]);
    const daemon = await spawnDaemon({ home: temporaryFolder(), store, secrets });
    expect((await daemon.call('GET', '/api/users/list')).code).toBe(200);
    expect(await run({ home: temporaryFolder(), store, secrets })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('exists'),
    });
    await daemon.stop();
  });

  it.each([
    ['postgres://devmgr@127.0.0.1:1/d', 9, 'cannot be reached'],
    ['mysql://devmgr@127.0.0.1/d', 2, '--store does not know the scheme mysql'],
  ])('reports %s with exit code %i', async (store, code, text) => {
    const home = temporaryFolder();
    expect(await run({ home, store })).toMatchObject({ code, stderr: expect.stringContaining(text) });
    expect(readdirSync(home).filter(name => name.endsWith('-key'))).toEqual([]);
  });
});
