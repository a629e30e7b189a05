/** Operations that need a recent sign-in, and signing in again within a session. */

import { describe, expect, it } from 'vitest';
import { stepUpSeconds } from '../../src/contract/limits.ts';
import type { StepUpMode } from '../../src/contract/local.ts';
import { Page } from '../support/browser.ts';
import { second } from '../support/clock.ts';
import { adminPassword } from '../support/daemon.ts';
import { clockOfTests, daemonOfTests } from '../support/daemon-tests.ts';
import { data, deviceIn } from '../support/fleet.ts';
import { exchange, newCode } from '../support/sign-in-codes.ts';
import { SoftwareKey } from '../support/software-key.ts';

const clock = clockOfTests();
const daemon = daemonOfTests();
const page = new Page(daemon);

const border = stepUpSeconds * second;
const refused = { status: 403, code: 2007, data: { stepUp: true } };
let names = 0;
/** An operation that needs a recent sign-in. */
const change = (token: string, role = 'VIEWER') =>
  page.call('POST', '/api/tokens', { name: `token-${++names}`, role, expiresInDays: 1, may: ['policies'] }, token);
const consoleToken = async (): Promise<string> => data(await page.login('admin')).token;
const refresh = async (token: string): Promise<string> =>
  data(await page.call('POST', '/api/auth/refresh', undefined, token)).token;

describe('a session in the console', () => {
  it('changes users, tokens and policies for ten minutes after the sign-in, to the second', async () => {
    const token = await consoleToken();
    clock.forward(border);
    expect(await change(token)).toMatchObject({ code: 200 });
    clock.forward(second);
    expect(await change(token)).toMatchObject(refused);
    expect(await page.call('GET', '/api/devices/list', undefined, token)).toMatchObject({ code: 200 });
  });

  it('does not become younger when its token is renewed', async () => {
    const token = await consoleToken();
    clock.forward(border + second);
    expect(await change(await refresh(token))).toMatchObject(refused);
  });

  it('has the age of the session that made its code', async () => {
    const token = await consoleToken();
    const opened = data(await exchange(daemon, await newCode(daemon, 'SESSION', token))).token;
    expect(await change(opened)).toMatchObject({ code: 200 });
    clock.forward(border + second);
    const later = data(await exchange(daemon, await newCode(daemon, 'SESSION', token))).token;
    for (const of of [opened, later]) expect(await change(of)).toMatchObject(refused);
  });

  it('must sign in again if a code of a command line has opened it', async () => {
    const token = await daemon.login('admin');
    clock.forward(border + second);
    const opened = data(await exchange(daemon, await newCode(daemon, 'SESSION', token))).token;
    expect(await change(opened)).toMatchObject(refused);
    expect(await change(token)).toMatchObject({ code: 200 });
  });

  it('locks many devices at any time, and deactivates them after a recent sign-in', async () => {
    const token = await consoleToken();
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    clock.forward(border + second);
    const items = [{ deviceId, reason: 'audit' }];
    const batch = (operation: string, of = token) =>
      page.call('POST', '/api/devices/batch-update', { operation, items, confirmPassword: adminPassword }, of);
    expect(await batch('LOCK')).toMatchObject({ code: 200 });
    expect(await batch('DEACTIVATE')).toMatchObject(refused);
    const fresh = data(await page.call('POST', '/api/auth/step-up', { password: adminPassword }, token)).token;
    expect(data(await batch('DEACTIVATE', fresh))).toMatchObject({ success: 1 });
  });

  const user = { username: 'made', password: adminPassword, role: 'VIEWER' };
  it.each([
    ['POST', '/api/users', user],
    ['PUT', '/api/users/USR-1', { email: null }],
    ['POST', '/api/users/USR-1/password', { password: 'another password', oldPassword: adminPassword }],
    ['POST', '/api/users/USR-1/require-key', { required: false }],
    ['POST', '/api/users/USR-1/passkeys/PSK-1/remove', undefined],
    ['POST', '/api/auth/webauthn/register/options', undefined],
    ['POST', '/api/auth/webauthn/register', { name: 'desk', response: {} }],
    ['POST', '/api/tokens/TOK-1/revoke', undefined],
    ['PUT', '/api/policies/proof', { requiredGrade: 'none', allowedAaguids: [], leastFirmware: [] }],
    ['PUT', '/api/policies/sign-in', { requireKey: [] }],
    ['POST', '/api/trust', undefined],
    ['POST', '/api/trust/metadata/remove', undefined],
    ['POST', '/api/webhooks', { url: 'https://hooks.invalid/' }],
    ['POST', '/api/webhooks/WHK-1/enable', undefined],
    ['POST', '/api/webhooks/WHK-1/disable', undefined],
    ['POST', '/api/webhooks/WHK-1/remove', undefined],
  ])('needs a recent sign-in for %s %s', async (method, path, body) => {
    const token = await consoleToken();
    clock.forward(border + second);
    expect(await page.call(method, path, body, token)).toMatchObject(refused);
  });
});

