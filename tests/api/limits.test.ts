/** Rate limits: a test for each. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rateLimits } from '../../src/contract/limits.ts';
import { holdClock, second } from '../support/clock.ts';
import { type Answer, adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { deviceIn, packageForm, registration, upload } from '../support/fleet.ts';

let clock: ReturnType<typeof holdClock>;
let daemon: TestDaemon;
/** Creates a user without limits, then restarts on the same home with the limits of the interface. */
async function withLimits(users: readonly string[] = []): Promise<string[]> {
  const tokens: string[] = [];
  for (const name of users) tokens.push((await daemon.user(name, 'ADMIN')).token);
  await daemon.restart({ limits: rateLimits });
  return tokens;
}
beforeEach(async () => {
  clock = holdClock();
  daemon = await startTestDaemon();
});
afterEach(async () => {
  await daemon?.stop();
  clock.release();
});

const list = (token?: string) => daemon.call('GET', '/api/devices/list', undefined, token ? { token } : {});
const modify = (token?: string) => daemon.call('POST', '/api/devices/register', {}, token ? { token } : {});
const login = (password = 'wrong one', headers: Record<string, string> = {}) =>
  daemon.call('POST', '/api/auth/login', { username: 'admin', password }, { token: null, headers });

/** The codes of this many calls, one after the other. */
async function codes(count: number, call: () => Promise<Answer>): Promise<number[]> {
  const found = [];
  for (let i = 0; i < count; i++) found.push((await call()).code);
  return found;
}
const times = (count: number, code: number) => Array<number>(count).fill(code);
const window = ({ headers }: Answer) => ({
  limit: Number(headers.get('x-ratelimit-limit')),
  remaining: Number(headers.get('x-ratelimit-remaining')),
  reset: Number(headers.get('x-ratelimit-reset')),
});

describe('login', () => {
  it('5 per minute from one address, successful or not; then 429', async () => {
    await withLimits();
    expect(await codes(3, () => login())).toEqual(times(3, 1003));
    expect(await codes(2, () => login(adminPassword))).toEqual(times(2, 200));
    expect(await login(adminPassword)).toMatchObject({ status: 429, code: 429, data: null });
  });

  it('malformed ones count too', async () => {
    await withLimits();
    const malformed = () => daemon.call('POST', '/api/auth/login', { username: 7 }, { token: null });
    expect(await codes(6, malformed)).toEqual([...times(5, 1001), 429]);
  });

  it('X-Forwarded-For is ignored unless it comes from a trusted proxy', async () => {
    await withLimits();
    let sender = 0;
    const forwarded = () => login('wrong one', { 'x-forwarded-for': `10.0.0.${++sender}` });
    expect(await codes(6, forwarded)).toEqual([...times(5, 1003), 429]);
  });

  it('X-Forwarded-For from a trusted proxy distinguishes addresses', async () => {
    await daemon.restart({ limits: rateLimits, trustProxy: ['127.0.0.0/8'] });
    const from = (address: string) => () => login('wrong one', { 'x-forwarded-for': address });
    expect(await codes(6, from('10.0.0.1'))).toEqual([...times(5, 1003), 429]);
    expect(await codes(1, from('10.0.0.2'))).toEqual([1003]);
  });

  it('the addresses of one IPv6 network share a window, and so do those of loopback', async () => {
    await daemon.restart({ limits: rateLimits, trustProxy: ['127.0.0.0/8'] });
    const each = (address: (n: number) => string) => {
      let n = 0;
      return () => login('wrong one', { 'x-forwarded-for': address(++n) });
    };
    expect(
      await codes(
        6,
        each(n => `2001:db8:0:1::${n}`),
      ),
    ).toEqual([...times(5, 1003), 429]);
    clock.forward(60 * second);
    expect(
      await codes(
        6,
        each(n => (n === 6 ? '::1' : `127.0.0.${n}`)),
      ),
    ).toEqual([...times(5, 1003), 429]);
  });

  it('a wrong confirmPassword counts as a login; beyond the limit it is 429 without a comparison', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    await withLimits();
    const deactivate = (confirmPassword: string) => () =>
      daemon.call('POST', `/api/devices/${deviceId}/deactivate`, { reason: 'worn out', confirmPassword });
    expect(await codes(5, deactivate('wrong one'))).toEqual(times(5, 1003));
    expect(await codes(1, deactivate(adminPassword))).toEqual([429]);
    expect(await codes(1, () => login(adminPassword))).toEqual([429]);
  });

  it('a correct confirmPassword or oldPassword does not count as a login', async () => {
    const devices = [];
    for (let i = 0; i < 6; i++) devices.push(await deviceIn('INACTIVE', daemon));
    await withLimits();
    for (const { deviceId } of devices) {
      const body = { reason: 'worn out', confirmPassword: adminPassword };
      expect(await daemon.call('POST', `/api/devices/${deviceId}/deactivate`, body)).toMatchObject({ code: 200 });
    }
    const change = { password: adminPassword, oldPassword: adminPassword };
    expect(await daemon.call('POST', '/api/users/USR-1/password', change)).toMatchObject({ code: 200 });
    expect(window(await login(adminPassword))).toMatchObject({ limit: 5, remaining: 4 });
  });

  it('a wrong oldPassword counts as a login', async () => {
    await withLimits();
    const change = () =>
      daemon.call('POST', '/api/users/USR-1/password', { password: 'another password', oldPassword: 'wrong one' });
    expect(await codes(6, change)).toEqual([...times(5, 1003), 429]);
  });
});

