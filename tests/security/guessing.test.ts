/** Guessing of passwords and activation codes over HTTP: 429 with Retry-After, in the documented order of checks. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { holdClock, second } from '../support/clock.ts';
import { type Answer, adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, deviceIn } from '../support/fleet.ts';

const plenty = { login: { count: 1000, seconds: 60 }, query: null, modify: null, upload: null };
let clock: ReturnType<typeof holdClock>;
let daemon: TestDaemon;
beforeEach(async () => {
  clock = holdClock();
  daemon = await startTestDaemon({ limits: plenty });
});
afterEach(async () => {
  await daemon?.stop();
  clock.release();
});

const login = (username: string, password = 'wrong one') =>
  daemon.call('POST', '/api/auth/login', { username, password }, { token: null });
async function codes(count: number, call: () => Promise<Answer>): Promise<number[]> {
  const found = [];
  for (let i = 0; i < count; i++) found.push((await call()).code);
  return found;
}
const times = (count: number, code: number) => Array<number>(count).fill(code);
const retryAfter = ({ headers }: Answer) => headers.get('retry-after');

it('an account is blocked after ten wrong passwords; its session and other accounts are not', async () => {
  const { token } = await daemon.user('dealer', 'DEALER');
  expect(await codes(10, () => login('dealer'))).toEqual(times(10, 1003));
  const blocked = await login('dealer', adminPassword);
  expect(blocked).toMatchObject({ status: 429, code: 429, data: null });
  expect(retryAfter(blocked)).toBe('15');
  expect(blocked.headers.get('x-ratelimit-limit')).toBe('1000');
  expect(await daemon.call('GET', '/api/users/me', undefined, { token })).toMatchObject({ code: 200 });
  expect(await daemon.call('POST', '/api/auth/refresh', undefined, { token })).toMatchObject({ code: 200 });
  expect(await login('admin', adminPassword)).toMatchObject({ code: 200 });
  clock.forward(15 * second);
  expect(await login('dealer', adminPassword)).toMatchObject({ code: 200 });
});

it('a name that does not exist, or that is disabled, is blocked in the same way', async () => {
  const { id } = await daemon.user('disabled', 'VIEWER');
  data(await daemon.call('PUT', `/api/users/${id}`, { disabled: true }));
  for (const name of ['unknown', 'disabled']) {
    expect(await codes(10, () => login(name))).toEqual(times(10, 1002));
    const blocked = await login(name);
    expect([blocked.code, retryAfter(blocked)]).toEqual([429, '15']);
  }
});

it('ten wrong confirmPasswords by a DEALER are the last that are compared; the state comes first', async () => {
  const { token } = await daemon.user('dealer', 'DEALER');
  const active = await deviceIn('ACTIVE', daemon);
  const retired = await deviceIn('DEACTIVATED', daemon);
  const deactivate = (deviceId: string, confirmPassword: string) =>
    daemon.call('POST', `/api/devices/${deviceId}/deactivate`, { reason: 'worn out', confirmPassword }, { token });
  expect(await codes(10, () => deactivate(active.deviceId, 'wrong one'))).toEqual(times(10, 1003));
  const blocked = await deactivate(active.deviceId, adminPassword);
  expect([blocked.code, retryAfter(blocked)]).toEqual([429, '900']);
  expect(await deactivate(retired.deviceId, adminPassword)).toMatchObject({ code: 2005 });
  expect(await deactivate('DEV-999999', adminPassword)).toMatchObject({ code: 2001 });
  expect(await login('dealer', adminPassword)).toMatchObject({ code: 200 });
  clock.forward(900 * second);
  expect(await deactivate(active.deviceId, adminPassword)).toMatchObject({ code: 200 });
});

it('ten wrong confirmPasswords of a DEALER or a service token block others for every ADMIN, and keep no ADMIN from confirming', async () => {
  const dealer = (await daemon.user('dealer', 'DEALER')).token;
  const another = (await daemon.user('another', 'DEALER')).token;
  const ada = await daemon.user('ada', 'ADMIN');
  const program = data(await daemon.call('POST', '/api/tokens', { name: 'line', role: 'ADMIN', expiresInDays: 1 }));
  const deactivate = async (token: string, confirmPassword: string) => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    return daemon.call('POST', `/api/devices/${deviceId}/deactivate`, { reason: 'lost', confirmPassword }, { token });
  };
  expect(await codes(5, () => deactivate(dealer, 'wrong one'))).toEqual(times(5, 1003));
  expect(await codes(6, () => deactivate(program.token, 'wrong one'))).toEqual([...times(5, 1003), 429]);
  for (const token of [dealer, program.token, another]) {
    const blocked = await deactivate(token, adminPassword);
    expect([blocked.code, retryAfter(blocked)]).toEqual([429, '900']);
  }
  expect(await deactivate(ada.token, 'wrong one')).toMatchObject({ code: 1003 });
  expect(await deactivate(ada.token, adminPassword)).toMatchObject({ code: 200 });
  expect(await login('ada', adminPassword)).toMatchObject({ code: 200 });
  const own = { token: ada.token };
  expect(await daemon.call('POST', '/api/auth/step-up', { password: adminPassword }, own)).toMatchObject({ code: 200 });
  const change = { password: 'another password', oldPassword: adminPassword };
  expect(await daemon.call('POST', `/api/users/${ada.id}/password`, change, own)).toMatchObject({ code: 200 });
  expect(await deactivate(daemon.adminToken, adminPassword)).toMatchObject({ code: 200 });
});

it('ten wrong confirmPasswords of an ADMIN keep no DEALER from confirming with the password of that ADMIN', async () => {
  const { token } = await daemon.user('dealer', 'DEALER');
  const { deviceId } = await deviceIn('ACTIVE', daemon);
  const deactivate = (confirmPassword: string, of = daemon.adminToken) =>
    daemon.call('POST', `/api/devices/${deviceId}/deactivate`, { reason: 'lost', confirmPassword }, { token: of });
  expect(await codes(11, () => deactivate('wrong one'))).toEqual([...times(10, 1003), 429]);
  expect(await deactivate(adminPassword, token)).toMatchObject({ code: 200 });
});

it('ten wrong oldPasswords are the last that are compared', async () => {
  const { id, token } = await daemon.user('viewer', 'VIEWER');
  const change = (oldPassword: string) =>
    daemon.call('POST', `/api/users/${id}/password`, { password: 'another password', oldPassword }, { token });
  expect(await codes(11, () => change('wrong one'))).toEqual([...times(10, 1003), 429]);
  expect(await change(adminPassword)).toMatchObject({ code: 429 });
});

it('ten wrong activation codes are the last that are compared; other devices are not affected', async () => {
  const device = await deviceIn('INACTIVE', daemon);
  const other = await deviceIn('INACTIVE', daemon);
  const activate = (body: object) => daemon.call('POST', '/api/devices/activate', body);
  const wrong = { ...activation(device), activationCode: 'AAAA-AAAA-AAAA-AAAA' };
  expect(await codes(10, () => activate(wrong))).toEqual(times(10, 2003));
  const blocked = await activate(activation(device));
  expect([blocked.status, blocked.code, retryAfter(blocked)]).toEqual([429, 429, '3600']);
  expect(await activate(activation(other))).toMatchObject({ code: 200 });
  expect(await activate({ ...wrong, deviceId: other.deviceId })).toMatchObject({ code: 2002 });
  clock.forward(3600 * second);
  expect(await activate(activation(device))).toMatchObject({ code: 200 });
});

it('nothing of this applies if the login limit is off', async () => {
  await daemon.restart({ limits: { ...plenty, login: null } });
  expect(await codes(12, () => login('admin'))).toEqual(times(12, 1003));
  expect(await login('admin', adminPassword)).toMatchObject({ code: 200 });
});

it('a batch counts wrong activation codes of a device as single activations do', async () => {
  const { deviceId } = await deviceIn('INACTIVE', daemon);
  const items = Array.from({ length: 12 }, () => ({ deviceId, activationCode: 'wrong', userId: 'alice' }));
  const answer = await daemon.call('POST', '/api/devices/batch-update', { operation: 'ACTIVATE', items });
  expect(answer.data.results.map(({ code }: Answer) => code)).toEqual([...times(10, 2003), 429, 429]);
});
