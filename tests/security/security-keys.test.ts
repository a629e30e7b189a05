/** Security keys of users: registered, signed in with, and refused. */

import { describe, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { passkeyBounds } from '../../src/contract/limits.ts';
import { Page } from '../support/browser.ts';
import { second } from '../support/clock.ts';
import { clockOfTests, daemonOfTests } from '../support/daemon-tests.ts';
import { activation, data, register } from '../support/fleet.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { type CreationOptions, SoftwareKey } from '../support/software-key.ts';
import { writeCbor } from '../support/test-cbor.ts';

const clock = clockOfTests();
const daemon = daemonOfTests();
const page = new Page(daemon);

const whole = { json: true, device: null, since: null, limit: null, verify: false };
let users = 0;
/** A user with a registered key. */
async function person(role: 'ADMIN' | 'DEALER' | 'VIEWER' = 'DEALER', key = new SoftwareKey()) {
  const username = `person-${++users}`;
  const { id, token } = await daemon.user(username, role);
  const { passkeyId } = data(await page.register(key, token));
  return { username, id, token, key, passkeyId: passkeyId as string };
}

/** Details of the entries of a type, as a stopped daemon has them. The daemon is started again. */
async function entries(type: string): Promise<{ user: string | null; details: Record<string, unknown> }[]> {
  await daemon.stopKeepingHome();
  const { stdout } = await runDaemonProgram(audit, { ...whole, home: daemon.home });
  await daemon.startAgain();
  return stdout
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
    .filter(entry => entry.type === type);
}

const refused = { status: 401, code: 1004, message: 'the security key was not accepted', data: null };

describe('a registered key', () => {
  it('signs its user in alone, and the list shows when', async () => {
    const { id, username, key, token, passkeyId } = await person();
    const before = data(await daemon.call('GET', `/api/users/${id}/passkeys/list`, undefined, { token }));
    expect(before).toEqual({
      required: false,
      requiredByUser: false,
      list: [
        {
          passkeyId,
          name: 'desk',
          rpId: 'localhost',
          aaguid: '00000000-0000-0000-0000-000000000000',
          createdAt: expect.any(String),
          lastUsedAt: null,
        },
      ],
    });
    const opened = data(await page.signIn(key));
    expect(opened.user).toEqual({ id, username, role: 'DEALER', email: null });
    expect(data(await daemon.call('GET', '/api/users/me', undefined, { token: opened.token })).id).toBe(id);
    const after = data(await daemon.call('GET', `/api/users/${id}/passkeys/list`));
    expect(after.list[0].lastUsedAt).toBe(new Date().toISOString());
  });

  it('that has no counter signs in again and again', async () => {
    const { key } = await person('VIEWER', new SoftwareKey({ counts: false }));
    for (let i = 0; i < 2; i++) expect(await page.signIn(key)).toMatchObject({ code: 200 });
  });

  it('is excluded from a further registration, also under another name', async () => {
    const { key, token } = await person();
    await expect(page.register(key, token, 'again')).rejects.toThrow('InvalidStateError');
  });

  it('is removed by its user, or by an ADMIN, and by no one else', async () => {
    const [one, two] = [await person(), await person()];
    const path = `/api/users/${one.id}/passkeys/${one.passkeyId}/remove`;
    expect(await daemon.call('POST', path, undefined, { token: two.token })).toMatchObject({ code: 2007 });
    const other = `/api/users/${two.id}/passkeys/${one.passkeyId}/remove`;
    expect(await daemon.call('POST', other, undefined, { token: two.token })).toMatchObject({ status: 404 });
    data(await daemon.call('POST', path, undefined, { token: one.token }));
    expect(await daemon.call('POST', path)).toMatchObject({ status: 404, code: 404 });
    data(await daemon.call('POST', `/api/users/${two.id}/passkeys/${two.passkeyId}/remove`));
  });

  it('is one of at most 16 of its user', async () => {
    const { token } = await person();
    for (let i = 1; i < passkeyBounds.perUser; i++) data(await page.register(new SoftwareKey(), token, `key ${i}`));
    expect(await page.register(new SoftwareKey(), token)).toMatchObject({ status: 400, code: 1001 });
  });
});

describe('a registration', () => {
  it.each([
    ['another origin', (key: SoftwareKey, options: never) => key.create(options, 'https://evil.test')],
    ['another site', (key: SoftwareKey, options: never) => key.create(options, page.origin, { rpId: 'evil.test' })],
    [
      'another challenge',
      (key: SoftwareKey, options: never) => key.create(options, page.origin, { challenge: 'AAAA' }),
    ],
    ['a signature', (key: SoftwareKey, options: never) => key.create(options, page.origin, { type: 'webauthn.get' })],
  ])('for %s is refused', async (_what, create) => {
    const { token } = await daemon.user(`person-${++users}`, 'VIEWER');
    const { options } = data(await page.call('POST', '/api/auth/webauthn/register/options', undefined, token));
    const body = { name: 'desk', response: create(new SoftwareKey(), options as never) };
    expect(await page.call('POST', '/api/auth/webauthn/register', body, token)).toMatchObject({ code: 1001 });
  });

  it('answers a challenge of its own session, within three minutes', async () => {
    const { token } = await daemon.user('early', 'VIEWER');
    const { token: other } = await daemon.user('other', 'VIEWER');
    const { options } = data(await page.call('POST', '/api/auth/webauthn/register/options', undefined, token));
    const body = { name: 'desk', response: new SoftwareKey().create(options, page.origin) };
    expect(await page.call('POST', '/api/auth/webauthn/register', body, other)).toMatchObject({ code: 1001 });
    clock.forward(passkeyBounds.challengeSeconds * second);
    expect(await page.call('POST', '/api/auth/webauthn/register', body, token)).toMatchObject({ code: 1001 });
  });

  it('is accepted once, also after its key was removed', async () => {
    const { id, token } = await daemon.user('once', 'VIEWER');
    const { options } = data(await page.call('POST', '/api/auth/webauthn/register/options', undefined, token));
    const body = { name: 'desk', response: new SoftwareKey().create(options, page.origin) };
    const { passkeyId } = data(await page.call('POST', '/api/auth/webauthn/register', body, token));
    data(await daemon.call('POST', `/api/users/${id}/passkeys/${passkeyId}/remove`));
    expect(await page.call('POST', '/api/auth/webauthn/register', body, token)).toMatchObject({ code: 1001 });
  });

  it('with an attestation is refused: certificates name servers, and none was requested', async () => {
    const { token } = await daemon.user('attested', 'VIEWER');
    const { options } = data(await page.call('POST', '/api/auth/webauthn/register/options', undefined, token));
    expect(options.attestation).toBe('none');
    const response = new SoftwareKey().create(options, page.origin);
    const attestationObject = writeCbor(
      new Map<string, never>(
        Object.entries({ fmt: 'packed', attStmt: new Map(), authData: new Uint8Array(37) }) as never,
      ),
    ).toString('base64url');
    const forged = { ...response, response: { ...response.response, attestationObject } };
    const body = { name: 'desk', response: forged };
    expect(await page.call('POST', '/api/auth/webauthn/register', body, token)).toMatchObject({
      code: 1001,
      message: expect.stringContaining('not requested'),
    });
  });

  it.each([
    [{}, 'response.id'],
    [{ id: 'AA', rawId: 'AA', type: 'password' }, 'response.type'],
    [{ id: 'AA', rawId: 'AA', type: 'public-key' }, 'response.response'],
    [{ id: 'A+', rawId: 'AA', type: 'public-key' }, 'response.id'],
  ])('of the shape %j names the field', async (response, field) => {
    const body = { name: 'desk', response };
    const answer = await page.call('POST', '/api/auth/webauthn/register', body, daemon.adminToken);
    expect(answer).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining(field) });
  });
});

