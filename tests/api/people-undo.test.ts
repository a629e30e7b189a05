/** A batch of a source is taken back: who left, who was renamed, and who had which device. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { patchOp, type ScimCall, scimClientWith } from '../support/scim.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';

let daemon: TestDaemon;
let scim: ScimCall;
beforeEach(async () => {
  daemon = await startTestDaemon();
  const token = { name: 'provider', role: 'VIEWER', expiresInDays: 1, may: ['scim'] };
  scim = scimClientWith(() => daemon.url, data(await call('POST', '/api/tokens', token)).token);
});
afterEach(() => daemon?.stop());

const call = (method: string, path: string, body?: object) => daemon.call(method, path, body);
const bound = async (userId: string): Promise<string> => {
  const device = await register(daemon);
  return data(await call('POST', '/api/devices/activate', activation(device, userId))).deviceId;
};
const post = async (userName: string, more: object = {}) =>
  (await scim('POST', '/Users', { schemas: [USER], userName, active: true, ...more })).body.id as string;
const set = (id: string, path: string, value: unknown) =>
  scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path, value }));
const personOf = async (personId: string) => data(await call('GET', `/api/people/${personId}`));
/** Who has which device, and in which state. */
const holders = async (devices: readonly string[]) => {
  const all = await Promise.all(devices.map(id => call('GET', `/api/devices/${id}`).then(data)));
  return all.map(({ deviceId, userId, personId, status }) => ({ deviceId, userId, personId, status }));
};
const audited = (verify: boolean) =>
  runDaemonProgram(
    audit,
    { home: daemon.home, json: true, device: null, since: null, limit: null, verify },
    { ...daemon.storeEnv },
  );
const undo = async (body: object) => data(await call('POST', '/api/people/undo', body));
const all = async (body: object) => {
  const list = [];
  for (let after: number | null = 0; after !== null; ) {
    const part: { list: object[]; next: number | null } = await undo({ ...body, after });
    list.push(...part.list);
    after = part.next;
  }
  return list as { kind: string; id: string; outcome: string; reason: string | null; changes: object[] }[];
};

it('restores who had which key after a hostile provider, whose leaves the brake has held in part', async () => {
  const names = Array.from({ length: 30 }, (_, i) => `person.${i}`);
  const ids: string[] = [];
  for (const name of names) ids.push(await post(name, { externalId: `id-${name}` }));
  const devices: string[] = [];
  for (const name of names) devices.push(await bound(name));
  const account = await daemon.user('person.3', 'VIEWER');
  const before = await holders(devices);
  const from = new Date().toISOString();
  const batch = { actor: 'token:provider', from };

  await set(ids[0]!, 'userName', 'renamed.0');
  // A chain of names, a swap, and a name that goes to someone new.
  await set(ids[1]!, 'userName', 'spare');
  await set(ids[2]!, 'userName', 'person.1');
  await set(ids[1]!, 'userName', 'person.2');
  const newcomer = await post('person.0', { externalId: 'other' });
  expect(newcomer).toBeTypeOf('string');
  await scim('DELETE', `/Users/${ids[4]}`);
  const reused = await post('person.4', { externalId: 'again' });
  for (const id of ids.slice(3, 28)) await set(id, 'active', false);
  const held = data(await call('GET', '/api/people/held')).list;
  expect(held.length).toBeGreaterThan(5);
  // Changed since: unlocked by an ADMIN and locked again.
  await call('POST', `/api/devices/${devices[5]}/unlock`, {});
  await call('POST', `/api/devices/${devices[5]}/lock`, { reason: 'lost' });

  const draft = await all({ ...batch, dryRun: true });
  expect(draft.find(({ id }) => id === devices[5])).toMatchObject({
    outcome: 'left',
    reason: expect.stringContaining('DEVICE_UNLOCKED'),
  });
  expect((await personOf(ids[3]!)).active).toBe(false);
  const done = await all(batch);
  expect(done.map(({ id, outcome }) => [id, outcome])).toEqual(draft.map(({ id, outcome }) => [id, outcome]));
  const after = await holders(devices);
  expect(after.filter(({ deviceId }) => deviceId !== devices[5])).toEqual(
    before.filter(({ deviceId }) => deviceId !== devices[5]),
  );
  expect(after[5]).toMatchObject({ status: 'LOCKED', userId: 'person.5' });
  for (const [i, id] of ids.entries()) expect(await personOf(id)).toMatchObject({ userName: names[i], active: true });
  // The names that newcomers have taken are those of the first persons again.
  for (const id of [newcomer, reused]) expect(await personOf(id)).toMatchObject({ userName: id, active: false });
  expect(data(await call('GET', '/api/people/held')).list).toEqual([]);
  const { list } = data(await call('GET', '/api/users/list'));
  expect(list.find(({ id }: { id: string }) => id === account.id)).toMatchObject({ disabled: false });

  const again = await all(batch);
  expect(again.filter(({ outcome }) => outcome === 'restored')).toEqual([]);
  expect(await holders(devices)).toEqual(after);
  expect(await audited(true)).toMatchObject({ code: 0 });
});

