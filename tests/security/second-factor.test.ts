/** Security keys that are required: by a policy of roles, by the users themselves, and after a key was lost. */
import { afterEach, describe, expect, it } from 'vitest';
import { resetPassword } from '../../daemon/maintenance/reset-password.ts';
import { Page } from '../support/browser.ts';
import { adminPassword } from '../support/daemon.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import { data } from '../support/fleet.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { newCode } from '../support/sign-in-codes.ts';
import { SoftwareKey } from '../support/software-key.ts';
import { refusedUpgrade } from '../support/stream-client.ts';

const daemon = daemonOfTests();
const page = new Page(daemon);

const policy = (requireKey: readonly string[], token = daemon.adminToken) =>
  daemon.call('PUT', '/api/policies/sign-in', { requireKey }, { token });
let users = 0;
async function person(role: 'ADMIN' | 'DEALER' | 'VIEWER' = 'DEALER') {
  const username = `person-${++users}`;
  const key = new SoftwareKey();
  const { id, token } = await daemon.user(username, role);
  const { passkeyId } = data(await page.register(key, token));
  return { id, username, token, key, passkeyId: passkeyId as string };
}
const firstStep = { status: 401, code: 1004, message: expect.stringContaining('password is correct') };

describe('a user who requires a key at each login', () => {
  it('signs in with the password and the key', async () => {
    const { id, username, token, key } = await person();
    data(await daemon.call('POST', `/api/users/${id}/require-key`, { required: true }, { token }));
    const step = await page.login(username);
    expect(step).toMatchObject(firstStep);
    const { secondFactor, loginTicket } = step.data;
    expect(secondFactor.allowCredentials).toHaveLength(1);
    const opened = data(await page.send(key.get(secondFactor, page.origin, { unverified: true }), { loginTicket }));
    expect(data(await daemon.call('GET', '/api/users/me', undefined, { token: opened.token })).id).toBe(id);
    expect(data(await page.signIn(key)).user.id).toBe(id);
  });

  it('gets no ticket for a wrong password, and no options at an address without a name', async () => {
    const { id, username, token } = await person();
    data(await daemon.call('POST', `/api/users/${id}/require-key`, { required: true }, { token }));
    expect(await page.login(username, 'a wrong one')).toMatchObject({ status: 401, code: 1003, data: null });
    const step = await daemon.call('POST', '/api/auth/login', { username, password: adminPassword }, { token: null });
    expect(step).toMatchObject({ ...firstStep, data: { secondFactor: null, loginTicket: expect.any(String) } });
  });

  it('cannot use the key of another user, another ticket, or a ticket of an earlier password', async () => {
    const [one, two] = [await person(), await person()];
    for (const { id, token } of [one, two])
      data(await daemon.call('POST', `/api/users/${id}/require-key`, { required: true }, { token }));
    const step = async ({ username }: typeof one, password?: string) => (await page.login(username, password)).data;
    const ofOne = await step(one);
    const foreign = { ...ofOne.secondFactor, allowCredentials: undefined };
    const refused = { status: 401, code: 1004, message: 'the security key was not accepted', data: null };
    const send = (key: SoftwareKey, options: object, loginTicket: string) =>
      page.send(key.get(options as never, page.origin), { loginTicket });
    expect(await send(two.key, foreign, ofOne.loginTicket)).toMatchObject(refused);
    expect(await send(two.key, foreign, (await step(two)).loginTicket)).toMatchObject(refused);
    expect(await send(one.key, ofOne.secondFactor, `${ofOne.loginTicket}A`)).toMatchObject(refused);
    expect(await page.send(one.key.get(ofOne.secondFactor, page.origin))).toMatchObject(refused);
    const unanswered = await step(one);
    data(await daemon.call('POST', `/api/users/${one.id}/password`, { password: 'another password' }));
    expect(await send(one.key, unanswered.secondFactor, unanswered.loginTicket)).toMatchObject(refused);
    const later = await step(one, 'another password');
    expect(await send(one.key, later.secondFactor, later.loginTicket)).toMatchObject({ code: 200 });
  });

  it('must have a key first, cannot remove the last one, and can end the requirement', async () => {
    const { id, token } = await daemon.user('keyless', 'VIEWER');
    const require = (required: boolean) => daemon.call('POST', `/api/users/${id}/require-key`, { required }, { token });
    expect(await require(true)).toMatchObject({ status: 400, code: 1001 });
    const key = new SoftwareKey();
    const { passkeyId } = data(await page.register(key, token));
    data(await require(true));
    const remove = () => daemon.call('POST', `/api/users/${id}/passkeys/${passkeyId}/remove`, undefined, { token });
    expect(await remove()).toMatchObject({ status: 400, code: 1001 });
    const fresh = data(await page.stepUp(key, token)).token;
    data(await daemon.call('POST', `/api/users/${id}/require-key`, { required: false }, { token: fresh }));
    data(await remove());
    expect(await page.login('keyless')).toMatchObject({ code: 200 });
  });

  it('is released by an ADMIN, not by another user', async () => {
    const [one, two] = [await person(), await person()];
    const path = `/api/users/${one.id}/require-key`;
    expect(await daemon.call('POST', path, { required: true }, { token: two.token })).toMatchObject({ code: 2007 });
    expect(data(await daemon.call('POST', path, { required: true }))).toEqual({ userId: one.id, required: true });
    data(await daemon.call('POST', path, { required: false }));
    expect(await page.login(one.username)).toMatchObject({ code: 200 });
    expect(await daemon.call('POST', '/api/users/USR-999/require-key', { required: true })).toMatchObject({
      code: 404,
    });
  });
});

