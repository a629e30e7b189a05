/** An account that must sign in with a key, and whose keys were all removed: the password alone registers no other one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { resetPassword } from '../../daemon/maintenance/reset-password.ts';
import type { Role } from '../../src/contract/values.ts';
import { Page } from '../support/browser.ts';
import { day } from '../support/clock.ts';
import { adminPassword } from '../support/daemon.ts';
import { clockOfTests, daemonOfTests } from '../support/daemon-tests.ts';
import { activation, data, register } from '../support/fleet.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { serviceToken } from '../support/service-token.ts';
import { newCode } from '../support/sign-in-codes.ts';
import { SoftwareKey } from '../support/software-key.ts';

const clock = clockOfTests();
/** Tokens of a session from before the policy, and of a service. */
const early = { admin: '', service: '' };
const daemon = daemonOfTests({ stepUp: 'off' });
const page = new Page(daemon);
const lost = {
  status: 401,
  code: 1004,
  message: expect.stringContaining('devmgr users allow-registration'),
  data: { allowRegistration: true },
};
const needsKey = { code: 1004, message: expect.stringContaining('complete the login') };

/** An ADMIN who signs in with a key while keys of ADMIN are required. */
const admin = { key: new SoftwareKey(), id: '' };
const asAdmin = async (method: string, path: string, body?: object) =>
  daemon.call(method, path, body, { token: data(await page.signIn(admin.key)).token });
const setPolicy = (requireKey: readonly Role[]) => asAdmin('PUT', '/api/policies/sign-in', { requireKey });

beforeAll(async () => {
  const { id, token } = await daemon.user('keeper', 'ADMIN');
  admin.id = id;
  data(await page.register(admin.key, token));
  data(await setPolicy(['ADMIN', 'DEALER']));
  early.admin = daemon.adminToken;
  early.service = (await serviceToken(daemon, { role: 'ADMIN', expiresInDays: 30 })).token;
});
afterAll(() => setPolicy([]));

/** The entries of a type in the journal, which is whole. */
async function entries(type: string) {
  const run = { home: daemon.home, device: null, since: null, limit: null };
  expect((await runDaemonProgram(audit, { ...run, json: false, verify: true })).code).toBe(0);
  const { stdout } = await runDaemonProgram(audit, { ...run, json: true, verify: false });
  const rows = stdout
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line));
  return rows.filter(row => row.type === type);
}

let users = 0;
/** A user with one key, and how to remove and allow it. */
async function person(role: Role = 'DEALER') {
  const username = `person-${++users}`;
  const key = new SoftwareKey();
  const { id } = data(await asAdmin('POST', '/api/users', { username, password: adminPassword, role }));
  const { passkeyId } = data(await page.register(key, data(await page.login(username)).token));
  const path = `/api/users/${id}`;
  return {
    id,
    username,
    key,
    login: (password?: string) => page.login(username, password),
    remove: async () => data(await asAdmin('POST', `${path}/passkeys/${passkeyId}/remove`)),
    allow: () => asAdmin('POST', `${path}/allow-registration`),
    change: async (operation: string, body?: object) => data(await asAdmin('POST', `${path}/${operation}`, body)),
    update: async (body: object) => data(await asAdmin('PUT', path, body)),
  };
}

/** A DEALER, and a device of an ADMIN with a key that an ADMIN has issued for devmgr itself. */
async function issuedSignInKey(userName: string) {
  data(await asAdmin('POST', '/api/users', { username: userName, password: adminPassword, role: 'ADMIN' }));
  data(await asAdmin('POST', '/api/people', { userName }));
  const provider = { name: `accounts-${userName}`, type: 'devmgr', address: page.origin };
  const { providerId } = data(await asAdmin('POST', '/api/providers', provider));
  const dealer = await person();
  const { token } = data(await page.signIn(dealer.key));
  const device = await register(daemon, {}, token);
  data(await daemon.call('POST', '/api/devices/activate', activation(device, userName), { token }));
  const credentials = `/api/devices/${device.deviceId}/credentials`;
  const { credentialId, options } = data(await asAdmin('POST', credentials, { providerId }));
  const key = new SoftwareKey();
  const response = key.create(options, page.origin);
  data(await asAdmin('POST', `${credentials}/${credentialId}`, { response }));
  return { token, key, deviceId: device.deviceId };
}

it('an allowed registration is for a login with the password, not for a session from before', async () => {
  const someone = await person();
  const before = data(await page.signIn(someone.key)).token;
  await someone.remove();
  data(await someone.allow());
  expect(await page.call('POST', '/api/auth/webauthn/register/options', {}, before)).toMatchObject({
    code: 2007,
    data: { registerKey: true },
  });
  data(await page.register(new SoftwareKey(), data(await someone.login()).token));
});

