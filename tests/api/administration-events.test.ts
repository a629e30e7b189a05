/** Changes of administration as events: what an ADMIN sees of them in lists and in the stream, and that others see nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { administrationOf } from '../../daemon/notifications/administration.ts';
import { entryTypes } from '../../daemon/store/journal.ts';
import { messageOf } from '../../daemon/webhooks/messages.ts';
import {
  administrationEvent,
  administrationEventTable,
  administrationEventTypes,
} from '../../src/contract/administration-events.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, form, register } from '../support/fleet.ts';
import { entry } from '../support/journal.ts';
import { serviceToken } from '../support/service-token.ts';
import { openStream } from '../support/stream-client.ts';
import { makeRoot } from '../support/test-pki.ts';

interface Event {
  readonly id: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly actor?: { readonly name: string };
  readonly changes?: readonly object[];
}

/** Texts that no event may have. */
const planted = {
  password: 'planted password 1',
  other: 'planted password 2',
  webhook: 'whsec_cGxhbnRlZC1zZWNyZXQtb2YtYS13ZWJob29rLTEyMzQ=',
  path: 'planted-path-T0000',
  query: 'planted-query',
  provider: 'planted-provider-secret',
  next: 'planted-provider-secret-2',
  sso: 'planted-sso-secret',
  ssoNext: 'planted-sso-secret-2',
  bind: 'planted-bind-password',
  email: 'planted@example.com',
  person: 'planted.person',
};

let daemon: TestDaemon;
let dealer: string;
let viewer: string;
/** Token of a program with the role ADMIN. */
let program: string;
/** Events that the changes have made. */
let made: readonly Event[];
let secrets: readonly string[];
let start: number;

const call = (method: string, path: string, body?: object, token?: string) =>
  daemon.call(method, path, body, token === undefined ? {} : { token });
const ok = async (...given: Parameters<typeof call>) => data(await call(...given));
const events = async (query: string, token?: string): Promise<{ list: Event[]; head: number }> =>
  ok('GET', `/api/events?limit=1000&${query}`, undefined, token);

/** Changes everything that is administration. Returns secrets that responses have shown. */
async function administer(): Promise<string[]> {
  const { id } = await ok('POST', '/api/users', {
    username: 'ops',
    password: planted.password,
    role: 'VIEWER',
    email: planted.email,
  });
  await ok('PUT', `/api/users/${id}`, { role: 'DEALER', email: `x${planted.email}` });
  await ok('PUT', `/api/users/${id}`, { disabled: true, email: null });
  await ok('PUT', `/api/users/${id}`, { disabled: false });
  await ok('POST', `/api/users/${id}/password`, { password: planted.other });
  await ok('POST', `/api/users/${id}/logout`);
  const { token, tokenId } = await ok('POST', '/api/tokens', {
    name: 'line',
    role: 'DEALER',
    expiresInDays: 1,
    allowedFrom: ['10.0.0.0/8'],
  });
  const boss = await daemon.user('boss', 'ADMIN');
  await ok('POST', `/api/tokens/${tokenId}/adopt`, {}, boss.token);
  await ok('POST', `/api/tokens/${tokenId}/revoke`);
  await ok('PUT', '/api/policies/people', { personsRequired: true, leavers: 'lock', leaverDelayHours: 1 });
  await ok('PUT', '/api/policies/people', { personsRequired: false, leavers: 'lock', leaverDelayHours: 0 });
  await ok('PUT', '/api/policies/proof', { requiredGrade: 'model', allowedAaguids: [], leastFirmware: [] });
  await ok('PUT', '/api/policies/proof', { requiredGrade: 'none', allowedAaguids: [], leastFirmware: [] });
  await ok('PUT', '/api/policies/pin', { recipients: [] });
  await ok('PUT', '/api/policies/sign-in', { requireKey: ['VIEWER'] });
  await ok('PUT', '/api/policies/sign-in', { requireKey: [] });
  const hook = await ok('POST', '/api/webhooks', {
    url: `https://hooks.invalid/${planted.path}?token=${planted.query}`,
    types: ['DEVICE_LOCKED'],
    secret: planted.webhook,
  });
  for (const step of ['disable', 'enable', 'remove']) await ok('POST', `/api/webhooks/${hook.webhookId}/${step}`);
  const { providerId } = await ok('POST', '/api/providers', {
    name: 'Okta',
    type: 'okta',
    address: 'https://acme.okta.invalid',
    secret: planted.provider,
  });
  await ok('POST', `/api/providers/${providerId}/secret`, { secret: planted.next });
  await ok('POST', `/api/providers/${providerId}/remove`);
  const sso = { issuer: 'https://login.invalid', clientId: 'devmgr', name: 'Login' };
  await ok('PUT', '/api/sso', { ...sso, clientSecret: planted.sso });
  await ok('PUT', '/api/sso', {
    ...sso,
    clientSecret: planted.ssoNext,
    roles: { ADMIN: ['it'], DEALER: [], VIEWER: [] },
  });
  await ok('PUT', '/api/sso', { enabled: false });
  const directory = { url: 'ldaps://ldap.invalid', base: 'dc=example', bindDn: 'cn=devmgr' };
  await ok('PUT', '/api/directory', { ...directory, bindPassword: planted.bind });
  await ok('PUT', '/api/directory', { enabled: false });
  await ok('POST', '/api/people', { userName: planted.person, email: planted.email });
  const root = { name: 'root.der', content: new Uint8Array(makeRoot('Root').der) };
  const imported = data(await daemon.call('POST', '/api/trust', undefined, { raw: form({}, root) }));
  await ok('POST', `/api/trust/${imported.certificates[0].fingerprint}/remove`);
  return [token, hook.secret, boss.token].filter(Boolean);
}

