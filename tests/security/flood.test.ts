/** Unauthenticated clients do not keep others from working. */
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recommendedCost } from '../../daemon/accounts/passwords.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, register, registration } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  // A flood of cheap hashes would be over before anything else.
  daemon = await startTestDaemon({ passwordCost: recommendedCost });
});
afterAll(() => daemon?.stop());

const LOGINS = 24;

it('a flood of logins does not delay other requests: they are answered while most of the flood still waits', async () => {
  const { deviceId } = await register(daemon);
  let answered = 0;
  const flood = Array.from({ length: LOGINS }, async (_, i) => {
    const body = { username: 'admin', password: i % 2 ? adminPassword : 'not this one' };
    const { code } = await daemon.call('POST', '/api/auth/login', body, { token: null });
    answered++;
    return code;
  });
  for (let i = 0; i < 10; i++) {
    data(await daemon.call('GET', `/api/devices/${deviceId}`));
    data(await daemon.call('GET', '/api/devices/list'));
    data(await daemon.call('POST', '/api/devices/register', registration()));
  }
  // Thirty sequential requests took less time than half of the flood's hashes, which run two at a time.
  expect(answered).toBeLessThan(LOGINS / 2);
  const codes = await Promise.all(flood);
  expect(codes.filter(code => code === 200)).toHaveLength(LOGINS / 2);
  expect(codes.filter(code => code === 1003)).toHaveLength(LOGINS / 2);
});

it('a flood of wrong confirmations and password changes does not delay other requests', async () => {
  const { deviceId } = await register(daemon);
  const { id } = await daemon.user('flooded', 'VIEWER');
  let answered = 0;
  const body = { reason: 'worn out', confirmPassword: 'not this one' };
  const flood = Array.from({ length: LOGINS }, async (_, i) => {
    const response =
      i % 2
        ? await daemon.call('POST', `/api/devices/${deviceId}/deactivate`, body)
        : await daemon.call('POST', `/api/users/${id}/password`, { password: `new password ${i}` });
    answered++;
    return response.code;
  });
  for (let i = 0; i < 30; i++) data(await daemon.call('GET', `/api/devices/${deviceId}`));
  expect(answered).toBeLessThan(LOGINS / 2);
  expect(new Set(await Promise.all(flood))).toEqual(new Set([200, 1003]));
});

it('many silent connections do not keep other clients out', async () => {
  const port = Number(new URL(daemon.url).port);
  const silent = Array.from({ length: 500 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(silent.map(socket => new Promise(resolve => socket.once('connect', resolve))));
  data(await daemon.call('GET', '/api/devices/list'));
  for (const socket of silent) socket.destroy();
});
