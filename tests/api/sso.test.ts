/** Sign-ins at a provider of OpenID Connect. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { second } from '../support/clock.ts';
import { adminPassword, startTestDaemon } from '../support/daemon.ts';
import { clockOfTests, daemonOfTests } from '../support/daemon-tests.ts';
import { data, deviceIn } from '../support/fleet.ts';
import { itAnswersLikeExamples } from '../support/recorded-examples.ts';
import {
  Browser,
  logoutTokenOf,
  type SsoProvider,
  sendClaims,
  setUp,
  startSsoProvider,
} from '../support/sso-provider.ts';
import { openStream } from '../support/stream-client.ts';

const clock = clockOfTests();
const daemon = daemonOfTests();
let provider: SsoProvider;
beforeAll(async () => {
  provider = await startSsoProvider({ daemons: [daemon.url] });
});
afterAll(() => provider?.stop());
beforeEach(async () => {
  provider.alter = null;
  provider.comeBack();
  provider.people.set('s-ana', { name: 'ana', groups: ['staff', 'keys-admins'] });
  provider.people.set('s-ben', { name: 'ben', groups: ['keys-desk'] });
  provider.people.set('s-eve', { name: 'eve', groups: ['staff'] });
  await setUp(daemon, provider);
});

const sending = (change: object) => sendClaims(provider, change);
const session = (token: string) => daemon.call('GET', '/api/auth/session', undefined, { token });
const minute = 60 * second;
/** At the same address, which the provider knows. */
const restart = (options: Parameters<typeof daemon.restart>[0] = {}) =>
  daemon.restart({ ...options, port: Number(new URL(daemon.url).port) });