describe('queries', () => {
  it('100 per minute for one user; then 429', async () => {
    await withLimits();
    expect(await codes(101, list)).toEqual([...times(100, 200), 429]);
  });

  it('refresh, detail, own user and all lists share one window', async () => {
    await withLimits();
    const paths = [
      '/api/devices/list',
      '/api/devices/DEV-1',
      '/api/users/me',
      '/api/users/list',
      '/api/app-versions/list',
    ];
    const remaining = [];
    for (const path of paths) remaining.push(window(await daemon.call('GET', path)).remaining);
    remaining.push(window(await daemon.call('POST', '/api/auth/refresh')).remaining);
    expect(remaining).toEqual([99, 98, 97, 96, 95, 94]);
  });

  it('users have separate windows', async () => {
    const [other] = await withLimits(['second']);
    expect(await codes(101, list)).toContain(429);
    expect(await list(other)).toMatchObject({ code: 200 });
  });

  it('two tokens of one user share a window', async () => {
    const first = await daemon.login('admin');
    await withLimits();
    expect(window(await list(first)).remaining).toBe(99);
    expect(window(await list()).remaining).toBe(98);
  });
});

describe('modifications', () => {
  it('30 per minute for one user, including failed ones; then 429', async () => {
    await withLimits();
    expect(await codes(31, modify)).toEqual([...times(30, 1001), 429]);
  });

  it('are counted separately from queries', async () => {
    await withLimits();
    expect(await codes(31, modify)).toContain(429);
    expect(await list()).toMatchObject({ code: 200 });
  });

  it('a batch is one modification', async () => {
    await withLimits();
    const devices = Array.from({ length: 50 }, () => registration());
    const response = await daemon.call('POST', '/api/devices/batch-register', { devices });
    expect(response).toMatchObject({ code: 200, data: { success: 50 } });
    expect(window(response)).toMatchObject({ limit: 30, remaining: 29 });
  });

  it('a request without permission counts too', async () => {
    const { token } = await daemon.user('looker', 'VIEWER');
    await withLimits();
    expect(await codes(31, () => modify(token))).toEqual([...times(30, 2007), 429]);
  });
});

describe('uploads', () => {
  it('10 per hour for one user, including failed ones; then 429', async () => {
    await withLimits();
    expect(await codes(9, () => upload(daemon))).toEqual(times(9, 200));
    expect(await codes(2, () => upload(daemon, packageForm({}, { name: 'devmgr.exe' })))).toEqual([4002, 429]);
    clock.forward(3599 * second);
    expect(await upload(daemon)).toMatchObject({ status: 429 });
    clock.forward(2 * second);
    expect(await upload(daemon)).toMatchObject({ code: 200 });
  });
});

