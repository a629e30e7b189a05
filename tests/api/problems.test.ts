/** All problems of an input are reported at once: `details` beside the message, which has the first of them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, register } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

it('names each field of a body that is missing or wrong, with the values that it takes', async () => {
  const body = { deviceType: 'TOKEN', serialNumber: '', manufacturer: 5 };
  expect(await daemon.call('POST', '/api/devices/register', body)).toMatchObject({
    code: 1001,
    message: 'deviceType must be one of UKEY, SIMKEY',
    data: null,
    details: [
      { field: 'deviceType', reason: 'must be one of UKEY, SIMKEY', allowed: ['UKEY', 'SIMKEY'] },
      { field: 'serialNumber', reason: 'is required' },
      { field: 'manufacturer', reason: 'must be a string' },
      { field: 'model', reason: 'is required' },
    ],
  });
});

it('names each parameter of a query', async () => {
  const { details } = (await daemon.call('GET', '/api/devices/list?page=x&size=0&deviceType=TOKEN')) as unknown as {
    readonly details: readonly { readonly field: string }[];
  };
  expect(details.map(({ field }) => field).sort()).toEqual(['deviceType', 'page', 'size']);
});

it('names each parameter of a strict query that is empty or unknown', async () => {
  const headers = { prefer: 'handling=strict' };
  const refused = await daemon.call('GET', '/api/devices/list?keyword=&colour=red', undefined, { headers });
  expect(refused).toMatchObject({
    code: 1001,
    message: 'keyword must not be empty',
    details: [
      { field: 'keyword', reason: 'must not be empty' },
      { field: 'colour', reason: 'is not a parameter of this operation' },
    ],
  });
});

it('names the fields of an object within the body by their path', async () => {
  const body = { url: 'ldaps://ldap.example.com', attributes: { userName: 5, id: 6 }, groups: [{ name: 'a', dn: 7 }] };
  const { details } = (await daemon.call('PUT', '/api/directory', body)) as unknown as {
    readonly details: readonly { readonly field: string }[];
  };
  const fields = details.map(({ field }) => field);
  expect(fields).toEqual(expect.arrayContaining(['attributes.userName', 'attributes.id', 'groups[0].dn']));
});

it('has the message as the only problem where the input as a whole is refused', async () => {
  const response = await fetch(`${daemon.url}/api/devices/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.adminToken}`, 'content-type': 'application/json' },
    body: '{"a":',
  });
  const { code, message, details } = (await response.json()) as Record<string, unknown>;
  expect([code, details]).toEqual([1001, [{ field: '', reason: message }]]);
});

it('has no details with another code', async () => {
  expect(await daemon.call('GET', '/api/devices/DEV-99')).not.toHaveProperty('details');
});

it('names the field that a rule of the registry refuses, as one that the schema refuses', async () => {
  await daemon.call('POST', '/api/people', { userName: 'twice' });
  expect(await daemon.call('POST', '/api/people', { userName: 'twice' })).toMatchObject({
    code: 1001,
    details: [{ field: 'userName', reason: 'twice already exists' }],
  });
  expect(await daemon.call('POST', '/api/providers', { type: 'okta', name: 'a' })).toMatchObject({
    code: 1001,
    details: [{ field: 'secret', reason: 'is required' }],
  });
});

it('names what a rule refuses: fields that cannot change, headers, types of events and values of a list', async () => {
  const at = async (method: string, path: string, body?: object, headers = {}) => {
    const response = (await daemon.call(method, path, body, { headers })) as unknown as {
      readonly code: number;
      readonly details: readonly { readonly field: string }[];
    };
    expect(response.code).toBe(1001);
    return response.details.map(({ field }) => field);
  };
  const { deviceId, activationCode } = await register(daemon);
  const device = `/api/devices/${deviceId}`;
  expect(await at('PUT', device, { note: 'x', status: 'ACTIVE', model: 'other' })).toEqual(['model', 'status']);
  expect(await at('PUT', device, { status: 'ACTIVE' })).toEqual(['', 'status']);
  expect(await at('PUT', device, { note: 'x' }, { 'if-match': '3' })).toEqual(['If-Match']);
  expect(await at('PUT', device, { note: 'x' }, { 'idempotency-key': 'a b' })).toEqual(['Idempotency-Key']);
  expect(await at('GET', '/api/events?types=DEVICE_LOST,NONE')).toEqual(['types']);
  const token = { name: 'a', role: 'VIEWER', expiresInDays: 1 };
  expect(await at('POST', '/api/tokens', { ...token, may: ['scim', 'scim'] })).toEqual(['may[1]']);
  expect(await at('POST', '/api/tokens', { ...token, allowedFrom: ['10.0.0.1'] })).toEqual(['allowedFrom[0]']);
  expect(await at('PUT', '/api/users/USR-1', { disabled: true })).toEqual(['disabled']);
  const { personId } = data(await daemon.call('POST', '/api/people', { userName: 'gone' }));
  await daemon.call('POST', `/api/people/${personId}/leave`, { reason: 'left' });
  expect(await at('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'gone' })).toEqual(['userId']);
});