describe('a sign-in is refused with one message, and the journal has the reason', () => {
  type Person = Awaited<ReturnType<typeof person>>;
  const attempts: readonly (readonly [reason: string, attempt: (person: Person) => Promise<unknown>])[] = [
    ['wrong origin', async ({ key }) => page.send(key.get(await page.options(), 'https://evil.test'))],
    ['page in a frame of another origin', ({ key }) => page.signIn(key, { frame: { crossOrigin: true } })],
    [
      'challenge answered before',
      async ({ key }) => {
        const options = await page.options();
        await page.send(key.get(options, 'https://evil.test'));
        return page.send(key.get(options, page.origin));
      },
    ],
    ['answer of the key not valid', ({ key }) => page.signIn(key, { rpId: 'evil.test' })],
    ['challenge unknown or expired', ({ key }) => page.signIn(key, { challenge: 'AAAA' })],
    [
      'repeated assertion',
      async ({ key }) => {
        const answer = key.get(await page.options(), page.origin);
        data(await page.send(answer));
        return page.send(answer);
      },
    ],
    [
      'counter of the key went back',
      async ({ key }) => {
        data(await page.signIn(key, { counter: 9 }));
        return page.signIn(key, { counter: 9 });
      },
    ],
    [
      'removed key',
      async ({ key, id, passkeyId }) => {
        data(await daemon.call('POST', `/api/users/${id}/passkeys/${passkeyId}/remove`));
        return page.signIn(key);
      },
    ],
    [
      'disabled account',
      async ({ key, id }) => {
        data(await daemon.call('PUT', `/api/users/${id}`, { disabled: true }));
        return page.signIn(key);
      },
    ],
    ['key of another user', ({ key }) => page.signIn(key, { userHandle: 'AAAA' })],
    ['answer of the key not valid', ({ key }) => page.signIn(key, { unverified: true })],
    ['answer of the key not valid', ({ key }) => page.signIn(key, { type: 'webauthn.create' })],
    [
      'challenge unknown or expired',
      async ({ key, token }) => {
        const asked = await page.call('POST', '/api/auth/step-up/options', undefined, token);
        return page.send(key.get(data(asked).options, page.origin));
      },
    ],
    [
      'challenge unknown or expired',
      async ({ key }) => {
        const answer = key.get(await page.options(), page.origin);
        clock.forward(passkeyBounds.challengeSeconds * second);
        return page.send(answer);
      },
    ],
    [
      'wrong signature',
      async ({ key }) => {
        const answer = key.get(await page.options(), page.origin);
        const signature = Buffer.from(answer.response.signature, 'base64url');
        signature[signature.length - 1]! ^= 1;
        return page.send({ ...answer, response: { ...answer.response, signature: signature.toString('base64url') } });
      },
    ],
  ];

  it('for each reason that concerns a known key', async () => {
    const expected: unknown[] = [];
    for (const [reason, attempt] of attempts) {
      const someone = await person();
      expect(await attempt(someone), reason).toMatchObject(refused);
      expected.push([someone.username, 'key', reason]);
    }
    const found = (await entries('LOGIN_FAILED')).map(({ user, details }) => [user, details.method, details.reason]);
    // The first answer of the attempt with two.
    expected.splice(2, 0, [(expected[2] as unknown[])[0], 'key', 'wrong origin']);
    expect(found).toEqual(expected);
  });

  it('for an unknown key', async () => {
    const { options } = data(
      await page.call('POST', '/api/auth/webauthn/register/options', undefined, daemon.adminToken),
    );
    const key = new SoftwareKey();
    key.create(options, page.origin);
    expect(await page.signIn(key)).toMatchObject(refused);
    const found = (await entries('LOGIN_FAILED')).map(({ user, details }) => [user, details.reason]);
    expect(found).toContainEqual([null, 'unknown key']);
  });
});

