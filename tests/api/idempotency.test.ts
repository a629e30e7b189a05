/** The header Idempotency-Key: a request that is sent again gets the response of the first one. */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { GroupCommit } from '../../daemon/store/write/group.ts';
import { acceptsKey, type RouteShape } from '../../src/contract/define.ts';
import type { RouteName } from '../../src/contract/endpoints.ts';
import { routes } from '../../src/contract/routes.ts';
import { day, holdClock } from '../support/clock.ts';
import { type Answer, adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, deviceIn, registration } from '../support/fleet.ts';
import { validRequests } from '../support/requests.ts';
import { serviceToken } from '../support/service-token.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ webhookAllow: ['127.0.0.1'] });
});
afterAll(() => daemon?.stop());

let keys = 0;
const newKey = () => `key-${++keys}`;
const registerPath = routes.registerDevice.path;

interface Asked {
  readonly key?: string;
  readonly token?: string;
  readonly raw?: FormData;
  readonly to?: TestDaemon;
}
const send = (method: string, path: string, body: unknown, { key = newKey(), token, raw, to = daemon }: Asked = {}) =>
  to.call(method, path, body, {
    headers: { 'idempotency-key': key },
    ...(token ? { token } : {}),
    ...(raw ? { raw } : {}),
  });
const post = (path: string, body: unknown, asked?: Asked) => send('POST', path, body, asked);
const register = (body: unknown, asked?: Asked) => post(registerPath, body, asked);
const replayed = ({ headers }: Answer) => headers.get('idempotent-replay');
const content = ({ status, code, message, data }: Answer) => ({ status, code, message, data });
const total = async () => data(await daemon.call('GET', '/api/devices/list')).pagination.total as number;

/** Sends a request twice with one key and expects the same response, marked as a replay the second time only. */
async function expectReplay(ask: (key: string) => Promise<Answer>): Promise<Answer> {
  const key = newKey();
  const first = await ask(key);
  const second = await ask(key);
  expect(content(second)).toEqual(content(first));
  expect([replayed(first), replayed(second)]).toEqual([null, 'true']);
  expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  return first;
}

