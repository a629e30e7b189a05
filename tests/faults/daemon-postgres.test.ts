import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { backup } from '../../daemon/maintenance/backup.ts';
import { check } from '../../daemon/maintenance/maintenance.ts';
import { resetPassword } from '../../daemon/maintenance/reset-password.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { needsPostgres, PostgresServer, serverPassword } from '../support/postgres.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { temporaryFolder } from '../support/temporary.ts';

needsPostgres('a daemon with its registry in PostgreSQL', () => {
  let server: PostgresServer;
  let passwordFile: string;
  beforeAll(async () => {
    server = await PostgresServer.start({ passwords: true });
    passwordFile = join(server.folder, 'for-daemon');
    writeFileSync(passwordFile, serverPassword, { mode: 0o600 });
  });
  afterAll(() => server?.stop());

  const start = (home: string, store: string, env: Readonly<Record<string, string>> = {}) =>
    spawnDaemon({ home, store }, { DEVMGR_STORE_PASSWORD_FILE: passwordFile, ...env });
  const register = (daemon: DaemonProcess, serialNumber: string) =>
    daemon.call('POST', '/api/devices/register', {
      deviceType: 'UKEY',
      serialNumber,
      manufacturer: 'Feitian',
      model: 'K9',
    });

  it('is killed and started again without a loss, with the same administrator and a journal that continues', async () => {
    const home = temporaryFolder();
    const url = server.url(await server.database());
    const first = await start(home, url);
    expect((await register(first, 'A-1')).code).toBe(200);
    await first.kill();
    const second = await start(home, url);
    expect((await register(second, 'A-1')).code).toBe(2006);
    expect((await register(second, 'A-2')).code).toBe(200);
    expect((await second.call('GET', '/api/devices/list')).data).toMatchObject({ pagination: { total: 2 } });
    expect((await second.call('GET', '/api/users/list')).data).toMatchObject({ pagination: { total: 1 } });
    expect((await second.call('GET', '/api/health')).status).toBe(200);
    expect(await second.stop()).toBe(0);
    expect(first.output() + second.output()).not.toContain(serverPassword);
  });

  it('keeps the windows of limits when it is killed; headers of queries count down', async () => {
    const home = temporaryFolder();
    const url = server.url(await server.database());
    const limited = { DEVMGR_LIMIT_MODIFY: '3/600', DEVMGR_LIMIT_QUERY: '100/600' };
    const first = await start(home, url, limited);
    for (let i = 1; i <= 3; i++) expect((await register(first, `A-${i}`)).code).toBe(200);
    await first.kill();
    const second = await start(home, url, limited);
    expect((await register(second, 'A-4')).code).toBe(429);
    const headers = { authorization: `Bearer ${second.token}` };
    const remaining = [];
    for (let i = 0; i < 20; i++) {
      const { headers: answered } = await fetch(`${second.url}/api/devices/list`, { headers });
      expect(answered.get('x-ratelimit-limit')).toBe('100');
      remaining.push(Number(answered.get('x-ratelimit-remaining')));
    }
    expect(remaining).toEqual(Array.from({ length: 20 }, (_, i) => 99 - i));
    expect(await second.stop()).toBe(0);
  });

  it('is checked and audited by the programs of the daemon, which find what was changed behind it', async () => {
    const home = temporaryFolder();
    const database = await server.database();
    const url = server.url(database);
    const env = { DEVMGR_STORE: url, DEVMGR_STORE_PASSWORD_FILE: passwordFile };
    const daemon = await start(home, url);
    await register(daemon, 'A-1');
    await register(daemon, 'A-2');
    await daemon.call('POST', '/api/tokens', { name: 'line', role: 'ADMIN', expiresInDays: 1, may: ['scim'] });
    const options = { home, json: false };
    const auditing = { ...options, device: null, since: null, limit: null, verify: true };
    expect(await runDaemonProgram(check, options, env)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^OK: 2 devices, \d+ journal entries, 0 files checked\n$/),
    });
    expect(await runDaemonProgram(audit, auditing, env)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^OK/),
    });
    await daemon.stop();
    const reset = await runDaemonProgram(resetPassword, { ...options, username: 'admin' }, env);
    expect(reset).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S{20,}\n$/) });
    expect(await runDaemonProgram(check, options, env)).toMatchObject({ code: 0 });
    expect(await runDaemonProgram(backup, { ...options, file: join(home, 'copy') }, env)).toMatchObject({ code: 0 });
    await server.query(
      `UPDATE device SET status = 'ACTIVE' WHERE number = 1; UPDATE "user" SET role = 'VIEWER';
       UPDATE device_count SET count = 7; UPDATE head SET app = 3;
       UPDATE service_token SET may = '["webhooks","policies"]'`,
      database,
    );
    const found = await runDaemonProgram(check, options, env);
    expect(found.code).toBe(1);
    for (const text of [
      'the counter of UKEY INACTIVE of Feitian is 7, there are 1',
      'numbers are missing in app: 0 rows, the last number is 3',
      'DEV-1 is ACTIVE, the journal records INACTIVE',
      'has the role VIEWER, the journal records ADMIN',
      'TOK-1 (line) was changed without an entry',
    ])
      expect(found.stdout).toContain(text);
    await server.query(
      `SET session_replication_role = replica; UPDATE event SET actor = 'mallory' WHERE id = 2; DELETE FROM event WHERE id = 3`,
      database,
    );
    const verified = await runDaemonProgram(audit, auditing, env);
    expect(verified.stdout).toMatch(/entry 2 was changed/);
    expect(verified.stdout).toMatch(/entry 3 was removed/);
  });

  it('refuses a home with other secrets', async () => {
    const url = server.url(await server.database());
    const secrets = { DEVMGR_SECRETS: temporaryFolder() };
    const daemon = await start(temporaryFolder(), url, secrets);
    await daemon.stop();
    await expect(start(temporaryFolder(), url)).rejects.toThrow(
      /ended with 2 .*sealed with a key that this home does not have/s,
    );
  });

  it.each([
    ['postgres://devmgr:hush@127.0.0.1/d', {}, 2, /contains a password/],
    ['mysql://devmgr@127.0.0.1/d', {}, 2, /--store does not know the scheme mysql/],
    ['somewhere', {}, 2, /--store is not a URL/],
    ['postgres://devmgr@127.0.0.1:1/d', {}, 9, /cannot be reached/],
    ['SOCKET', { DEVMGR_STORE_PASSWORD_FILE: '/absent' }, 2, /does not exist/],
  ])('does not start with %s %j', async (store, env, code, message) => {
    const url = store === 'SOCKET' ? server.url('postgres') : store;
    const refused = await start(temporaryFolder(), url, env).then(
      () => null,
      error => error as Error,
    );
    expect(refused?.message).toMatch(new RegExp(`ended with ${code} `));
    expect(refused?.message).toMatch(message);
    expect(refused?.message).not.toContain('hush');
  });

  it('refuses a wrong password with one line that does not show it', async () => {
    const file = join(temporaryFolder(), 'wrong');
    writeFileSync(file, 'a wrong one', { mode: 0o600 });
    const starting = start(temporaryFolder(), server.url('postgres'), { DEVMGR_STORE_PASSWORD_FILE: file });
    const refused = await starting.catch(error => error as Error);
    expect((refused as Error).message).toMatch(/ended with 2 .*password authentication failed/s);
    expect((refused as Error).message).not.toContain('a wrong one');
  });
});