describe('a page in a frame of another origin', () => {
  it.each([[{ crossOrigin: true }], [{ crossOrigin: 'true' }], [{ topOrigin: 'https://evil.test' }]])(
    'of %j registers no key, signs no one in and steps up nothing',
    async frame => {
      const { key, token } = await person();
      expect(await page.register(new SoftwareKey(), token, 'framed', { frame })).toMatchObject({
        code: 1001,
        message: expect.stringContaining('frame'),
      });
      expect(await page.signIn(key, { frame })).toMatchObject(refused);
      expect(await page.stepUp(key, token, { frame })).toMatchObject(refused);
      data(await page.stepUp(key, token, { frame: { crossOrigin: undefined } }));
    },
  );
});

describe('a challenge', () => {
  const registration = async (token: string) =>
    data(await page.call('POST', '/api/auth/webauthn/register/options', undefined, token)).options;
  const register = (token: string, response: object) =>
    page.call('POST', '/api/auth/webauthn/register', { name: 'desk', response }, token);
  const created = (options: CreationOptions, origin = page.origin) => new SoftwareKey().create(options, origin);
  const codesOf = (answers: readonly { code: number }[]) => answers.map(({ code }) => code).sort((a, b) => a - b);

  it('registers one key, also of two that arrive together', async () => {
    const { id, token } = await daemon.user('one-key', 'VIEWER');
    const options = await registration(token);
    const both = await Promise.all([register(token, created(options)), register(token, created(options))]);
    expect(codesOf(both)).toEqual([200, 1001]);
    expect(await register(token, created(options))).toMatchObject({ code: 1001 });
    expect(data(await daemon.call('GET', `/api/users/${id}/passkeys/list`)).list).toHaveLength(1);
  });

  it('registers none after an answer that was refused', async () => {
    const { token } = await daemon.user('no-key', 'VIEWER');
    const options = await registration(token);
    expect(await register(token, created(options, 'https://evil.test'))).toMatchObject({ code: 1001 });
    expect(await register(token, created(options))).toMatchObject({
      code: 1001,
      message: expect.stringContaining('answered before'),
    });
  });

  it('signs one user in, also of two who answer it together', async () => {
    const [one, two] = [await person(), await person()];
    const options = await page.options();
    const answers = await Promise.all([one, two].map(({ key }) => page.send(key.get(options, page.origin))));
    expect(codesOf(answers)).toEqual([200, 1004]);
    expect(await page.send((await person()).key.get(options, page.origin))).toMatchObject(refused);
  });

  it('steps up nothing after an answer that was refused', async () => {
    const { key, token } = await person();
    const { options } = data(await page.call('POST', '/api/auth/step-up/options', undefined, token));
    const stepUp = (response: object) => page.call('POST', '/api/auth/step-up', { response }, token);
    expect(await stepUp(key.get(options, 'https://evil.test'))).toMatchObject(refused);
    expect(await stepUp(key.get(options, page.origin))).toMatchObject(refused);
    data(await page.stepUp(key, token));
  });
});

