/** A list of persons that an ADMIN imports, and persons by the number of their ACTIVE devices. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';

let daemon: TestDaemon;
/** A registry with the devices of one test: the brake compares with all that are ACTIVE. */
let registry: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
  registry = await startTestDaemon();
});
afterAll(() => Promise.all([daemon?.stop(), registry?.stop()]));

let made = 0;
const freshName = () => `imported.${++made}`;
const post = (path: string, body: object) => daemon.call('POST', `/api/people${path}`, body);
const importing = async (people: readonly unknown[], more: object = {}) =>
  data(await post('/import', { people, ...more }));
const person = async (userName: string) => {
  const { list } = data(await daemon.call('GET', `/api/people/list?userName=${encodeURIComponent(userName)}`));
  return list[0];
};
const bound = async (userId: string): Promise<string> => {
  const answer = await daemon.call('POST', '/api/devices/activate', activation(await register(daemon), userId));
  return data(answer).deviceId;
};
const statusOf = async (deviceId: string) => data(await daemon.call('GET', `/api/devices/${deviceId}`)).status;
const success = { status: 'success', code: 200, message: 'success', changes: [], devices: 0 };

it('adds persons with a source of their own, updates them, and leaves alone what is equal', async () => {
  const [first, second] = [freshName(), freshName()];
  const people: Partial<Record<'userName' | 'name' | 'email', string>>[] = [
    { userName: first, name: 'Ada Lovelace', email: 'ada@example.com' },
    { userName: second },
  ];
  const added = await importing(people);
  expect(added).toMatchObject({ total: 2, success: 2, failed: 0 });
  const { personId } = await person(first);
  const fields = ['name', 'email'] as const;
  expect(added.results[0]).toEqual({
    ...success,
    userName: first,
    personId,
    outcome: 'created',
    changes: fields.map(field => ({ field, before: null, after: people[0]![field] })),
  });
  expect(await person(first)).toMatchObject({ ...people[0], source: 'import', active: true, externalId: null });
  const changed = await importing([
    { userName: first.toUpperCase(), name: 'Ada King' },
    { userName: second, name: null },
  ]);
  const changes = [{ field: 'name', before: 'Ada Lovelace', after: 'Ada King' }];
  expect(changed.results).toMatchObject([{ personId, outcome: 'updated', changes }, { outcome: 'unchanged' }]);
  // The absent address and the spelling of the name stay.
  expect(await person(first)).toMatchObject({ userName: first, name: 'Ada King', email: 'ada@example.com' });
});

it('fails invalid items and the second of two equal names, and stores the others', async () => {
  const name = freshName();
  const { results, failed } = await importing([
    { userName: name, email: 'no address' },
    { userName: `J\u00fcrgen ${name}` },
    { userName: `j\u0075\u0308rgen ${name}` },
    'text',
  ]);
  expect(failed).toBe(3);
  expect(results).toMatchObject([
    { userName: name, status: 'failed', code: 1001, message: expect.stringContaining('email'), outcome: null },
    { outcome: 'created' },
    { status: 'failed', message: expect.stringContaining('occurs twice') },
    { userName: null, status: 'failed' },
  ]);
  expect(await person(name)).toBeUndefined();
});

it('changes nothing in a dry run, and reports what an import would do', async () => {
  const [known, other] = [freshName(), freshName()];
  await importing([{ userName: known, email: 'before@example.com' }]);
  await bound(known);
  const { results } = await importing(
    [{ userName: known, email: 'after@example.com' }, { userName: other }, { userName: freshName(), left: true }],
    { dryRun: true },
  );
  const changes = [{ field: 'email', before: 'before@example.com', after: 'after@example.com' }];
  expect(results).toMatchObject([
    { outcome: 'updated', changes },
    { outcome: 'created', personId: null },
    { outcome: 'unchanged', personId: null },
  ]);
  const leave = await importing([{ userName: known, left: true }], { dryRun: true });
  expect(leave.results).toMatchObject([{ outcome: 'left', devices: 1 }]);
  expect([await person(known), await person(other)]).toMatchObject([
    { email: 'before@example.com', active: true },
    undefined,
  ]);
});

it('lists persons of other sources as conflicts, and takes those who were added here only if asked to', async () => {
  const userName = freshName();
  data(await post('', { userName, name: 'By Hand' }));
  const refused = await importing([{ userName, name: 'Of the list' }]);
  expect(refused.results).toMatchObject([{ status: 'failed', message: expect.stringContaining('source local') }]);
  expect((await importing([{ userName, left: true }])).failed).toBe(1);
  expect((await importing([{ userName, name: 'By Hand' }])).results).toMatchObject([{ outcome: 'unchanged' }]);
  expect(await person(userName)).toMatchObject({ name: 'By Hand', source: 'local', active: true });
  const { results } = await importing([{ userName, name: 'Of the list' }], { adopt: true });
  expect(results).toMatchObject([
    { outcome: 'updated', changes: [{ field: 'name' }, { before: 'local', after: 'import' }] },
  ]);
  expect(await person(userName)).toMatchObject({ name: 'Of the list', source: 'import' });
});

