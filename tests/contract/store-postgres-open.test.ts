import { chmodSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { subjects } from '../../daemon/start/subjects.ts';
import { addressFrom } from '../../daemon/store/postgres/address.ts';
import { Connections } from '../../daemon/store/postgres/connections.ts';
import { openCopySource, openCopyTarget } from '../../daemon/store/postgres/copy.ts';
import { loginFrom, passwordFor, passwordIn } from '../../daemon/store/postgres/login.ts';
import { migrations } from '../../daemon/store/postgres/migrations.ts';
import { openPostgresStore, type PostgresOptions } from '../../daemon/store/postgres/postgres-store.ts';
import { Primary } from '../../daemon/store/postgres/primary.ts';
import { Readers } from '../../daemon/store/postgres/readers.ts';
import { DatabaseSession } from '../../daemon/store/postgres/session.ts';
import { checkCommitted, NoAnswer, NotWritten } from '../../daemon/store/postgres/transaction.ts';
import { Watch } from '../../daemon/store/postgres/watch.ts';
import type { CommitNotice } from '../../daemon/store/store.ts';
import { freePort } from '../support/free-port.ts';
import { needsPostgres, openPostgres, PostgresServer, serverPassword } from '../support/postgres.ts';
import { journalKey } from '../support/sqlite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { addDevice, commit, numbersOf, queryOf } from './store/fixtures.ts';

const address = (url: string, env = {}) => addressFrom(url, env);

describe('the URL of a PostgreSQL store', () => {
  it('names user, host, port and database', () => {
    expect(address('postgres://devmgr@db.example.com:5433/registry')).toEqual({
      user: 'devmgr',
      host: 'db.example.com',
      port: 5433,
      database: 'registry',
      tls: { rejectUnauthorized: true },
      text: 'postgres://devmgr@db.example.com:5433/registry',
    });
    expect(address('postgresql://u%40x@[::1]/d')).toMatchObject({ user: 'u@x', host: '::1', port: 5432, tls: false });
    expect(address('postgres://u@/d?host=/run/postgresql')).toMatchObject({
      host: '/run/postgresql',
      database: 'd',
      tls: false,
    });
  });

  it('is refused with a password, without repeating it', () => {
    const refused = () => address('postgres://u:hush@h/d');
    expect(refused).toThrow(/contains a password/);
    expect(refused).not.toThrow(/hush/);
  });

  it('is refused if a part is missing, malformed or unknown', () => {
    for (const url of [
      'postgres://',
      'postgres://h/d',
      'postgres://u@h',
      'postgres://u@h:x/d',
      'postgres://u@h/d?sslmode=disable',
      'postgres://u@h/%zz',
    ])
      expect(() => address(url)).toThrow(/the URL of the store/);
  });

  it('uses TLS as PGSSLMODE specifies, and verifies a server on a network by default', () => {
    const tls = (mode: string, host = 'h') => address(`postgres://u@${host}/d`, { PGSSLMODE: mode }).tls;
    expect(tls('disable')).toBe(false);
    expect(tls('require')).toEqual({ rejectUnauthorized: false });
    expect(tls('verify-ca')).toMatchObject({ rejectUnauthorized: true, checkServerIdentity: expect.any(Function) });
    expect(tls('verify-full', 'localhost')).toEqual({ rejectUnauthorized: true });
    expect(tls('', '127.0.0.1')).toBe(false);
    expect(tls('', '127.example.com')).toEqual({ rejectUnauthorized: true });
    expect(() => tls('prefer')).toThrow(/PGSSLMODE=prefer is not supported/);
    expect(() => address('postgres://u@h/d', { PGSSLROOTCERT: '/absent.pem' })).toThrow(/absent.pem .*cannot be read/);
  });
});

describe('the password of a PostgreSQL store', () => {
  const target = address('postgres://devmgr@db:5433/registry');

  it('is the first line of its file, which no one else may read', () => {
    const file = join(temporaryFolder(), 'password');
    writeFileSync(file, 'a:b\\c\nmore\n', { mode: 0o600 });
    const env = { DEVMGR_STORE_PASSWORD_FILE: file };
    expect(passwordFor(target, env)).toBe('a:b\\c');
    chmodSync(file, 0o640);
    expect(() => passwordFor(target, env)).toThrow(/others can read it/);
    // A credential of systemd: its access control list shows as the bits of the group.
    const credential = { ...env, CREDENTIALS_DIRECTORY: dirname(file) };
    chmodSync(file, 0o440);
    expect(passwordFor(target, credential)).toBe('a:b\\c');
    expect(() => passwordFor(target, { ...env, CREDENTIALS_DIRECTORY: '/run/credentials/other' })).toThrow(/others/);
    chmodSync(file, 0o444);
    expect(() => passwordFor(target, credential)).toThrow(/others can read it/);
    expect(() => passwordFor(target, { DEVMGR_STORE_PASSWORD_FILE: '/absent' })).toThrow(/does not exist/);
  });

  it('is that of the first line of pgpass that fits', () => {
    const lines =
      '# comment\nother:5433:registry:devmgr:no\n*:5433:*:devmgr:p\\:q\\\\r:s\ndb:5433:registry:devmgr:late\n';
    expect(passwordIn(lines, target)).toBe('p:q\\r:s');
    expect(passwordIn('db:5432:*:*:x\n', target)).toBeNull();
    expect(passwordIn('localhost:*:*:*:x', address('postgres://u@/d?host=/run'))).toBe('x');
    const file = join(temporaryFolder(), 'pgpass');
    writeFileSync(file, lines, { mode: 0o644 });
    expect(() => passwordFor(target, { PGPASSFILE: file })).toThrow(/others can read it/);
    expect(passwordFor(target, { PGPASSFILE: join(temporaryFolder(), 'absent') })).toBeNull();
  });
});

describe('the primary server', () => {
  const answering = (timeline: string | null, mac: string | null, readonly = false) =>
    ({
      run: async (sql: string) => ({
        tag: 'SELECT',
        rows: sql.includes('timeline') ? [{ timeline, readonly }] : mac === null ? [] : [{ mac }],
      }),
      alive: true,
      pending: 0,
      close: vi.fn(),
    }) as unknown as DatabaseSession;

  it('is refused on a lower timeline, as a standby, or without an acknowledged entry', async () => {
    const primary = new Primary(address('postgres://u@h/d'), Date.now);
    await primary.check(answering('00000002', null));
    primary.knows({ id: 7, mac: 'm' });
    await primary.check(answering('00000003', 'm'));
    await expect(primary.check(answering('00000002', 'm'))).rejects.toThrow(/is on timeline 00000002/);
    await expect(primary.check(answering(null, 'm'))).rejects.toThrow(/it is a standby/);
    await expect(primary.check(answering('00000003', 'm', true))).rejects.toThrow(/is read-only/);
    await expect(primary.check(answering('00000004', 'x'))).rejects.toThrow(/lacks journal entry 7/);
    await expect(primary.check(answering('00000004', null))).rejects.toThrow(/lacks journal entry 7/);
  });

  it('is the one with the highest timeline: sessions with an earlier one are not used again', async () => {
    const primary = new Primary(address('postgres://u@h/d'), Date.now);
    const [earlier, later] = [answering('00000002', null), answering('00000003', null)];
    const open = vi.fn().mockResolvedValueOnce(earlier).mockResolvedValueOnce(later).mockResolvedValueOnce(later);
    const readers = new Readers(open, session => primary.serves(session));
    await primary.check(earlier);
    await readers.run('SELECT 1');
    await readers.run('SELECT 1');
    expect(open).toHaveBeenCalledTimes(1);
    await primary.check(later);
    await readers.run('SELECT 1');
    expect(open).toHaveBeenCalledTimes(2);
    expect(earlier.close).toHaveBeenCalled();
  });

  it('may lack what an earlier one has shown: listeners clear their caches', async () => {
    const notices: CommitNotice[] = [];
    const primary = { timeline: '00000002', now: Date.now, clockOff: () => 0 };
    const watch = new Watch({
      readers: { run: async () => ({ tag: 'SELECT', rows: [{ event: 7 }] }) },
      confirmed: { id: 7, rise() {}, async reach() {} },
      primary,
      notify: notice => notices.push(notice),
      from: 7,
      everyMs: 3_600_000,
    });
    await watch.look();
    expect(notices).toEqual([]);
    primary.timeline = '00000003';
    await watch.look();
    await watch.look();
    expect(notices).toEqual([{ lastEventId: 7, users: [], serviceTokens: [], everything: true }]);
    await watch.stop();
  });
});

describe('the answer to COMMIT', () => {
  const session = (...warnings: string[]) => ({ warnings }) as unknown as DatabaseSession;
  const answered = (tag: string) => ({ status: 'fulfilled', value: { rows: [], tag } }) as const;
  const failed = (error: object) => ({ status: 'rejected', reason: Object.assign(new Error('x'), error) }) as const;

  it('counts only with its own tag and without a warning', () => {
    checkCommitted(session(), answered('COMMIT'));
    expect(() => checkCommitted(session(), answered('ROLLBACK'))).toThrow(NotWritten);
    expect(() => checkCommitted(session('canceling wait'), answered('COMMIT'))).toThrow(NoAnswer);
    expect(() => checkCommitted(session(), failed({ code: 'ECONNRESET' }))).toThrow(NoAnswer);
    expect(() => checkCommitted(session(), failed({ code: '57P01', severity: 'FATAL' }))).toThrow(NoAnswer);
    expect(() => checkCommitted(session(), failed({ code: '40001', severity: 'ERROR' }))).toThrow(NotWritten);
  });
});

needsPostgres('opening a PostgreSQL store', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  const open = (url: string, options: Partial<PostgresOptions> = {}) =>
    openPostgresStore({ subjects, url, env: {}, journalKey, ...options });
  /** The message and the hint of a refusal. */
  const refusal = async (url: string, options: Partial<PostgresOptions> = {}): Promise<string> => {
    const error = await open(url, options).then(
      store => store.close().then(() => null),
      error => error,
    );
    expect(error?.hint).toEqual(expect.any(String));
    expect(error.message).not.toContain('\n');
    return `${error.message}; ${error.hint}`;
  };

  it('creates the schema once, however many nodes start at the same time', async () => {
    const database = await server.database();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open(server.url(database))));
    await commit(stores[0]!, [addDevice('A')]);
    expect((await stores[3]!.device(1))?.serialNumber).toBe('A');
    await Promise.all(stores.map(store => store.close()));
    expect(await server.query('SELECT version FROM devmgr_schema', database)).toEqual([
      { version: String(migrations.length) },
    ]);
  });

  it('carries out the steps that are missing, all or none', async () => {
    const database = await server.database();
    const [registry] = migrations;
    const url = server.url(database);
    const notices: string[] = [];
    await (await open(url, { migrations: [registry!] })).close();
    const next = { number: 2, name: 'two', sql: 'CREATE TABLE two (a int)' };
    const broken = { number: 3, name: 'three', sql: 'CREATE TABLE three (a nothing)' };
    expect(await refusal(url, { migrations: [registry!, next, broken] })).toMatch(/step 3 \(three\) failed/);
    expect(await server.query(`SELECT to_regclass('two') AS two`, database)).toEqual([{ two: null }]);
    await (await open(url, { migrations: [registry!, next], notice: text => notices.push(text) })).close();
    expect(notices).toEqual([expect.stringMatching(/upgraded from version 1 to 2/)]);
    expect(await refusal(url, { migrations: [registry!] })).toMatch(
      /has schema version 2, this devmgr supports up to 1; use the newer devmgr/,
    );
  });

  it('refuses what cannot be a registry, with one line, and changes nothing', async () => {
    const database = await server.database();
    await server.query('CREATE TABLE invoice (a int)', database);
    expect(await refusal(server.url(database))).toMatch(/has tables of another program; create a database/);
    await server.query(`CREATE DATABASE other TEMPLATE template0 LOCALE 'C.UTF-8'`);
    expect(await refusal(server.url('other'))).toMatch(/the locale C.UTF-8; devmgr needs UTF8 and C; .*--locale=C/);
    await server.query(`ALTER DATABASE other SET default_transaction_read_only = on`);
    expect(await refusal(server.url('other'))).toMatch(/is read-only; name the primary server/);
    expect(await refusal(server.url('absent'))).toMatch(/"absent" does not exist; create it: createdb/);
    expect(await refusal(server.url(database, 'nobody'))).toMatch(/refuses the login/);
    expect(await refusal('postgres://devmgr@127.0.0.1:1/d')).toMatch(/cannot be reached: .*; is the server running/);
    expect(await server.query(`SELECT count(*)::int AS n FROM pg_class WHERE relname = 'head'`, database)).toEqual([
      { n: 0 },
    ]);
  });

  it('refuses a journal that was sealed with another key', async () => {
    const opened = await openPostgres(server);
    await commit(opened.store, [addDevice('A')]);
    const url = server.url(opened.database);
    const other = new Uint8Array(32).fill(9);
    expect(await refusal(url, { journalKey: other })).toMatch(/sealed with a key that this home does not have/);
    await (await open(url, { journalKey: other, otherJournalKeys: [journalKey] })).close();
    await opened.cleanup();
  });

  it('lets several daemons use a database, and a copy only without daemons: it names them', async () => {
    const opened = await openPostgres(server);
    const place = { subjects, url: server.url(opened.database), env: {} };
    const second = await opened.openAnother();
    await opened.store.close();
    for (const openCopy of [openCopySource, openCopyTarget])
      await expect(openCopy(place)).rejects.toMatchObject({
        name: 'StoreUnreachable',
        message: expect.stringMatching(`^a daemon uses postgres://.*: devmgr \\S+ ${process.pid}$`),
        hint: 'stop all daemons of this registry first',
      });
    await second.close();
    const copy = await openCopySource(place);
    expect(await refusal(place.url)).toMatch(
      `is being copied or restored: devmgr ${hostname()} ${process.pid}; start the daemon when that has ended`,
    );
    await expect(openCopyTarget(place)).rejects.toThrow('a daemon uses');
    await copy.close();
    await (await open(place.url)).close();
    await opened.cleanup();
  });

  it('a daemon whose connection broke while a copy began does not write until the copy has ended', async () => {
    const opened = await openPostgres(server);
    await commit(opened.store, [addDevice('A')]);
    const place = { url: server.url(opened.database), env: {} };
    const end = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${opened.database}'`;
    await server.query(end);
    const copy = await openCopySource(place);
    expect(await opened.store.health()).toEqual({
      ready: false,
      detail: expect.stringContaining('is being copied or restored'),
      error: expect.any(Error),
    });
    await expect(commit(opened.store, [addDevice('B')])).rejects.toThrow('is being copied or restored');
    await copy.close();
    await commit(opened.store, [addDevice('C')]);
    expect(await opened.store.lastEventId()).toBe(2);
    await opened.cleanup();
  });

  it('a daemon keeps running while a newer release adds to the schema, and starts on it; a step that it cannot use waits until it stops', async () => {
    const opened = await openPostgres(server);
    const url = server.url(opened.database);
    const [known, sql] = [migrations.length, 'ALTER TABLE device ADD COLUMN later text'];
    const expand = [...migrations, { number: known + 1, name: 'expand', sql, readableBy: known }];
    const contract = [
      ...expand,
      { number: known + 2, name: 'contract', sql: 'ALTER TABLE meta ADD x text', readableBy: known + 1 },
    ];
    const newer = await open(url, { migrations: expand });
    await commit(opened.store, [addDevice('A')]);
    await commit(newer, [addDevice('B')]);
    const older = await opened.openAnother();
    await commit(older, [addDevice('C')]);
    expect(await refusal(url, { migrations: contract })).toMatch(
      /a daemon of an earlier devmgr uses .*; stop all daemons of that version first/,
    );
    await expect(openCopySource({ url, env: {} })).rejects.toThrow('has a newer schema than this devmgr');
    await Promise.all([older.close(), opened.store.close()]);
    const newest = await open(url, { migrations: contract });
    await commit(newer, [addDevice('D')]);
    expect(await refusal(url)).toMatch(`has schema version ${known + 2}, this devmgr supports up to ${known}`);
    expect(await newest.lastEventId()).toBe(4);
    await Promise.all([newer.close(), newest.close()]);
    await opened.cleanup();
  });

  it('needs no superuser; without pg_trgm keywords are found all the same, and the log reports this', async () => {
    const database = await server.database();
    await server.query('CREATE ROLE plain LOGIN');
    await server.query('ALTER SCHEMA public OWNER TO plain', database);
    const notices: string[] = [];
    const store = await open(server.url(database, 'plain'), { notice: text => notices.push(text) });
    expect(notices).toEqual([
      expect.stringMatching(/^pg_trgm is missing .*: searches by keyword look at every device$/),
    ]);
    await commit(store, [addDevice('alpha'), addDevice('Beta')]);
    expect(numbersOf((await store.devices(queryOf({ keyword: 'BET' }))).rows)).toEqual([2]);
    await store.close();
  });

  it('uses the index for a keyword', async () => {
    const opened = await openPostgres(server);
    await commit(
      opened.store,
      Array.from({ length: 3000 }, (_, i) => addDevice(`SN-${i * 7919}`)),
    );
    await opened.query('ANALYZE device');
    // So few rows are read faster without any index.
    await server.query(`ALTER DATABASE ${opened.database} SET enable_seqscan = off`);
    const plan = await opened.query(
      `EXPLAIN SELECT count(*) FROM device WHERE ('dev-' || number || E'\\n' || lower(serial_number COLLATE "C")) LIKE '%791900%'`,
    );
    expect(JSON.stringify(plan)).toContain('device_search');
    await server.query(`ALTER DATABASE ${opened.database} RESET ALL`);
    await opened.cleanup();
  });

  it('keeps settings of the role or the database away from its sessions', async () => {
    const opened = await openPostgres(server);
    for (const [name, value] of Object.entries({
      statement_timeout: '1ms',
      client_min_messages: 'error',
      synchronous_commit: 'off',
      idle_in_transaction_session_timeout: '0',
      default_transaction_isolation: 'serializable',
    }))
      await server.query(`ALTER DATABASE ${opened.database} SET ${name} = '${value}'`);
    const login = loginFrom({ url: server.url(opened.database), env: {} });
    const connections = new Connections({ login, primary: new Primary(login.address, Date.now) });
    const writer = await connections.writer();
    const shown = async (name: string) => (await writer.runOnce(`SHOW ${name}`)).rows[0]![name];
    expect(await shown('statement_timeout')).toBe('0');
    expect(await shown('client_min_messages')).toBe('warning');
    expect(await shown('synchronous_commit')).toBe('on');
    expect(await shown('idle_in_transaction_session_timeout')).toBe('2s');
    expect(await shown('default_transaction_isolation')).toBe('read committed');
    await connections.close();
    await server.query(`ALTER DATABASE ${opened.database} RESET ALL`);
    await opened.cleanup();
  });
});