describe('the policy of sign-ins', () => {
  it('is shown to all, and concerns the users of its roles', async () => {
    const [dealer, viewer] = [await person('DEALER'), await person('VIEWER')];
    expect(data(await policy(['DEALER', 'DEALER']))).toEqual({ requireKey: ['DEALER'] });
    const shown = await daemon.call('GET', '/api/policies/sign-in', undefined, { token: viewer.token });
    expect(data(shown)).toEqual({ requireKey: ['DEALER'] });
    expect(await page.login(dealer.username)).toMatchObject(firstStep);
    expect(await page.login(viewer.username)).toMatchObject({ code: 200 });
    data(await policy([]));
    expect(await page.login(dealer.username)).toMatchObject({ code: 200 });
  });

  it.each([[['OWNER']], [['ADMIN', 'LOCAL']]])('with %j is refused', async roles => {
    expect(await policy(roles)).toMatchObject({
      status: 400,
      code: 1001,
      message: expect.stringContaining('requireKey'),
    });
  });

  it('for their own role is set by those who have a key', async () => {
    expect(await policy(['ADMIN'])).toMatchObject({ status: 400, code: 1001 });
    const { token, key } = await person('ADMIN');
    data(await policy(['ADMIN'], token));
    data(await policy([], data(await page.stepUp(key, token)).token));
  });

  it('that concerns an ADMIN is changed only in a session with a key, not in one from before the policy', async () => {
    const { id, username, token, key } = await person('ADMIN');
    const dealer = await person('DEALER');
    const requireOf = (user: string, required: boolean, of: string) =>
      page.call('POST', `/api/users/${user}/require-key`, { required }, of);
    data(await policy(['ADMIN', 'DEALER'], token));
    const changes = (of: string) => [
      () => policy([], of),
      () => policy(['ADMIN'], of),
      () => requireOf(dealer.id, true, of),
      () => requireOf(id, true, of),
    ];
    for (const change of changes(token))
      expect(await change()).toMatchObject({ status: 403, code: 2007, data: { stepUp: true } });
    // That of an ADMIN who has no key: a step-up with one is not possible.
    for (const change of changes(daemon.adminToken))
      expect(await change()).toMatchObject({ status: 403, code: 2007, data: { registerKey: true } });
    expect(data(await daemon.call('GET', '/api/policies/sign-in')).requireKey).toEqual(['ADMIN', 'DEALER']);
    const step = (await page.login(username)).data;
    const withKey = data(
      await page.send(key.get(step.secondFactor, page.origin), { loginTicket: step.loginTicket }),
    ).token;
    data(await requireOf(dealer.id, true, withKey));
    data(await requireOf(dealer.id, false, data(await page.stepUp(key, token)).token));
    data(await policy([], withKey));
    data(await policy(['DEALER'], token));
    data(await policy([]));
  });

  it('lets a user without a key register one, and do nothing else', async () => {
    const { id } = await daemon.user('newcomer', 'DEALER');
    data(await policy(['DEALER']));
    const opened = data(await page.login('newcomer'));
    expect(opened.mustRegisterKey).toBe(true);
    const { token } = opened;
    const refused = { status: 403, code: 2007, data: { registerKey: true } };
    for (const path of ['/api/devices/list', '/api/policies/sign-in', '/api/hardware/keys'])
      expect(await page.call('GET', path, undefined, token)).toMatchObject(refused);
    expect(await page.call('POST', '/api/auth/refresh', undefined, token)).toMatchObject(refused);
    expect(await page.call('POST', '/api/auth/codes', { purpose: 'SESSION' }, token)).toMatchObject(refused);
    expect(await refusedUpgrade(daemon.url, `/api/ws/notifications?token=${token}`)).toMatchObject({ code: 2007 });
    expect(data(await page.call('GET', '/api/users/me', undefined, token)).id).toBe(id);
    const key = new SoftwareKey();
    data(await page.register(key, token));
    expect(await page.call('GET', '/api/devices/list', undefined, token)).toMatchObject(refused);
    const complete = data(await page.signIn(key));
    expect(complete.mustRegisterKey).toBeUndefined();
    expect(await page.call('GET', '/api/devices/list', undefined, complete.token)).toMatchObject({ code: 200 });
    data(await policy([]));
  });

  it('ends the renewal of sessions without a key, not of those with one', async () => {
    const { key, token } = await person();
    const withKey = data(await page.signIn(key)).token;
    const refresh = (of: string) => daemon.call('POST', '/api/auth/refresh', undefined, { token: of });
    data(await policy(['DEALER']));
    expect(await refresh(token)).toMatchObject({ status: 401, code: 1004 });
    const renewed = data(await refresh(data(await refresh(withKey)).token)).token;
    expect(await daemon.call('GET', '/api/devices/list', undefined, { token: renewed })).toMatchObject({ code: 200 });
    data(await policy([]));
    data(await refresh(token));
  });
});

