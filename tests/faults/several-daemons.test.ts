/** Several daemons on one database, as processes: what they share is changed once, and no restart is needed. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { copy } from '../../daemon/maintenance/copy.ts';
import { check } from '../../daemon/maintenance/maintenance.ts';
import { resetPassword } from '../../daemon/maintenance/reset-password.ts';
import { rotateKey } from '../../daemon/maintenance/rotate-key.ts';
import { freshSerial, registration } from '../support/fleet.ts';
import { type Node, Nodes } from '../support/nodes.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
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

  it('continue the journal with a new key at once if they share the secrets, and the journal says so once', async () => {
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

  it('with a copy of the secrets from before are not ready, say which files they lack, and go on with the new copy', async () => {
    const nodes = await Nodes.create(server);
    const one = await nodes.start();
    const two = await nodes.start({ secrets: nodes.copySecrets() });
    expect((await add(two)).code).toBe(200);
    expect(await one.program(rotateKey, { json: true, journal: true })).toMatchObject({ code: 0 });
    expect((await add(two)).code).not.toBe(200);
    const store = { detail: expect.stringMatching(/compare journal-key and journal-keys-earlier/) };
    expect((await two.call('GET', '/api/health')).data).toMatchObject({ ready: false, store });
    expect((await add(one)).code).toBe(200);
    nodes.copySecrets(nodes.secrets, two.secrets);
    expect((await add(two)).code).toBe(200);
    expect((await two.call('GET', '/api/health')).data).toMatchObject({ ready: true });
    for (const node of [one, two]) {
      await node.stop();
      expect(await problemsAt(node)).toEqual([]);
    }
    expect(await entriesAt(one, 'JOURNAL_KEY_ROTATED')).toHaveLength(1);
  });

  it('keep others away that need the database alone, and let a password be set beside them', async () => {
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