it('gives a matched device back to its text, by the id of the request', async () => {
  const { personId } = data(await call('POST', '/api/people', { userName: 'ada', name: 'Ada L' }));
  const [open, locked] = [await bound('Ada L'), await bound('A. L')];
  const before = await holders([open, locked]);
  const answer = await call('POST', '/api/people/match', {
    matches: [open, locked].map(deviceId => ({ deviceId, personId })),
  });
  const requestId = answer.headers.get('x-request-id')!;
  expect((await holders([open]))[0]).toMatchObject({ userId: 'ada', personId });
  expect(await undo({ requestId, dryRun: true })).toMatchObject({ total: 2, next: null });
  expect((await undo({ requestId })).list).toMatchObject(
    [locked, open].map((id, i) => ({
      ...{ kind: 'device', id, outcome: 'restored' },
      changes: [
        { field: 'userId', before: 'ada', after: ['A. L', 'Ada L'][i] },
        { field: 'personId', before: personId, after: null },
      ],
    })),
  );
  expect(await holders([open, locked])).toEqual(before);
});

it('brings back those whom an import has ended, and leaves a retired device alone', async () => {
  await call('POST', '/api/people/import', { people: ['ben', 'cleo'].map(userName => ({ userName })) });
  const [ben, cleo] = [await bound('ben'), await bound('cleo')];
  const policy = (leavers: string) =>
    call('PUT', '/api/policies/people', { personsRequired: false, leavers, leaverDelayHours: 0 });
  await policy('retire');
  await call('POST', '/api/people/import', { people: [{ userName: 'cleo', left: true }] });
  await policy('lock');
  await call('POST', '/api/people/import', { people: [{ userName: 'ben', left: true }] });
  const { list } = data(await call('GET', '/api/people/log?size=2'));
  const results = [];
  for (const { requestId } of list) results.push((await undo({ requestId })).list);
  expect(results).toMatchObject([
    [
      { kind: 'person', outcome: 'restored', changes: [{ field: 'active', before: 'false', after: 'true' }] },
      {
        kind: 'device',
        id: ben,
        outcome: 'restored',
        changes: [{ field: 'status', before: 'LOCKED', after: 'ACTIVE' }],
      },
    ],
    [
      { kind: 'person', outcome: 'restored' },
      { kind: 'device', id: cleo, outcome: 'left', reason: expect.stringContaining('permanent') },
    ],
  ]);
});

it('does not unlock a device that a person who left otherwise still has, and needs a batch', async () => {
  await call('POST', '/api/people/import', { people: [{ userName: 'dora' }] });
  const device = await bound('dora');
  const from = new Date().toISOString();
  await call('POST', '/api/people/import', { people: [{ userName: 'dora', left: true }] });
  const { list } = data(await call('GET', '/api/people/log?size=1'));
  const { personId, requestId } = list[0];
  data(await call('POST', `/api/people/${personId}/return`));
  data(await call('POST', `/api/people/${personId}/leave`, { reason: 'has really left' }));
  expect((await undo({ requestId })).list).toMatchObject([
    { kind: 'person', outcome: 'left', reason: 'the person left at another time' },
    { kind: 'device', outcome: 'left', reason: expect.stringContaining('has left') },
  ]);
  expect((await holders([device]))[0]).toMatchObject({ status: 'LOCKED' });
  for (const body of [{}, { actor: 'admin' }, { requestId, actor: 'admin', from }, { requestId, from }])
    expect(await call('POST', '/api/people/undo', body)).toMatchObject({ code: 1001 });
  expect(await undo({ requestId: 'no such request' })).toEqual({ total: 0, list: [], next: null });
});