describe('a session without a key, of a user who must sign in with one', () => {
  const sessionOf = async (token: string) =>
    daemon.call('POST', '/api/auth/exchange', { code: await newCode(daemon, 'SESSION', token) }, { token: null });
  const terminalOf = async (token: string) => {
    const made = data(await daemon.call('POST', '/api/auth/terminal', { name: 'desk' }, { token: null }));
    const { requestId, secret, userCode } = made;
    const approved = await page.call('POST', '/api/auth/terminal/approve', { userCode }, token);
    const take = () => daemon.call('POST', '/api/auth/terminal/token', { requestId, secret }, { token: null });
    return { approved, take };
  };
  afterEach(() => policy([]));
  const ended = { status: 401, code: 1004, data: null };

  it('is not renewed by a code or by a terminal', async () => {
    const { key, token } = await person();
    const withKey = data(await page.signIn(key)).token;
    data(await policy(['DEALER']));
    expect(await sessionOf(token)).toMatchObject(ended);
    expect((await terminalOf(token)).approved).toMatchObject(ended);
    data(await sessionOf(withKey));
    expect(data(await (await terminalOf(withKey)).take()).state).toBe('APPROVED');
  });

  it('gives a terminal nothing if the key is required after the approval', async () => {
    const { token } = await person();
    const { take } = await terminalOf(token);
    data(await policy(['DEALER']));
    expect(await take()).toMatchObject(ended);
  });

  it('is not renewed with the password if the user has no key', async () => {
    const { token } = await daemon.user('keyless-dealer', 'DEALER');
    data(await policy(['DEALER']));
    const stepUp = await page.call('POST', '/api/auth/step-up', { password: adminPassword }, token);
    expect(stepUp).toMatchObject({ status: 403, code: 2007, data: { registerKey: true } });
  });

  it('that may only register a key may not register a second one', async () => {
    await daemon.user('first-come', 'DEALER');
    data(await policy(['DEALER']));
    const login = async () => data(await page.login('first-come')).token;
    const [early, theirs] = [await login(), await login()];
    const options = () => page.call('POST', '/api/auth/webauthn/register/options', undefined, early);
    const prepared = await page.created(new SoftwareKey(), early);
    data(await page.register(new SoftwareKey(), theirs));
    expect(await options()).toMatchObject(ended);
    const body = { name: 'second', response: prepared };
    expect(await page.call('POST', '/api/auth/webauthn/register', body, early)).toMatchObject(ended);
  });

  it('changes keys of its user only after a sign-in with the key', async () => {
    const { id, key, token } = await person();
    const requirement = (required: boolean, of: string) =>
      page.call('POST', `/api/users/${id}/require-key`, { required }, of);
    const second = data(await page.register(new SoftwareKey(), token)).passkeyId;
    data(await requirement(true, token));
    const remove = (of: string) => page.call('POST', `/api/users/${id}/passkeys/${second}/remove`, undefined, of);
    const options = () => page.call('POST', '/api/auth/webauthn/register/options', undefined, token);
    const needsKey = { status: 403, code: 2007, data: { stepUp: true } };
    for (const attempt of [options(), requirement(false, token), remove(token)])
      expect(await attempt).toMatchObject(needsKey);
    const fresh = data(await page.stepUp(key, token)).token;
    data(await page.register(new SoftwareKey(), fresh));
    data(await remove(fresh));
    data(await requirement(false, fresh));
  });
});

