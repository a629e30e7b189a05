/** Single-use codes: what they open, once, for 30 s, and where they do not work. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { rateLimits } from '../../src/contract/limits.ts';
import { holdClock, second } from '../support/clock.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, register } from '../support/fleet.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { serviceToken } from '../support/service-token.ts';
import { exchange, loginOf, newCode } from '../support/sign-in-codes.ts';
import { openStream, refusedUpgrade } from '../support/stream-client.ts';

let clock: ReturnType<typeof holdClock>;
let daemon: TestDaemon;
beforeAll(async () => {
  clock = holdClock();
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon?.stop();
  clock.release();
});
const streamOf = (code: string) => `/api/ws/notifications?code=${code}`;
const refused = { status: 401, code: 1004, data: null };

describe('a code of the purpose SESSION', () => {
  it('opens a session of the same user, once; the answer is that of a login', async () => {
    const { id, token } = await daemon.user('dora', 'DEALER');
    const made = data(await daemon.call('POST', '/api/auth/codes', { purpose: 'SESSION' }, { token }));
    expect(made).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/),
      purpose: 'SESSION',
      expireTime: expect.any(String),
    });
    expect(Date.parse(made.expireTime) - Date.now()).toBe(30 * second);
    const opened = await exchange(daemon, made.code);
    expect(opened).toMatchObject({
      status: 200,
      data: { user: { id, username: 'dora', role: 'DEALER', email: null } },
    });
    expect(data(await daemon.call('GET', '/api/users/me', undefined, { token: opened.data.token })).id).toBe(id);
    expect(await exchange(daemon, made.code)).toMatchObject(refused);
  });

  it('opens a session that ends with the login that made the code', async () => {
    const token = await daemon.login('admin');
    clock.forward(3600 * second);
    const code = await newCode(daemon, 'SESSION', token);
    const opened = data(await exchange(daemon, code));
    expect(loginOf(opened.token)).toBe(loginOf(token));
    expect(Date.parse(opened.expireTime)).toBeGreaterThan(Date.now() + 86_399 * second);
  });

  it('is valid for 29 s, and not for 31 s', async () => {
    const [early, late] = [await newCode(daemon), await newCode(daemon)];
    clock.forward(29 * second);
    expect((await exchange(daemon, early)).code).toBe(200);
    clock.forward(2 * second);
    expect(await exchange(daemon, late)).toMatchObject(refused);
  });

  it('opens one session if 20 clients send it at once', async () => {
    const code = await newCode(daemon);
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(daemon, code)));
    expect(answers.map(answer => answer.code).sort((a, b) => a - b)).toEqual([200, ...new Array(19).fill(1004)]);
  });

  it('is refused with the same response for every fault', async () => {
    const used = await newCode(daemon);
    await exchange(daemon, used);
    const expired = await newCode(daemon);
    clock.forward(31 * second);
    const wrong = [used, expired, await newCode(daemon, 'STREAM'), daemon.adminToken, 'x', 'x'.repeat(200)];
    const answers = await Promise.all(wrong.map(code => exchange(daemon, code)));
    expect(new Set(answers.map(({ status, code, message }) => `${status} ${code} ${message}`)).size).toBe(1);
    expect(answers[0]).toMatchObject(refused);
  });

  it('is refused to a page of another origin, and not used up by it', async () => {
    const code = await newCode(daemon);
    const { host, port } = new URL(daemon.url);
    const others = [
      'http://evil.example',
      'null',
      `http://127.0.0.1:${Number(port) + 1}`,
      `http://localhost:${port}`,
      'file://',
    ];
    for (const origin of others)
      expect(await exchange(daemon, code, { origin }), origin).toMatchObject({ status: 403, code: 2007 });
    expect((await exchange(daemon, code, { origin: `http://${host}` })).code).toBe(200);
  });

  const ends: readonly [string, (id: string) => Promise<unknown>][] = [
    ['disabled', id => daemon.call('PUT', `/api/users/${id}`, { disabled: true })],
    ['logged out', id => daemon.call('POST', `/api/users/${id}/logout`)],
    [
      'given another password',
      id => daemon.call('POST', `/api/users/${id}/password`, { password: 'another password' }),
    ],
    [
      'disabled and enabled',
      async id => {
        for (const disabled of [true, false]) await daemon.call('PUT', `/api/users/${id}`, { disabled });
      },
    ],
  ];
  it.each(ends)('opens nothing for a user who was %s in the meantime', async (what, end) => {
    const { id, token } = await daemon.user(`ended-${what.replaceAll(' ', '-')}`, 'VIEWER');
    const [session, stream] = [await newCode(daemon, 'SESSION', token), await newCode(daemon, 'STREAM', token)];
    await end(id);
    expect(await exchange(daemon, session)).toMatchObject(refused);
    expect(await refusedUpgrade(daemon.url, streamOf(stream))).toMatchObject(refused);
  });

  it('has the role that the user has by then', async () => {
    const { id, token } = await daemon.user('promoted', 'VIEWER');
    const code = await newCode(daemon, 'SESSION', token);
    data(await daemon.call('PUT', `/api/users/${id}`, { role: 'DEALER' }));
    expect(data(await exchange(daemon, code)).user.role).toBe('DEALER');
  });

  it('is not given to a service token, which gets one for a stream', async () => {
    const { token } = await serviceToken(daemon, { role: 'ADMIN' });
    const asked = (purpose: string) => daemon.call('POST', '/api/auth/codes', { purpose }, { token });
    expect(await asked('SESSION')).toMatchObject({ status: 403, code: 2007 });
    expect((await asked('STREAM')).code).toBe(200);
  });
});

describe('a code of the purpose STREAM', () => {
  it('opens one stream, which ends when its user is logged out', async () => {
    const { id, token } = await daemon.user('watcher', 'VIEWER');
    const code = await newCode(daemon, 'STREAM', token);
    const stream = await openStream(daemon.url, { code });
    const { deviceId } = await register(daemon);
    expect(await stream.untilSome(({ type }) => type === 'DEVICE_REGISTERED')).toMatchObject({ data: { deviceId } });
    expect(await refusedUpgrade(daemon.url, streamOf(code))).toMatchObject(refused);
    await daemon.call('POST', `/api/users/${id}/logout`);
    expect((await stream.closed).code).toBe(4401);
  });

  it('opens one stream for a service token, which ends with the token', async () => {
    const { token, tokenId } = await serviceToken(daemon);
    const stream = await openStream(daemon.url, { code: await newCode(daemon, 'STREAM', token) });
    await daemon.call('POST', `/api/tokens/${tokenId}/revoke`);
    expect((await stream.closed).code).toBe(4401);
  });

  it('is refused after 31 s', async () => {
    const code = await newCode(daemon, 'STREAM');
    clock.forward(31 * second);
    expect(await refusedUpgrade(daemon.url, streamOf(code))).toMatchObject(refused);
  });
});

describe('codes and tokens', () => {
  it.each(['SESSION', 'STREAM'] as const)('a code of the purpose %s is not a token', async purpose => {
    const code = await newCode(daemon, purpose);
    expect(await daemon.call('GET', '/api/users/me', undefined, { token: code })).toMatchObject(refused);
    expect(await refusedUpgrade(daemon.url, `/api/ws/notifications?token=${code}`)).toMatchObject(refused);
    expect(
      await refusedUpgrade(daemon.url, '/api/ws/notifications', { authorization: `Bearer ${code}` }),
    ).toMatchObject(refused);
  });

  it('neither a token nor a code of a session opens a stream as its code', async () => {
    for (const code of [daemon.adminToken, await newCode(daemon), ''])
      expect(await refusedUpgrade(daemon.url, streamOf(code))).toMatchObject(refused);
  });

  it('an unknown purpose is 1001', async () => {
    for (const body of [{}, { purpose: 'session' }])
      expect(await daemon.call('POST', '/api/auth/codes', body)).toMatchObject({ status: 400, code: 1001 });
  });
});

it('no code is in the log, in an error, in the metrics or in the journal, which has the logins', async () => {
  const [session, stream, bad] = [
    await newCode(daemon),
    await newCode(daemon, 'STREAM'),
    await newCode(daemon, 'STREAM'),
  ];
  const texts = [await exchange(daemon, session), await exchange(daemon, session)].map(({ message }) => message);
  (await openStream(daemon.url, { code: stream })).ws.terminate();
  texts.push((await refusedUpgrade(daemon.url, `${streamOf(bad)}&since=x`)).message);
  texts.push((await refusedUpgrade(daemon.url, streamOf(stream))).message);
  texts.push(await (await fetch(`${daemon.url}/metrics`)).text());
  expect(daemon.logged()).toContain('/api/auth/exchange');
  await daemon.restart();
  const options = { json: true, device: null, since: null, limit: null, verify: false };
  const journal = (await runDaemonProgram(audit, { ...options, home: daemon.home })).stdout;
  expect(journal).toMatch(/LOGIN_SUCCEEDED.*"method":"code"/);
  expect(journal).toMatch(/LOGIN_FAILED.*"reason":"invalid code"/);
  for (const text of [...texts, daemon.logged(), journal])
    for (const code of [session, stream, bad]) expect(text).not.toContain(code);
});

describe('the limit of sign-ins of the address', () => {
  afterEach(() => daemon.restart());
  it('counts exchanges, right and wrong ones', async () => {
    const limits = { login: null, query: null, modify: null, upload: null, signIn: { count: 2, seconds: 60 } };
    await daemon.restart({ limits });
    const code = await newCode(daemon);
    expect((await exchange(daemon, 'x')).code).toBe(1004);
    expect((await exchange(daemon, code)).code).toBe(200);
    expect((await exchange(daemon, 'x')).code).toBe(429);
  });

  it('is another one than that of logins: 40 people at one address sign in at once, also after wrong passwords', async () => {
    await daemon.restart({ limits: rateLimits });
    const codes = await Promise.all(Array.from({ length: 40 }, () => newCode(daemon)));
    const wrong = { username: 'admin', password: 'wrong one' };
    for (let n = 0; n < 6; n++) await daemon.call('POST', '/api/auth/login', wrong, { token: null });
    expect((await daemon.call('POST', '/api/auth/login', wrong, { token: null })).code).toBe(429);
    const opened = await Promise.all(codes.map(code => exchange(daemon, code)));
    expect(new Set(opened.map(({ code }) => code))).toEqual(new Set([200]));
  });
});
