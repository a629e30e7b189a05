/** `active: false` counts whatever else its request contains; what could not be stored is left out and listed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';
import { patchOp, type ScimCall, scimClient } from '../support/scim.ts';

let daemon: TestDaemon;
let scim: ScimCall;
beforeAll(async () => {
  daemon = await startTestDaemon();
  scim = await scimClient(daemon);
});
afterAll(() => daemon?.stop());

let made = 0;
const freshName = () => `refused.${++made}`;
const add = async (more: object = {}) => {
  const { status, body } = await scim('POST', '/Users', { userName: freshName(), ...more });
  expect(status).toBe(201);
  return body;
};
const bound = async (userId: string): Promise<string> => {
  const device = await register(daemon);
  return data(await daemon.call('POST', '/api/devices/activate', activation(device, userId))).deviceId;
};
/** A release locks the devices of those who have left, whom the brake holds after ten of these tests; of others it locks nothing. */
const statusAfterLeave = async (deviceId: string, personId: string) => {
  expect(await daemon.call('POST', '/api/people/release', { personIds: [personId] })).toMatchObject({ code: 200 });
  return data(await daemon.call('GET', `/api/devices/${deviceId}`)).status;
};
const refusedOf = async (userName: string | null) => {
  const { list } = data(await daemon.call('GET', '/api/people/refused?size=100'));
  return list.filter((one: { userName: string | null }) => one.userName === userName);
};
const replace = (path: string, value: unknown) => ({ op: 'replace', path, value });

/** Values that cannot be stored, by their names in SCIM, and the field that the list names. */
const unstorable: readonly (readonly [string, unknown, string])[] = [
  ['emails', [{ value: 'no address', type: 'work' }], 'email'],
  ['emails', [{ value: `${'x'.repeat(400)}@example.com` }], 'email'],
  ['emails', [{ value: 5 }], 'email'],
  ['displayName', 'x'.repeat(300), 'displayName'],
  ['displayName', { no: 'text' }, 'displayName'],
  ['displayName', 'a\u0000b', 'displayName'],
  ['displayName', 'a\u202eb', 'displayName'],
  ['name', { givenName: 'x'.repeat(300), familyName: 'Lovelace' }, 'givenName'],
  ['externalId', 4711, 'externalId'],
  ['externalId', 'x'.repeat(300), 'externalId'],
  ['userName', 'x'.repeat(300), 'userName'],
  ['userName', 5, 'userName'],
];

describe('active: false', () => {
  it.each(unstorable)('counts in a PATCH beside %s: %j', async (path, value, field) => {
    const { id, userName, externalId } = await add({ externalId: `of-${made}`, displayName: 'Ada' });
    const deviceId = await bound(userName);
    const { status, body } = await scim(
      'PATCH',
      `/Users/${id}`,
      patchOp(replace(path, value), replace('active', false)),
    );
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { id, userName, active: false, externalId, displayName: 'Ada' },
    });
    expect(await statusAfterLeave(deviceId, id)).toBe('LOCKED');
    expect(await refusedOf(userName)).toContainEqual(expect.objectContaining({ source: 'scim', field }));
  });

  it.each(unstorable)('counts in a PUT beside %s: %j', async (path, value, field) => {
    const { id, userName } = await add();
    const deviceId = await bound(userName);
    const { status, body } = await scim('PUT', `/Users/${id}`, { userName, active: 'False', [path]: value });
    expect({ status, body }).toMatchObject({ status: 200, body: { id, userName, active: false } });
    expect(await statusAfterLeave(deviceId, id)).toBe('LOCKED');
    expect(await refusedOf(userName)).toContainEqual(expect.objectContaining({ source: 'scim', field }));
  });

  it.each(unstorable.filter(([path]) => path !== 'userName'))('counts in a POST beside %s: %j', async (path, value) => {
    const userName = freshName();
    const deviceId = await bound(userName);
    const { status, body } = await scim('POST', '/Users', { userName, active: false, [path]: value });
    expect({ status, body }).toMatchObject({ status: 201, body: { userName, active: false } });
    expect(await statusAfterLeave(deviceId, body.id)).toBe('LOCKED');
    expect(await refusedOf(userName)).not.toEqual([]);
  });

  it.each([
    ['an operation that is not one', { op: 'move', path: 'title' }],
    ['a path that cannot be read', replace('emails[type eq "work"', 'a@example.com')],
    ['a removal without a path', { op: 'remove' }],
    ['no object', 5],
    ['another id', replace('id', 'PER-99999')],
    ['groups', replace('groups', [{ value: 'GRP-1' }])],
    ['a name that is a text', replace('name', 'Ada')],
    [
      'more addresses than allowed',
      replace(
        'emails',
        Array.from({ length: 21 }, (_, i) => `a${i}@example.com`),
      ),
    ],
  ])('counts beside %s, before or after it', async (_, operation) => {
    for (const operations of [
      [operation, replace('active', false)],
      [{ op: 'replace', value: { active: false } }, operation],
    ]) {
      const { id, userName } = await add();
      const deviceId = await bound(userName);
      const answer = await scim('PATCH', `/Users/${id}`, patchOp(...(operations as object[])));
      expect(answer).toMatchObject({ status: 200, body: { active: false, userName } });
      expect(await statusAfterLeave(deviceId, id)).toBe('LOCKED');
      expect(await refusedOf(userName)).toHaveLength(1);
    }
  });

  it('counts behind more operations than are carried out', async () => {
    const { id, userName } = await add();
    const deviceId = await bound(userName);
    const many = Array.from({ length: 150 }, (_, i) => replace('displayName', `Ada ${i}`));
    expect(await scim('PATCH', `/Users/${id}`, patchOp(...many, replace('active', false)))).toMatchObject({
      status: 200,
      body: { active: false, displayName: 'Ada 99' },
    });
    expect(await statusAfterLeave(deviceId, id)).toBe('LOCKED');
  });

  it('counts in a POST for a person who exists, which is refused', async () => {
    const { id, userName } = await add();
    const deviceId = await bound(userName);
    expect(await scim('POST', '/Users', { userName, active: false })).toMatchObject({ status: 409 });
    expect(await statusAfterLeave(deviceId, id)).toBe('LOCKED');
  });
});