beforeAll(async () => {
  daemon = await startTestDaemon();
  dealer = (await daemon.user('dealer', 'DEALER')).token;
  viewer = (await daemon.user('viewer', 'VIEWER')).token;
  program = (await serviceToken(daemon, { name: 'siem', role: 'ADMIN' })).token;
  start = (await events('')).head;
  secrets = [...Object.values(planted), ...(await administer())];
  made = (await events(`after=${start}`)).list;
});
afterAll(() => daemon?.stop());

const user = { userId: 'USR-4', username: 'ops' };
const token = { tokenId: 'TOK-2', name: 'line' };
const hook = { webhookId: 'WHK-1', url: 'https://hooks.invalid' };
const change = (field: string, before: string | null, after: string | null) => ({ field, before, after });

describe('the changes of administration', () => {
  it('are events for an ADMIN, each with what it is about and what has changed', () => {
    const shown = made.map(({ type, data: about, changes }) => [type, about, changes]);
    expect(shown).toEqual([
      [
        'USER_CREATED',
        user,
        [change('username', null, 'ops'), change('role', null, 'VIEWER'), change('email', null, 'set')],
      ],
      ['USER_UPDATED', user, [change('role', 'VIEWER', 'DEALER'), change('email', 'set', 'changed')]],
      ['USER_UPDATED', user, [change('email', 'set', null), change('disabled', 'false', 'true')]],
      ['USER_UPDATED', user, [change('disabled', 'true', 'false')]],
      ['USER_PASSWORD_CHANGED', user, [change('password', null, 'changed')]],
      ['USER_LOGGED_OUT', user, []],
      [
        'TOKEN_CREATED',
        token,
        [
          change('name', null, 'line'),
          change('role', null, 'DEALER'),
          change('expiresAt', null, expect.stringMatching(/^\d{4}-.*Z$/)),
          change('allowedFrom', null, '10.0.0.0/8'),
          change('may', null, null),
          change('owner', null, 'USR-1'),
        ],
      ],
      ['USER_CREATED', { userId: 'USR-5', username: 'boss' }, expect.anything()],
      ['TOKEN_ADOPTED', token, [change('owner', 'USR-1', 'USR-5')]],
      ['TOKEN_REVOKED', token, [change('revoked', 'false', 'true')]],
      [
        'POLICY_SET',
        { policy: 'people' },
        [change('personsRequired', 'false', 'true'), change('leaverDelayHours', '0', '1')],
      ],
      [
        'POLICY_SET',
        { policy: 'people' },
        [change('personsRequired', 'true', 'false'), change('leaverDelayHours', '1', '0')],
      ],
      ['POLICY_SET', { policy: 'proof' }, [change('requiredGrade', 'none', 'model')]],
      ['POLICY_SET', { policy: 'proof' }, [change('requiredGrade', 'model', 'none')]],
      ['POLICY_SET', { policy: 'pin' }, []],
      ['POLICY_SET', { policy: 'sign-in' }, [change('requireKey', null, 'VIEWER')]],
      ['POLICY_SET', { policy: 'sign-in' }, [change('requireKey', 'VIEWER', null)]],
      ['WEBHOOK_CREATED', hook, [change('url', null, hook.url), change('types', null, 'DEVICE_LOCKED')]],
      ['WEBHOOK_DISABLED', hook, [change('enabled', 'true', 'false'), change('reason', null, expect.any(String))]],
      ['WEBHOOK_ENABLED', hook, [change('enabled', 'false', 'true')]],
      ['WEBHOOK_REMOVED', hook, [change('url', hook.url, null)]],
      [
        'PROVIDER_ADDED',
        { providerId: 'IDP-1', name: 'Okta' },
        [
          change('name', null, 'Okta'),
          change('type', null, 'okta'),
          change('address', null, 'https://acme.okta.invalid'),
        ],
      ],
      ['PROVIDER_SECRET_SET', { providerId: 'IDP-1', name: 'Okta' }, [change('secret', null, 'changed')]],
      [
        'PROVIDER_REMOVED',
        { providerId: 'IDP-1', name: 'Okta' },
        expect.arrayContaining([change('name', 'Okta', null)]),
      ],
      [
        'SSO_SET',
        {},
        expect.arrayContaining([change('enabled', 'false', 'true'), change('issuer', null, 'https://login.invalid')]),
      ],
      ['SSO_SESSIONS_ENDED', {}, [change('enabled', null, 'changed')]],
      ['SSO_SET', {}, [change('secret', null, 'changed'), change('roles.ADMIN', null, 'it')]],
      ['SSO_SESSIONS_ENDED', {}, [change('roles', null, 'changed')]],
      ['SSO_SET', {}, expect.arrayContaining([change('enabled', 'true', 'false'), change('clientId', 'devmgr', null)])],
      ['SSO_SESSIONS_ENDED', {}, [change('enabled', null, 'changed')]],
      ['DIRECTORY_SET', {}, expect.arrayContaining([change('url', null, 'ldaps://ldap.invalid')])],
      ['DIRECTORY_SET', {}, expect.arrayContaining([change('enabled', 'true', 'false')])],
      ['PERSON_ADDED', { personId: 'PER-1', source: 'local' }, [change('source', null, 'local')]],
      [
        'SETTINGS_SET',
        { setting: 'trust' },
        [change('certificates', null, expect.stringMatching(/^[0-9a-f]{64} scp11b anchor$/))],
      ],
      ['SETTINGS_REMOVED', { setting: 'trust' }, [change('fingerprint', expect.any(String), null)]],
    ]);
  });

  it('have the actor, and are found by the actor', async () => {
    expect(new Set(made.map(({ actor }) => actor?.name))).toEqual(new Set(['admin', 'boss']));
    const { list } = await events(`after=${start}&actor=boss`);
    expect(list.map(({ type }) => type)).toEqual(['TOKEN_ADOPTED']);
  });

  it('have no secret: neither in lists nor in the stream, nor in the log', async () => {
    const stream = await openStream(daemon.url, { token: daemon.adminToken, since: 0 });
    await stream.untilSome(({ type }) => type === 'SETTINGS_REMOVED');
    const all = (await events('')).list;
    expect(stream.frames).toEqual(all);
    const texts = [JSON.stringify(all), JSON.stringify(stream.frames), daemon.logged()];
    for (const text of texts) for (const secret of secrets) expect(text).not.toContain(secret);
    expect(JSON.stringify(all)).not.toMatch(/digest|sha256|sealed|scrypt|argon/i);
    stream.ws.terminate();
  });

  it('are selected by type, in both directions, page by page', async () => {
    const ids = async (query: string) => (await events(query)).list.map(({ id }) => id);
    const policies = made.filter(({ type }) => type === 'POLICY_SET').map(({ id }) => id);
    expect(await ids('types=POLICY_SET')).toEqual(policies);
    expect(await ids(`types=POLICY_SET&before=${policies.at(-1)}`)).toEqual(policies.slice(0, -1).toReversed());
    const { list } = await ok('GET', `/api/events?types=POLICY_SET,SSO_SET&after=${policies[1]}&limit=2`);
    expect(list.map(({ id }: Event) => id)).toEqual(policies.slice(2, 4));
  });

  it('are events for a service token of the role ADMIN', async () => {
    expect((await events(`after=${start}`, program)).list).toEqual(made);
  });
});