it('restores names, addresses and external ids, which the journal has sealed, also of persons without a device', async () => {
  const email = (value: string) => [{ value, type: 'work', primary: true }];
  const first = [
    { userName: 'ada', externalId: 'e-1', displayName: 'Ada L', emails: email('ada@example.com') },
    { userName: 'ben', externalId: 'e-2', displayName: 'Ben M', name: { givenName: 'Ben' } },
    { userName: 'cleo', externalId: 'e-3', displayName: 'Cleo N' },
  ];
  const ids: string[] = [];
  for (const { userName, ...more } of first) ids.push(await post(userName, more));
  data(await call('POST', '/api/people', { userName: 'dora', name: 'Dora O' }));
  const shown = async () => {
    const persons = await Promise.all(['PER-1', 'PER-2', 'PER-3', 'PER-4'].map(personOf));
    return persons.map(({ updatedAt: _, ...person }) => person);
  };
  const before = await shown();
  const batch = { actor: 'token:provider', from: new Date().toISOString() };
  // The ids of two persons are exchanged, the third one leaves and its id is given to someone new.
  await set(ids[0]!, 'externalId', 'spare');
  await set(ids[1]!, 'externalId', 'e-1');
  await set(ids[0]!, 'externalId', 'e-2');
  await set(ids[0]!, 'userName', 'renamed');
  await set(ids[0]!, 'displayName', 'Someone Else');
  await set(ids[0]!, 'emails', email('else@example.com'));
  await set(ids[1]!, 'name.givenName', 'Other');
  await scim('DELETE', `/Users/${ids[2]}`);
  const newcomer = await post('other', { externalId: 'e-3' });
  expect(newcomer).toBe('PER-5');
  for (const [path, value] of [
    ['externalId', 'e-4'],
    ['displayName', 'Dora P'],
  ] as const)
    await set('PER-4', path, value);
  expect(await personOf('PER-4')).toMatchObject({ source: 'scim', externalId: 'e-4' });
  const draft = await all({ ...batch, dryRun: true });
  expect(draft.find(({ id }) => id === 'PER-1')).toMatchObject({
    outcome: 'restored',
    changes: [
      { field: 'userName', before: 'renamed', after: 'ada' },
      { field: 'name', before: 'Someone Else', after: 'Ada L' },
      { field: 'names', after: expect.stringContaining('displayName Ada L') },
      { field: 'email', before: 'else@example.com', after: 'ada@example.com' },
      { field: 'externalId', before: 'e-2', after: 'e-1' },
    ],
    reason: null,
  });
  const done = await all(batch);
  expect(done.filter(({ outcome }) => outcome !== 'restored')).toEqual([]);
  expect(await shown()).toEqual(before);
  expect(await personOf(newcomer)).toMatchObject({ externalId: null, active: false });
  expect((await all(batch)).filter(({ outcome }) => outcome !== 'unchanged')).toEqual([]);
  // What someone has changed since is left alone, and named.
  const again = { ...batch, from: new Date().toISOString() };
  await set(ids[1]!, 'displayName', 'Provider');
  const to = new Date().toISOString();
  await call('POST', '/api/people/import', { people: [{ userName: 'ben', name: 'Ben Admin' }], adopt: true });
  await set(ids[1]!, 'displayName', 'Later');
  const [step] = await all({ ...again, to });
  expect(step).toMatchObject({ outcome: 'left', reason: 'name, names: changed since' });
  const { code, stdout: journal } = await audited(false);
  expect([code, journal]).toEqual([0, expect.stringContaining('PERSON_UPDATED')]);
  for (const value of ['else@example.com', 'ada@example.com', 'Ada L', 'e-1']) expect(journal).not.toContain(value);
});