describe('without it', () => {
  it.each(unstorable.filter(([, value, field]) => !['userName', 'externalId'].includes(field) && value !== 'a\u0000b'))(
    'a decoration is left out and the rest stored: %s %j',
    async (path, value, field) => {
      const { id, userName } = await add({ displayName: 'Before', emails: [{ value: 'before@example.com' }] });
      const change = patchOp(replace(path, value), replace('externalId', `new-${made}`));
      expect(await scim('PATCH', `/Users/${id}`, change)).toMatchObject({
        status: 200,
        body: { externalId: `new-${made}`, displayName: 'Before', emails: [{ value: 'before@example.com' }] },
      });
      expect(await refusedOf(userName)).toMatchObject([{ source: 'scim', field, reason: expect.any(String) }]);
    },
  );

  it.each([
    [{ userName: '' }, 'userName'],
    [{ userName: 5 }, 'userName'],
    [{ externalId: 4711 }, 'externalId'],
    [{ active: 'perhaps' }, 'active'],
    [{ displayName: 'a\u0000b' }, null],
  ])('a request whose vital part cannot be stored is refused and listed: %j', async (change, field) => {
    const { id, userName } = await add();
    expect(await scim('PUT', `/Users/${id}`, { userName, ...change })).toMatchObject({ status: 400 });
    expect(await refusedOf(userName)).toMatchObject([{ field }]);
  });

  it('a name that is taken, a body that is not JSON and a group without a name are listed too', async () => {
    const [one, other] = [await add(), await add()];
    const taken = patchOp(replace('userName', other.userName));
    expect(await scim('PATCH', `/Users/${one.id}`, taken)).toMatchObject({ status: 409 });
    expect(await scim('PATCH', `/Users/${one.id}`, '{"Operations":')).toMatchObject({ status: 400 });
    expect(await refusedOf(one.userName)).toMatchObject([{ field: null }, { field: 'userName' }]);
    expect(await scim('POST', '/Groups', { members: [] })).toMatchObject({ status: 400 });
    expect(await refusedOf(null)).toMatchObject([{ source: 'scim' }]);
  });
});

describe('the list', () => {
  it('has pages and a source, and is for ADMIN', async () => {
    const page = data(await daemon.call('GET', '/api/people/refused?source=scim&page=1&size=2'));
    expect(page.list).toHaveLength(2);
    expect(page.pagination).toMatchObject({ page: 1, size: 2, total: expect.any(Number) });
    expect(Object.keys(page.list[0]).sort()).toEqual(['at', 'field', 'reason', 'source', 'userName']);
    expect(data(await daemon.call('GET', '/api/people/refused?source=directory')).list).toEqual([]);
    expect(await daemon.call('GET', '/api/people/refused?source=local')).toMatchObject({ code: 1001 });
  });

  it('is bounded: the newest 200 of a source, however many are refused', async () => {
    const scimName = (i: number) => `filler.${i}`;
    for (let i = 0; i < 110; i++) await scim('POST', '/Users', { userName: 'x'.repeat(300), externalId: scimName(i) });
    const { pagination } = data(await daemon.call('GET', '/api/people/refused'));
    expect(pagination.total).toBeLessThanOrEqual(200);
  });

  it('is reported by a metric, and by one event without a name for many refusals', async () => {
    const { list } = data(await daemon.call('GET', '/api/events?types=PROVISIONING_REFUSED'));
    expect(list).toMatchObject([{ type: 'PROVISIONING_REFUSED', data: { source: 'scim' } }]);
    expect(Object.keys(list[0].data)).toEqual(['source']);
    const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
    expect(metrics).toMatch(/^devmgr_provisioning_refused\{.*\} [1-9]\d*$/m);
  });
});