describe('a sign-in at the provider', () => {
  it('is offered without a token, and reports nothing but issuer and name', async () => {
    const shown = await daemon.call('GET', '/api/sso', undefined, { token: null });
    expect(shown.data).toEqual({ enabled: true, issuer: provider.issuer, name: 'Example' });
    const settings = data(await daemon.call('GET', '/api/sso/settings'));
    expect(JSON.stringify(settings) + daemon.logged()).not.toContain('a secret that');
    const files = await Promise.all(
      ['devmgr.db', 'devmgr.db-wal'].map(file => readFile(join(daemon.home, file)).catch(() => '')),
    );
    expect(files.join('')).not.toContain('a secret that');
  });

  it('waits for no one in a browser that has signed in before, whatever others at its address send', async () => {
    // Without limits of sign-ins, no address is slow.
    await restart({ limits: { login: { count: 1000, seconds: 60 }, query: null, modify: null, upload: null } });
    const known = new Browser();
    await known.signIn(daemon, 's-ana');
    const bogus = async () => {
      const browser = new Browser();
      const state = new URL(await browser.start(daemon.url)).searchParams.get('state');
      const back = new URLSearchParams({ state: state!, code: 'bogus', iss: provider.issuer });
      return (await browser.send(`${daemon.url}/api/auth/sso/callback?${back}`)).headers.get('location');
    };
    for (let n = 0; n < 30; n++) expect(await bogus()).toContain('sso=denied');
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    provider.alter = async answer => {
      if (answer.error === undefined) return;
      asked.resolve();
      await gate.promise;
    };
    let isOver = false;
    const others = bogus().finally(() => {
      isOver = true;
    });
    await asked.promise;
    expect((await known.signIn(daemon, 's-ana')).user).toMatchObject({ username: 'ana' });
    // The request of the others still has the turn of the address.
    expect(isOver).toBe(false);
    gate.resolve();
    await others;
    await restart();
  });

  it('opens a session of an account that is made then, with the role of the groups', async () => {
    const { token, user } = await new Browser().signIn(daemon, 's-ana');
    expect(user).toMatchObject({ username: 'ana', role: 'ADMIN' });
    expect(data(await session(token))).toMatchObject({ sso: true, console: true, withKey: false, user });
    expect(data(await session(daemon.adminToken)).sso).toBe(false);
    const { list } = data(await daemon.call('GET', '/api/users/list?size=100'));
    const listed = (name: string) => list.find(({ username }: { username: string }) => username === name);
    expect([listed('ana').sso, listed('admin').sso]).toEqual([true, undefined]);
    const again = await new Browser().signIn(daemon, 's-ana');
    expect(again.user).toEqual(user);
    expect((await new Browser().signIn(daemon, 's-ben')).user).toMatchObject({ username: 'ben', role: 'DEALER' });
  });

  it('lets no one in who is in none of the groups', async () => {
    expect(await new Browser().signIn(daemon, 's-eve')).toMatchObject({ problem: 'groups', token: '' });
    expect(JSON.stringify((await daemon.call('GET', '/api/users/list?size=100')).data)).not.toContain('"eve"');
  });

  it('does not take over a local account with the same name', async () => {
    await daemon.user('carl', 'VIEWER');
    provider.people.set('s-carl', { name: 'carl', groups: ['keys-admins'] });
    const { user } = await new Browser().signIn(daemon, 's-carl');
    expect(user).toMatchObject({ username: 'carl-2', role: 'ADMIN' });
    expect(await daemon.login('carl')).toBeTruthy();
  });

  it('gets no name that an account has in another case, without an accent, or that is reserved', async () => {
    await daemon.user('Carla.Diaz', 'VIEWER');
    const named = async (sub: string, name: string) => {
      provider.people.set(sub, { name, groups: ['keys-desk'] });
      return (await new Browser().signIn(daemon, sub)).user?.username;
    };
    expect(await named('s-1', 'CARLA.DIAZ')).toBe('CARLA.DIAZ-2');
    expect(await named('s-2', 'carla.díaz')).toBe('carla.diaz-3');
    expect(await named('s-3', 'ADMIN')).toMatch(/^ADMIN-\d$/);
    expect(await named('s-4', 'DEV-1')).toBe('DEV-1-2');
    const both = await Promise.all([named('s-5', 'Twin'), named('s-6', 'tWIN')]);
    expect(new Set(both.map(name => name?.toLowerCase()))).toEqual(new Set(['twin', 'twin-2']));
  });

  it('ends only in the browser that began it, and once', async () => {
    const browser = new Browser();
    const back = await browser.atProvider(await browser.start(daemon.url), 's-ana');
    expect((await new Browser().send(back)).headers.get('location')).toContain('sso=state');
    const ended = await browser.send(back);
    expect(ended.status).toBe(303);
    expect(ended.headers.get('location')).toMatch(/^\/console\/#code=[\w-]{43}&sso=/);
    expect((await browser.send(back)).headers.get('location')).toContain('sso=state');
    const other = back.replace(/state=[^&]*/, 'state=AAAA');
    const { status, code } = await daemon.call('GET', other.replace(daemon.url, ''), undefined, { token: null });
    expect({ status, code }).toEqual({ status: 401, code: 1004 });
  });

  it('gives the account neither a password nor a sign-in without the provider', async () => {
    const { user } = await new Browser().signIn(daemon, 's-ana');
    const login = await daemon.call(
      'POST',
      '/api/auth/login',
      { username: 'ana', password: adminPassword },
      { token: null },
    );
    expect(login.code).toBe(1003);
    const set = await daemon.call('POST', `/api/users/${user!.id}/password`, {
      password: 'correct horse battery staple',
    });
    expect(set.code).toBe(1001);
  });

  it('refuses an account that is disabled here', async () => {
    const { user } = await new Browser().signIn(daemon, 's-ben');
    data(await daemon.call('PUT', `/api/users/${user!.id}`, { disabled: true }));
    expect(await new Browser().signIn(daemon, 's-ben')).toMatchObject({ problem: 'disabled' });
    data(await daemon.call('PUT', `/api/users/${user!.id}`, { disabled: false }));
  });

  it('refuses a token without its groups, because there are too many', async () => {
    provider.people.set('s-many', { groups: [] });
    sending({ _claim_names: { groups: 'src1' }, groups: undefined });
    expect(await new Browser().signIn(daemon, 's-many')).toMatchObject({ problem: 'overage' });
  });

  it('reports in one line that the provider is away', async () => {
    provider.goAway();
    await restart();
    const { status, message } = await daemon.call('POST', '/api/auth/sso/start', {}, { token: null });
    expect(status).toBe(503);
    expect(message).toMatch(/^the provider of single sign-on does not respond: [^\n]*local account$/);
  });
});

describe('a sign-in of a terminal by a port of its machine', () => {
  const start = async () => {
    const body = { loopbackPort: 50_123, name: 'ben@desk' };
    const { data: started } = await daemon.call('POST', '/api/auth/sso/start', body, { token: null });
    return started as { url: string; state: string; secret: string; userCode: string };
  };
  const show = (code: string) => daemon.call('POST', '/api/auth/sso/terminal', { code }, { token: null });
  const take = (body: object) => daemon.call('POST', '/api/auth/sso/callback', body, { token: null });
  /** The code of the page that asks the person. */
  const asked = async (url: string, sub = 's-ben') => {
    const browser = new Browser();
    const page = await browser.send(await browser.atProvider(url, sub));
    expect([page.status, page.headers.get('referrer-policy')]).toEqual([303, 'no-referrer']);
    const [, code = ''] = /^\/console\/#terminal=([\w-]{43})$/.exec(page.headers.get('location')!) ?? [];
    return code;
  };
  /** The request of the browser to the port after the person has confirmed. */
  const broughtBack = async (url: string) => {
    const { origin, pathname, searchParams } = new URL(data(await show(await asked(url))).url);
    expect(origin + pathname).toBe('http://127.0.0.1:50123/');
    return Object.fromEntries(searchParams);
  };

  it('shows the person account, machine and the code of the terminal before anything leads there, once', async () => {
    const { url, state, secret, userCode } = await start();
    expect(userCode).toMatch(/^[A-Z2-9]{4}-[A-Z2-9]{4}$/);
    const page = await asked(url);
    expect(await take({ secret, state, code: page })).toMatchObject({ code: 1004 });
    expect(data(await show(page))).toEqual({
      account: 'ben',
      role: 'DEALER',
      name: 'ben@desk',
      address: '127.0.0.1',
      userCode,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:50123\/\?code=[\w-]{43}&state=/),
    });
    expect(await show(page)).toMatchObject({ status: 401, code: 1004 });
    // No account is made before the person has confirmed.
    provider.people.set('s-new', { name: 'newcomer', groups: ['keys-desk'] });
    const { url: other } = await start();
    expect(data(await show(await asked(other, 's-new'))).account).toBe('newcomer');
    expect(JSON.stringify((await daemon.call('GET', '/api/users/list?size=100')).data)).not.toContain('newcomer');
  });

  it('leads nowhere with a state that was not made here, was altered or was used', async () => {
    const { url, state } = await start();
    const [challenge, , sealed] = state.split('.');
    await asked(url);
    for (const [forged, more] of [
      [`${challenge}.50123`, 'code=x'],
      [`${challenge}.50124.${sealed}`, 'code=x'],
      [`${'A'.repeat(51)}.50123.${sealed}`, 'code=x'],
      [`${challenge}.50123.${'A'.repeat(80)}`, 'code=x'],
      [state, 'code=x'],
      [state, 'error=access_denied'],
      [`${challenge}.50124.${sealed}`, 'error=access_denied'],
    ]) {
      const answer = await new Browser().send(`${daemon.url}/api/auth/sso/callback?state=${forged}&${more}`);
      expect(answer.headers.get('location')).toMatch(/^\/console\/#\/\?sso=state$/);
      expect(await answer.text()).not.toContain('127.0.0.1');
    }
  });

  it.each([
    ['the provider refuses', null, 'the provider refused the sign-in'],
    ['no group of the person may use the registry', 's-eve', 'you are in none of the groups'],
  ])('ends if %s: the terminal alone gets the reason, once', async (_, sub, message) => {
    const { url, state, secret } = await start();
    const browser = new Browser();
    const back = sub
      ? await browser.atProvider(url, sub)
      : `${daemon.url}/api/auth/sso/callback?state=${state}&error=access_denied`;
    const led = new URL((await browser.send(back)).headers.get('location')!);
    expect(led.origin + led.pathname).toBe('http://127.0.0.1:50123/');
    const brought = Object.fromEntries(led.searchParams);
    expect(brought).toEqual({ code: expect.any(String), state });
    const other = await take({ ...brought, secret: 'A'.repeat(43) });
    expect(other).toMatchObject({ code: 1004, message: expect.not.stringContaining(message) });
    expect(await take({ ...brought, secret })).toMatchObject({ code: 1004, message: expect.stringContaining(message) });
    expect(await take({ ...brought, secret })).toMatchObject({
      code: 1004,
      message: expect.not.stringContaining(message),
    });
  });

  it('gives a client that does not accept HTML the refusal itself', async () => {
    const { state } = await start();
    const path = `/api/auth/sso/callback?state=${state}&error=access_denied`;
    const { code, message } = await daemon.call('GET', path, undefined, { token: null });
    expect({ code, message }).toEqual({ code: 1004, message: 'the provider refused the sign-in' });
  });

  it('opens a session for the terminal, which alone has the secret, and once', async () => {
    const { url, state, secret } = await start();
    const brought = await broughtBack(url);
    expect(brought).toEqual({ code: expect.any(String), state });
    expect(await take({ ...brought, secret: 'A'.repeat(43) })).toMatchObject({ status: 401, code: 1004 });
    const login = data(await take({ ...brought, secret }));
    expect(login.user).toMatchObject({ username: 'ben', role: 'DEALER' });
    expect(data(await session(login.token))).toMatchObject({ sso: true, console: false });
    expect(await take({ ...brought, secret })).toMatchObject({ code: 1004 });
  });

  it('sets no cookie, and the state leads to no other port', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"loopbackPort":50123}' };
    const answer = await fetch(`${daemon.url}/api/auth/sso/start`, init);
    expect(answer.headers.getSetCookie()).toEqual([]);
    const { url, state, secret } = await start();
    const brought = await broughtBack(url);
    const moved = state.replace('.50123.', '.50124.');
    expect(await take({ ...brought, state: moved, secret })).toMatchObject({ code: 1004 });
    expect((await take({ ...brought, secret })).code).toBe(200);
  });

  it('is not that of a browser, and reports who was refused', async () => {
    const { data: started } = await daemon.call('POST', '/api/auth/sso/start', {}, { token: null });
    expect(started).not.toHaveProperty('secret');
    expect(await take({ secret: 'A'.repeat(43), state: started.state, code: 'x' })).toMatchObject({ code: 1004 });
    const { state, secret } = await start();
    const denied = await take({ secret, state, error: 'access_denied' });
    expect(denied).toMatchObject({ code: 1004, message: 'the provider refused the sign-in' });
    for (const loopbackPort of [0, 65_536, '80'])
      expect(await daemon.call('POST', '/api/auth/sso/start', { loopbackPort }, { token: null })).toMatchObject({
        code: 1001,
      });
  });
});

