/** Several daemons on one database, as processes: what they share is changed once, and no restart is needed. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { copy } from '../../daemon/maintenance/copy.ts';
import { check } from '../../daemon/maintenance/maintenance.ts';
import { resetPassword } from '../../daemon/maintenance/reset-password.ts';
import { rotateKey } from '../../daemon/maintenance/rotate-key.ts';
import { adminPassword } from '../support/daemon.ts';
import { uploadApp } from '../support/daemon-process.ts';
import { freshSerial, registration } from '../support/fleet.ts';
import { answerOf, type ProviderState, startEntra, startOkta } from '../support/issuing-providers.ts';
import { type Node, Nodes } from '../support/nodes.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { receiveSyslog } from '../support/syslog-receiver.ts';
import { temporaryFolder } from '../support/temporary.ts';

const add = (node: Node) =>
  node.call('POST', '/api/devices/register', registration({ serialNumber: freshSerial('MANY') }));
const auditing = { json: true, device: null, since: null, limit: null };
const problemsAt = async (node: Node) =>
  JSON.parse((await node.program(audit, { ...auditing, verify: true })).stdout).problems as string[];
const entriesAt = async (node: Node, ...types: string[]) =>
  (await node.program(audit, { ...auditing, verify: false, types })).stdout.split('\n').filter(Boolean);
/** The nodes that start at the same moment. */
const startAll = (nodes: Nodes, count: number, env = {}) =>
  Promise.all(Array.from({ length: count }, () => nodes.start({ env })));

