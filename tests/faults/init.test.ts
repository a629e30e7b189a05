import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { init } from '../../daemon/maintenance/init.ts';
import { check } from '../../daemon/maintenance/maintenance.ts';
import type { InitOptions } from '../../src/contract/programs.ts';
import { adminPassword } from '../support/daemon.ts';
import { spawnDaemon } from '../support/daemon-process.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const given = { DEVMGR_ADMIN_PASSWORD: adminPassword };
const run = (options: Partial<InitOptions> & { home: string }, env = {}) =>
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

  it('refuses a home that has lost its database, unless another registry is wanted', async () => {
    const home = temporaryFolder();
    expect(await run({ home })).toMatchObject({ code: 0 });
    const key = readFileSync(join(home, 'instance-key'), 'utf8');
    for (const name of readdirSync(home).filter(file => file.startsWith('devmgr.db'))) rmSync(join(home, name));
    expect(await run({ home })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /devmgr\.db is empty, but these secrets belong to the registry [0-9a-f]{32}\n.*restore/,
      ),
    });
    expect(readdirSync(home).filter(file => file.startsWith('devmgr.db'))).toEqual([]);
    const created = await run({ home, newRegistry: true, json: true });
    expect(created).toMatchObject({ code: 0 });
    const { earlierSecrets } = JSON.parse(created.stdout) as { earlierSecrets: string };
    expect(readFileSync(join(earlierSecrets, 'instance-key'), 'utf8')).toBe(key);
    expect(readFileSync(join(home, 'instance-key'), 'utf8')).not.toBe(key);
    expect(await run({ home, newRegistry: true })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nothing was changed'),
    });
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

  it('refuses an empty database with the secrets of another registry, as a daemon does, and leaves both as they are', async () => {
    const secrets = join(temporaryFolder(), 'secrets');
    const [known, empty] = [await server.database(), await server.database()];
    const start = (database: string, folder = secrets) =>
      spawnDaemon({ home: temporaryFolder(), store: server.url(database), secrets: folder });
    const first = await start(known);
    await first.kill();
    const refusal = /the database postgres:\S+ is empty, but these secrets belong to the registry [0-9a-f]{32}/;
    await expect(start(empty)).rejects.toThrow(new RegExp(`ended with 2 .*${refusal.source}`, 's'));
    const options = { home: temporaryFolder(), store: server.url(empty), secrets };
    expect(await run(options)).toMatchObject({ code: 2, stderr: expect.stringMatching(refusal) });
    const tables = `SELECT count(*)::int AS n FROM information_schema.tables WHERE table_schema = 'public'`;
    expect(await server.query(tables, empty)).toEqual([{ n: 0 }]);
    const again = await start(known);
    expect(again.output()).not.toContain('signed head');
    await again.stop();

    const created = await run({ ...options, newRegistry: true, json: true }, given);
    expect(created).toMatchObject({ code: 0 });
    const { earlierSecrets } = JSON.parse(created.stdout) as { earlierSecrets: string };
    for (const daemon of [await start(empty), await start(known, earlierSecrets)]) await daemon.stop();
    await expect(start(known)).rejects.toThrow(/ended with 2 .*sealed with a key that this home does not have/s);
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
