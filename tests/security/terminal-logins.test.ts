/** Logins of terminals that a person approves in a browser. */

import { describe, expect, it } from 'vitest';
import { waitingBounds } from '../../daemon/store/short-lived.ts';
import { stepUpSeconds, terminalLogin } from '../../src/contract/limits.ts';
import { Page } from '../support/browser.ts';
import { second } from '../support/clock.ts';
import { clockOfTests, daemonOfTests } from '../support/daemon-tests.ts';
import { data } from '../support/fleet.ts';
import { serviceToken } from '../support/service-token.ts';
import { loginOf } from '../support/sign-in-codes.ts';

const clock = clockOfTests();
const daemon = daemonOfTests();
const page = new Page(daemon);

/** A terminal that asks for a login. */
async function terminal(name = 'alice@desk') {
  const made = data(await daemon.call('POST', '/api/auth/terminal', { name }, { token: null }));
  const { requestId, secret, userCode } = made as Record<'requestId' | 'secret' | 'userCode', string>;
  const take = (given = secret) =>
    daemon.call('POST', '/api/auth/terminal/token', { requestId, secret: given }, { token: null });
  return { ...made, requestId, secret, userCode, take };
}
const approve = (userCode: string, token = daemon.adminToken) =>
  page.call('POST', '/api/auth/terminal/approve', { userCode }, token);
const pending = { state: 'PENDING', login: null };

describe('a terminal', () => {
  it('gets a session of its own, once, after its code was approved', async () => {
    const { id, token } = await daemon.user('dora', 'DEALER');
    const { userCode, take } = await terminal();
    expect(data(await take())).toEqual(pending);
    expect(data(await approve(userCode, token))).toEqual({ userCode, approved: true });
    const { state, login } = data(await take());
    expect(state).toBe('APPROVED');
    expect(login.user).toEqual({ id, username: 'dora', role: 'DEALER', email: null });
    expect(login.token).not.toBe(token);
    expect(data(await daemon.call('GET', '/api/users/me', undefined, { token: login.token })).id).toBe(id);
    expect(data(await take())).toEqual(pending);
  });

  it('is shown to the person with its name and address, and waits on', async () => {
    const { userCode, take, expireTime } = await terminal('bob@stockroom');
    const show = (code: string) => page.call('POST', '/api/auth/terminal/show', { userCode: code }, daemon.adminToken);
    const shown = { userCode, name: 'bob@stockroom', address: '127.0.0.1', createdAt: new Date().toISOString() };
    for (const typed of [userCode, userCode.toLowerCase(), userCode.replace('-', ' ')])
      expect(data(await show(typed))).toEqual({ ...shown, expireTime });
    data(await approve(userCode.toLowerCase()));
    expect(data(await take()).state).toBe('APPROVED');
  });

  it('is approved once if it is shown at the same time', async () => {
    const { userCode, take } = await terminal();
    const show = () => page.call('POST', '/api/auth/terminal/show', { userCode }, daemon.adminToken);
    const both = await Promise.all([show(), approve(userCode), show(), approve(userCode), show()]);
    expect(
      both
        .filter((_, i) => i % 2)
        .map(({ code }) => code)
        .sort(),
    ).toEqual([200, 404]);
    expect(await show()).toMatchObject({ status: 404, code: 404 });
    expect(data(await take()).state).toBe('APPROVED');
  });

  it('displaces the oldest of its own network if that has too many', async () => {
    const first = await terminal();
    const second = await terminal();
    for (let i = 2; i <= waitingBounds.perNetwork; i++) await terminal();
    expect(await approve(first.userCode)).toMatchObject({ status: 404, code: 404 });
    data(await approve(second.userCode));
    expect(data(await second.take()).state).toBe('APPROVED');
  });

  it('gets nothing with another secret, which does not end the request', async () => {
    const { userCode, take } = await terminal();
    data(await approve(userCode));
    expect(data(await take('another secret'))).toEqual(pending);
    expect(data(await take()).state).toBe('APPROVED');
  });

  it('is refused with 1004 after five minutes, approved or not, and with an id that was not given out', async () => {
    const [one, two] = [await terminal(), await terminal()];
    data(await approve(one.userCode));
    clock.forward(terminalLogin.seconds * second);
    const refused = { status: 401, code: 1004, data: null };
    expect(await one.take()).toMatchObject(refused);
    expect(await two.take()).toMatchObject(refused);
    const body = { requestId: 'AAAA', secret: 'AAAA' };
    expect(await daemon.call('POST', '/api/auth/terminal/token', body, { token: null })).toMatchObject(refused);
  });

  it('gets no session of a user who was disabled or logged out in the meantime', async () => {
    const { id, token } = await daemon.user('gone', 'VIEWER');
    const { userCode, take } = await terminal();
    data(await approve(userCode, token));
    data(await daemon.call('POST', `/api/users/${id}/logout`));
    expect(await take()).toMatchObject({ status: 401, code: 1004 });
  });
});

describe('an approval', () => {
  it('works once, and for codes that were given out in the last five minutes', async () => {
    const [one, late] = [await terminal(), await terminal()];
    data(await approve(one.userCode));
    const refused = { status: 404, code: 404 };
    expect(await approve(one.userCode)).toMatchObject(refused);
    expect(await approve('AAAA-AAAA')).toMatchObject(refused);
    clock.forward(terminalLogin.seconds * second);
    expect(await approve(late.userCode)).toMatchObject(refused);
  });

  it('needs a recent sign-in in the console, and cannot be made by a program', async () => {
    const token = data(await page.login('admin')).token;
    const program = (await serviceToken(daemon, { role: 'ADMIN' })).token;
    clock.forward((stepUpSeconds + 1) * second);
    const { userCode } = await terminal();
    expect(await approve(userCode, token)).toMatchObject({ status: 403, code: 2007, data: { stepUp: true } });
    expect(await approve(userCode, program)).toMatchObject({ status: 403, code: 2007, data: null });
  });

  it('gives a session that is as old as the sign-in of the person', async () => {
    const token = data(await page.login('admin')).token;
    clock.forward(60 * second);
    const { userCode, take } = await terminal();
    data(await approve(userCode, token));
    const { login } = data(await take());
    expect(loginOf(login.token)).toBe(loginOf(token));
  });
});