needsPostgres('several daemons on one database', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  it('create the first administrator once when they start at the same moment, with one password', async () => {
    const nodes = await Nodes.create(server);
    const started = await startAll(nodes, 3, { DEVMGR_ADMIN_PASSWORD: '' });
    const files = started.map(({ home }) => join(home, 'initial-admin-password')).filter(existsSync);
    expect(files).toHaveLength(1);
    const said = started.filter(node => node.output().includes('the first administrator has been created'));
    expect(said.map(({ home }) => join(home, 'initial-admin-password'))).toEqual(files);
    const login = { username: 'admin', password: readFileSync(files[0]!, 'utf8').trim() };
    for (const node of started) expect(await node.call('POST', '/api/auth/login', login)).toMatchObject({ code: 200 });
    expect(await entriesAt(started[0]!, 'USER_CREATED')).toHaveLength(1);
    expect(await problemsAt(started[0]!)).toEqual([]);
  });

  it('remove a lost key at both of its providers if the one that removes it is killed', async () => {
    const nodes = await Nodes.create(server);
    const started = await startAll(nodes, 2, { DEVMGR_WEBHOOK_ALLOW: '127.0.0.1' });
    const [one] = started;
    const ask = async (method: string, path: string, body?: object) => {
      const { code, data } = await one!.call(method, path, body);
      expect(code).toBe(200);
      return data as Record<string, string>;
    };
    const { deviceId, activationCode } = (await add(one!)).data as Record<string, string>;
    await ask('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'ada.lovelace' });
    const states: ProviderState[] = [];
    for (const start of [startEntra, startOkta]) {
      const { state, settings } = await start();
      const { providerId } = await ask('POST', '/api/providers', { name: settings.type, ...settings });
      const credentials = `/api/devices/${deviceId}/credentials`;
      const begun = await ask('POST', credentials, { providerId });
      const response = answerOf(begun as never);
      await ask('POST', `${credentials}/${begun.credentialId}`, { response });
      expect(state.accepted).toHaveLength(1);
      state.trouble('remove', ...Array<'away'>(500).fill('away'));
      states.push(state);
    }
    await ask('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
    const removing = await vi.waitFor(() => {
      const found = started.find(node => node.output().includes('could not be removed'));
      expect(found).toBeDefined();
      return found!;
    }, 10_000);
    await removing.kill();
    for (const state of states) {
      expect(state.accepted).toHaveLength(1);
      state.trouble('remove');
    }
    await Promise.all(states.map(state => state.emptied()));
    const other = started.find(node => node !== removing)!;
    const removed = async () => (await entriesAt(other, 'CREDENTIAL_REMOVED')).length;
    await expect.poll(removed, { timeout: 10_000 }).toBe(2);
    expect(await problemsAt(other)).toEqual([]);
  });

  it('with other secrets cannot join, even if all start at the same moment: one makes the registry', async () => {
    const nodes = await Nodes.create(server);
    const started = await Promise.allSettled(
      Array.from({ length: 3 }, () => nodes.start({ secrets: join(temporaryFolder(), 'own') })),
    );
    expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of started)
      if (outcome.status === 'rejected')
        expect(String(outcome.reason)).toMatch(/ended with 2 .*sealed with a key that this home does not have/s);
  });

  it('are warned if files are in the home of one; one daemon alone is not', async () => {
    const nodes = await Nodes.create(server);
    const one = await nodes.start();
    expect((await add(one)).code).toBe(200);
    expect(one.output()).not.toContain('other daemons use this database');
    const two = await nodes.start();
    const warning =
      /"level":"warn".*"msg":"other daemons use this database, and do not have the files in the home of this one/;
    await vi.waitFor(() => expect(two.output()).toMatch(warning), 10_000);
  });

  it('answer 503 with the reason for a file that is in the home of another one', async () => {
    const nodes = await Nodes.create(server);
    const [one, two] = [await nodes.start(), await nodes.start()];
    const versionId = await uploadApp(one, '1.0');
    const { data: device } = await add(one);
    const { deviceId, activationCode } = device as { deviceId: string; activationCode: string };
    await one.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
    const form = new FormData();
    form.set('file', new Blob(['settings']), 'settings.bin');
    const headers = { authorization: `Bearer ${one.token}` };
    await fetch(`${one.url}/api/devices/${deviceId}/backups`, { method: 'POST', body: form, headers });
    for (const path of [`/api/app-versions/${versionId}/download`, `/api/devices/${deviceId}/backups/BKP-1/download`]) {
      const found = await fetch(one.url + path, { headers });
      expect([found.status, (await found.text()).length > 0]).toEqual([200, true]);
      expect(await two.call('GET', path)).toMatchObject({
        status: 503,
        code: 500,
        message: expect.stringMatching(/not in the home of this daemon.*object store \(--files\)/),
      });
    }
  });

  it('sign heads of the journal that verify, also after one was killed', async () => {
    const nodes = await Nodes.create(server);
    const [one, two] = [await nodes.start(), await nodes.start()];
    for (let i = 0; i < 5; i++) for (const node of [one, two]) expect((await add(node)).code).toBe(200);
    await one.kill();
    expect((await add(two)).code).toBe(200);
    await two.stop();
    const again = await nodes.start({ home: one.home });
    expect((await add(again)).code).toBe(200);
    await again.stop();
    expect(await problemsAt(again)).toEqual([]);
    expect(await again.program(check, { json: false })).toMatchObject({ code: 0 });
  });

  it('continue the journal with a new key without a restart if they share the secrets, with one entry about it', async () => {
    const nodes = await Nodes.create(server);
    const [one, two] = [await nodes.start(), await nodes.start()];
    expect(await one.program(rotateKey, { json: true, journal: true })).toMatchObject({ code: 0 });
    for (const node of [two, one, two]) expect((await add(node)).code).toBe(200);
    // A node that starts while another one replaces the key must not go back to the earlier one.
    const [three] = await Promise.all([nodes.start(), two.program(rotateKey, { json: true, journal: true })]);
    for (const node of [three, one, two]) expect((await add(node)).code).toBe(200);
    expect(await entriesAt(one, 'JOURNAL_KEY_ROTATED')).toHaveLength(2);
    expect(existsSync(join(nodes.secrets, 'journal-key-next'))).toBe(false);
    for (const node of [one, two, three]) await node.stop();
    expect(await problemsAt(one)).toEqual([]);
  });

  it('with an old copy of the secrets are not ready, name the missing files, and continue with the new copy', async () => {
    const nodes = await Nodes.create(server);
    const one = await nodes.start();
    const two = await nodes.start({ secrets: nodes.copySecrets() });
    expect((await add(two)).code).toBe(200);
    expect(await one.program(rotateKey, { json: true, journal: true })).toMatchObject({ code: 0 });
    expect((await add(two)).code).not.toBe(200);
    const store = { detail: expect.stringMatching(/compare journal-key and journal-keys-earlier/) };
    // The health of the store is kept for 200 ms.
    await expect.poll(async () => (await two.call('GET', '/api/health')).data).toMatchObject({ ready: false, store });
    expect((await add(one)).code).toBe(200);
    nodes.copySecrets(nodes.secrets, two.secrets);
    expect((await add(two)).code).toBe(200);
    await expect.poll(async () => (await two.call('GET', '/api/health')).data).toMatchObject({ ready: true });
    for (const node of [one, two]) {
      await node.stop();
      expect(await problemsAt(node)).toEqual([]);
    }
    expect(await entriesAt(one, 'JOURNAL_KEY_ROTATED')).toHaveLength(1);
  });

  it('with copies of the secrets replace the journal key without a pause if all of them have the next key', async () => {
    const nodes = await Nodes.create(server);
    const one = await nodes.start();
    const two = await nodes.start({ secrets: nodes.copySecrets() });
    for (const { secrets } of [one, two])
      writeFileSync(join(secrets, 'journal-key-next'), `${'k'.repeat(43)}\n`, { mode: 0o600 });
    // A token with an unknown key makes a daemon look at the secrets at once, as it does each second.
    const headers = { authorization: 'Bearer signed-elsewhere' };
    for (const { url } of [one, two]) expect((await fetch(`${url}/api/devices/list`, { headers })).status).toBe(401);
    for (const node of [one, two]) expect((await add(node)).code).toBe(200);
    expect(await entriesAt(one, 'JOURNAL_KEY_ROTATED')).toHaveLength(0);
    expect(await one.program(rotateKey, { json: true, journal: true })).toMatchObject({ code: 0 });
    for (const node of [two, one]) expect((await add(node)).code).toBe(200);
    await two.stop();
    const again = await nodes.start({ home: two.home, secrets: two.secrets });
    expect(existsSync(join(two.secrets, 'journal-key-next'))).toBe(false);
    for (const node of [one, again]) {
      expect((await add(node)).code).toBe(200);
      await node.stop();
      expect(await problemsAt(node)).toEqual([]);
    }
    expect(await entriesAt(one, 'JOURNAL_KEY_ROTATED')).toHaveLength(1);
  });

  it('accept tokens of a new signing key without a restart if they share the secrets, with one entry about it', async () => {
    const nodes = await Nodes.create(server);
    const [one, two, three] = [await nodes.start(), await nodes.start(), await nodes.start()];
    const list = async ({ url }: Node, token: string) => {
      const response = await fetch(`${url}/api/devices/list`, { headers: { authorization: `Bearer ${token}` } });
      return ((await response.json()) as { code: number }).code;
    };
    const login = async (node: Node) => {
      const credentials = { username: 'admin', password: adminPassword };
      return ((await node.call('POST', '/api/auth/login', credentials)).data as { token: string }).token;
    };
    for (let i = 0; i < 2; i++) {
      expect(await one.program(rotateKey, { json: true })).toMatchObject({ code: 0 });
      const token = await login(one);
      expect([await list(two, token), await list(three, token), await list(one, two.token)]).toEqual([200, 200, 200]);
    }
    await three.stop();
    expect(await three.program(rotateKey, { json: true, revokeNow: true })).toMatchObject({ code: 0 });
    for (const node of [one, two]) await expect.poll(() => list(node, node.token)).toBe(1004);
    expect(await entriesAt(two, 'SIGNING_KEY_ROTATED')).toHaveLength(3);
  });

  it('remove the file with the first password when it is changed at another one, also one that was stopped', async () => {
    const nodes = await Nodes.create(server);
    const one = await nodes.start({ env: { DEVMGR_ADMIN_PASSWORD: '' } });
    const two = await nodes.start();
    const file = join(one.home, 'initial-admin-password');
    const first = readFileSync(file, 'utf8').trim();
    const { data } = await two.call('POST', '/api/auth/login', { username: 'admin', password: first });
    const { token } = data as { token: string };
    const send = async (method: string, path: string, body?: object) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      const response = await fetch(`${two.url}/api/users/${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      return (await response.json()) as { code: number; data: { id: string } };
    };
    const { id } = (await send('GET', 'me')).data;
    expect(await send('PUT', id, { email: 'admin@example.com' })).toMatchObject({ code: 200 });
    await one.stop();
    const again = await nodes.start({ home: one.home, env: { DEVMGR_ADMIN_PASSWORD: '' } });
    expect(existsSync(file)).toBe(true);
    expect(await send('POST', `${id}/password`, { oldPassword: first, password: adminPassword })).toMatchObject({
      code: 200,
    });
    await expect.poll(() => existsSync(file)).toBe(false);
    await again.stop();
    writeFileSync(file, `${first}\n`, { mode: 0o600 });
    await nodes.start({ home: one.home });
    await expect.poll(() => existsSync(file)).toBe(false);
  });

  it('forward the journal one at a time: each entry once, and another one takes over when the first is killed or hangs', async () => {
    const nodes = await Nodes.create(server);
    const receiver = await receiveSyslog();
    const forward = `syslog+tcp://127.0.0.1:${receiver.port}`;
    const all: Node[] = [];
    for (let i = 0; i < 4; i++) all.push(await nodes.start({ forward }));
    const client = await server.connect(nodes.database);
    onTestFinished(() => client.end());
    const holder = async () => {
      const { rows } = await client.query(
        `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
         WHERE locktype = 'advisory' AND classid = ${0x44764d77} AND granted`,
      );
      return all.find(({ pid }) => rows.some(({ name }) => name.endsWith(` ${pid}`)));
    };
    const ids = () => receiver.messages.map(({ entry }) => entry.id);
    /** Entries that a daemon was perhaps sending when it was killed or ended: the next one sends them again. */
    const uncertain = new Set<number>();
    const progress = `SELECT event, (SELECT value FROM meta WHERE name LIKE 'forward %') AS note FROM head`;
    const allDelivered = async () => {
      let last = 0;
      const isUpToDate = async () => {
        const { event, note } = (await client.query(progress)).rows[0];
        last = Number(event);
        return String(note).includes(`"id":${last},`);
      };
      await expect.poll(isUpToDate, { timeout: 30_000 }).toBe(true);
      const received = ids();
      const repeats = received.filter((id, i) => received.indexOf(id) !== i);
      expect(repeats.filter(id => !uncertain.has(id))).toEqual([]);
      expect([...new Set(received)].slice(0, last)).toEqual(Array.from({ length: last }, (_, i) => i + 1));
      return last;
    };
    for (const end of ['SIGKILL', 'SIGSTOP', 'SIGTERM'] as const) {
      await Promise.all(all.map(async node => expect((await add(node)).code).toBe(200)));
      const delivered = await allDelivered();
      const ended = (await holder())!;
      all.splice(all.indexOf(ended), 1);
      ended.child.kill(end);
      const { event } = (await client.query(progress)).rows[0];
      await Promise.all(all.map(async node => expect((await add(node)).code).toBe(200)));
      // A daemon that ends in order can still send what is added during the stop.
      const lastSent = end === 'SIGTERM' ? (await client.query(progress)).rows[0].event : event;
      for (let id = delivered + 1; id <= Number(lastSent); id++) uncertain.add(id);
      await allDelivered();
      ended.child.kill('SIGKILL');
    }
  });

  it('refuse programs that need exclusive use of the database, but not a new password', async () => {
    const nodes = await Nodes.create(server);
    const [one, two] = [await nodes.start(), await nodes.start()];
    await one.stop();
    const copied = await one.program(copy, {
      json: false,
      from: nodes.url,
      to: `sqlite:${join(temporaryFolder(), 'copy.db')}`,
    } as never);
    expect(copied).toMatchObject({
      code: 9,
      stderr: expect.stringMatching(
        new RegExp(`a daemon uses postgres://.*: devmgr \\S+ ${two.pid}\n.*stop all daemons of this registry first`),
      ),
    });
    expect(await one.program(resetPassword, { json: true, username: 'admin' })).toMatchObject({ code: 0 });
    expect((await two.call('GET', '/api/devices/list')).code).toBe(1004);
    rmSync(one.home, { recursive: true, force: true });
  });
});
