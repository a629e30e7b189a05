/** Codes of users, passwords and tokens: when each is returned, and with which HTTP status. */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { data, deviceIn } from '../support/fleet.ts';
import { daemonOfCodes } from './codes.ts';

const { daemon, post, get } = daemonOfCodes();

describe('1002', () => {
  it('is 401 for an unknown user', async () => {
    const body = { username: 'unknown', password: adminPassword };
    expect(await post('/api/auth/login', body, null)).toMatchObject({ status: 401, code: 1002 });
  });

  it('is returned to a disabled user, whatever the password', async () => {
    const { id } = await daemon.user('disabled-1', 'VIEWER');
    data(await daemon.call('PUT', `/api/users/${id}`, { disabled: true }));
    for (const password of [adminPassword, 'wrong one'])
      expect(await post('/api/auth/login', { username: 'disabled-1', password }, null)).toMatchObject({ code: 1002 });
  });
});

describe('1003', () => {
  it('is 401 at login', async () => {
    const body = { username: 'admin', password: 'wrong one' };
    expect(await post('/api/auth/login', body, null)).toMatchObject({ status: 401, code: 1003 });
  });

  it('is 403 elsewhere, so that a client stays logged in: confirmPassword, oldPassword', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const deactivation = { reason: 'worn out', confirmPassword: 'wrong one' };
    expect(await post(`/api/devices/${deviceId}/deactivate`, deactivation)).toMatchObject({ status: 403, code: 1003 });
    const change = { password: 'another password', oldPassword: 'wrong one' };
    expect(await post('/api/users/USR-1/password', change)).toMatchObject({ status: 403, code: 1003 });
    expect(data(await get(`/api/devices/${deviceId}`)).status).toBe('ACTIVE');
  });
});

describe('1004', () => {
  const listed = (token: string | null) => get('/api/devices/list', token);

  it('is 401 without a token, or with another scheme', async () => {
    expect(await listed(null)).toMatchObject({ status: 401, code: 1004 });
    const headers = { authorization: 'Basic YWRtaW46YWRtaW4=' };
    expect(await daemon.call('GET', '/api/devices/list', undefined, { token: null, headers })).toMatchObject({
      code: 1004,
    });
  });

  it('is returned for a token that is signed with another key, unsigned, or changed by one character', async () => {
    const [head, body, signature] = daemon.adminToken.split('.') as [string, string, string];
    const forged = createHmac('sha256', 'guessed').update(`${head}.${body}`).digest('base64url');
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
    const longer = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 1 })).toString('base64url');
    for (const token of [`${head}.${body}.${forged}`, `${none}.${body}.`, `${head}.${longer}.${signature}`])
      expect(await listed(token)).toMatchObject({ status: 401, code: 1004 });
  });

  it('is returned after the user was disabled, even if enabled again', async () => {
    const { id, token } = await daemon.user('disabled-2', 'VIEWER');
    expect(await listed(token)).toMatchObject({ code: 200 });
    data(await daemon.call('PUT', `/api/users/${id}`, { disabled: true }));
    expect(await listed(token)).toMatchObject({ status: 401, code: 1004 });
  });

  it('is returned for tokens from before a password change, not for later ones', async () => {
    const { id, token } = await daemon.user('changed', 'VIEWER');
    const refreshed = data(await post('/api/auth/refresh', undefined, token)).token;
    data(await post(`/api/users/${id}/password`, { password: 'another password' }));
    for (const earlier of [token, refreshed]) expect(await listed(earlier)).toMatchObject({ code: 1004 });
    expect(await listed(await daemon.login('changed', 'another password'))).toMatchObject({ code: 200 });
  });

  it('comes before 2007, 1001 and 2001', async () => {
    expect(await post('/api/devices/DEV-999999/lock', { reason: 7 }, null)).toMatchObject({ code: 1004 });
  });
});