/** The response as it was sent, without what a request has of its own. */
function rawResponse(headers: Readonly<Record<string, string | string[]>>, body: object) {
  return new Promise<{ status: number; type: string; text: string; replay: string | undefined }>((resolve, reject) => {
    const request = httpRequest(
      daemon.url + registerPath,
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${daemon.adminToken}`,
          'content-type': 'application/json',
          ...headers,
        },
        agent: false,
      },
      async response => {
        const chunks: Buffer[] = await response.toArray();
        resolve({
          status: response.statusCode!,
          type: String(response.headers['content-type']),
          text: Buffer.concat(chunks).toString(),
          replay: response.headers['idempotent-replay'] as string | undefined,
        });
      },
    );
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

const writes = (Object.entries(routes) as [RouteName, RouteShape][]).filter(([, { method }]) => method !== 'GET');
// A HOLDER's requests are repeated in holders.test.ts.
const accepting = writes
  .filter(([name, shape]) => acceptsKey(shape) && name !== 'reportLost')
  .map(([name, shape]) => ({ name, shape }));
const requests = validRequests(() => daemon);

describe('operations', () => {
  it('every POST and PUT accepts a key except login, refresh, codes, tokens, uploads, new webhooks, batches that are taken back, and what asks a key, a provider, a directory or an endpoint', () => {
    const others = writes.filter(([, shape]) => !acceptsKey(shape)).map(([name]) => name);
    const uploads = ['createBackup', 'importTrust', 'uploadAppVersion'];
    // A proof stores nothing, and a key gives each challenge an answer of its own.
    const tokens = [
      'createToken',
      'createSignInCode',
      'exchangeSignInCode',
      'login',
      'refreshToken',
      'adoptToken',
      'revokeToken',
      'createWebhook',
    ];
    const keys = ['getSignInOptions', 'signInWithKey', 'getKeyRegistrationOptions', 'registerKey', 'removeKeyOfUser'];
    const terminals = ['createTerminalLogin', 'showTerminalLogin', 'approveTerminalLogin', 'takeTerminalLogin'];
    const signIns = [...keys, ...terminals, 'requireKeyOfUser', 'getStepUpOptions', 'stepUp'];
    const sso = ['testSso', 'startSso', 'showSsoTerminal', 'takeSso', 'startSsoDevice', 'pollSsoDevice', 'logoutSso'];
    const directory = ['syncDirectory', 'testDirectory'];
    expect(others.sort()).toEqual(
      [
        ...uploads,
        ...tokens,
        ...signIns,
        ...sso,
        ...directory,
        'proveKey',
        'identifyKey',
        'decide',
        'confirmReceived',
        'issueKey',
        'testProvider',
        'reconcileProvider',
        'undoPeople',
        'comparePeople',
        'startCredential',
        'finishCredential',
        'signReceipt',
        'testWebhook',
        'replayWebhookDelivery',
      ].sort(),
    );
    expect(accepting.length).toBeGreaterThanOrEqual(14);
  });

  it.each(accepting)('$name is carried out once; the response is returned again', async ({ name, shape }) => {
    const prepare = requests[name];
    if (!prepare) throw new Error(`tests/support/requests.ts has no request for ${name}`);
    const { path = shape.path, body } = await prepare();
    const add = vi.spyOn(GroupCommit.prototype, 'add');
    onTestFinished(() => add.mockRestore());
    const first = await expectReplay(key => send(shape.method, path, body, { key }));
    expect(first.code).toBe(200);
    // After a crash between two commits, the second attempt would find the change without its response.
    // A new daemon on PostgreSQL may still rotate the key of its journal.
    const commits = add.mock.calls
      .map(([commit]) => commit)
      .filter(({ changes }) => changes.some(({ kind }) => kind !== 'journal.rotate'));
    // A challenge follows from its id: nothing of it is stored.
    if (['createProofChallenge', 'createReceipt', 'createIdentityChallenge', 'listIdentityCandidates'].includes(name)) {
      expect(commits).toEqual([]);
      return;
    }
    expect(commits.map(({ requestId }) => requestId)).toEqual([first.headers.get('x-request-id')]);
    // An erasure is not done before the database is rewritten, after its commit.
    if (name === 'erasePerson') expect(commits[0]!.response).toBeUndefined();
    else expect(commits[0]!.response, 'commitLast makes the commit of a write').toBeDefined();
  });

  it.each(['createToken', 'revokeToken', 'refreshToken', 'uploadAppVersion', 'createBackup'] as const)(
    '%s ignores a key, valid or not, and stores nothing',
    async name => {
      for (const key of ['same', 'not valid']) {
        const { path = routes[name].path, body, raw } = await requests[name]!();
        const answer = await post(path, body, { key, ...(raw ? { raw } : {}) });
        expect([answer.code, replayed(answer)]).toEqual([200, null]);
      }
    },
  );

  it('a read ignores a key', async () => {
    const answer = await send('GET', '/api/devices/list', undefined, { key: 'not valid' });
    expect([answer.code, replayed(answer)]).toEqual([200, null]);
  });
});

describe('a replay', () => {
  it('has the same status, content type and bytes', async () => {
    const headers = { 'idempotency-key': newKey() };
    const body = { ...registration(), model: 'Clé "№ 1"' };
    const first = await rawResponse(headers, body);
    expect(first.status).toBe(200);
    expect(await rawResponse(headers, body)).toEqual({ ...first, replay: 'true' });
  });

  it('of a batch has every result and the message, also if the response is large', async () => {
    const devices = [...Array.from({ length: 2000 }, () => registration()), { deviceType: 'UKEY' }];
    const first = await expectReplay(key => post('/api/devices/batch-register', { devices }, { key }));
    expect(first).toMatchObject({
      code: 200,
      message: 'batch completed with partial failure',
      data: { success: 2000, failed: 1 },
    });
    expect(first.data.results).toHaveLength(2001);
  });

  it('is of a batch in which every item failed, too', async () => {
    const first = await expectReplay(key => post('/api/devices/batch-register', { devices: [{}] }, { key }));
    expect(first.data.failed).toBe(1);
    const body = { operation: 'LOCK', items: [{ deviceId: 'DEV-999999', reason: 'audit' }] };
    expect((await expectReplay(key => post('/api/devices/batch-update', body, { key }))).data.failed).toBe(1);
  });

  it('is of a change that had nothing to change, too', async () => {
    const { id } = await daemon.user('unchanged', 'VIEWER');
    await expectReplay(key => send('PUT', `/api/users/${id}`, { role: 'VIEWER' }, { key }));
  });

  it('works after a restart', async () => {
    const key = newKey();
    const body = registration();
    const first = await register(body, { key });
    await daemon.restart();
    const again = await register(body, { key });
    expect([content(again), replayed(again)]).toEqual([content(first), 'true']);
  });

  it('counts as a request, and its headers show the present window', async () => {
    await daemon.restart({ limits: { login: null, query: null, modify: { count: 3, seconds: 60 }, upload: null } });
    onTestFinished(() => daemon.restart());
    const key = newKey();
    const body = registration();
    const answers = [await register(body, { key }), await register(body, { key }), await register(body, { key })];
    expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['2', '1', '0']);
    const refused = await register(body, { key });
    expect([refused.code, replayed(refused)]).toEqual([429, null]);
  });

  it('is not sent to a caller who may not use the operation any more', async () => {
    const { id, token } = await daemon.user('demoted', 'DEALER');
    const key = newKey();
    const body = registration();
    expect((await register(body, { key, token })).code).toBe(200);
    data(await daemon.call('PUT', `/api/users/${id}`, { role: 'VIEWER' }));
    expect(await register(body, { key, token })).toMatchObject({ code: 2007, data: null });
    data(await daemon.call('PUT', `/api/users/${id}`, { disabled: true }));
    expect(await register(body, { key, token })).toMatchObject({ code: 1004, data: null });
  });

  it('needs a valid body like any request', async () => {
    const key = newKey();
    expect((await register(registration(), { key })).code).toBe(200);
    expect((await register({}, { key })).message).toContain('deviceType');
  });

  it('takes an absent body for an empty object', async () => {
    const { deviceId } = await deviceIn('LOCKED', daemon);
    const key = newKey();
    const path = `/api/devices/${deviceId}/unlock`;
    expect((await post(path, undefined, { key })).code).toBe(200);
    expect(replayed(await post(path, {}, { key }))).toBe('true');
  });
});

describe('the same key', () => {
  it('with another body, parameter or operation is 1001; the first response stays', async () => {
    const key = newKey();
    const body = registration();
    const first = await register(body, { key });
    const { deviceId } = data(first);
    const others = [
      register(registration(), { key }),
      register({ ...body, firmwareVersion: '1.0' }, { key }),
      post('/api/devices/batch-register', { devices: [registration()] }, { key }),
      post(`/api/devices/${deviceId}/unlock`, body, { key }),
    ];
    for (const answer of await Promise.all(others)) {
      expect(answer).toMatchObject({ status: 400, code: 1001, data: null });
      expect(answer.message).toContain('Idempotency-Key');
    }
    const used = newKey();
    const usage = async (state: 'ACTIVE') => `/api/devices/${(await deviceIn(state, daemon)).deviceId}/usage`;
    const path = await usage('ACTIVE');
    expect((await post(path, { durationSeconds: 1 }, { key: used })).code).toBe(200);
    expect((await post(await usage('ACTIVE'), { durationSeconds: 1 }, { key: used })).code).toBe(1001);
    expect(replayed(await register(body, { key }))).toBe('true');
  });

  it('of another user or service token is another key', async () => {
    const key = newKey();
    const { token: dealer } = await daemon.user('same-key', 'DEALER');
    const { token: program } = await serviceToken(daemon, { role: 'DEALER' });
    for (const token of [daemon.adminToken, dealer, program]) {
      const answer = await register(registration(), { key, token });
      expect([answer.code, replayed(answer)]).toEqual([200, null]);
    }
  });

  it('is free again after a response that is not final', async () => {
    const key = newKey();
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const path = `/api/devices/${deviceId}/deactivate`;
    const body = { reason: 'worn out', confirmPassword: 'wrong password' };
    expect((await post(path, body, { key })).code).toBe(1003);
    const right = await post(path, { ...body, confirmPassword: adminPassword }, { key });
    expect([right.code, replayed(right)]).toEqual([200, null]);
  });
});

describe('final responses', () => {
  const activate = async (state: Parameters<typeof deviceIn>[0], more = {}) => {
    const device = await deviceIn(state, daemon);
    return (key: string) => post('/api/devices/activate', { ...activation(device), ...more }, { key });
  };
  const twin = async () => {
    const body = registration();
    data(await daemon.call('POST', registerPath, body));
    return (key: string) => register(body, { key });
  };
  const restore = async (path: string) => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    return (key: string) => post(`/api/devices/${deviceId}/backups/${path}/restore`, undefined, { key });
  };
  const cases: readonly (readonly [number, () => Promise<(key: string) => Promise<Answer>>])[] = [
    [2001, async () => key => post('/api/devices/DEV-999999/lock', { reason: 'lost' }, { key })],
    [2002, () => activate('ACTIVE')],
    [2003, () => activate('INACTIVE', { activationCode: 'AAAA-AAAA-AAAA-AAAA' })],
    [2004, () => activate('LOCKED')],
    [2005, () => activate('DEACTIVATED')],
    [2006, twin],
    [3001, () => restore('BKP-999999')],
    [404, async () => key => send('PUT', '/api/users/USR-999999', { role: 'VIEWER' }, { key })],
  ];
  it.each(cases)('%i is stored', async (code, prepare) => {
    expect((await expectReplay(await prepare())).code).toBe(code);
  });

  it('2003 stays the response even if the code is right by now', async () => {
    const { deviceId } = await deviceIn('INACTIVE', daemon);
    const key = newKey();
    const body = { deviceId, activationCode: 'AAAA-AAAA-AAAA-AAAA', userId: 'alice' };
    for (let i = 0; i < 12; i++)
      expect((await post('/api/devices/activate', body, { key })).code, 'a replay is not an attempt').toBe(2003);
  });

  it('1001 for the state of the device is not stored', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const key = newKey();
    const path = `/api/devices/${deviceId}/unlock`;
    expect((await post(path, {}, { key })).code).toBe(1001);
    data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'audit' }));
    const now = await post(path, {}, { key });
    expect([now.code, replayed(now)]).toEqual([200, null]);
  });

  it('1001 for a username that exists is not stored', async () => {
    const key = newKey();
    const body = { username: 'admin', password: adminPassword, role: 'VIEWER' };
    for (let i = 0; i < 2; i++) {
      const answer = await post('/api/users', body, { key });
      expect([answer.code, replayed(answer)]).toEqual([1001, null]);
    }
  });
});

describe('a request that is still running', () => {
  /** Takes as long as a password hash. */
  const slow = (key: string, username = `slow-${key}`) =>
    post('/api/users', { username, password: adminPassword, role: 'VIEWER' }, { key });

  it('is carried out once; the others get 429 with Retry-After 1, or the response', async () => {
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 5 }, () => slow(key)));
    const first = answers.filter(answer => answer.code === 200 && !replayed(answer));
    expect(first).toHaveLength(1);
    const refused = answers.filter(({ code }) => code === 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const { status, headers } of refused) expect([status, headers.get('retry-after')]).toEqual([429, '1']);
    expect(replayed(await slow(key))).toBe('true');
  });

  it('is not confused with another request that has its key', async () => {
    const key = newKey();
    const answers = await Promise.all([slow(key, 'one-of-two'), slow(key, 'two-of-two')]);
    expect(answers.map(({ code }) => code).sort()).toEqual([1001, 200].sort());
  });
});

describe('a key that is not valid is 1001', () => {
  it.each([
    ['empty', ''],
    ['of 129 characters', 'k'.repeat(129)],
    ['with a space', 'a b'],
    ['with a tab', 'a\tb'],
    ['outside ASCII', 'cl\u00e9'],
    ['sent twice', ['a', 'b']],
    ['sent twice, once empty', ['a', '']],
  ])('%s', async (_what, key) => {
    const before = await total();
    const { status, text } = await rawResponse({ 'idempotency-key': key }, registration());
    expect([status, JSON.parse(text).code]).toEqual([400, 1001]);
    expect(text).toContain('Idempotency-Key');
    expect(await total()).toBe(before);
  });

  it('1 and 128 visible characters are valid', async () => {
    for (const key of ['~', `!${'k'.repeat(127)}`]) expect((await register(registration(), { key })).code).toBe(200);
  });
});

it('the health of the service reports that keys are accepted', async () => {
  expect(data(await daemon.call('GET', '/api/health')).idempotencyKeys).toBe(true);
});

// Last: the other daemon on PostgreSQL measures that the clock is turned back, and is not ready for a moment.
it('a response is stored for 24 hours', async () => {
  const clock = holdClock();
  onTestFinished(() => clock.release());
  const held = await startTestDaemon();
  onTestFinished(() => held.stop());
  const key = newKey();
  const body = registration();
  const first = await register(body, { key, to: held });
  clock.forward(day - 1000);
  const token = await held.login('admin');
  const late = await register(body, { key, token, to: held });
  expect([content(late), replayed(late)]).toEqual([content(first), 'true']);
  clock.forward(1000);
  const after = await register(body, { key, token, to: held });
  expect([after.code, replayed(after)]).toEqual([2006, null]);
});
