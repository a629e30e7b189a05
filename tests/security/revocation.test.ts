/** Who is shut out is out at once: the next request is refused, open streams end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data } from '../support/fleet.ts';
import { openStream } from '../support/stream-client.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

let users = 0;
const ways: Record<string, (id: string, token: string) => Promise<unknown>> = {
  'whom an administrator disables': id => daemon.call('PUT', `/api/users/${id}`, { disabled: true }),
  'whose password an administrator changes': id =>
    daemon.call('POST', `/api/users/${id}/password`, { password: 'another password' }),
  'who changes the own password': (id, token) =>
    daemon.call(
      'POST',
      `/api/users/${id}/password`,
      { password: 'another password', oldPassword: adminPassword },
      { token },
    ),
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

it('a request that is under way when its user is disabled is not half done: all of it or nothing', async () => {
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

it('a role that is taken away is gone at the next request, with the token that was given for it', async () => {
  const { id, token } = await daemon.user('demoted', 'ADMIN');
  const list = () => daemon.call('GET', '/api/users/list', undefined, { token });
  expect(await list()).toMatchObject({ code: 200 });
  data(await daemon.call('PUT', `/api/users/${id}`, { role: 'VIEWER' }));
  expect(await list()).toMatchObject({ status: 403, code: 2007 });
});