describe('a session that came from the provider', () => {
  it('ends within a minute after the person has left the groups', async () => {
    const { token } = await new Browser().signIn(daemon, 's-ben');
    expect((await session(token)).code).toBe(200);
    provider.people.set('s-ben', { name: 'ben', groups: ['staff'] });
    clock.forward(55 * second);
    expect(await session(token)).toMatchObject({ status: 401, code: 1004 });
    const refreshed = await daemon.call('POST', '/api/auth/refresh', {}, { token });
    expect(refreshed.code).toBe(1004);
  });

  it('has the role of the groups that the person is in now', async () => {
    const { token } = await new Browser().signIn(daemon, 's-ben');
    expect(data(await session(token)).user.role).toBe('DEALER');
    provider.people.set('s-ben', { name: 'ben', groups: ['keys-readers'] });
    clock.forward(55 * second);
    expect(data(await session(token)).user.role).toBe('VIEWER');
  });

  it('continues with rotated refresh tokens, and is renewed with the session of the provider', async () => {
    const { token } = await new Browser().signIn(daemon, 's-ana');
    for (let i = 0; i < 3; i++) {
      clock.forward(minute);
      expect((await session(token)).code).toBe(200);
    }
    const renewed = data(await daemon.call('POST', '/api/auth/refresh', {}, { token }));
    expect(data(await session(renewed.token)).sso).toBe(true);
  });

  it('ends when the provider reports so, and no other session does', async () => {
    const [one, two] = [await new Browser().signIn(daemon, 's-ana'), await new Browser().signIn(daemon, 's-ben')];
    await provider.logout('s-ana');
    expect((await session(one.token)).code).toBe(1004);
    expect((await session(two.token)).code).toBe(200);
  });

  it('ends by a logout that names this session alone, and others of the person do not', async () => {
    const signIn = async (sid: string) => {
      sending({ sid });
      return (await new Browser().signIn(daemon, 's-ana')).token;
    };
    const [one, two] = [await signIn('session-1'), await signIn('session-2')];
    const body = { logout_token: await logoutTokenOf(provider, 'session-1') };
    expect(data(await daemon.call('POST', '/api/auth/sso/logout', body, { token: null }))).toEqual({ ended: 1 });
    expect([(await session(one)).code, (await session(two)).code]).toEqual([1004, 200]);
    // Someone who has recorded the token cannot end a later session with it.
    const later = await signIn('session-1');
    expect(data(await daemon.call('POST', '/api/auth/sso/logout', body, { token: null }))).toEqual({ ended: 0 });
    expect((await session(later)).code).toBe(200);
  });

  it('continues while the provider is away', async () => {
    const { token } = await new Browser().signIn(daemon, 's-ana');
    provider.goAway();
    clock.forward(10 * minute);
    expect((await session(token)).code).toBe(200);
    const { status } = await daemon.call('POST', '/api/auth/refresh', {}, { token });
    expect(status).toBe(503);
    expect((await session(token)).code).toBe(200);
  });

  it('outlives a restart of the daemon', async () => {
    const { token } = await new Browser().signIn(daemon, 's-ana');
    await restart();
    expect((await session(token)).code).toBe(200);
  });

  it('ends when single sign-on is removed', async () => {
    const { token } = await new Browser().signIn(daemon, 's-ana');
    data(await daemon.call('PUT', '/api/sso', { enabled: false }));
    clock.forward(minute);
    expect((await session(token)).code).toBe(1004);
    expect((await daemon.call('POST', '/api/auth/sso/start', {}, { token: null })).code).toBe(404);
  });
});