describe('a key that is taken back or removed', () => {
  it('by a DEALER who locks its device leaves the password of an ADMIN without use', async () => {
    const userName = 'carol';
    const { token, key, deviceId } = await issuedSignInKey(userName);
    expect(await page.login(userName)).toMatchObject(needsKey);
    const withKey = data(await page.signIn(key)).token;
    data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' }, { token }));
    await expect.poll(async () => (await page.login(userName)).data).toMatchObject({ allowRegistration: true });
    expect(await page.login(userName)).toMatchObject(lost);
    expect(await page.signIn(key)).toMatchObject({ code: 1004 });
    expect(await page.call('POST', '/api/auth/refresh', undefined, withKey)).toMatchObject({ code: 1004 });
  });

  it('is not taken by a DEALER who reports the reset of a key that is not in hand', async () => {
    const { token, key, deviceId } = await issuedSignInKey('dora');
    const path = `/api/devices/${deviceId}/reset`;
    const byDealer = (stage: string) => daemon.call('POST', path, { stage }, { token });
    expect(await byDealer('begun')).toMatchObject({ code: 2007 });
    data(await byDealer('done'));
    expect(data(await page.signIn(key)).token).toBeTruthy();
    data(await asAdmin('POST', path, { stage: 'begun', hadPin: false }));
    expect(await byDealer('done')).toMatchObject({ code: 2007, message: expect.stringContaining('role ADMIN') });
    expect(data(await page.signIn(key)).token).toBeTruthy();
    data(await asAdmin('POST', path, { stage: 'done' }));
    await expect.poll(async () => (await page.signIn(key)).code).toBe(1004);
  });

  it('by an ADMIN leaves the password without use, and no session with the key can register or continue', async () => {
    const { key, login, remove } = await person();
    const { token } = data(await page.signIn(key));
    await remove();
    expect(await login()).toMatchObject(lost);
    expect(await login('another password')).toMatchObject({ code: 1003, data: null });
    for (const path of ['auth/webauthn/register/options', 'auth/refresh'])
      expect(await page.call('POST', `/api/${path}`, undefined, token)).toMatchObject({ code: 1004 });
    const code = await newCode(daemon, 'SESSION', token);
    expect(await page.call('POST', '/api/auth/exchange', { code })).toMatchObject({ code: 1004 });
    expect(await page.call('POST', '/api/auth/step-up', { password: adminPassword }, token)).toMatchObject(lost);
  });

  it('does not matter to an account that needs no key', async () => {
    const { login, remove } = await person('VIEWER');
    await remove();
    expect(await login()).toMatchObject({ code: 200 });
  });

  it('is found in the journal, with the refused login', async () => {
    const { username, login, remove } = await person();
    await remove();
    await login();
    // A restart writes what the daemon has gathered.
    await daemon.restart();
    const [failed] = (await entries('LOGIN_FAILED')).slice(-1);
    expect(failed).toMatchObject({ user: username, details: { reason: 'no security key left' } });
  });
});

