import { describe, expect, it } from 'vitest';
import { activation, data, deviceIn, freshSerial, register, registration } from '../support/fleet.ts';
import { rawRequest } from '../support/raw-request.ts';
import { daemonOfCodes } from './codes.ts';

const { daemon, post, get } = daemonOfCodes();

describe('2001', () => {
  it.each(['DEV-999999', 'DEV-0', 'DEV-01', 'dev-1', 'DEV-', 'DEV-1x', 'nothing', 'DEV-99999999999999999999'])(
    'is 404 for the unknown device %s',
    async deviceId => {
      expect(await get(`/api/devices/${deviceId}`)).toMatchObject({ status: 404, code: 2001 });
      const body = { deviceId, activationCode: 'AAAA-AAAA-AAAA-AAAA', userId: 'alice' };
      expect(await post('/api/devices/activate', body)).toMatchObject({ status: 404, code: 2001 });
    },
  );
  it('comes after 1001', async () => {
    expect(await post('/api/devices/DEV-999999/lock', {})).toMatchObject({ code: 1001, message: 'reason is required' });
  });
});

describe('2003', () => {
  it.each([
    ['wrong', 'AAAA-AAAA-AAAA-AAAA'],
    ['malformed', 'not a code'],
    ['of 5,000 characters', 'A'.repeat(5000)],
    ['not ASCII', 'ÄÄÄÄ-ÄÄÄÄ-ÄÄÄÄ-ÄÄÄÄ'],
  ])('is returned for an activation code that is %s', async (_, activationCode) => {
    const { deviceId } = await register(daemon);
    const response = await post('/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
    expect(response).toMatchObject({ status: 400, code: 2003 });
  });

  it('is returned for the code of another device', async () => {
    const [one, other] = [await register(daemon), await register(daemon)];
    const body = { ...activation(one), activationCode: other.activationCode };
    expect(await post('/api/devices/activate', body)).toMatchObject({ code: 2003 });
  });

  it('is not returned for the right code in lower case with spaces around it', async () => {
    const device = await register(daemon);
    const activationCode = ` ${device.activationCode.toLowerCase()} `;
    expect(await post('/api/devices/activate', { ...activation(device), activationCode })).toMatchObject({ code: 200 });
  });

  it('comes after the state: 2002 whatever the code', async () => {
    const device = await deviceIn('ACTIVE', daemon);
    const body = { ...activation(device), activationCode: 'wrong' };
    expect(await post('/api/devices/activate', body)).toMatchObject({ status: 400, code: 2002 });
  });
});

describe('2006', () => {
  it('is 400, and the message reports that the serial number already exists, on which device and in which state', async () => {
    const { deviceId, serialNumber } = await deviceIn('LOCKED', daemon);
    const response = await post('/api/devices/register', registration({ serialNumber }));
    expect(response).toMatchObject({ status: 400, code: 2006, data: null });
    expect(response.message).toContain('already exists');
    expect(response.message).toContain(deviceId);
    expect(response.message).toContain('LOCKED');
  });

  it('is not returned for a serial number that differs only in case', async () => {
    const serialNumber = freshSerial('case');
    data(await post('/api/devices/register', registration({ serialNumber })));
    const upper = registration({ serialNumber: serialNumber.toUpperCase() });
    expect(await post('/api/devices/register', upper)).toMatchObject({ code: 200 });
  });

  it('is returned for the same serial number with spaces around it', async () => {
    const { serialNumber } = await register(daemon);
    const padded = registration({ serialNumber: ` ${serialNumber}\t` });
    expect(await post('/api/devices/register', padded)).toMatchObject({ code: 2006 });
  });
});

describe('2007', () => {
  it('is 403, comes before 1001 and 2001, and after the limit', async () => {
    const { token } = await daemon.user('looker', 'VIEWER');
    const response = await post('/api/devices/DEV-999999/lock', {}, token);
    expect(response).toMatchObject({ status: 403, code: 2007, data: null });
  });

  it('is returned to a page of another site, and for a rebound name', async () => {
    const headers = { origin: 'https://evil.example' };
    expect(await daemon.call('GET', '/api/devices/list', undefined, { headers })).toMatchObject({
      status: 403,
      code: 2007,
    });
    expect(
      await rawRequest(daemon.url, 'GET /api/health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n'),
    ).toMatch(/^HTTP\/1\.1 403 /);
  });
});
