/** Revocation takes effect at once: the next request is refused, and open streams end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/programs.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data } from '../support/fleet.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { openStream } from '../support/stream-client.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

let users = 0;
const ways: Record<string, (id: string, token: string) => Promise<unknown>> = {
  'that an administrator disables': id => daemon.call('PUT', `/api/users/${id}`, { disabled: true }),
  'whose password an administrator changes': id =>
    daemon.call('POST', `/api/users/${id}/password`, { password: 'another password' }),
  'that changes their own password': (id, token) =>
    daemon.call(
      'POST',
      `/api/users/${id}/password`,
      { password: 'another password', oldPassword: adminPassword },
      { token },
    ),
  'that an administrator logs out': id => daemon.call('POST', `/api/users/${id}/logout`),
  'that logs out everywhere': (id, token) => daemon.call('POST', `/api/users/${id}/logout`, undefined, { token }),
};

describe.each(Object.entries(ways))('a user %s', (_who, shutOut) => {
  it('is refused with 1004 at the next request, with every token, and every stream ends with 4401', async () => {
    const { id, token } = await daemon.user(`user-${++users}`, 'DEALER');
    const others = [
      await daemon.login(`user-${users}`),
      data(await daemon.call('POST', '/api/auth/refresh', undefined, { token })).token,
    ];
    const all = [token, ...others];
    const streams = await Promise.all(all.map(each => openStream(daemon.url, { token: each })));
    const bystander = await openStream(daemon.url, { token: daemon.adminToken });
    const codes = () =>
      Promise.all(all.map(async each => (await daemon.call('GET', '/api/users/me', undefined, { token: each })).code));
    expect(await codes()).toEqual([200, 200, 200]);
    await shutOut(id, token);
    expect(await codes()).toEqual([1004, 1004, 1004]);
    for (const stream of streams) expect((await stream.closed).code).toBe(4401);
    expect(bystander.ws.readyState).toBe(bystander.ws.OPEN);
    bystander.ws.terminate();
  });
});

it('a request in progress when its user is disabled is done completely or not at all', async () => {
  const { id, token } = await daemon.user('in-the-middle', 'DEALER');
  const devices = Array.from({ length: 3000 }, (_, i) => ({
    deviceType: 'UKEY',
    serialNumber: `MIDDLE-${i}`,
    manufacturer: 'Feitian',
    model: 'K9',
  }));
  const [batch] = await Promise.all([
    daemon.call('POST', '/api/devices/batch-register', { devices }, { token }),
    daemon.call('PUT', `/api/users/${id}`, { disabled: true }),
  ]);
  const { pagination } = data(await daemon.call('GET', '/api/devices/list?keyword=MIDDLE-'));
  expect(pagination.total).toBe(batch.code === 200 ? 3000 : 0);
});

it('a role that is taken away is invalid from the next request, also with an earlier token', async () => {
  const { id, token } = await daemon.user('demoted', 'ADMIN');
  const list = () => daemon.call('GET', '/api/users/list', undefined, { token });
  expect(await list()).toMatchObject({ code: 200 });
  data(await daemon.call('PUT', `/api/users/${id}`, { role: 'VIEWER' }));
  expect(await list()).toMatchObject({ status: 403, code: 2007 });
});

describe('a user who was logged out everywhere', () => {
  const me = async (token: string) => (await daemon.call('GET', '/api/users/me', undefined, { token })).code;
  const logout = (id: string, token?: string) =>
    daemon.call('POST', `/api/users/${id}/logout`, undefined, token ? { token } : {});

  it('is unchanged and can log in again with the same password', async () => {
    const { id } = await daemon.user('logged-out', 'DEALER');
    const { list } = data(await daemon.call('GET', '/api/users/list?size=100'));
    // Only the list shows whether a user has a key.
    const { hasKey: _, ...user } = list.find((user: { id: string }) => user.id === id);
    expect(data(await logout(id))).toEqual(user);
    expect(await me(await daemon.login('logged-out'))).toBe(200);
  });

  it('stays logged out after a restart, which does not affect the tokens of others', async () => {
    const [out, other] = [
      await daemon.user('out-over-restart', 'VIEWER'),
      await daemon.user('not-concerned', 'VIEWER'),
    ];
    data(await logout(out.id));
    expect([await me(out.token), await me(other.token)]).toEqual([1004, 200]);
    await daemon.restart();
    expect([await me(out.token), await me(other.token)]).toEqual([1004, 200]);
  });

  it('is logged out again by a second logout, whatever was issued in between', async () => {
    const { id } = await daemon.user('twice', 'VIEWER');
    for (const _ of [1, 2]) {
      const token = await daemon.login('twice');
      data(await logout(id));
      expect(await me(token)).toBe(1004);
    }
  });

  it('may also be disabled, and enabling does not restore any token', async () => {
    const { id } = await daemon.user('disabled-too', 'VIEWER');
    data(await daemon.call('PUT', `/api/users/${id}`, { disabled: true }));
    expect(data(await logout(id))).toMatchObject({ disabled: true });
    const response = { username: 'disabled-too', password: adminPassword };
    expect(await daemon.call('POST', '/api/auth/login', response, { token: null })).toMatchObject({ code: 1002 });
  });

  it('can be logged out only by the user or by an ADMIN; an unknown user is 404', async () => {
    const [{ token }, other] = [await daemon.user('nosy', 'DEALER'), await daemon.user('left-alone', 'VIEWER')];
    expect(await logout(other.id, token)).toMatchObject({ status: 403, code: 2007 });
    expect(await me(other.token)).toBe(200);
    for (const id of ['USR-999999', 'USR-0', 'unknown'])
      expect(await logout(id)).toMatchObject({ status: 404, code: 404 });
  });

  it('has a journal entry with the actor, which ADMINs see as an event', async () => {
    const { id } = await daemon.user('on-record', 'VIEWER');
    data(await logout(id));
    const options = { home: daemon.home, json: true, device: null, since: null, limit: 1, verify: false };
    const { stdout } = await runDaemonProgram(audit, { ...options, types: ['USER_LOGGED_OUT'] });
    expect(JSON.parse(stdout)).toMatchObject({ user: 'admin', deviceId: null, details: { username: 'on-record' } });
    const stream = await openStream(daemon.url, { token: daemon.adminToken, since: 0 });
    data(
      await daemon.call('POST', '/api/devices/register', {
        deviceType: 'UKEY',
        serialNumber: 'AFTER-LOGOUT',
        manufacturer: 'Feitian',
        model: 'K9',
      }),
    );
    await stream.untilSome(({ data }) => data.serialNumber === 'AFTER-LOGOUT');
    expect(stream.frames.map(({ type }) => type)).toContain('USER_LOGGED_OUT');
    stream.ws.terminate();
  });
});