describe.each(['DEALER', 'VIEWER'] as const)('for a %s', role => {
  const own = () => (role === 'DEALER' ? dealer : viewer);

  it('no change of administration is in a list or counts for its head', async () => {
    const { list, head } = await events('', own());
    expect(list.filter(({ type }) => type !== 'DEVICE_REGISTERED')).toEqual([]);
    expect(head).toBe(list.at(-1)?.id ?? 0);
    expect(await events(`before=${made.at(-1)!.id + 1}`, own())).toEqual({ list: [], head });
  });

  it('each type is an unknown one, in lists and at the upgrade', async () => {
    for (const path of ['events', 'ws/notifications']) {
      const refused = async (type: string) => {
        const { status, code, message } = await call('GET', `/api/${path}?types=${type}`, undefined, own());
        return { status, code, message: message.replaceAll(type, 'TYPE') };
      };
      const unknown = await refused('NO_SUCH_TYPE');
      expect(unknown.code).toBe(1001);
      for (const type of administrationEventTypes) expect(await refused(type)).toEqual(unknown);
    }
  });

  it('none is in a stream, neither from the journal nor live', async () => {
    const stream = await openStream(daemon.url, { token: own(), since: 0 });
    await serviceToken(daemon);
    const { deviceId } = await register(daemon);
    await stream.untilSome(frame => frame.data.deviceId === deviceId);
    expect(new Set(stream.frames.map(({ type }) => type))).toEqual(new Set(['DEVICE_REGISTERED']));
    stream.ws.terminate();
  });
});