describe('keys of the provider', () => {
  it('are read again after a rotation', async () => {
    expect((await new Browser().signIn(daemon, 's-ana')).problem).toBeNull();
    await provider.rotateKey();
    expect((await new Browser().signIn(daemon, 's-ana')).problem).toBeNull();
  });
});

describe('a sign-in by device code', () => {
  it('gives a terminal the session of the person', async () => {
    const asked = data(await daemon.call('POST', '/api/auth/sso/device', {}, { token: null }));
    const poll = () =>
      daemon.call('POST', '/api/auth/sso/device/poll', { deviceCode: asked.deviceCode }, { token: null });
    expect(data(await poll())).toMatchObject({ state: 'PENDING', login: null });
    clock.forward(asked.interval * second);
    await new Browser().atProvider(asked.verificationUriComplete, 's-ben');
    const { state, login } = data(await poll());
    expect(state).toBe('APPROVED');
    expect(data(await session(login.token))).toMatchObject({ sso: true, console: false, user: { username: 'ben' } });
    expect(await poll()).toMatchObject({ status: 401, code: 1004 });
  });
});

describe('local accounts', () => {
  it('can be limited to named ones, of which one must be an ADMIN', async () => {
    await daemon.user('dora', 'VIEWER');
    const limited = (names: readonly string[]) =>
      setUp(daemon, provider, { localAccounts: { from: 'ANYWHERE', names } });
    await expect(limited(['dora'])).rejects.toThrow('local ADMIN');
    await limited(['admin']);
    await expect(daemon.login('dora')).rejects.toThrow('2007');
    expect(await daemon.login('admin')).toBeTruthy();
  });

  it('can be limited to the machine of the daemon', async () => {
    const behind = await startTestDaemon({ trustProxy: ['127.0.0.1/32'] });
    await setUp(behind, provider, { localAccounts: { from: 'LOOPBACK', names: null } });
    const body = { username: 'admin', password: adminPassword };
    const from = (address: string) =>
      behind.call('POST', '/api/auth/login', body, { token: null, headers: { 'x-forwarded-for': address } });
    expect((await from('203.0.113.7')).code).toBe(2007);
    expect((await from('127.0.0.1')).code).toBe(200);
    await behind.stop();
  });
});