it('does not take a person of an identity provider, also with adopt', async () => {
  const { token } = data(
    await daemon.call('POST', '/api/tokens', { name: 'provider', role: 'ADMIN', expiresInDays: 1, may: ['scim'] }),
  );
  const userName = freshName();
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
  const response = await fetch(`${daemon.url}/scim/v2/Users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({ schemas, userName, externalId: `id-${userName}`, active: true }),
  });
  expect(response.status).toBe(201);
  const { results } = await importing([{ userName, left: true }], { adopt: true });
  expect(results).toMatchObject([{ status: 'failed', message: expect.stringContaining('source scim') }]);
  expect(await person(userName)).toMatchObject({ source: 'scim', active: true });
});

it('locks the devices of those who are marked as leavers, and brings them back when they are not', async () => {
  const [leaver, other] = [freshName(), freshName()];
  await importing([{ userName: leaver }, { userName: other }]);
  const devices = [await bound(leaver), await bound(leaver)];
  const kept = await bound(other);
  expect((await importing([{ userName: leaver, left: true }])).results).toMatchObject([
    { outcome: 'left', devices: 2 },
  ]);
  expect(await Promise.all([...devices, kept].map(statusOf))).toEqual(['LOCKED', 'LOCKED', 'ACTIVE']);
  expect((await person(leaver)).active).toBe(false);
  expect((await importing([{ userName: leaver, left: true }])).results).toMatchObject([{ outcome: 'unchanged' }]);
  const back = await importing([{ userName: leaver, name: 'Is Back' }]);
  expect(back.results).toMatchObject([{ outcome: 'back', changes: [{ field: 'name' }] }]);
  expect(await person(leaver)).toMatchObject({ active: true, name: 'Is Back' });
  expect(await statusOf(devices[0]!)).toBe('LOCKED');
});

it('does not bring back a person whom an ADMIN has recorded as a leaver', async () => {
  const userName = freshName();
  await importing([{ userName }]);
  const { personId } = await person(userName);
  data(await post(`/${personId}/leave`, { reason: 'has left' }));
  const { results } = await importing([{ userName }]);
  expect(results).toMatchObject([{ status: 'failed', message: expect.stringContaining('has left') }]);
  expect((await person(userName)).active).toBe(false);
});

it('holds leavers above the brake, and counts those of one list together', async () => {
  const call = async (path: string, body: object) => data(await registry.call('POST', path, body));
  const names = Array.from({ length: 12 }, (_, n) => `braked.${n}`);
  await call('/api/people/import', { people: names.map(userName => ({ userName })) });
  for (const name of names) await call('/api/devices/activate', activation(await register(registry), name));
  const people = names.map(userName => ({ userName, left: true }));
  const { results } = await call('/api/people/import', { people });
  expect(results.filter(({ outcome }: { outcome: string }) => outcome === 'held')).toHaveLength(3);
  const { list } = data(await registry.call('GET', '/api/people/held'));
  expect(list.map(({ userName }: { userName: string }) => userName).sort()).toEqual([
    'braked.10',
    'braked.11',
    'braked.9',
  ]);
  const again = await call('/api/people/import', { people: people.slice(-1) });
  expect(again.results).toMatchObject([{ outcome: 'held', devices: 1 }]);
});

it('is carried out once for an Idempotency-Key', async () => {
  const people = [{ userName: freshName() }];
  const headers = { 'idempotency-key': `import-${process.pid}` };
  const send = () => daemon.call('POST', '/api/people/import', { people }, { headers });
  const first = await send();
  expect(first.data.results).toMatchObject([{ outcome: 'created' }]);
  expect((await send()).data).toEqual(first.data);
});

it('lists persons by the number of their ACTIVE devices', async () => {
  const names = [freshName(), freshName(), freshName()];
  await importing(names.map(userName => ({ userName, name: 'Counted Person' })));
  for (const name of [names[1]!, names[2]!, names[2]!]) await bound(name);
  const deviceId = await bound(names[0]!);
  data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' }));
  const having = async (number: number) => {
    const { list } = data(await daemon.call('GET', `/api/people/list?keyword=counted&activeDevices=${number}`));
    return list.map(({ userName }: { userName: string }) => userName);
  };
  expect([await having(0), await having(1), await having(2)]).toEqual(names.map(name => [name]));
  expect(await daemon.call('GET', '/api/people/list?activeDevices=-1')).toMatchObject({ code: 1001 });
});