describe('the address of a page', () => {
  it('must have a name: an IP address is refused in words', async () => {
    const numbers = new Page(daemon, { origin: daemon.url });
    expect(await numbers.call('POST', '/api/auth/webauthn/options')).toMatchObject({
      status: 400,
      code: 1001,
      message: expect.stringContaining('localhost'),
    });
  });

  it('must have the port of the daemon: programs of others may have pages at other ports of this machine', async () => {
    const { key } = await person();
    const answer = key.get(await page.options(), 'http://localhost:1');
    expect(await page.send(answer)).toMatchObject(refused);
    const other = new Page(daemon, { origin: 'http://localhost:1' });
    expect(await other.call('POST', '/api/auth/webauthn/options')).toMatchObject({
      status: 400,
      code: 1001,
      message: expect.stringContaining('--public-url'),
    });
    expect(await other.send(answer)).toMatchObject({ status: 400, code: 1001 });
  });

  it('must be one that the daemon knows, and use HTTPS; a trusted proxy reports that it does', async () => {
    const secure = { 'x-forwarded-proto': 'https' };
    await daemon.restart({ allowHost: ['devmgr.example.com'], trustProxy: ['127.0.0.0/8'] });
    const plain = new Page(daemon, { origin: 'http://devmgr.example.com' });
    expect(await plain.call('POST', '/api/auth/webauthn/options')).toMatchObject({ code: 1001 });
    const proxied = new Page(daemon, { origin: 'https://devmgr.example.com', headers: secure });
    const { options } = data(await proxied.call('POST', '/api/auth/webauthn/options'));
    expect(options.rpId).toBe('devmgr.example.com');
    const otherPort = new Page(daemon, { origin: 'https://devmgr.example.com:8443', headers: secure });
    expect(await otherPort.call('POST', '/api/auth/webauthn/options')).toMatchObject({ code: 1001 });
    const strange = new Page(daemon, { origin: 'https://evil.test', headers: secure });
    expect(await strange.call('POST', '/api/auth/webauthn/options')).toMatchObject({ code: 2007 });
  });

  it('is that of --public-url behind a proxy that sends no scheme', async () => {
    await daemon.restart({ allowHost: ['devmgr.example.com'], publicUrl: 'https://devmgr.example.com' });
    const proxied = new Page(daemon, { origin: 'https://devmgr.example.com' });
    const key = new SoftwareKey();
    data(await proxied.register(key, await daemon.login('admin')));
    data(await proxied.signIn(key));
    // The key is for that site: a page of localhost gets no answer of it.
    const local = new Page(daemon);
    const options = await local.options();
    expect(() => key.get(options, local.origin)).toThrow('NotAllowedError');
    await daemon.restart();
  });
});

