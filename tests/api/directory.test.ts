/** Persons from a directory, through the interface. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { devmgr } from '../cli/program.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';
import { type CuttingServer, cutting, reading, type Slapd, startSlapd, withSlapd } from '../support/slapd.ts';

const crowd = Array.from({ length: 30 }, (_, i) => `crowd-${i}`);

withSlapd('persons from a directory', () => {
  let daemon: TestDaemon;
  let slapd: Slapd;
  let front: CuttingServer;
  beforeAll(async () => {
    slapd = await startSlapd(['ada', 'grace', 'alan', ...crowd]);
    front = await cutting(slapd.url);
    daemon = await startTestDaemon();
  });
  afterAll(async () => {
    await daemon?.stop();
    await front?.stop();
    await slapd?.stop();
  });

  const call = (method: string, path: string, body?: object) => daemon.call(method, path, body);
  const set = (more: object = {}) => call('PUT', '/api/directory', { url: front.url, ...reading, ...more });
  const sync = async (body: object = {}) => data(await call('POST', '/api/directory/sync', body));
  /** The ids that slapd makes share most of their digits: "ada" can be in all of them. */
  const find = async (userName: string) =>
    data(await call('GET', `/api/people/list?size=100&keyword=${userName}`)).list.find(
      (person: { userName: string }) => person.userName === userName,
    );
  const bound = async (userId: string): Promise<string> => {
    const device = await register(daemon);
    return data(await call('POST', '/api/devices/activate', activation(device, userId))).deviceId;
  };
  const device = async (deviceId: string) => data(await call('GET', `/api/devices/${deviceId}`));
  const scim = async (path: string) => {
    const token = data(
      await call('POST', '/api/tokens', { name: `scim-${++made}`, role: 'VIEWER', expiresInDays: 1, may: ['scim'] }),
    );
    return fetch(daemon.url + path, { headers: { authorization: `Bearer ${token.token}` } });
  };
  let made = 0;
  const nothing = { new: 0, changed: 0, left: 0, back: 0, held: 0 };

  it('is set up without showing the password, in an answer, a log or the database', async () => {
    expect(data(await set())).toMatchObject({ enabled: true, base: reading.base, everyMinutes: 15, lastRun: null });
    const files = await Promise.all(
      ['devmgr.db', 'devmgr.db-wal'].map(file => readFile(join(daemon.home, file), 'latin1').catch(() => '')),
    );
    const shown = JSON.stringify(data(await call('GET', '/api/directory')));
    expect(files.join('') + shown + daemon.logged()).not.toContain(reading.bindPassword);
  });

  it.each([
    ['url must start with ldaps://', { url: 'ldap://ldap.example.com' }],
    ['url must not contain a user name', { url: 'ldaps://a:b@ldap.example.com' }],
    ['filter is not a filter', { filter: '(uid=' }],
    ['filter must begin with (', { filter: 'uid=a)(uid=b' }],
    ['ca must be certificates', { ca: 'none' }],
    ['bindPassword is required', { url: 'ldaps://other.example.com', bindPassword: null }],
    ['attributes.userName must be the name of an attribute', { attributes: { userName: 'uid)(a=*' } }],
  ])('refuses: %s', async (message, body) => {
    expect(await set(body)).toMatchObject({ code: 1001, message: expect.stringContaining(message) });
  });

  it('is tested: what is found, and what is wrong', async () => {
    expect(data(await call('POST', '/api/directory/test')).ok).toBe(true);
    data(await set({ bindPassword: 'another word' }));
    expect(data(await call('POST', '/api/directory/test'))).toMatchObject({
      ok: false,
      findings: [{ check: 'connection', detail: 'the directory refuses the bind DN or its password' }],
    });
    data(await set({ bindDn: 'no name', bindPassword: 'another word' }));
    expect(data(await call('POST', '/api/directory/test')).findings).toMatchObject([
      { detail: 'the directory refuses the request: a name is invalid (invalidDNSyntax)' },
    ]);
    data(await set());
  });

  it('shows in a dry run what would change, and changes nothing', async () => {
    expect(await sync({ dryRun: true })).toMatchObject({ dryRun: true, problem: null, counts: { read: 33, new: 33 } });
    expect(await find('ada')).toBeUndefined();
  });

  it('adds persons with their details and groups, and a second run finds nothing new', async () => {
    const dn = await slapd.group('all staff', ['ada', 'grace']);
    data(await set({ groups: [{ name: 'staff', dn: dn.toUpperCase() }] }));
    expect((await sync()).counts).toEqual({ ...nothing, read: 33, new: 33, skipped: 0 });
    expect(await find('ada')).toMatchObject({
      name: 'Person ada',
      email: 'ada@example.com',
      source: 'directory',
      active: true,
      groups: ['staff'],
      externalId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect((await sync()).counts).toEqual({ ...nothing, read: 33, skipped: 0 });
    expect(data(await call('GET', '/api/directory')).lastRun).toMatchObject({ kind: 'ALL', problem: null });
  });

  it('raises the version of a group whose members change, and takes the members out of a group that the settings no longer name', async () => {
    interface Group {
      readonly displayName: string;
      readonly members?: readonly object[];
      readonly meta: { readonly version: string };
    }
    const groups = async () => {
      const { Resources } = (await (await scim('/scim/v2/Groups')).json()) as { readonly Resources: readonly Group[] };
      return Resources.map(
        ({ displayName, members = [], meta }) => [displayName, members.length, meta.version] as const,
      );
    };
    const [, , before] = (await groups())[0]!;
    await slapd.removeFrom('all staff', 'grace');
    expect((await sync()).counts).toEqual({ ...nothing, read: 33, changed: 1, skipped: 0 });
    const [name, members, after] = (await groups())[0]!;
    expect([name, members]).toEqual(['staff', 1]);
    expect(after).not.toBe(before);
    data(await set({ groups: [] }));
    expect((await sync()).counts).toEqual({ ...nothing, read: 33, changed: 1, skipped: 0 });
    expect(await groups()).toEqual([['staff', 0, expect.not.stringMatching(after)]]);
    expect((await find('ada')).groups).toEqual([]);
  });

  it('counts the members of groups inside a group at any depth, also in a circle', async () => {
    const deep = await slapd.group('deep (a*b)', ['crowd-5']);
    const inner = await slapd.group('inner', ['crowd-4', deep]);
    const outer = await slapd.group('outer', ['crowd-3', inner]);
    await slapd.nest(deep, outer);
    const other = await slapd.group('other', ['crowd-6', inner]);
    const groups = [outer, other].map(dn => ({ name: dn.slice(3, 8), dn }));
    data(await set({ groups }));
    expect((await sync()).problem).toBeNull();
    const found = await Promise.all([3, 4, 5, 6].map(async n => (await find(`crowd-${n}`)).groups.sort()));
    expect(found).toEqual([['other', 'outer'], ['other', 'outer'], ['other', 'outer'], ['other']]);
    data(await set({ groups: [] }));
    await sync();
  });

  it('keeps a person who is renamed or moved, and the devices follow the name', async () => {
    const { personId } = await find('grace');
    const deviceId = await bound('grace');
    await slapd.rename('grace', 'grace.hopper');
    await slapd.move('alan');
    const report = await sync();
    expect(report.counts).toMatchObject({ changed: 1, left: 0, new: 0 });
    expect(report.list).toMatchObject([{ step: 'changed', personId, userName: 'grace.hopper', detail: 'userName' }]);
    expect(await find('grace.hopper')).toMatchObject({ personId, active: true });
    expect((await device(deviceId)).userId).toBe('grace.hopper');
  });

  it('changes nothing if the server dies while it answers', async () => {
    await slapd.remove('crowd-0');
    front.bytes = 6000;
    const report = await sync();
    expect(report.problem).toMatch(/^the directory (closed the connection|sent an unexpected response)/);
    front.bytes = Number.POSITIVE_INFINITY;
    expect(await find('crowd-0')).toMatchObject({ active: true });
    expect(data(await call('GET', '/api/directory')).lastRun.problem).toBe(report.problem);
    expect(daemon.logged()).not.toContain(reading.bindPassword);
  });

  it('locks the devices of persons who are gone or disabled, and the change is that of the directory', async () => {
    data(await set({ attributes: { disabled: 'employeeType' } }));
    const devices = [await bound('crowd-0'), await bound('crowd-1')];
    await slapd.change('crowd-1', { employeeType: 'TRUE' });
    expect((await sync()).counts).toMatchObject({ left: 2, held: 0 });
    for (const deviceId of devices)
      expect(await device(deviceId)).toMatchObject({ status: 'LOCKED', lockReason: 'left (directory)' });
    const { list } = data(await call('GET', `/api/events?deviceId=${devices[0]}&types=DEVICE_LOCKED`));
    expect(list[0].actor).toEqual({ name: 'directory:127.0.0.1', kind: 'directory' });
    expect((await sync()).counts).toMatchObject(nothing);
  });

  it('unlocks nothing when a person is back', async () => {
    await slapd.change('crowd-1', { employeeType: 'FALSE' });
    expect((await sync()).list).toMatchObject([{ step: 'back', userName: 'crowd-1' }]);
    expect(await find('crowd-1')).toMatchObject({ active: true, leftAt: null });
    const { list } = data(await call('GET', '/api/events?types=PERSON_RETURNED'));
    expect(list.at(-1).data.lockedDevices).toHaveLength(1);
  });

  it('does not bring back a person whose access an ADMIN has ended', async () => {
    const { personId } = await find('crowd-2');
    data(await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' }));
    expect((await sync()).counts).toMatchObject(nothing);
    expect(await find('crowd-2')).toMatchObject({ active: false });
  });

  it('makes a person who was added here one of the directory, and takes over none of another source', async () => {
    data(await call('POST', '/api/people', { userName: 'local.one' }));
    await slapd.add('local.one');
    await slapd.remove('crowd-3');
    expect((await sync()).counts).toMatchObject({ changed: 1, left: 1 });
    expect(await find('local.one')).toMatchObject({ source: 'directory', name: 'Person local.one' });
    // Another entry with the same name is another person.
    const { personId } = await find('crowd-3');
    await slapd.add('crowd-3');
    expect((await sync()).list).toMatchObject([{ step: 'new', userName: 'crowd-3' }]);
    expect(data(await call('GET', `/api/people/${personId}`))).toMatchObject({ active: false });
  });

  it('keeps the known name while the entry has it, whatever other names it gets', async () => {
    await slapd.add('zoe');
    await sync();
    const { personId } = await find('zoe');
    const deviceId = await bound('zoe');
    await slapd.alias('zoe', 'a.first.name');
    expect((await sync()).counts).toMatchObject({ changed: 0, left: 0, new: 0, skipped: 0 });
    expect(await find('zoe')).toMatchObject({ personId, active: true });
    expect(await device(deviceId)).toMatchObject({ status: 'ACTIVE', userId: 'zoe' });
    await slapd.remove('zoe');
    expect((await sync()).counts).toMatchObject({ left: expect.any(Number) });
    expect(await find('zoe')).toMatchObject({ active: false });
  });

  it('gives a person who was added here to one of two entries with the name', async () => {
    data(await call('POST', '/api/people', { userName: 'double' }));
    const second = `cn=second,ou=others,${reading.base}`;
    await slapd.add('double');
    await slapd.client.add(second, { objectClass: ['inetOrgPerson'], cn: 'second', sn: 's', uid: 'double' });
    await slapd.change('double', { mail: 'no address' });
    expect((await sync()).counts).toMatchObject({ changed: 1, skipped: 1 });
    const { list } = data(await call('GET', '/api/people/refused?source=directory'));
    expect(list).toMatchObject([
      { userName: 'double', field: null, reason: expect.stringContaining('has the user name') },
      { userName: 'double', field: 'email' },
    ]);
    await slapd.client.del(second);
    await slapd.remove('double');
    expect((await sync()).counts).toMatchObject({ left: 1, skipped: 0 });
  });

  it('leaves out an entry whose name another person has, with the reason', async () => {
    await slapd.add('ADA.2', { displayName: 'Other Ada' });
    await slapd.client.add(`cn=twin,ou=others,${reading.base}`, {
      objectClass: ['inetOrgPerson'],
      cn: 'twin',
      sn: 'twin',
      uid: 'ada',
    });
    expect((await sync()).list).toContainEqual(
      expect.objectContaining({ step: 'skipped', userName: 'ada', detail: expect.stringContaining('another id') }),
    );
    await slapd.client.del(`cn=twin,ou=others,${reading.base}`);
  });

  it('holds the devices of more leavers than the brake allows, also in the dry run', async () => {
    const leavers = crowd.slice(4, 18);
    for (const uid of leavers) await bound(uid);
    for (const uid of leavers) await slapd.remove(uid);
    const { left, held } = (await sync({ dryRun: true })).counts;
    expect(left + held).toBe(14);
    expect(held).toBeGreaterThan(0);
    const report = await sync();
    expect(report.counts.left + report.counts.held).toBe(14);
    expect(report.counts.held).toBeGreaterThanOrEqual(held);
    expect(data(await call('GET', '/api/people/held')).list).toHaveLength(report.counts.held);
  });

  it('changes nothing if the directory has no entry, or fewer than half of the known persons', async () => {
    const disabled = { attributes: { disabled: 'employeeType' } };
    data(await set({ ...disabled, filter: '(uid=no one)' }));
    expect(await sync()).toMatchObject({ problem: expect.stringContaining('no entry'), counts: nothing });
    data(await set({ ...disabled, filter: '(uid=ada)' }));
    expect(await sync()).toMatchObject({ problem: expect.stringContaining('fewer than half'), counts: nothing });
    // The persons whom it has not ended are in the standing check, the metric and doctor.
    const figure = async () => data(await call('GET', '/api/people/check')).drift;
    const drifted = await figure();
    expect(drifted).toBeGreaterThan(5);
    const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
    expect(metrics).toMatch(new RegExp(`^devmgr_persons_drifted{.*} ${drifted}$`, 'm'));
    const env = { DEVMGR_TOKEN: daemon.adminToken, DEVMGR_SERVER: daemon.url };
    const { stdout } = await devmgr(['doctor'], { env });
    expect(stdout).toContain(`${drifted} active persons gone or disabled at the identity provider or in the directory`);
    const forced = await sync({ dryRun: true, acceptMissing: true });
    expect(forced.problem).toBeNull();
    expect(forced.counts.left + forced.counts.held).toBeGreaterThan(5);
    data(await set(disabled));
    expect((await sync()).problem).toBeNull();
    expect(await figure()).toBe(0);
  });

  it('names the reason if no server answers', async () => {
    data(await set({ url: 'ldap://127.0.0.1:1' }));
    expect((await sync({ dryRun: true })).problem).toMatch(/cannot be reached: the connection was refused$/);
  });

  it('verifies the certificate of the server', async () => {
    data(await set({ url: slapd.tlsUrl }));
    expect((await sync({ dryRun: true })).problem).toMatch(
      /cannot be reached: the certificate is not trusted: self-signed certificate. --ca-file/,
    );
    data(await set({ url: slapd.tlsUrl, ca: slapd.ca }));
    expect((await sync({ dryRun: true })).problem).toBeNull();
  });

  it('ends: the persons stay', async () => {
    expect(data(await call('PUT', '/api/directory', { enabled: false }))).toMatchObject({ enabled: false, url: null });
    expect((await sync()).problem).toBe('the directory is not set up');
    expect(await find('ada')).toMatchObject({ active: true });
  });
});