describe('a registration that an ADMIN allows', () => {
  it('is for one key', async () => {
    const { id, login, remove, allow, key } = await person();
    const listed = async () =>
      data(await asAdmin('GET', '/api/users/list?size=100')).list.find((user: { id: string }) => user.id === id);
    await remove();
    expect(await listed()).not.toHaveProperty('registrationUntil');
    const { until } = data(await allow());
    expect(Date.parse(until) - Date.now()).toBe(day);
    const [first, second] = [data(await login()), data(await login())];
    expect(first).toMatchObject({ mustRegisterKey: true, registrationUntil: until });
    expect(await listed()).toMatchObject({ hasKey: false, registrationUntil: until });
    const found = [new SoftwareKey(), new SoftwareKey()];
    const prepared = await page.created(found[1]!, second.token);
    data(await page.register(found[0]!, first.token));
    const late = await page.call(
      'POST',
      '/api/auth/webauthn/register',
      { name: 'b', response: prepared },
      second.token,
    );
    expect(late).toMatchObject({ code: 1004 });
    expect(await listed()).not.toHaveProperty('registrationUntil');
    expect(await login()).toMatchObject(needsKey);
    data(await page.signIn(found[0]!));
    expect(await page.signIn(key)).toMatchObject({ code: 1004 });
  });

  it('is used up: the next key that is removed needs another one', async () => {
    const { id, login, remove, allow } = await person();
    await remove();
    data(await allow());
    const { passkeyId } = data(await page.register(new SoftwareKey(), data(await login()).token));
    data(await asAdmin('POST', `/api/users/${id}/passkeys/${passkeyId}/remove`));
    expect(await login()).toMatchObject(lost);
  });

  it.each([
    ['a new password', ({ change }: Person) => change('password', { password: 'another password' })],
    ['a logout', ({ change }: Person) => change('logout')],
    [
      'the end of the account, also if it is enabled again',
      async ({ update }: Person) => {
        await update({ disabled: true });
        await update({ disabled: false });
      },
    ],
  ])('ends with %s', async (_, end) => {
    const one = await person();
    await one.remove();
    data(await one.allow());
    await end(one);
    const answers = [await one.login(), await one.login('another password')];
    expect(answers.some(({ code }) => code === 1004)).toBe(true);
    expect(answers.every(({ code }) => code === 1004 || code === 1003)).toBe(true);
    data(await one.allow());
  });

  it('is refused for a user who has a key, one who is disabled and an unknown one, and for the account of the ADMIN', async () => {
    const { allow, update } = await person();
    expect(await allow()).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining('remove it') });
    await update({ disabled: true });
    expect(await allow()).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining('disabled') });
    expect(await asAdmin('POST', '/api/users/USR-999/allow-registration')).toMatchObject({ code: 404 });
    const own = await asAdmin('POST', `/api/users/${admin.id}/allow-registration`);
    expect(own).toMatchObject({ status: 403, code: 2007, message: expect.stringContaining('another ADMIN') });
  });

  it('needs an ADMIN who has used a key, if one is required of ADMIN', async () => {
    const { id, remove, login } = await person();
    await remove();
    const path = `/api/users/${id}/allow-registration`;
    // The session of the first ADMIN is from before the policy.
    expect(await daemon.call('POST', path, undefined, { token: early.admin })).toMatchObject({ code: 2007 });
    expect(await daemon.call('POST', path, undefined, { token: early.service })).toMatchObject({ code: 2007 });
    expect(await login()).toMatchObject(lost);
  });

  it('has an entry in the journal that names the ADMIN, and an event that ADMINs alone see', async () => {
    const { id, username, remove, allow } = await person();
    const { token } = data(await page.signIn(admin.key));
    await remove();
    const { until } = data(await allow());
    const [entry] = (await entries('USER_REGISTRATION_ALLOWED')).slice(-1);
    const details = { user: id, username, until: Date.parse(until) };
    expect(entry).toMatchObject({ user: 'keeper', details });
    const events = async (own: string) =>
      data(await daemon.call('GET', '/api/events?after=0&limit=1000', undefined, { token: own })).list;
    expect((await events(token)).at(-1)).toMatchObject({
      type: 'USER_REGISTRATION_ALLOWED',
      data: { userId: id, username },
      actor: { name: 'keeper' },
      changes: [{ field: 'until', before: null, after: until }],
    });
    const reader = data(await asAdmin('POST', '/api/tokens', { name: 'reader', role: 'DEALER', expiresInDays: 1 }));
    expect((await events(reader.token)).map(({ type }: { type: string }) => type)).not.toContain(
      'USER_REGISTRATION_ALLOWED',
    );
  });

  it('ends after 24 hours, also for a session that it has opened', async () => {
    const { login, remove, allow } = await person();
    await remove();
    data(await allow());
    clock.forward(day - 60_000);
    const { token } = data(await login());
    clock.forward(60_000);
    expect(await login()).toMatchObject(lost);
    expect(await page.call('POST', '/api/auth/webauthn/register/options', undefined, token)).toMatchObject(lost);
  });
});
type Person = Awaited<ReturnType<typeof person>>;

describe('a password that was set on the machine', () => {
  const reset = async (username: string) => {
    await daemon.stopKeepingHome();
    const { stdout } = await runDaemonProgram(resetPassword, { json: true, home: daemon.home, username });
    await daemon.startAgain();
    return (JSON.parse(stdout) as { password: string }).password;
  };

  it('is enough for 24 hours, then no more', async () => {
    const { username, login } = await person();
    const password = await reset(username);
    const { token, mustRegisterKey } = data(await login(password));
    expect(mustRegisterKey).toBeUndefined();
    clock.forward(day);
    expect(await login(password)).toMatchObject(lost);
    expect(await page.call('POST', '/api/auth/refresh', undefined, token)).toMatchObject({ status: 401 });
    const again = await reset(username);
    const found = new SoftwareKey();
    data(await page.register(found, data(await login(again)).token));
    expect(await login(again)).toMatchObject(needsKey);
  });
});