it('a sign-in through a proxy that names another protocol than HTTP is refused', async () => {
  const behind = await startTestDaemon({ trustProxy: ['127.0.0.1/32'] });
  await setUp(behind, provider, {});
  const headers = { 'x-forwarded-proto': 'ftps' };
  for (const [method, path] of [
    ['POST', '/api/auth/sso/start'],
    ['GET', '/api/auth/sso/callback?state=a&code=c'],
  ] as const) {
    const body = method === 'POST' ? {} : undefined;
    const { code, message } = await behind.call(method, path, body, { token: null, headers });
    expect({ code, message }).toEqual({ code: 1001, message: expect.stringContaining('X-Forwarded-Proto') });
  }
  await behind.stop();
});

describe('what the provider sends', () => {
  const resigned = async (change: object) => {
    sending(change);
    const { problem } = await new Browser().signIn(daemon, 's-ana');
    return problem;
  };

  it('is refused if it is not as it must be, although the provider has signed it', async () => {
    expect(await resigned({})).toBeNull();
    for (const change of [
      { nonce: 'another' },
      { aud: 'other' },
      { iss: 'https://other.test' },
      { azp: 'other' },
      { at_hash: 'AAAA' },
      { exp: 1 },
      // Texts that no body may have either.
      { sub: 's-ana\u0000' },
      { preferred_username: 'an\u0000a' },
      { preferred_username: 'an\u200ba' },
      { sid: '\u202e1' },
      { sub: 's-\ud800' },
    ])
      expect(await resigned(change), JSON.stringify(change)).toBe('token');
  });

  it('groups with characters that no setting can have give no role', async () => {
    expect(await resigned({ groups: ['keys-admins\u0000', 'keys-desk\u200b'] })).toBe('groups');
    expect(await resigned({ groups: ['x\u0000', 'keys-admins'] })).toBeNull();
  });

  it('is refused if it is too large, and nothing of it is shown', async () => {
    provider.alter = answer => {
      answer.padding = 'x'.repeat(300_000);
    };
    expect((await new Browser().signIn(daemon, 's-ana')).problem).toBe('away');
    provider.alter = answer => {
      answer.id_token = '<script>';
    };
    expect((await new Browser().signIn(daemon, 's-ana')).problem).toBe('token');
  });
});

