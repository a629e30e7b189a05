import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fill } from '../../benchmarks/fill.ts';
import { audit } from '../../daemon/maintenance/audit.ts';
import { copy } from '../../daemon/maintenance/copy.ts';
import { init } from '../../daemon/maintenance/init.ts';
import { check } from '../../daemon/maintenance/maintenance.ts';
import { subjects } from '../../daemon/start/subjects.ts';
import { openPostgresStore } from '../../daemon/store/postgres/postgres-store.ts';
import type { CopyOptions } from '../../src/contract/programs.ts';
import { Page } from '../support/browser.ts';
import { adminPassword } from '../support/daemon.ts';
import { spawnDaemon, uploadApp } from '../support/daemon-process.ts';
import { rowsOf } from '../support/database.ts';
import type { Caller } from '../support/fleet.ts';
import { IdentityKey } from '../support/identity-key.ts';
import { killWhileItWaits, maintenanceCommand } from '../support/maintenance-process.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { provedDevice, receiptOf, trustReceiptKeys } from '../support/receipt-key.ts';
import { scimClientWith } from '../support/scim.ts';
import { SoftwareKey } from '../support/software-key.ts';
import { Browser, setUp, startSsoProvider } from '../support/sso-provider.ts';
import { temporaryFolder } from '../support/temporary.ts';

const DEVICES = 6001;
/** Options of a provider that never receives another request about the key. */
async function beginCredential(daemon: Awaited<ReturnType<typeof spawnDaemon>>, deviceId: string): Promise<void> {
  const rp = { id: 'accounts.example', name: 'Accounts' };
  const options = { challenge: 'A'.repeat(43), rp, user: { id: 'AAAA', name: 'alice', displayName: 'Alice' } };
  const server = createServer((_, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ origin: 'https://accounts.example', options })),
  );
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const settings = { type: 'webauthn', secret: 'secret', address, finishAddress: address, removeAddress: address };
  const provider = await daemon.call('POST', '/api/providers', { name: 'accounts', ...settings });
  const { providerId } = provider.data as { readonly providerId: string };
  const begun = await daemon.call('POST', `/api/devices/${deviceId}/credentials`, { providerId });
  if (begun.code !== 200) throw new Error(begun.message);
  server.closeAllConnections();
  server.close();
}

/** A receipt that a key has signed, and a key that is recognized by a credential. */
async function signReceipt(daemon: Awaited<ReturnType<typeof spawnDaemon>>): Promise<void> {
  const call: Caller['call'] = async (method, path, body, { raw } = {}) => {
    if (!raw) return (await daemon.call(method, path, body)) as never;
    const headers = { authorization: `Bearer ${daemon.token}` };
    return (await fetch(`${daemon.url}${path}`, { method, headers, body: raw })).json() as never;
  };
  await new IdentityKey().enroll({ call });
  await trustReceiptKeys({ call });
  const { deviceId, key } = await provedDevice({ call });
  await receiptOf({ call }, key, { deviceId });
}

