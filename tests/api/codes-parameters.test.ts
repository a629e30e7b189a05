import { describe, expect, it } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { data, register, registration } from '../support/fleet.ts';
import { rawRequest } from '../support/raw-request.ts';
import { daemonOfCodes } from './codes.ts';

const { daemon, post, get } = daemonOfCodes();

describe('200', () => {
  it('is the code and the status of every success, also of a creation, with the message success', async () => {
    const response = await post('/api/devices/register', registration());
    expect(response).toMatchObject({ status: 200, code: 200, message: 'success' });
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('is returned for a batch in which items fail, with its own message', async () => {
    const valid = registration();
    const response = await post('/api/devices/batch-register', {
      devices: [valid, valid, 7, { ...registration(), model: '' }],
    });
    expect(response).toMatchObject({ status: 200, code: 200, message: 'batch completed with partial failure' });
    expect(response.data).toMatchObject({ total: 4, success: 1, failed: 3 });
    const [first, ...failed] = response.data.results;
    expect(first).toMatchObject({
      status: 'success',
      serialNumber: valid.serialNumber,
      deviceId: expect.stringMatching(/^DEV-\d+$/),
    });
    for (const item of failed) {
      expect(item).toMatchObject({ status: 'failed', message: expect.stringMatching(/./) });
      expect(item).not.toHaveProperty('deviceId');
      expect(item).not.toHaveProperty('activationCode');
    }
    expect(failed).toMatchObject([
      { code: 2006, serialNumber: valid.serialNumber, message: expect.stringContaining('already exists') },
      { code: 1001, serialNumber: null },
      { code: 1001, serialNumber: expect.any(String), message: expect.stringContaining('model') },
    ]);
  });
});

describe('1001', () => {
  it.each(['deviceType', 'serialNumber', 'manufacturer', 'model'])(
    'names a missing required field: %s',
    async field => {
      const { [field as 'model']: _, ...body } = registration();
      expect(await post('/api/devices/register', body)).toMatchObject({
        status: 400,
        code: 1001,
        message: `${field} is required`,
      });
    },
  );

  it.each([
    ['a number instead of a text', { model: 7 }, 'model'],
    ['an unknown device type', { deviceType: 'CARD' }, 'deviceType'],
    ['a device type in small letters', { deviceType: 'ukey' }, 'deviceType'],
    ['a text that is too long', { manufacturer: 'x'.repeat(201) }, 'manufacturer'],
    ['a serial number with a space inside', { serialNumber: 'A B' }, 'serialNumber'],
    ['a text of spaces only', { model: '   ' }, 'model'],
    ['a control character', { model: 'K9\u0007' }, 'model'],
    ['a direction-changing character', { model: 'K9\u202e' }, 'model'],
    ['an array instead of a text', { serialNumber: ['A'] }, 'serialNumber'],
  ])('names the field: %s', async (_, wrong, field) => {
    const response = await post('/api/devices/register', registration(wrong));
    expect(response).toMatchObject({ status: 400, code: 1001 });
    expect(response.message).toContain(field);
  });

  it.each([
    ['malformed JSON', '{"username": ', 'application/json'],
    ['JSON that is not an object', '[1]', 'application/json'],
    ['JSON that is null', 'null', 'application/json'],
    ['__proto__ in the body', '{"username":"a","password":"b","__proto__":{}}', 'application/json'],
    ['a nested __proto__', '{"username":"a","password":"b","x":[{"__proto__":1}]}', 'application/json'],
    ['another content type', '<login/>', 'text/xml'],
    ['a form instead of JSON', 'username=a&password=b', 'application/x-www-form-urlencoded'],
    ['a body that is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'application/json'],
    ['a body over 1 MiB', JSON.stringify({ username: 'a', password: 'x'.repeat(1024 * 1024) }), 'application/json'],
  ])('is returned for %s', async (_, raw, type) => {
    const options = { token: null, raw, headers: { 'content-type': type } };
    expect(await daemon.call('POST', '/api/auth/login', undefined, options)).toMatchObject({ status: 400, code: 1001 });
  });

  it.each([
    'page=0',
    'page=x',
    'page=1.5',
    'size=0',
    'size=101',
    'pageSize=101',
    'sortBy=colour',
    'sortOrder=up',
    'status=GONE',
    'deviceType=CARD',
    'aaguid=deadbeef',
    'aaguid=2FC0579F-8113-47EA-B116-BB5A8DB9202A',
  ])('names the query parameter: %s', async query => {
    const response = await get(`/api/devices/list?${query}`);
    expect(response).toMatchObject({ status: 400, code: 1001 });
    expect(response.message).toContain(query.split('=')[0]);
  });

  it.each(['deviceType', 'serialNumber', 'manufacturer', 'model', 'status'])(
    'is returned for a change of an immutable field: %s',
    async field => {
      const { deviceId } = await register(daemon);
      for (const body of [{ [field]: 'SIMKEY' }, { [field]: 'SIMKEY', note: 'a note' }]) {
        const response = await daemon.call('PUT', `/api/devices/${deviceId}`, body);
        expect(response).toMatchObject({ status: 400, code: 1001 });
        expect(response.message).toContain(field);
      }
      expect(data(await get(`/api/devices/${deviceId}`)).note).toBeNull();
    },
  );

  it('is not returned for an update that repeats immutable fields', async () => {
    const body = registration();
    const { deviceId } = data(await post('/api/devices/register', body));
    const response = await daemon.call('PUT', `/api/devices/${deviceId}`, {
      ...body,
      status: 'INACTIVE',
      note: 'a note',
    });
    expect(response).toMatchObject({ code: 200, data: { note: 'a note' } });
  });

  it('is returned for an update without fields', async () => {
    const { deviceId } = await register(daemon);
    expect(await daemon.call('PUT', `/api/devices/${deviceId}`, {})).toMatchObject({ code: 1001 });
  });

  it('is returned for a username that exists, and for disabling the last enabled ADMIN', async () => {
    const user = { username: 'twice', password: adminPassword, role: 'VIEWER' };
    data(await post('/api/users', user));
    expect(await post('/api/users', user)).toMatchObject({ code: 1001, message: expect.stringContaining('username') });
    for (const body of [{ disabled: true }, { role: 'DEALER' }])
      expect(await daemon.call('PUT', '/api/users/USR-1', body)).toMatchObject({ code: 1001 });
  });

  it('is returned in an envelope for input that is not HTTP', async () => {
    const response = await rawRequest(daemon.url, 'GARBAGE\r\n\r\n');
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toMatch(/^x-request-id: \S/im);
    expect(JSON.parse(response.split('\r\n\r\n')[1]!)).toMatchObject({ code: 1001, data: null });
  });

  it('is not returned for unknown fields of a body', async () => {
    expect(await post('/api/devices/register', registration({ colour: 'blue' }))).toMatchObject({ code: 200 });
  });
});