it('a stream no longer has them after its ADMIN became a DEALER, and has them after a DEALER became an ADMIN', async () => {
  const { id, token: own } = await daemon.user('changing', 'DEALER');
  const stream = await openStream(daemon.url, { token: own });
  const next = async () => {
    const seen = stream.frames.length;
    await serviceToken(daemon);
    const { deviceId } = await register(daemon);
    await stream.untilSome(frame => frame.data.deviceId === deviceId);
    return stream.frames.slice(seen).some(({ type }) => type === 'TOKEN_CREATED');
  };
  expect(await next()).toBe(false);
  await ok('PUT', `/api/users/${id}`, { role: 'ADMIN' });
  await expect.poll(next).toBe(true);
  await ok('PUT', `/api/users/${id}`, { role: 'VIEWER' });
  await expect.poll(next).toBe(false);
  stream.ws.terminate();
});

it('a stream of certain types of administration catches up with those alone', async () => {
  const stream = await openStream(daemon.url, {
    token: daemon.adminToken,
    since: start,
    types: 'WEBHOOK_REMOVED,SSO_SET',
  });
  await stream.until(4);
  expect(stream.frames.map(({ type }) => type)).toEqual(['WEBHOOK_REMOVED', 'SSO_SET', 'SSO_SET', 'SSO_SET']);
  stream.ws.terminate();
});

describe('entries of earlier versions', () => {
  const event = (type: string, detail: object, subject: number | null = null) =>
    administrationOf({ ...entry(1), type: type as never, device: null, subject, data: {}, detail: detail as never });

  it('are shown with what they have', () => {
    expect(event('USER_UPDATED', { after: { role: 'ADMIN', email: null } }, 3)).toMatchObject({
      data: { userId: 'USR-3', username: null },
      changes: [change('role', null, 'ADMIN'), change('email', null, null)],
    });
    expect(event('PASSKEY_REMOVED', { user: 'USR-3', name: 'blue' }, 9)).toMatchObject({
      type: 'USER_KEY_REMOVED',
      data: { userId: 'USR-3', username: null, name: 'blue' },
    });
    expect(event('SIGN_IN_POLICY_SET', { user: 'USR-3', exempt: true, until: 0 })).toMatchObject({
      changes: [
        change('user', null, 'USR-3'),
        change('exempt', null, 'true'),
        change('until', null, '1970-01-01T00:00:00.000Z'),
      ],
    });
    expect(event('PERSON_UPDATED', { fields: ['email'], personDigest: 'x' }, 2)).toMatchObject({
      data: { personId: 'PER-2' },
      changes: [change('email', null, 'changed')],
    });
  });

  it('cut a long value', () => {
    expect(event('PEOPLE_POLICY_SET', { before: null, after: { leavers: 'x'.repeat(201) } })).toMatchObject({
      changes: [change('enabled', 'false', 'true'), change('leavers', null, `${'x'.repeat(200)}…`)],
    });
  });
});

it('every row has entries of the journal, and no entry has two rows', () => {
  const used = administrationEventTypes.flatMap(type =>
    Object.keys(administrationEvent(type)!.entries ?? { [type]: {} }),
  );
  expect(entryTypes).toEqual(expect.arrayContaining(used));
  expect(new Set(used).size).toBe(used.length);
  expect(Object.keys(administrationEventTable)).toEqual(administrationEventTypes);
});

it('webhooks do not carry them', () => {
  for (const type of entryTypes.filter(name => administrationEvent(name)))
    expect(messageOf('registry', { ...entry(1), type })).toBeNull();
});