describe('the window', () => {
  it('starts with the first request and is fixed: a minute later everything is allowed again', async () => {
    await withLimits();
    const first = window(await modify());
    clock.forward(50 * second);
    await codes(30, modify);
    const spent = await modify();
    expect(spent.code).toBe(429);
    expect(window(spent)).toEqual({ limit: 30, remaining: 0, reset: first.reset });
    clock.forward(11 * second);
    expect(window(await modify())).toMatchObject({ limit: 30, remaining: 29 });
  });

  it('reports its end in Unix seconds, and with 429 the remaining seconds in Retry-After', async () => {
    await withLimits();
    const { reset } = window(await modify());
    expect(reset).toBe(Math.ceil((Date.now() + 60 * second) / 1000));
    clock.forward(20 * second);
    await codes(29, modify);
    const spent = await modify();
    expect(spent.headers.get('retry-after')).toBe('40');
  });
});

describe('the headers of a limit', () => {
  const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
  const has = ({ headers }: Answer) => names.filter(name => headers.has(name)).length;

  it('are on every response whose request passed the token check, whatever its code', async () => {
    const { token } = await daemon.user('looker', 'VIEWER');
    await withLimits();
    const refused = [
      await modify(token),
      await daemon.call('GET', '/api/devices/DEV-999999'),
      await daemon.call('GET', '/api/devices/list?page=0'),
      await daemon.call('POST', '/api/devices/register', undefined, {
        raw: '{',
        headers: { 'content-type': 'application/json' },
      }),
    ];
    expect(refused.map(({ code }) => code)).toEqual([2007, 2001, 1001, 1001]);
    expect(refused.map(has)).toEqual([3, 3, 3, 3]);
  });

  it('are on every response of login', async () => {
    await withLimits();
    for (const response of [await login(), await login(adminPassword)]) expect(has(response)).toBe(3);
    expect(window(await login())).toMatchObject({ limit: 5, remaining: 2 });
  });

  it('are not on responses that failed the token check, nor on those of unlimited operations', async () => {
    await withLimits();
    expect(has(await daemon.call('GET', '/api/devices/list', undefined, { token: null }))).toBe(0);
    expect(has(await daemon.call('GET', '/api/health'))).toBe(0);
    expect(has(await daemon.call('GET', '/api/nothing'))).toBe(0);
  });
});

describe('documents', () => {
  const get = (path: string, init: RequestInit = {}) => fetch(daemon.url + path, init);
  const paths = ['/api/openapi.json', '/api/openapi.yaml', '/api/swagger-ui.html', '/api/postman.json'];

  it('120 per minute of one address, all of them together; then 429, until the window ends', async () => {
    await withLimits();
    const statuses: number[] = [];
    for (let i = 0; i < 119; i++) {
      const response = await get(paths[i % 4]!);
      await response.arrayBuffer();
      statuses.push(response.status);
    }
    expect(new Set(statuses)).toEqual(new Set([200]));
    const last = await get(paths[0]!, { method: 'HEAD' });
    expect([last.status, last.headers.get('x-ratelimit-remaining')]).toEqual([200, '0']);
    const refused = await get(paths[3]!);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect(await refused.json()).toMatchObject({ code: 429, data: null });
    clock.forward(60 * second);
    expect((await get(paths[3]!)).status).toBe(200);
  });

  it('an address has a limit of its own', async () => {
    await daemon.restart({ limits: { ...rateLimits, document: { count: 1, seconds: 60 } }, trustProxy: ['127.0.0.1'] });
    const statusFor = async (address: string) =>
      (await get('/api/openapi.json', { headers: { 'x-forwarded-for': address } })).status;
    expect(await statusFor('203.0.113.1')).toBe(200);
    expect(await statusFor('203.0.113.1')).toBe(429);
    expect(await statusFor('203.0.113.2')).toBe(200);
    expect(await statusFor('2001:db8::1')).toBe(200);
    expect(await statusFor('2001:db8::2')).toBe(429);
  });
});

describe('without limit', () => {
  it('health is not limited', async () => {
    await withLimits();
    const responses = await Promise.all(Array.from({ length: 150 }, () => fetch(`${daemon.url}/api/health`)));
    await Promise.all(responses.map(response => response.arrayBuffer()));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('a limit that is off has no headers', async () => {
    await daemon.restart({ limits: { ...rateLimits, query: null } });
    const response = await list();
    expect(response.code).toBe(200);
    expect(response.headers.has('x-ratelimit-limit')).toBe(false);
  });

  it('a limit can be changed', async () => {
    await daemon.restart({ limits: { ...rateLimits, query: { count: 2, seconds: 10 } } });
    expect(await codes(3, list)).toEqual([200, 200, 429]);
  });
});