describe('a key that an ADMIN issues for a colleague', () => {
  /** Providers by their address: the daemon listens elsewhere after a restart. */
  const providers = new Map<string, string>();
  /** A colleague with an ACTIVE device, and how its key gets into the account. */
  async function colleague(role: 'ADMIN' | 'DEALER' = 'ADMIN') {
    const username = `colleague-${++users}`;
    const { id, token } = await daemon.user(username, role);
    const body = { name: page.origin, type: 'devmgr', address: page.origin };
    const providerId =
      providers.get(page.origin) ?? (data(await daemon.call('POST', '/api/providers', body)).providerId as string);
    providers.set(page.origin, providerId);
    const device = await register(daemon);
    const { deviceId } = data(await daemon.call('POST', '/api/devices/activate', activation(device, username)));
    const credentials = `/api/devices/${deviceId}/credentials`;
    const begin = (as?: string) => daemon.call('POST', credentials, { providerId }, as ? { token: as } : {});
    const finish = (credentialId: string, response: object, as?: string) =>
      daemon.call('POST', `${credentials}/${credentialId}`, { response }, as ? { token: as } : {});
    return { username, id, token, providerId, deviceId, credentials, begin, finish };
  }

  it('signs the colleague in alone, and is among the keys of the account', async () => {
    const { id, deviceId, credentials, begin } = await colleague();
    const begun = data(await begin());
    expect(begun).toMatchObject({ origin: page.origin, options: { attestation: 'none', rp: { id: 'localhost' } } });
    const key = new SoftwareKey();
    const response = key.create(begun.options, page.origin);
    const once = () =>
      daemon.call('POST', `${credentials}/${begun.credentialId}`, { response }, { headers: { 'idempotency-key': id } });
    const finished = data(await once());
    expect(finished).toMatchObject({ credentialId: begun.credentialId, pending: false });
    expect(data(await once())).toEqual(finished);
    expect(data(await page.signIn(key)).user.id).toBe(id);
    const { list } = data(await daemon.call('GET', `/api/users/${id}/passkeys/list`));
    expect(list).toMatchObject([{ name: deviceId, rpId: 'localhost' }]);
    const [added] = (await entries('PASSKEY_ADDED')).slice(-1);
    expect(added).toMatchObject({ user: 'admin', details: { user: id } });
  });

  it('is begun, finished and removed by no DEALER and by no service token, whatever the account', async () => {
    const { credentials, begin, finish } = await colleague();
    const { token: dealer } = await daemon.user(`dealer-${++users}`, 'DEALER');
    const made = { name: `robot-${users}`, role: 'ADMIN', expiresInDays: 1 };
    const { token: robot } = data(await daemon.call('POST', '/api/tokens', made));
    const begun = data(await begin());
    const response = new SoftwareKey().create(begun.options, page.origin);
    for (const token of [dealer, robot]) {
      expect(await begin(token)).toMatchObject({ code: 2007 });
      expect(await finish(begun.credentialId, response, token)).toMatchObject({ code: 2007 });
    }
    data(await finish(begun.credentialId, response));
    const remove = `${credentials}/${begun.credentialId}/remove`;
    for (const token of [dealer, robot])
      expect(await daemon.call('POST', remove, undefined, { token })).toMatchObject({ code: 2007 });
    expect(data(await daemon.call('POST', remove)).removedAt).not.toBeNull();
  });

  it('needs a recent sign-in in the console, and the key of an ADMIN who must sign in with one', async () => {
    const { username, id, token, begin } = await colleague();
    const session = data(await page.login(username)).token as string;
    expect((await begin(session)).code).toBe(200);
    clock.forward(601 * second);
    expect(await begin(session)).toMatchObject({ code: 2007, data: { stepUp: true } });
    data(await page.register(new SoftwareKey(), token));
    expect((await begin(token)).code).toBe(200);
    data(await daemon.call('POST', `/api/users/${id}/require-key`, { required: true }));
    expect(await begin(token)).toMatchObject({ code: 2007 });
  });

  it('is refused without PIN or fingerprint, for another account, and for one that is disabled or does not exist', async () => {
    const { id, providerId, begin, finish, credentials } = await colleague('DEALER');
    const other = await colleague();
    const key = new SoftwareKey();
    const begun = data(await begin());
    const unverified = key.create(begun.options, page.origin, { unverified: true });
    expect(await finish(begun.credentialId, unverified)).toMatchObject({ code: 1001 });
    const theirs = key.create(data(await other.begin()).options, page.origin);
    expect(await finish(data(await begin()).credentialId, theirs)).toMatchObject({ code: 1001 });
    data(await daemon.call('PUT', `/api/users/${id}`, { disabled: true }));
    expect(await begin()).toMatchObject({ code: 1001, message: expect.stringContaining('is disabled') });
    expect(data(await daemon.call('GET', `/api/users/${id}/passkeys/list`)).list).toEqual([]);
    expect(data(await daemon.call('GET', credentials))).toMatchObject([{ createdAt: null }]);
    const device = await register(daemon);
    const { deviceId } = data(await daemon.call('POST', '/api/devices/activate', activation(device, 'stranger')));
    expect(await daemon.call('POST', `/api/devices/${deviceId}/credentials`, { providerId })).toMatchObject({
      code: 1001,
      message: expect.stringContaining('stranger'),
    });
  });

  it('opens nothing after its device is locked, which ends the sessions of the account', async () => {
    const { id, deviceId, begin, finish, credentials } = await colleague();
    const key = new SoftwareKey();
    const begun = data(await begin());
    data(await finish(begun.credentialId, key.create(begun.options, page.origin)));
    const { token } = data(await page.signIn(key));
    data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' }));
    await expect.poll(async () => data(await daemon.call('GET', credentials))[0].removedAt).not.toBeNull();
    expect(await page.signIn(key)).toMatchObject(refused);
    expect(await daemon.call('GET', '/api/users/me', undefined, { token })).toMatchObject({ code: 1004 });
    expect(data(await daemon.call('GET', `/api/users/${id}/passkeys/list`)).list).toEqual([]);
  });

  it.each([
    [{ secret: 'x' }, 'secret'],
    [{ address: 'https://127.0.0.1' }, 'a name'],
    [{ address: 'https://registry.example.com/console' }, 'no path'],
    [{ address: null }, 'address is required'],
  ])('is not issued by a provider with %j', async (change, problem) => {
    const body = { name: 'wrong', type: 'devmgr', address: page.origin, ...change };
    expect(await daemon.call('POST', '/api/providers', body)).toMatchObject({
      code: 1001,
      message: expect.stringContaining(problem),
    });
  });
});
