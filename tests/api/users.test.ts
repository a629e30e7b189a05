/** Users: create, update, disable; passwords. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Page } from '../support/browser.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data } from '../support/fleet.ts';
import { SoftwareKey } from '../support/software-key.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

let made = 0;
const make = (more: object = {}) =>
  daemon.call('POST', '/api/users', { username: `user-${++made}`, password: adminPassword, role: 'VIEWER', ...more });
const update = (id: string, body: object) => daemon.call('PUT', `/api/users/${id}`, body);
const setPassword = (id: string, body: object, token?: string) =>
  daemon.call('POST', `/api/users/${id}/password`, body, token ? { token } : {});
const login = (username: string, password: string) =>
  daemon.call('POST', '/api/auth/login', { username, password }, { token: null });

describe('a login', () => {
  it('returns a token, its expiry and the user', async () => {
    const response = data(await login('admin', adminPassword));
    expect(response).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expireTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      user: { id: 'USR-1', username: 'admin', role: 'ADMIN', email: null },
    });
  });

  it('returns a JWT (HS256) that names its user and is valid for 24 hours', async () => {
    const [head, body] = daemon.adminToken.split('.').map(part => Buffer.from(part, 'base64url').toString());
    expect(JSON.parse(head!)).toMatchObject({ alg: 'HS256' });
    const claims = JSON.parse(body!);
    expect(claims).toMatchObject({ sub: 'USR-1', username: 'admin', role: 'ADMIN', jti: expect.any(String) });
    expect(claims.exp - claims.iat).toBe(24 * 60 * 60);
  });

  it('distinguishes upper and lower case in names', async () => {
    expect(await login('Admin', adminPassword)).toMatchObject({ code: 1002 });
  });
});

it('refuses a new name that differs from an existing one in upper and lower case only', async () => {
  for (const username of ['admin', 'ADMIN', 'Admin'])
    expect(await make({ username })).toMatchObject({ code: 1001, message: `username ${username} already exists` });
  expect((await make({ username: 'Ana' })).code).toBe(200);
  const answers = await Promise.all(['Bea', 'bea', 'BEA'].map(username => make({ username })));
  expect(answers.map(({ code }) => code).sort()).toEqual([1001, 1001, 200]);
});

describe('a new password', () => {
  const easy = [
    ['only white space', ' \t\u3000     ', 'white space'],
    ['one repeated character', 'zzzzzzzzzzzz', 'repeated'],
    ['one repeated character outside the BMP', '😀'.repeat(8), 'repeated'],
    ['a common password', '1q2w3e4r', 'common'],
    ['a common password in other letters', 'PassWord123', 'common'],
  ] as const;

  it.each(easy)('is refused for a new user if it is %s', async (_, password, reason) => {
    expect(await make({ password })).toMatchObject({
      code: 1001,
      message: expect.stringMatching(`^password .*${reason}`),
    });
  });

  it.each(easy)('is refused for an existing user if it is %s; the earlier one stays', async (_, password, reason) => {
    const user = data(await make());
    const refused = { status: 400, code: 1001, message: expect.stringMatching(`^password .*${reason}`) };
    expect(await setPassword(user.id, { password })).toMatchObject(refused);
    expect(await login(user.username, adminPassword)).toMatchObject({ code: 200 });
  });

  it('is refused if it is the username, in upper or lower case, before the old password is compared', async () => {
    const refused = { code: 1001, message: expect.stringMatching(/^password .*username/) };
    expect(await make({ username: 'dealer-hamburg', password: 'Dealer-Hamburg' })).toMatchObject(refused);
    const user = data(await make({ username: 'dealer-bremen' }));
    expect(await setPassword(user.id, { password: 'dealer-bremen' })).toMatchObject(refused);
    const token = await daemon.login('dealer-bremen');
    const change = { password: 'dealer-bremen', oldPassword: 'wrong one' };
    expect(await setPassword(user.id, change, token)).toMatchObject(refused);
  });

  it('is judged before the user is looked up', async () => {
    expect(await setPassword('USR-999999', { password: '1q2w3e4r' })).toMatchObject({ code: 1001 });
  });
});

describe('a new user', () => {
  it('is returned with id and times, without a password', async () => {
    const user = data(await make({ role: 'DEALER', email: 'ops@example.com' }));
    expect(user).toEqual({
      id: expect.stringMatching(/^USR-[1-9]\d*$/),
      username: `user-${made}`,
      role: 'DEALER',
      email: 'ops@example.com',
      disabled: false,
      createdAt: expect.any(String),
    });
  });

  it('can log in at once, and GET /api/users/me returns it', async () => {
    const user = data(await make());
    const token = await daemon.login(user.username);
    expect(data(await daemon.call('GET', '/api/users/me', undefined, { token }))).toEqual(user);
  });

  it.each([
    ['username', { username: undefined }],
    ['username', { username: 'with space' }],
    ['username', { username: 'ümlaut' }],
    ['username', { username: 'x'.repeat(65) }],
    ['password', { password: undefined }],
    ['password', { password: 12345678 }],
    ['role', { role: 'KING' }],
    ['role', { role: 'LOCAL' }],
    ['role', { role: undefined }],
    ['email', { email: 'no address' }],
  ])('is rejected with 1001 because of its %s: %j', async (field, wrong) => {
    expect(await make(wrong)).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining(field) });
  });

  it('is created once if two requests have the same name', async () => {
    const responses = await Promise.all(Array.from({ length: 5 }, () => make({ username: 'at-once' })));
    expect(responses.map(({ code }) => code).sort()).toEqual([1001, 1001, 1001, 1001, 200]);
  });
});

describe('the list of users', () => {
  it('is paged, newest first, without secrets', async () => {
    const newest = data(await make());
    const { list, pagination } = data(await daemon.call('GET', '/api/users/list?size=1'));
    expect(list).toEqual([{ ...newest, hasKey: false }]);
    expect(pagination).toMatchObject({ page: 1, size: 1, totalPages: pagination.total });
    const oldest = data(await daemon.call('GET', '/api/users/list?sortOrder=asc&size=1'));
    expect(oldest.list[0].id).toBe('USR-1');
    const all = JSON.stringify(data(await daemon.call('GET', '/api/users/list?size=100')));
    expect(all).not.toMatch(/scrypt|password|hash/i);
  });

  it('shows who has a security key', async () => {
    const { id, token } = await daemon.user('has-a-key', 'VIEWER');
    const hasKey = async () =>
      data(await daemon.call('GET', '/api/users/list?size=100')).list.find((user: { id: string }) => user.id === id)
        .hasKey;
    expect(await hasKey()).toBe(false);
    const { passkeyId } = data(await new Page(daemon).register(new SoftwareKey(), token));
    expect(await hasKey()).toBe(true);
    await daemon.call('POST', `/api/users/${id}/passkeys/${passkeyId}/remove`);
    expect(await hasKey()).toBe(false);
  });
});

describe('an update of a user', () => {
  it('changes the given fields only; null clears the e-mail address', async () => {
    const user = data(await make({ email: 'ops@example.com' }));
    expect(data(await update(user.id, { role: 'DEALER' }))).toEqual({ ...user, role: 'DEALER' });
    expect(data(await update(user.id, { email: null }))).toEqual({ ...user, role: 'DEALER', email: null });
    expect(data(await update(user.id, {}))).toEqual({ ...user, role: 'DEALER', email: null });
  });

  it('cannot disable or demote the last enabled ADMIN, but can any other', async () => {
    const { id } = data(await make({ role: 'ADMIN' }));
    expect(await update(id, { disabled: true })).toMatchObject({ code: 200 });
    expect(await update('USR-1', { disabled: true })).toMatchObject({ code: 1001 });
    expect(await update('USR-1', { role: 'VIEWER' })).toMatchObject({ code: 1001 });
    expect(data(await daemon.call('GET', '/api/users/me'))).toMatchObject({ role: 'ADMIN', disabled: false });
  });

  it('leaves one ADMIN if two demote each other at once', async () => {
    const other = data(await make({ role: 'ADMIN' }));
    const token = await daemon.login(other.username);
    const responses = await Promise.all([
      daemon.call('PUT', `/api/users/${other.id}`, { role: 'VIEWER' }),
      daemon.call('PUT', '/api/users/USR-1', { role: 'VIEWER' }, { token }),
    ]);
    const won = responses.filter(({ code }) => code === 200);
    expect(won).toHaveLength(1);
    // The one that is left restores the other.
    if (responses[1].code === 200) data(await daemon.call('PUT', '/api/users/USR-1', { role: 'ADMIN' }, { token }));
    data(await update(other.id, { disabled: true }));
  });

  it('that disables a user stops logins, and enabling allows them again', async () => {
    const user = data(await make());
    data(await update(user.id, { disabled: true }));
    expect(await login(user.username, adminPassword)).toMatchObject({ status: 401, code: 1002 });
    data(await update(user.id, { disabled: false }));
    expect(await login(user.username, adminPassword)).toMatchObject({ code: 200 });
  });

  it('that disables a user ends all tokens; enabling does not restore them', async () => {
    const user = data(await make());
    const token = await daemon.login(user.username);
    data(await update(user.id, { disabled: true }));
    data(await update(user.id, { disabled: false }));
    expect(await daemon.call('GET', '/api/users/me', undefined, { token })).toMatchObject({ status: 401, code: 1004 });
  });

  it('cannot change name or id: they are ignored', async () => {
    const user = data(await make());
    expect(data(await update(user.id, { username: 'renamed', id: 'USR-9' }))).toEqual(user);
  });
});

describe('a password', () => {
  it('set by an ADMIN for another user needs no old one; the earlier one is invalid', async () => {
    const user = data(await make());
    expect(data(await setPassword(user.id, { password: 'a new password' }))).toEqual(user);
    expect(await login(user.username, adminPassword)).toMatchObject({ code: 1003 });
    expect(await login(user.username, 'a new password')).toMatchObject({ code: 200 });
  });

  it('that an ADMIN sets for their own account needs the old one', async () => {
    const user = data(await make({ role: 'ADMIN' }));
    const token = await daemon.login(user.username);
    const change = (body: object) => setPassword(user.id, { password: 'a new password', ...body }, token);
    expect(await change({})).toMatchObject({ code: 1001, message: expect.stringContaining('oldPassword') });
    expect(await change({ oldPassword: 'wrong one' })).toMatchObject({ status: 403, code: 1003 });
    expect(await change({ oldPassword: adminPassword })).toMatchObject({ code: 200 });
    data(await update(user.id, { disabled: true }));
  });

  it('is changed once if two requests have the same old one', async () => {
    const user = data(await make());
    const token = await daemon.login(user.username);
    const wanted = ['the first new one', 'the second new one', 'the third new one'];
    const responses = await Promise.all(
      wanted.map(password => setPassword(user.id, { password, oldPassword: adminPassword }, token)),
    );
    expect(responses.filter(({ code }) => code === 200)).toHaveLength(1);
    for (const [i, { code }] of responses.entries())
      expect((await login(user.username, wanted[i]!)).code).toBe(code === 200 ? 200 : 1003);
  });

  it('is never in the log, nor is a token or an activation code', async () => {
    const user = data(await make({ password: 'a secret password' }));
    const { token } = data(await login(user.username, 'a secret password'));
    await login(user.username, 'nor this wrong one');
    await daemon.call('GET', `/api/devices/list?keyword=x&token=${token}`);
    const device = { deviceType: 'UKEY', serialNumber: 'LOG-1', manufacturer: 'Feitian', model: 'K9' };
    const { activationCode } = data(await daemon.call('POST', '/api/devices/register', device));
    const logged = daemon.logged();
    expect(logged).toContain('listening');
    for (const secret of ['a secret password', 'nor this wrong one', token, activationCode])
      expect(logged.includes(secret)).toBe(false);
  });
});