describe('keys that are removed at the same moment', () => {
  it('leave one to a user who needs it', async () => {
    const { id, key, token, passkeyId } = await person();
    const second = data(await page.register(new SoftwareKey(), token)).passkeyId;
    data(await daemon.call('POST', `/api/users/${id}/require-key`, { required: true }, { token }));
    const fresh = data(await page.stepUp(key, token)).token;
    const remove = (one: string) => page.call('POST', `/api/users/${id}/passkeys/${one}/remove`, undefined, fresh);
    const answers = await Promise.all([remove(passkeyId), remove(second)]);
    expect(answers.map(({ code }) => code).sort((a, b) => a - b)).toEqual([200, 1001]);
  });
});

describe('a person who has lost the key', () => {
  it('signs in with the password that was set on the machine, until another key is registered', async () => {
    const { token, username, key, id } = await person('ADMIN');
    data(await policy(['ADMIN'], token));
    await daemon.stopKeepingHome();
    const run = { json: true, home: daemon.home, username };
    const reset = await runDaemonProgram(resetPassword, run);
    await daemon.startAgain();
    const { password } = JSON.parse(reset.stdout);
    expect(reset.stderr).toBe('');
    expect(await page.signIn(key)).toMatchObject({ status: 401, code: 1004 });
    const opened = data(await page.login(username, password));
    expect(opened.mustRegisterKey).toBeUndefined();
    const keys = () => daemon.call('GET', `/api/users/${id}/passkeys/list`, undefined, { token: opened.token });
    expect(data(await keys())).toEqual({ list: [], required: false, requiredByUser: false });
    const found = new SoftwareKey();
    data(await page.register(found, opened.token));
    expect(data(await keys())).toMatchObject({ required: true });
    expect(await page.login(username, password)).toMatchObject(firstStep);
    data(await policy([], data(await page.signIn(found)).token));
  });
});
