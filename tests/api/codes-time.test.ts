/** Tokens and activation codes that expire. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { day, holdClock, second } from '../support/clock.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';

let clock: ReturnType<typeof holdClock>;
let daemon: TestDaemon;
beforeEach(async () => {
  clock = holdClock();
  daemon = await startTestDaemon();
});
afterEach(async () => {
  await daemon?.stop();
  clock.release();
});

const listed = (token: string) => daemon.call('GET', '/api/devices/list', undefined, { token });
const refresh = (token: string) => daemon.call('POST', '/api/auth/refresh', undefined, { token });

describe('1005', () => {
  it('is 401: a token is valid for exactly 24 hours', async () => {
    const token = await daemon.login('admin');
    clock.forward(day - 2 * second);
    expect(await listed(token)).toMatchObject({ code: 200 });
    clock.forward(2 * second);
    const response = await listed(token);
    expect(response).toMatchObject({ status: 401, code: 1005, data: null });
    expect(response.message).toMatch(/log in/);
  });

  it('expireTime of login and refresh is the moment of expiry', async () => {
    const before = Date.now();
    const login = { username: 'admin', password: 'correct horse battery' };
    const { token, expireTime } = data(await daemon.call('POST', '/api/auth/login', login, { token: null }));
    expect(Math.abs(Date.parse(expireTime) - before - day)).toBeLessThanOrEqual(second);
    clock.forward(3600 * second);
    const renewed = data(await refresh(token));
    expect(Date.parse(renewed.expireTime) - Date.parse(expireTime)).toBe(3600 * second);
  });

  it('a refresh before the expiry returns a token that outlives the earlier one, which stays valid until its own expiry', async () => {
    const earlier = await daemon.login('admin');
    clock.forward(day / 2);
    const { token } = data(await refresh(earlier));
    expect(token).not.toBe(earlier);
    expect(await listed(earlier)).toMatchObject({ code: 200 });
    clock.forward(day / 2 + second);
    expect(await listed(earlier)).toMatchObject({ code: 1005 });
    expect(await refresh(earlier)).toMatchObject({ status: 401, code: 1005 });
    expect(await listed(token)).toMatchObject({ code: 200 });
  });
});

describe('a session', () => {
  /** Renews a token twice a day until that is refused; returns the last token, the refusal and the days until then. */
  async function renewedUntilRefused(token: string, maximumDays: number) {
    let [last, expireTime, halfDays] = [token, '', 0];
    for (; halfDays <= 2 * maximumDays; halfDays++) {
      clock.forward(day / 2);
      const response = await refresh(last);
      if (response.code !== 200) return { last, expireTime, days: (halfDays + 1) / 2, refusal: response };
      ({ token: last, expireTime } = data(response));
    }
    throw new Error('the session did not end');
  }

  it('ends 30 days after the login, however often its token is renewed: then 1005', async () => {
    const loginAt = Date.now();
    const session = await renewedUntilRefused(await daemon.login('admin'), 31);
    expect(session).toMatchObject({ days: 30, refusal: { status: 401, code: 1005 } });
    expect(Math.abs(Date.parse(session.expireTime) - loginAt - 30 * day)).toBeLessThanOrEqual(second);
    expect(await listed(session.last)).toMatchObject({ code: 1005 });
    expect(await listed(await daemon.login('admin'))).toMatchObject({ code: 200 });
  });

  it('ends after the days that the operator sets, also if it began before a restart', async () => {
    const token = await daemon.login('admin');
    await daemon.restart({ sessionDays: 2 });
    expect(await renewedUntilRefused(token, 3)).toMatchObject({ days: 2, refusal: { status: 401, code: 1005 } });
  });
});

describe('2003', () => {
  it('an activation code of a registration is valid for exactly 365 days', async () => {
    const [stored, late] = [await register(daemon), await register(daemon)];
    clock.forward(365 * day - 3600 * second);
    const token = await daemon.login('admin');
    const activate = (device: typeof stored) =>
      daemon.call('POST', '/api/devices/activate', activation(device), { token });
    expect(await activate(stored)).toMatchObject({ code: 200 });
    clock.forward(3600 * second);
    expect(await activate(late)).toMatchObject({ status: 400, code: 2003 });
  });

  it('a new activation code is valid for exactly validityDays', async () => {
    const { deviceId } = await register(daemon);
    const renew = { deviceId, validityDays: 1, reason: 'code was lost' };
    const renewed = data(await daemon.call('POST', '/api/devices/generate-activation-code', renew));
    expect(Date.parse(renewed.expiresAt) - Date.parse(renewed.generatedAt)).toBe(day);
    clock.forward(day);
    const token = await daemon.login('admin');
    const body = activation(renewed);
    expect(await daemon.call('POST', '/api/devices/activate', body, { token })).toMatchObject({ code: 2003 });
  });
});