describe('a step-up', () => {
  it('with the password gives a token of the same login with a new time', async () => {
    const token = await consoleToken();
    clock.forward(border + second);
    const fresh = data(await page.call('POST', '/api/auth/step-up', { password: adminPassword }, token)).token;
    expect(await change(fresh)).toMatchObject({ code: 200 });
    expect(await change(token)).toMatchObject(refused);
    const login = (of: string) => JSON.parse(Buffer.from(of.split('.')[1]!, 'base64url').toString()).login;
    expect(login(fresh)).toBe(login(token));
    clock.forward(border + second);
    expect(await change(await refresh(fresh))).toMatchObject(refused);
  });

  it('with a key works like one with a password, for the session that asked', async () => {
    const key = new SoftwareKey();
    const { token: other } = await daemon.user('other-admin', 'ADMIN');
    const token = await consoleToken();
    data(await page.register(key, token));
    clock.forward(border + second);
    const fresh = data(await page.stepUp(key, token)).token;
    expect(await change(fresh)).toMatchObject({ code: 200 });
    const { options } = data(await page.call('POST', '/api/auth/step-up/options', undefined, token));
    const body = { response: key.get(options, page.origin) };
    expect(await page.call('POST', '/api/auth/step-up', body, other)).toMatchObject({ status: 401, code: 1004 });
    expect(await page.call('POST', '/api/auth/step-up', body, token)).toMatchObject({ code: 200 });
    expect(await page.call('POST', '/api/auth/step-up', body, token)).toMatchObject({ status: 401, code: 1004 });
  });

  it('with a wrong password is refused with 1003, and counts against guessing', async () => {
    const { token } = await daemon.user('guesser', 'VIEWER');
    await daemon.restart({ limits: { login: { count: 3, seconds: 60 }, query: null, modify: null, upload: null } });
    const guess = (body: object) => page.call('POST', '/api/auth/step-up', body, token);
    for (let i = 0; i < 3; i++)
      expect(await guess({ password: 'wrong' })).toMatchObject({ status: 403, code: 1003, data: null });
    expect(await guess({ password: 'wrong' })).toMatchObject({ status: 429 });
    await daemon.restart();
  });

  it.each([{}, { password: 'x', response: {} }])('with %j is refused', async body => {
    expect(await page.call('POST', '/api/auth/step-up', body, daemon.adminToken)).toMatchObject({ code: 1001 });
  });

  it('of a user who must sign in with a key is made with the key', async () => {
    const key = new SoftwareKey();
    const { id, token } = await daemon.user('strict', 'VIEWER');
    data(await page.register(key, token));
    data(await page.call('POST', `/api/users/${id}/require-key`, { required: true }, token));
    expect(await page.call('POST', '/api/auth/step-up', { password: adminPassword }, token)).toMatchObject(refused);
    data(await page.stepUp(key, token));
  });
});

describe('the setting', () => {
  it.each([
    ['console', { page: false, commandLine: true }],
    ['all', { page: false, commandLine: false }],
    ['off', { page: true, commandLine: true }],
  ] as const)('%s decides which old sessions may change things; programs always may', async (stepUp, may) => {
    await daemon.restart({ stepUp: stepUp satisfies StepUpMode });
    const tokens = [await consoleToken(), await daemon.login('admin')] as const;
    const program = data(await change(tokens[0], 'ADMIN')).token;
    clock.forward(border + second);
    const codes = await Promise.all(tokens.map(async token => (await change(token)).code === 200));
    expect(codes).toEqual([may.page, may.commandLine]);
    const nothing = { requiredGrade: 'none', allowedAaguids: [], leastFirmware: [] };
    expect(await page.call('PUT', '/api/policies/proof', nothing, program)).toMatchObject({ code: 200 });
    await daemon.restart();
  });
});