describe('the time of the sign-in at the provider', () => {
  const change = (token: string) =>
    daemon.call(
      'POST',
      '/api/users',
      { username: `u-${Math.random()}`, password: adminPassword, role: 'VIEWER' },
      { token },
    );

  it('counts for operations that need a recent one', async () => {
    const browser = new Browser();
    const { token } = await browser.signIn(daemon, 's-ana');
    expect((await change(token)).code).toBe(200);
    clock.forward(11 * minute);
    expect(await change(token)).toMatchObject({ code: 2007, data: { stepUp: true } });
    // The provider still has its session, so the sign-in there is as old as before.
    const silent = await browser.signIn(daemon, 's-ana');
    expect((await change(silent.token)).code).toBe(2007);
    const again = await browser.signIn(daemon, 's-ana', daemon, { again: true });
    expect((await change(again.token)).code).toBe(200);
  });

  it('does not count if the settings name strong sign-ins and this is none', async () => {
    await setUp(daemon, provider, { strong: { acr: ['phr'], amr: [] } });
    const { token } = await new Browser().signIn(daemon, 's-ana');
    expect((await change(token)).code).toBe(2007);
    await setUp(daemon, provider, { strong: { acr: [], amr: ['hwk'] } });
    sending({ amr: ['pwd', 'hwk'] });
    const strong = await new Browser().signIn(daemon, 's-ana');
    expect(data(await session(strong.token)).withKey).toBe(true);
    expect((await change(strong.token)).code).toBe(200);
  });

  it('confirms in the place of a password that the account does not have', async () => {
    const { token } = await new Browser().signIn(daemon, 's-ana');
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const retire = () =>
      daemon.call(
        'POST',
        `/api/devices/${deviceId}/deactivate`,
        { reason: 'lost', confirmPassword: 'none' },
        { token },
      );
    clock.forward(11 * minute);
    expect((await retire()).code).toBe(2007);
    const again = await new Browser().signIn(daemon, 's-ana', daemon, { again: true });
    const done = await daemon.call(
      'POST',
      `/api/devices/${deviceId}/deactivate`,
      { reason: 'lost', confirmPassword: 'none' },
      { token: again.token },
    );
    expect(done.code).toBe(200);
  });
});

describe('a stream of a session that came from the provider', () => {
  it('is closed when the session ends', async () => {
    const { token } = await new Browser().signIn(daemon, 's-ben');
    const stream = await openStream(daemon.url, { token });
    provider.people.set('s-ben', { name: 'ben', groups: [] });
    clock.forward(40 * second);
    expect((await stream.closed).code).toBe(4401);
  });
});

itAnswersLikeExamples({ startSso: [200, 404], finishSso: [1004], showSsoTerminal: [1004] });