/** A home with some of everything. */
async function fillHome(home: string): Promise<void> {
  const daemon = await spawnDaemon({ home, webhookAllow: ['127.0.0.1'] });
  const post = async (path: string, body: object) => {
    const answer = await daemon.call('POST', path, body);
    if (answer.code !== 200) throw new Error(`${path}: ${answer.message}`);
    return answer.data as { deviceId: string; activationCode: string; personId: string; token: string };
  };
  const device = { deviceType: 'UKEY', manufacturer: 'Feitian', model: 'K9', serialNumber: 'A-1' };
  const { deviceId, activationCode } = await post('/api/devices/register', {
    ...device,
    tags: { lot: '7', alpha: 'ü:x', shelf: 'b' },
  });
  await post('/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
  const line = { name: 'line', role: 'DEALER', expiresInDays: 30, may: ['webhooks', 'scim'] };
  const { token } = await post('/api/tokens', line);
  const nameless = await scimClientWith(() => daemon.url, token)('POST', '/Users', {});
  if (nameless.status !== 400) throw new Error(`a user without a name was answered with ${nameless.status}`);
  await post('/api/users', { username: 'dealer', password: adminPassword, role: 'DEALER' });
  await uploadApp(daemon, '1.0.0');
  const challenge = (await daemon.call('POST', '/api/proofs/challenge', {})).data as { readonly proofId: string };
  const claims = { aaguid: '11111111-2222-3333-4444-555555555555', firmware: '5.4.3', formFactor: 'YubiKey 5' };
  await post(`/api/proofs/${challenge.proofId}`, { serialNumber: 'A-1', claims });
  await daemon.call('PUT', '/api/policies/proof', { requiredGrade: 'none', allowedAaguids: [], leastFirmware: [] });
  await post('/api/webhooks', { url: 'https://hooks.invalid/', types: ['APP_VERSION_UPLOADED'] });
  await new Page(daemon).register(new SoftwareKey(), daemon.token);
  const form = new FormData();
  form.set('file', new Blob(['sealed']), 'key.bak');
  const headers = { authorization: `Bearer ${daemon.token}` };
  const backup = await fetch(`${daemon.url}/api/devices/${deviceId}/backups`, { method: 'POST', body: form, headers });
  if (backup.status !== 200) throw new Error(`the backup was answered with ${backup.status}`);
  await beginCredential(daemon, deviceId);
  await signReceipt(daemon);
  const { personId } = await post('/api/people', { userName: 'alice', name: 'Alice', email: 'alice@example.com' });
  await post(`/api/people/${personId}/leave`, { reason: 'has left' });
  const provider = await startSsoProvider({ daemons: [daemon.url] });
  provider.people.set('s-ana', { name: 'ana', groups: ['keys-readers'] });
  await setUp(daemon, provider);
  const { problem } = await new Browser().signIn(daemon, 's-ana');
  if (problem !== null) throw new Error(problem);
  await provider.stop();
  await daemon.stop();
  await fill(home, DEVICES);
}

const run = (options: Omit<CopyOptions, 'json'>, env: Readonly<Record<string, string>> = {}) =>
  runDaemonProgram(copy, { json: true, ...options }, env);
const headOf = async (home: string, env: Readonly<Record<string, string>> = {}) =>
  (
    await runDaemonProgram(
      audit,
      { home, json: false, device: null, since: null, limit: null, verify: false, head: true },
      env,
    )
  ).stdout;

needsPostgres('daemon copy', () => {
  let server: PostgresServer;
  let filled: string;
  beforeAll(async () => {
    server = await PostgresServer.start({ passwords: false });
    filled = mkdtempSync(join(tmpdir(), 'devmgr-copy-'));
    await fillHome(filled);
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
    rmSync(filled, { recursive: true, force: true });
  });

  const newHome = () => {
    const home = temporaryFolder();
    cpSync(filled, home, { recursive: true });
    return home;
  };
  const newStore = async () => {
    const database = await server.database();
    return { database, url: server.url(database) };
  };

  it('moves a registry to PostgreSQL and back: equal rows, an equal end of the journal, and a daemon that continues', async () => {
    const home = newHome();
    const { database, url } = await newStore();
    const there = await run({ home, from: 'sqlite:', to: url });
    expect(there).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(there.stdout)).toMatchObject({ resumed: false, devices: DEVICES, files: 2 });
    const env = { DEVMGR_STORE: url };
    expect(await headOf(home, env)).toBe(await headOf(home));
    expect(await runDaemonProgram(check, { home, json: false }, env)).toMatchObject({ code: 0 });
    const back = join(home, 'back.db');
    expect(await run({ home, from: url, to: `sqlite:${back}` })).toMatchObject({ code: 0, stderr: '' });
    const before = rowsOf(join(home, 'devmgr.db'));
    for (const [table, rows] of rowsOf(back)) {
      expect(rows.length, table).toBeGreaterThan(0);
      expect(rows, table).toBe(before.get(table));
    }
    const daemon = await spawnDaemon({ home, store: url });
    const registered = { deviceType: 'UKEY', manufacturer: 'Feitian', model: 'K9', serialNumber: 'A-2' };
    expect(await daemon.call('POST', '/api/devices/register', registered)).toMatchObject({ code: 200 });
    expect(await daemon.call('POST', '/api/devices/register', { ...registered, serialNumber: 'A-1' })).toMatchObject({
      code: 2006,
    });
    for (const filter of ['tag=lot:7', 'proof=claimed', 'advisory=YSA-2024-03'])
      expect((await daemon.call('GET', `/api/devices/list?${filter}`)).data).toMatchObject({
        pagination: { total: 1 },
      });
    const { proofId } = (await daemon.call('POST', '/api/proofs/challenge', {})).data as { readonly proofId: string };
    const answer = { serialNumber: 'A-2', claims: { firmware: '5.7.4' } };
    expect(await daemon.call('POST', `/api/proofs/${proofId}`, answer)).toMatchObject({ code: 200 });
    await daemon.stop();
    expect(await runDaemonProgram(check, { home, json: false }, env)).toMatchObject({ code: 0 });
    expect(await server.query('SELECT device::int AS n FROM head', database)).toEqual([{ n: DEVICES + 1 }]);
  }, 180_000);

  it('continues after it was killed; until then no daemon uses the target', async () => {
    const home = newHome();
    const { database, url } = await newStore();
    await (await openPostgresStore({ subjects, url, env: {}, journalKey: new Uint8Array(32) })).close();
    const options = { home, json: true, from: 'sqlite:', to: url };
    const command = maintenanceCommand('copy', options);
    await killWhileItWaits({
      server,
      database,
      command,
      lock: 'event IN EXCLUSIVE MODE',
      statement: 'INSERT INTO "event"%',
    });
    expect(await server.query('SELECT count(*)::int AS n FROM device', database)).toEqual([{ n: DEVICES }]);
    await expect(spawnDaemon({ home, store: url })).rejects.toThrow(/ended with 2 .*is an unfinished copy/s);
    const result = await run(options);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(result.stdout)).toMatchObject({ resumed: true, devices: DEVICES });
    await (await spawnDaemon({ home, store: url })).stop();
  }, 180_000);

  it('does not verify a copy that was changed on its way, and leaves it unusable', async () => {
    const home = newHome();
    const { database, url } = await newStore();
    await (await openPostgresStore({ subjects, url, env: {}, journalKey: new Uint8Array(32) })).close();
    await server.query(
      `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.note = 'spoiled'; RETURN NEW; END $$;
       CREATE TRIGGER spoil BEFORE INSERT ON device FOR EACH ROW WHEN (NEW.number = 7) EXECUTE FUNCTION spoil()`,
      database,
    );
    expect(await run({ home, from: 'sqlite:', to: url })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /is not verified: the rows of device are not those of the source.*no daemon can use it/,
      ),
    });
    await expect(spawnDaemon({ home, store: url })).rejects.toThrow(/is an unfinished copy/);
  });

  it('refuses a damaged source, and creates nothing', async () => {
    const home = newHome();
    const db = new Database(join(home, 'devmgr.db'));
    db.exec(`UPDATE user SET role = 'ADMIN' WHERE username = 'dealer'`);
    db.close();
    const { database, url } = await newStore();
    expect(await run({ home, from: 'sqlite:', to: url })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is damaged'),
    });
    expect(await server.query(`SELECT 1 FROM pg_class WHERE relname = 'device'`, database)).toEqual([]);
  });

  it('refuses a target that is not empty, the keys of another registry, and a registry that a daemon uses', async () => {
    const home = newHome();
    const { url } = await newStore();
    expect(await runDaemonProgram(init, { home: temporaryFolder(), json: false, store: url }, {})).toMatchObject({
      code: 0,
    });
    expect(await run({ home, from: 'sqlite:', to: url })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not empty'),
    });
    expect(await run({ home, from: 'sqlite:', to: 'sqlite:' })).toMatchObject({ code: 2 });
    expect(await run({ home, from: url, to: `sqlite:${join(home, 'new.db')}` })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is sealed with a key that this home does not have'),
    });
    expect(existsSync(join(home, 'new.db'))).toBe(false);
    const empty = await newStore();
    const daemon = await spawnDaemon({ home });
    expect(await run({ home, from: 'sqlite:', to: empty.url })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('a daemon is already running'),
    });
    await daemon.stop();
  });

  it.each([
    ['postgres://devmgr@127.0.0.1:1/d', 9, 'cannot be reached'],
    ['postgres://devmgr:hush@127.0.0.1/d', 2, 'contains a password'],
    ['mysql://devmgr@127.0.0.1/d', 2, '--to does not know the scheme mysql'],
    ['', 2, '--to is not a URL'],
    ['sqlite:/nowhere/at/all.db', 2, 'cannot open the database'],
  ])('reports the target %j with exit code %i', async (to, code, text) => {
    const home = newHome();
    // A reader may leave the two files of SQLite's log.
    const names = () =>
      readdirSync(home)
        .filter(name => !/-(wal|shm)$/.test(name))
        .sort();
    const before = names();
    const result = await run({ home, from: 'sqlite:', to });
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(text) });
    expect(result.stderr).not.toContain('hush');
    expect(names()).toEqual(before);
  });

  it('reports a schema of a newer release and a read-only server in one line each', async () => {
    const home = newHome();
    const { database, url } = await newStore();
    await server.query(`ALTER DATABASE "${database}" SET default_transaction_read_only = on`);
    expect(await run({ home, from: 'sqlite:', to: url })).toMatchObject({
      code: 9,
      stderr: expect.stringContaining('is read-only'),
    });
    const newer = await newStore();
    await (await openPostgresStore({ subjects, url: newer.url, env: {}, journalKey: new Uint8Array(32) })).close();
    await server.query('UPDATE devmgr_schema SET version = 999, readable_by = 999', newer.database);
    for (const places of [
      { from: 'sqlite:', to: newer.url },
      { from: newer.url, to: `sqlite:${join(home, 'new.db')}` },
    ])
      expect(await run({ home, ...places })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('has schema version 999'),
      });
    expect(existsSync(join(home, 'new.db'))).toBe(false);
    expect(readFileSync(join(home, 'journal-key'), 'utf8')).toBe(readFileSync(join(filled, 'journal-key'), 'utf8'));
  });
});