needsPostgres('a PostgreSQL server on a network', () => {
  let server: PostgresServer;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    server = await PostgresServer.start({ settings: [`port=${port}`, 'listen_addresses=127.0.0.1'] });
  });
  afterAll(() => server?.stop());

  it('notices within seconds that the machine of a session is gone', async () => {
    const login = loginFrom({ url: `postgres://devmgr@127.0.0.1:${port}/postgres`, env: {} });
    const session = await DatabaseSession.open(login, { idleInTransactionMs: 1000, lockMs: 1000 });
    const settings = ['idle', 'interval', 'count'].map(name => `current_setting('tcp_keepalives_${name}') AS ${name}`);
    const { rows } = await session.runOnce(`SELECT ${settings.join(', ')}`);
    expect(rows).toEqual([{ idle: '5', interval: '2', count: '3' }]);
    await session.close();
  });
});

needsPostgres('a PostgreSQL server that asks for passwords', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start({ passwords: true });
  });
  afterAll(() => server?.stop());

  const withPassword = (text: string) => {
    const file = join(temporaryFolder(), 'password');
    writeFileSync(file, `${text}\n`, { mode: 0o600 });
    return { DEVMGR_STORE_PASSWORD_FILE: file };
  };

  it('gets the one of the file; a wrong one and a missing one are refused, and no message shows it', async () => {
    const url = server.url(await server.database());
    const open = (env: PostgresOptions['env']) => openPostgresStore({ subjects, url, env, journalKey });
    await (await open(withPassword(serverPassword))).close();
    const wrong = await open(withPassword('a wrong one')).catch(error => error);
    expect(`${wrong.name}: ${wrong.message}`).toMatch(/^StoreMisconfigured: .*password authentication failed/);
    expect(JSON.stringify([wrong.message, wrong.stack, String(wrong.cause)])).not.toContain('a wrong one');
    await expect(open({ PGPASSFILE: join(temporaryFolder(), 'absent') })).rejects.toThrow(
      /asks for a password, and there is none/,
    );
  });
});
