/** SCIM 2.0: resources, lists, filters, versions and errors. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';
import { patchOp, type ScimCall, scimClient } from '../support/scim.ts';
import { serviceToken } from '../support/service-token.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

let daemon: TestDaemon;
let scim: ScimCall;
beforeAll(async () => {
  daemon = await startTestDaemon();
  scim = await scimClient(daemon);
});
afterAll(() => daemon?.stop());

let made = 0;
const freshName = () => `scim.${++made}@example.com`;
const add = async (more: object = {}) => {
  const answer = await scim('POST', '/Users', { schemas: [USER], userName: freshName(), ...more });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const bound = async (userId: string): Promise<string> => {
  const device = await register(daemon);
  return data(await daemon.call('POST', '/api/devices/activate', activation(device, userId))).deviceId;
};
const deviceOf = async (deviceId: string) => data(await daemon.call('GET', `/api/devices/${deviceId}`));
const error = (status: number, scimType?: string) => ({
  status,
  body: { schemas: [ERROR], status: String(status), detail: expect.any(String), ...(scimType ? { scimType } : {}) },
});
const filtered = (kind: string, filter: string) => scim('GET', `/${kind}?filter=${encodeURIComponent(filter)}`);

describe('what the service provider can do', () => {
  it('is configured without bulk, with patch, filters and versions', async () => {
    const { body, headers } = await scim('GET', '/ServiceProviderConfig');
    expect(headers.get('content-type')).toBe('application/scim+json; charset=utf-8');
    expect(body).toMatchObject({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
      patch: { supported: true },
      bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
      filter: { supported: true, maxResults: 200 },
      etag: { supported: true },
      sort: { supported: false },
    });
  });

  it('has two types of resources with their schemas', async () => {
    const types = (await scim('GET', '/ResourceTypes')).body;
    expect(types.Resources.map(({ id, endpoint, schema }: Record<string, string>) => [id, endpoint, schema])).toEqual([
      ['User', '/Users', USER],
      ['Group', '/Groups', GROUP],
    ]);
    expect((await scim('GET', '/ResourceTypes/User')).body.id).toBe('User');
    expect((await scim('GET', `/Schemas/${USER}`)).body).toMatchObject({ id: USER, attributes: expect.any(Array) });
    expect((await scim('GET', '/Schemas')).body.totalResults).toBe(3);
    expect(await scim('GET', '/Schemas/other')).toMatchObject(error(404));
  });

  it('refuses filters of what describes it, and reports what it does not have', async () => {
    const filter = encodeURIComponent('name eq "User"');
    for (const kind of ['Schemas', 'ResourceTypes'])
      expect(await scim('GET', `/${kind}?filter=${filter}`)).toMatchObject(error(403));
    for (const [method, path] of [
      ['GET', '/Me'],
      ['POST', '/.search'],
    ] as const)
      expect([path, await scim(method, path, method === 'POST' ? {} : undefined)]).toMatchObject([path, error(501)]);
  });
});

describe('the token', () => {
  const status = async (token: string | null) => {
    const headers = token === null ? undefined : { authorization: `Bearer ${token}` };
    const response = await fetch(`${daemon.url}/scim/v2/Users`, headers ? { headers } : {});
    return [response.status, ((await response.json()) as { readonly schemas: unknown }).schemas];
  };
  it('must be a service token with the permission scim', async () => {
    expect(await status(null)).toEqual([401, [ERROR]]);
    expect(await status('devmgr_wrong')).toEqual([401, [ERROR]]);
    expect(await status(daemon.adminToken)).toEqual([403, [ERROR]]);
    expect(await status((await serviceToken(daemon, { role: 'ADMIN' })).token)).toEqual([403, [ERROR]]);
  });
});

describe('users', () => {
  it('are created with their location and version, and read back', async () => {
    const given = {
      schemas: [USER, 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'],
      externalId: '58342554-38d6-4ec8-948c-50044d0a33fd',
      userName: 'Test_User_feed3ace',
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      displayName: 'BOB',
      emails: [{ primary: true, type: 'work', value: 'bob@testuser.com' }],
      active: true,
      title: 'not stored',
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'bob' },
    };
    const answer = await scim('POST', '/Users', given);
    const { title: _, 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': __, ...stored } = given;
    const location = answer.headers.get('location');
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      ...stored,
      schemas: [USER],
      id: expect.stringMatching(/^PER-\d+$/),
      groups: [],
      meta: {
        resourceType: 'User',
        created: expect.any(String),
        lastModified: expect.any(String),
        location,
        version: 'W/"1"',
      },
    });
    expect(location).toBe(`${daemon.url}/scim/v2/Users/${answer.body.id}`);
    expect(answer.headers.get('etag')).toBe('W/"1"');
    expect((await scim('GET', `/Users/${answer.body.id}`)).body).toEqual(answer.body);
    const person = data(await daemon.call('GET', `/api/people/${answer.body.id}`));
    expect(person).toMatchObject({ userName: given.userName, name: 'BOB', source: 'scim', email: 'bob@testuser.com' });
  });

  it('are unique by userName, in upper or lower case', async () => {
    const { userName } = await add();
    const again = { schemas: [USER], userName: userName.toUpperCase() };
    expect(await scim('POST', '/Users', again)).toMatchObject(error(409, 'uniqueness'));
    const other = await add();
    expect(await scim('PUT', `/Users/${other.id}`, again)).toMatchObject(error(409, 'uniqueness'));
  });

  it('are refused without a valid userName or state', async () => {
    for (const body of [{}, { userName: '' }, { userName: 5 }, { userName: 'x'.repeat(129) }])
      expect(await scim('POST', '/Users', { schemas: [USER], ...body })).toMatchObject(error(400, 'invalidValue'));
    expect(await scim('POST', '/Users', { userName: freshName(), active: 'perhaps' })).toMatchObject(
      error(400, 'invalidValue'),
    );
    expect(await scim('POST', '/Users', '[]')).toMatchObject(error(400, 'invalidSyntax'));
    expect(await scim('POST', '/Users', '{"userName":')).toMatchObject(error(400, 'invalidSyntax'));
  });

  it('are replaced by PUT: what is absent is removed, but not the state', async () => {
    const { id, userName } = await add({ displayName: 'Ada', externalId: 'x' });
    await scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path: 'active', value: false }));
    const { body } = await scim('PUT', `/Users/${id}`, { schemas: [USER], userName, name: { givenName: 'A' } });
    expect(body).toMatchObject({ userName, name: { givenName: 'A' }, active: false });
    expect(body).not.toHaveProperty('displayName');
    expect(body).not.toHaveProperty('externalId');
  });

  it('are seen in pages', async () => {
    await Promise.all([add(), add(), add()]);
    const { totalResults } = (await scim('GET', '/Users')).body;
    const page = (await scim('GET', '/Users?startIndex=2&count=1')).body;
    expect(page).toMatchObject({ totalResults, startIndex: 2, itemsPerPage: 1, Resources: [{ schemas: [USER] }] });
    expect((await scim('GET', '/Users?count=0')).body).toMatchObject({ totalResults, itemsPerPage: 0, Resources: [] });
    expect((await scim('GET', '/Users?startIndex=-5&count=-3')).body).toMatchObject({ startIndex: 1, Resources: [] });
    expect(await scim('GET', '/Users?count=many')).toMatchObject(error(400, 'invalidValue'));
  });

  it('are returned with the attributes that are wanted', async () => {
    const { id, userName } = await add({ displayName: 'Ada' });
    const { body } = await scim('GET', `/Users/${id}?attributes=userName`);
    expect(body).toMatchObject({ id, userName });
    expect(body).not.toHaveProperty('displayName');
    expect((await scim('GET', `/Users/${id}?excludedAttributes=displayName`)).body).not.toHaveProperty('displayName');
    const whole = `/Users/${id}?attributes=${USER}:userName,meta.location`;
    expect((await scim('GET', whole)).body).toEqual({ ...body, displayName: undefined });
  });

  it('are returned with parts of attributes', async () => {
    const name = { formatted: 'Ada Lovelace', givenName: 'Ada', familyName: 'Lovelace' };
    const { id } = await add({ name, emails: [{ value: 'parts@example.com', type: 'work', primary: true }] });
    const shown = async (query: string) => (await scim('GET', `/Users/${id}?${query}`)).body;
    expect((await shown('attributes=name.givenName,emails.value')).name).toEqual({ givenName: 'Ada' });
    expect((await shown('attributes=emails.value')).emails).toEqual([{ value: 'parts@example.com' }]);
    const without = await shown(`excludedAttributes=${USER}:name.formatted,emails`);
    expect(without).toMatchObject({ name: { givenName: 'Ada', familyName: 'Lovelace' }, active: true });
    expect(without.name).not.toHaveProperty('formatted');
    expect(without).not.toHaveProperty('emails');
  });

  it('keep all addresses with their types, and use the primary one', async () => {
    const emails = [
      { value: 'home@example.com', type: 'home' },
      { value: 'work@example.com', type: 'work', primary: true },
    ];
    const { id } = await add({ emails });
    const shown = async () => (await scim('GET', `/Users/${id}`)).body.emails;
    expect(await shown()).toEqual(emails);
    expect(data(await daemon.call('GET', `/api/people/${id}`)).email).toBe('work@example.com');
    const filter = encodeURIComponent('emails[type eq "home" and value eq "home@example.com"]');
    expect((await scim('GET', `/Users?filter=${filter}`)).body.Resources).toMatchObject([{ id, emails }]);
    const moved = { op: 'replace', path: 'emails[type eq "home"].value', value: 'new@example.com' };
    await scim('PATCH', `/Users/${id}`, patchOp(moved));
    expect(await shown()).toEqual([{ value: 'new@example.com', type: 'home' }, emails[1]]);
    await scim('PATCH', `/Users/${id}`, patchOp({ op: 'remove', path: 'emails[type eq "home"]' }));
    expect(await shown()).toEqual([emails[1]]);
  });

  it('leave out an invalid address, list it once, and keep the others', async () => {
    const emails = [
      { value: 'not an address', primary: true },
      { value: 'ok@example.com', type: 'home' },
    ];
    const { id, userName } = await add({ emails });
    expect((await scim('GET', `/Users/${id}`)).body.emails).toEqual([{ value: 'ok@example.com', type: 'home' }]);
    const { list } = data(await daemon.call('GET', '/api/people/refused?source=scim&size=100'));
    expect(list.filter((one: Record<string, string>) => one.userName === userName)).toMatchObject([{ field: 'email' }]);
  });

  it('keep their state if it is removed', async () => {
    const { id } = await add();
    expect(await scim('PATCH', `/Users/${id}`, patchOp({ op: 'remove', path: 'active' }))).toMatchObject({
      status: 200,
      body: { active: true },
    });
    await scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path: 'active', value: false }));
    expect((await scim('PATCH', `/Users/${id}`, patchOp({ op: 'remove', path: 'active' }))).body.active).toBe(false);
  });

  it('are refused with a name that is not an object', async () => {
    const user = { schemas: [USER], userName: freshName(), name: 'Ada' };
    expect(await scim('POST', '/Users', user)).toMatchObject(error(400, 'invalidValue'));
  });

  it('are refused with the externalId of another user, also if both are created at once', async () => {
    const create = () => scim('POST', '/Users', { schemas: [USER], userName: freshName(), externalId: 'taken-1' });
    const both = await Promise.all([create(), create()]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(await create()).toMatchObject(error(409, 'uniqueness'));
    const { id } = await add({ externalId: 'free-1' });
    const take = patchOp({ op: 'replace', path: 'externalId', value: 'taken-1' });
    expect(await scim('PATCH', `/Users/${id}`, take)).toMatchObject(error(409, 'uniqueness'));
    expect((await scim('GET', `/Users/${id}`)).body.externalId).toBe('free-1');
  });

  it('are searched by POST', async () => {
    const { id } = await add({ displayName: 'Searched' });
    const body = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
      filter: 'displayName eq "Searched"',
      attributes: ['displayName'],
      startIndex: 1,
      count: 5,
    };
    const found = await scim('POST', '/Users/.search', body);
    expect(found).toMatchObject({
      status: 200,
      body: { totalResults: 1, Resources: [{ id, displayName: 'Searched' }] },
    });
    expect(found.body.Resources[0]).not.toHaveProperty('userName');
    expect(await scim('POST', '/Users/.search', { ...body, filter: 'displayName' })).toMatchObject(
      error(400, 'invalidFilter'),
    );
    expect(await scim('POST', '/Groups/.search', { ...body, attributes: undefined })).toMatchObject({
      status: 200,
      body: { totalResults: 0 },
    });
  });

  it('change only in the version that the request names', async () => {
    const { id } = await add();
    const rename = patchOp({ op: 'replace', path: 'displayName', value: 'Ada' });
    expect(await scim('PATCH', `/Users/${id}`, rename, { 'if-match': 'W/"7"' })).toMatchObject(error(412));
    const changed = await scim('PATCH', `/Users/${id}`, rename, { 'if-match': 'W/"1"' });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, 'W/"2"']);
    expect(await scim('GET', `/Users/${id}`, undefined, { 'if-none-match': 'W/"2"' })).toMatchObject({
      status: 304,
      body: null,
    });
    expect(await scim('DELETE', `/Users/${id}`, undefined, { 'if-match': 'W/"1"' })).toMatchObject(error(412));
  });
});

describe('filters', () => {
  const names = async (filter: string): Promise<string[]> => {
    const { status, body } = await filtered('Users', filter);
    expect([filter, status]).toEqual([filter, 200]);
    return body.Resources.map(({ displayName }: { displayName: string }) => displayName);
  };
  const inAnHour = `${new Date(Date.now() - 11 * 3_600_000).toISOString().slice(0, 19)}-12:00`;
  let id: string;
  beforeAll(async () => {
    const ada = { displayName: 'Filter Ada', externalId: 'Ext-1', name: { familyName: 'Lovelace' } };
    ({ id } = await add({ userName: 'Filter.Ada', emails: [{ type: 'work', value: 'Ada@Filter.example' }], ...ada }));
    const bob = await add({ userName: 'filter.bob', displayName: 'Filter Bob "B" \\' });
    await scim('PATCH', `/Users/${bob.id}`, patchOp({ op: 'replace', path: 'active', value: false }));
  });

  it.each([
    ['userName eq "filter.ada"', ['Filter Ada']],
    ['USERNAME EQ "FILTER.ADA"', ['Filter Ada']],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "filter.ada"', ['Filter Ada']],
    ['externalId eq "Ext-1"', ['Filter Ada']],
    ['externalId eq "ext-1"', []],
    ['emails.value eq "ada@filter.example"', ['Filter Ada']],
    ['emails[type eq "work" and value co "@filter"]', ['Filter Ada']],
    ['emails co "filter.example"', ['Filter Ada']],
    ['displayName sw "filter"', ['Filter Ada', 'Filter Bob "B" \\']],
    ['displayName eq "Filter Bob \\"B\\" \\\\"', ['Filter Bob "B" \\']],
    ['displayName sw "filter" and active eq true', ['Filter Ada']],
    ['displayName sw "filter" and active eq "False"', ['Filter Bob "B" \\']],
    ['displayName sw "filter" and not (active eq true)', ['Filter Bob "B" \\']],
    [
      '(userName eq "filter.bob" or userName eq "filter.ada") and (active eq true and (name.familyName pr))',
      ['Filter Ada'],
    ],
    ['userName eq "filter.ada" and externalId eq "other"', []],
    ['name.familyName pr and displayName ew "ada"', ['Filter Ada']],
    ['displayName sw "filter" and meta.lastModified gt "2000-01-01T00:00:00Z"', ['Filter Ada', 'Filter Bob "B" \\']],
    ['displayName sw "filter" and meta.lastModified gt "2999-01-01"', []],
    [`displayName sw "filter" and meta.created le "${inAnHour}"`, ['Filter Ada', 'Filter Bob "B" \\']],
    ['displayName sw "filter" and title eq null', ['Filter Ada', 'Filter Bob "B" \\']],
    ['displayName sw "filter" and externalId ne "Ext-1"', ['Filter Bob "B" \\']],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "x"', []],
  ])('%s', async (filter, found) => expect(await names(filter)).toEqual(found));

  it('by id finds one', async () => {
    expect(await names(`id eq "${id}"`)).toEqual(['Filter Ada']);
  });

  it.each([
    'userName',
    'userName eq',
    'userName eq "a',
    'userName xx "a"',
    'userName eq "a" and',
    'userName eq "a" userName',
    '(userName eq "a"',
    'emails[type eq "a"',
    'not userName eq "a"',
    'userName eq a',
    'userName eq 1e999',
    'user name eq "a"',
    '"a" eq "a"',
    'a..b eq "a"',
    '()',
    '('.repeat(40),
    `userName eq "${'a'.repeat(5000)}"`,
    Array.from({ length: 80 }, () => 'active pr').join(' or '),
  ])('refuses %s', async filter => {
    expect(await filtered('Users', filter)).toMatchObject(error(400, 'invalidFilter'));
  });
});

describe('leavers', () => {
  it('active: false locks the devices and disables the account; active: true unlocks nothing and lists them', async () => {
    const userName = `leaver-${++made}`;
    const { id } = await add({ userName });
    const account = await daemon.user(userName, 'VIEWER');
    const deviceId = await bound(userName);
    const { body } = await scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', value: { active: false } }));
    expect(body.active).toBe(false);
    expect(await deviceOf(deviceId)).toMatchObject({ status: 'LOCKED', lockReason: 'left (scim)' });
    expect(await daemon.call('GET', '/api/users/me', undefined, { token: account.token })).toMatchObject({
      code: 1004,
    });
    const back = await scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', value: { active: true } }));
    expect(back.body).toMatchObject({
      active: true,
      'urn:ietf:params:scim:schemas:extension:devmgr:2.0:User': { lockedDevices: [deviceId] },
    });
    expect(await deviceOf(deviceId)).toMatchObject({ status: 'LOCKED' });
    const { list } = data(await daemon.call('GET', '/api/events?types=PERSON_RETURNED&before=999999&limit=1'));
    expect(list).toMatchObject([{ data: { personId: id, source: 'scim', lockedDevices: [deviceId] } }]);
  });

  it('a change of a person who has left locks only with active: false', async () => {
    const { id, userName } = await add();
    const deviceId = await bound(userName);
    const patch = (value: object) => scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', value }));
    await patch({ active: false });
    data(await daemon.call('POST', `/api/devices/${deviceId}/unlock`, {}));
    expect((await patch({ displayName: 'Ada' })).body).toMatchObject({ displayName: 'Ada', active: false });
    expect(await deviceOf(deviceId)).toMatchObject({ status: 'ACTIVE' });
    await patch({ active: false });
    expect(await deviceOf(deviceId)).toMatchObject({ status: 'LOCKED' });
  });

  it.each(['has left', 'left (scim)'])(
    'active: true does not bring back a person whose access an ADMIN has ended: %s',
    async reason => {
      const { id, userName } = await add();
      data(await daemon.call('POST', `/api/people/${id}/leave`, { reason }));
      const patch = patchOp({ op: 'replace', value: { active: true, displayName: 'Ada' } });
      expect((await scim('PATCH', `/Users/${id}`, patch)).body).toMatchObject({ active: false, displayName: 'Ada' });
      expect((await scim('PUT', `/Users/${id}`, { userName, active: true })).body).toMatchObject({ active: false });
      data(await daemon.call('POST', `/api/people/${id}/return`));
      expect((await scim('GET', `/Users/${id}`)).body).toMatchObject({ active: true });
    },
  );

  it('DELETE locks the devices; the person is gone for SCIM and stays for devmgr, and can be created again', async () => {
    const { id, userName } = await add();
    const deviceId = await bound(userName);
    expect(await scim('DELETE', `/Users/${id}`)).toMatchObject({ status: 204, body: null });
    expect(await deviceOf(deviceId)).toMatchObject({ status: 'LOCKED', lockReason: 'left (scim)' });
    expect(await scim('GET', `/Users/${id}`)).toMatchObject(error(404));
    expect(await scim('DELETE', `/Users/${id}`)).toMatchObject(error(404));
    expect((await filtered('Users', `userName eq "${userName}"`)).body.totalResults).toBe(0);
    expect(data(await daemon.call('GET', `/api/people/${id}`))).toMatchObject({ active: false });
    expect(await scim('POST', '/Users', { userName })).toMatchObject({ status: 201, body: { id, active: true } });
  });

  it('a person whom DELETE has removed comes back by hand as a local one, whom SCIM can find', async () => {
    const user = await add();
    await scim('DELETE', `/Users/${user.id}`);
    await daemon.call('POST', `/api/people/${user.id}/return`);
    expect(data(await daemon.call('GET', `/api/people/${user.id}`))).toMatchObject({ active: true, source: 'local' });
    expect((await filtered('Users', `userName eq "${user.userName}"`)).body.totalResults).toBe(1);
  });

  it('a person who is created as inactive leaves at once', async () => {
    const userName = freshName();
    const deviceId = await bound(userName);
    expect(await add({ userName, active: false })).toMatchObject({ active: false });
    expect((await deviceOf(deviceId)).status).toBe('LOCKED');
  });

  it('a new userName moves the devices, also together with leaving', async () => {
    const { id, userName } = await add();
    const deviceId = await bound(userName);
    const renamed = freshName();
    const change = patchOp({ op: 'replace', value: { userName: renamed, active: false } });
    expect((await scim('PATCH', `/Users/${id}`, change)).body).toMatchObject({ userName: renamed, active: false });
    expect(await deviceOf(deviceId)).toMatchObject({ userId: renamed, status: 'LOCKED' });
    const { list } = data(await daemon.call('GET', `/api/events?deviceId=${deviceId}`));
    expect(list.map((event: { data: object; changes?: object[] }) => event.changes ?? event.data)).toMatchObject([
      {},
      { deviceId, deviceType: 'UKEY', userId: userName },
      [{ field: 'userId', before: userName, after: renamed }],
      { deviceId },
    ]);
  });
});

describe('new user names of all persons at once', () => {
  it('wait for a release after ten of them, with a response that the provider takes for done', async () => {
    const persons = await Promise.all(Array.from({ length: 12 }, () => add()));
    const deviceIds = await Promise.all(persons.map(({ userName }) => bound(userName)));
    const names = persons.map(() => freshName());
    for (const [i, { id }] of persons.entries())
      expect(
        await scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path: 'userName', value: names[i] })),
      ).toMatchObject({ status: 200 });
    const held = async () =>
      data(await daemon.call('GET', '/api/people/held')).list.filter(({ active }: { active: boolean }) => active);
    const waiting = await held();
    expect(waiting.length).toBeGreaterThan(0);
    for (const {
      personId,
      userName,
      newUserName,
      deviceIds: [deviceId],
    } of waiting) {
      const i = persons.findIndex(({ id }) => id === personId);
      expect([userName, newUserName, deviceId]).toEqual([persons[i].userName, names[i], deviceIds[i]]);
      expect(await deviceOf(deviceId)).toMatchObject({ userId: userName, status: 'ACTIVE' });
    }
    // Another change neither takes the name back nor gives it.
    const [first] = waiting;
    const change = patchOp({ op: 'replace', path: 'displayName', value: 'Ada' });
    const { body } = await scim('PATCH', `/Users/${first.personId}`, change);
    expect(body).toMatchObject({ userName: first.userName, displayName: 'Ada' });
    expect(await held()).toHaveLength(waiting.length);
    const personIds = waiting.map(({ personId }: { personId: string }) => personId);
    const released = data(await daemon.call('POST', '/api/people/release', { personIds }));
    expect(released).toEqual({ released: personIds, locked: [] });
    for (const [i, deviceId] of deviceIds.entries())
      expect(await deviceOf(deviceId)).toMatchObject({ userId: names[i], status: 'ACTIVE' });
    expect(await held()).toEqual([]);
  });
});

it('of two that wait for one name, one is released', async () => {
  const persons = await Promise.all(Array.from({ length: 14 }, () => add()));
  for (const { userName } of persons) await bound(userName);
  for (const { id } of persons.slice(2))
    await scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path: 'userName', value: freshName() }));
  const name = freshName();
  const [one, other] = [persons[0].id, persons[1].id];
  for (const id of [one, other])
    await scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path: 'userName', value: name }));
  const release = (...personIds: string[]) => daemon.call('POST', '/api/people/release', { personIds });
  const message = expect.stringContaining(`${other} cannot have the user name ${name}: ${one} waits for it too`);
  expect(await release(one, other)).toMatchObject({ code: 1001, message });
  expect(data(await release(one))).toEqual({ released: [one], locked: [] });
  expect(await release(other)).toMatchObject({ code: 1001 });
});

describe('a new userName that a local account has', () => {
  it('is refused, so that no one who can choose a name disables an account; with active: false it is left out', async () => {
    const { id, userName } = await add();
    const deviceId = await bound(userName);
    const name = freshName();
    const account = await daemon.user(name, 'ADMIN');
    const renamed = (value: object) => scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', value }));
    expect(await renamed({ userName: name })).toMatchObject(error(409, 'uniqueness'));
    expect(await renamed({ userName: freshName() })).toMatchObject({ status: 200 });
    const present = (await scim('GET', `/Users/${id}`)).body.userName;
    const externalId = freshName();
    await add({ externalId });
    const left = await renamed({ userName: name, externalId, active: false });
    expect(left).toMatchObject({ status: 200, body: { userName: present, active: false } });
    expect(left.body).not.toHaveProperty('externalId');
    const { list } = data(await daemon.call('GET', '/api/people/refused?source=scim&size=100'));
    const refused = list.filter((one: { userName: string }) => one.userName === present);
    expect(refused.map(({ field }: { field: string }) => field).sort()).toEqual(['externalId', 'userName']);
    expect(await deviceOf(deviceId)).toMatchObject({ status: 'LOCKED' });
    expect((await scim('GET', `/Users/${id}`)).body).toMatchObject({ active: false });
    expect(await daemon.call('GET', '/api/users/me', undefined, { token: account.token })).toMatchObject({ code: 200 });
  });
});

describe('groups', () => {
  const addGroup = async (displayName: string, ...members: string[]) => {
    const body = { schemas: [GROUP], displayName, members: members.map(value => ({ value })) };
    const answer = await scim('POST', '/Groups', body);
    expect(answer).toMatchObject({ status: 201 });
    return answer.body;
  };
  const membersOf = async (id: string) =>
    (await scim('GET', `/Groups/${id}`)).body.members.map(({ value }: { value: string }) => value);

  it('have members, who have groups', async () => {
    const [ada, bob] = [await add(), await add()];
    const group = await addGroup('New hires 2026-12', ada.id);
    expect(group).toMatchObject({ id: expect.stringMatching(/^GRP-\d+$/), displayName: 'New hires 2026-12' });
    expect(group.members).toMatchObject([{ value: ada.id, display: ada.userName, type: 'User' }]);
    await scim('PATCH', `/Groups/${group.id}`, patchOp({ op: 'add', path: 'members', value: [{ value: bob.id }] }));
    expect(await membersOf(group.id)).toEqual([ada.id, bob.id]);
    expect((await scim('GET', `/Users/${bob.id}`)).body.groups).toMatchObject([
      { value: group.id, display: group.displayName },
    ]);
    const listed = data(await daemon.call('GET', `/api/people/list?group=${encodeURIComponent('new hires 2026-12')}`));
    expect(listed.list.map(({ personId }: { personId: string }) => personId)).toEqual([bob.id, ada.id]);
    expect(listed.list[0].groups).toEqual(['New hires 2026-12']);
  });

  it('are found by name and member, and leave out members on request', async () => {
    const ada = await add();
    const group = await addGroup('Sales', ada.id);
    expect((await filtered('Groups', 'displayName eq "sales"')).body).toMatchObject({ totalResults: 1 });
    const bothOf = (id: string) => filtered('Groups', `id eq "${group.id}" and members eq "${id}"`);
    expect((await bothOf(ada.id)).body.totalResults).toBe(1);
    expect((await bothOf('PER-1')).body.totalResults).toBe(0);
    expect((await filtered('Groups', `members[value eq "${ada.id}"]`)).body.totalResults).toBe(1);
    expect(await filtered('Groups', 'members pr')).toMatchObject(error(400, 'invalidFilter'));
    expect((await scim('GET', `/Groups/${group.id}?excludedAttributes=members`)).body).not.toHaveProperty('members');
  });

  it('of many members change in several commits, and a list of them ends before it has 5,000 members', async () => {
    const members: string[] = [];
    for (let n = 0; n < 250; n++) members.push((await add({ displayName: 'Many' })).id);
    const values = (ids: readonly string[]) => ids.map(value => ({ value }));
    const timesOf = async () => {
      const { body } = await scim('GET', `/Users?count=200&filter=${encodeURIComponent('displayName eq "Many"')}`);
      return new Set(body.Resources.map(({ meta }: { meta: { lastModified: string } }) => meta.lastModified)).size;
    };
    const unknown = { op: 'add', path: 'members', value: values([...members, 'PER-99999']) };
    const large = await addGroup('Large');
    expect(await scim('PATCH', `/Groups/${large.id}`, patchOp(unknown))).toMatchObject(error(400, 'invalidValue'));
    expect(await membersOf(large.id)).toEqual([]);
    await scim('PATCH', `/Groups/${large.id}`, patchOp({ op: 'add', path: 'members', value: values(members) }));
    expect(await membersOf(large.id)).toEqual(members);
    const kept = { displayName: 'Large', members: values(members.slice(-1)) };
    expect((await scim('PUT', `/Groups/${large.id}`, kept)).body.members).toMatchObject(values(members.slice(-1)));
    expect(await timesOf()).toBeGreaterThan(1);
    const ids: string[] = [];
    for (let n = 0; n < 21; n++) ids.push((await addGroup(`Large ${n}`, ...members)).id);
    const { body } = await scim('GET', `/Groups?count=200&filter=${encodeURIComponent('displayName sw "Large "')}`);
    expect(body).toMatchObject({ totalResults: 21, itemsPerPage: 20 });
    expect(await scim('DELETE', `/Groups/${ids[0]}`)).toMatchObject({ status: 204 });
    expect(await timesOf()).toBeGreaterThan(1);
    expect((await scim('GET', `/Users/${members[249]}`)).body.groups).toHaveLength(21);
  });

  it('leave out groups among their members, with a line in the list of what was refused', async () => {
    const ada = await add();
    const inner = await scim('POST', '/Groups', { schemas: [GROUP], displayName: 'Inner' });
    const members = [{ value: inner.body.id, type: 'Group' }, { value: ada.id }];
    const outer = await scim('POST', '/Groups', { schemas: [GROUP], displayName: 'Outer', members });
    expect(outer).toMatchObject({ status: 201, body: { members: [{ value: ada.id }] } });
    const { list } = data(await daemon.call('GET', '/api/people/refused'));
    expect(list).toContainEqual(
      expect.objectContaining({ field: 'members', reason: expect.stringContaining(inner.body.id) }),
    );
  });

  it('are unique by name, and refuse unknown members', async () => {
    await addGroup('Unique');
    expect(await scim('POST', '/Groups', { displayName: 'unique' })).toMatchObject(error(409, 'uniqueness'));
    const unknown = { displayName: 'Other', members: [{ value: 'PER-99999' }] };
    expect(await scim('POST', '/Groups', unknown)).toMatchObject(error(400, 'invalidValue'));
    expect((await filtered('Groups', 'displayName eq "Other"')).body.totalResults).toBe(0);
  });

  it('are replaced and removed with their members', async () => {
    const [ada, bob] = [await add(), await add()];
    const { id } = await addGroup('Replaced', ada.id);
    const body = { displayName: 'Renamed', members: [{ value: bob.id }] };
    expect((await scim('PUT', `/Groups/${id}`, body)).body).toMatchObject({
      displayName: 'Renamed',
      members: [{ value: bob.id }],
    });
    expect(await scim('DELETE', `/Groups/${id}`)).toMatchObject({ status: 204 });
    expect(await scim('GET', `/Groups/${id}`)).toMatchObject(error(404));
    expect((await scim('GET', `/Users/${bob.id}`)).body.groups).toEqual([]);
  });

  it.each([
    ['by a filter', (id: string) => ({ op: 'remove', path: `members[value eq "${id}"]` })],
    ['by a value', (id: string) => ({ op: 'Remove', path: 'members', value: [{ value: id }] })],
    ['all of them', () => ({ op: 'remove', path: 'members' })],
    ['by a replacement', () => ({ op: 'replace', path: 'members', value: [] })],
  ])('lose members %s', async (how, operation) => {
    const ada = await add();
    const { id } = await addGroup(`Losing ${how}`, ada.id);
    expect((await scim('PATCH', `/Groups/${id}`, patchOp(operation(ada.id)))).body.members).toEqual([]);
    expect(await membersOf(id)).toEqual([]);
  });
});

describe('errors', () => {
  it.each([
    ['GET', '', 404],
    ['GET', '/', 404],
    ['GET', '/Other', 404],
    ['GET', '/Users/PER-99999', 404],
    ['GET', '/Users/%00', 400],
    ['GET', '/Users/%zz', 404],
    ['GET', '/Users/a/b', 405],
    ['POST', '/Bulk', 404],
    ['DELETE', '/Users', 405],
    ['POST', '/ServiceProviderConfig', 405],
    ['GET', '/Users?filter=a&filter=b', 400],
  ] as const)('%s %s is answered with %i, in the form of the standard', async (method, path, status) => {
    const { body } = await scim(method, path);
    expect(body).toMatchObject({ schemas: [ERROR], status: String(status), detail: expect.any(String) });
  });

  it('another content type is refused', async () => {
    const answer = await scim('POST', '/Users', 'userName=a', { 'content-type': 'text/plain' });
    expect(answer.body).toMatchObject({ schemas: [ERROR], status: '400' });
  });
});