it('an account that was given to a person follows new names and ends with the person, and is taken back', async () => {
  const ada = await post('ada', { externalId: 'e-1' });
  const account = await daemon.user('adal', 'VIEWER');
  const other = await daemon.user('ada.other', 'DEALER');
  const give = (accountId: string, personId: string) =>
    call('POST', '/api/people/match', { matches: [{ accountId, personId }] });
  const answer = await give(account.id, ada);
  const requestId = answer.headers.get('x-request-id')!;
  expect(data(answer).results).toEqual([
    { deviceId: null, accountId: account.id, personId: ada, status: 'success', code: 200, message: 'success' },
  ]);
  const found = async (id: string) => {
    const { list } = data(await call('GET', '/api/users/list'));
    const { personId = null, disabled } = list.find((one: { id: string }) => one.id === id);
    return { personId, disabled };
  };
  expect(await found(account.id)).toEqual({ personId: ada, disabled: false });
  // The name of an account that has a person cannot be taken by another one, and a new name of the person ends no account.
  const ben = await post('ben');
  expect(data(await give(account.id, ben)).results[0]).toMatchObject({ code: 1001 });
  await set(ada, 'userName', 'ada.new');
  expect(await found(account.id)).toEqual({ personId: ada, disabled: false });
  // An account with the former name of the person is another one.
  expect((await daemon.user('ada', 'VIEWER')).id).toMatch(/^USR-/);
  await set(ada, 'active', false);
  expect(await found(account.id)).toEqual({ personId: ada, disabled: true });
  expect(data(await call('GET', `/api/people/${ada}/case`)).items).toMatchObject([
    { kind: 'account', id: account.id },
    { kind: 'session' },
  ]);
  expect(data(await give(other.id, ada)).results[0]).toMatchObject({ code: 1001 });
  const byToken = data(await call('POST', '/api/tokens', { name: 'match', role: 'ADMIN', expiresInDays: 1 })).token;
  const item = { matches: [{ accountId: other.id, personId: ben }] };
  const refused = await daemon.call('POST', '/api/people/match', item, { token: byToken });
  expect(refused.message).toBe('batch completed with partial failure');
  expect(data(refused).results[0]).toMatchObject({ code: 2007 });
  expect((await undo({ requestId })).list).toMatchObject([
    {
      kind: 'account',
      id: account.id,
      outcome: 'restored',
      changes: [{ field: 'personId', before: ada, after: null }],
    },
  ]);
  expect(await found(account.id)).toEqual({ personId: null, disabled: true });
  expect(await audited(true)).toMatchObject({ code: 0 });
});

it('restores members of groups, also of someone who left, and names a group that is gone', async () => {
  const [ada, ben] = [await post('ada'), await post('ben')];
  const group = async (displayName: string, ...members: string[]) => {
    const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group'];
    const { body } = await scim('POST', '/Groups', {
      schemas,
      displayName,
      members: members.map(value => ({ value })),
    });
    return body as { id: string; meta: { version: string } };
  };
  const [staff, guests] = [await group('staff', ada, ben), await group('guests', ada)];
  const groupsOf = async (id: string) => (await personOf(id)).groups;
  const batch = { actor: 'token:provider', from: new Date().toISOString() };
  const replaced = await scim('PATCH', `/Groups/${staff.id}`, patchOp({ op: 'replace', path: 'members', value: [] }));
  await scim('PATCH', `/Groups/${guests.id}`, patchOp({ op: 'add', path: 'members', value: [{ value: ben }] }));
  await set(ben, 'active', false);
  expect([await groupsOf(ada), await groupsOf(ben)]).toEqual([['guests'], ['guests']]);
  const changes = [{ field: 'groups', before: 'guests', after: 'staff' }];
  expect((await all({ ...batch, dryRun: true })).find(({ id }) => id === ben)).toMatchObject({
    changes: [{ field: 'active' }, ...changes],
  });
  await all(batch);
  expect([await groupsOf(ada), await groupsOf(ben)]).toEqual([['staff', 'guests'], ['staff']]);
  // Who has read the group before sees that it has changed.
  expect((await scim('GET', `/Groups/${staff.id}`)).body.meta.version).not.toBe(replaced.body.meta.version);
  const again = { ...batch, from: new Date().toISOString() };
  await scim('DELETE', `/Groups/${staff.id}`);
  const steps = await all(again);
  expect(steps.map(({ outcome, reason }) => [outcome, reason])).toEqual(
    [ada, ben].map(() => ['left', `groups: the registry no longer has ${staff.id}`]),
  );
  expect(await audited(true)).toMatchObject({ code: 0 });
});

it('gives an external id back to the first person, not to someone whom the batch has added and removed', async () => {
  const ada = await post('ada', { externalId: 'e-1' });
  const batch = { actor: 'token:provider', from: new Date().toISOString() };
  await set(ada, 'externalId', 'e-2');
  const newcomer = await post('other', { externalId: 'e-1' });
  await scim('DELETE', `/Users/${newcomer}`);
  // The person with the last change is taken back first.
  await set(ada, 'displayName', 'Ada');
  const steps = await all(batch);
  expect(steps.map(({ id, outcome }) => [id, outcome])).toEqual([
    [ada, 'restored'],
    [newcomer, 'left'],
  ]);
  expect(await personOf(ada)).toMatchObject({ externalId: 'e-1', name: null, active: true });
  expect((await all(batch)).filter(({ outcome }) => outcome === 'restored')).toEqual([]);
});
