/** All problems of an input are reported at once: `details` beside the message, which has the first of them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';

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
