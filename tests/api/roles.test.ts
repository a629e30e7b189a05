/** Permissions: a test for each role and operation, and for requests without a valid token. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RouteShape } from '../../src/contract/define.ts';
import type { RouteName } from '../../src/contract/endpoints.ts';
import { homeFiles } from '../../src/contract/local.ts';
import { routes } from '../../src/contract/routes.ts';
import { accountRoles, roles, type TokenPermission, tokenPermissions } from '../../src/contract/values.ts';
import { Page } from '../support/browser.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, deviceIn, registration } from '../support/fleet.ts';
import { heldDevice, holder, letHoldersIn } from '../support/holder.ts';
import { exampleFaults, isOfValidRequests } from '../support/recorded-examples.ts';
import { type Sent, validRequests } from '../support/requests.ts';
import { serviceToken } from '../support/service-token.ts';
import type { SsoProvider } from '../support/sso-provider.ts';
import { refusedUpgrade } from '../support/stream-client.ts';

let daemon: TestDaemon;
let tokens: Record<string, string>;
beforeAll(async () => {
  daemon = await startTestDaemon({ simulateKeys: 1, webhookAllow: ['127.0.0.1'] });
  tokens = {
    ADMIN: daemon.adminToken,
    DEALER: (await daemon.user('a-dealer', 'DEALER')).token,
    VIEWER: (await daemon.user('a-viewer', 'VIEWER')).token,
    LOCAL: readFileSync(join(daemon.home, homeFiles.localToken), 'utf8').trim(),
  };
});
afterAll(() => daemon?.stop());

/** A request for each operation that is valid except, perhaps, for the role of the caller. */
const requests = validRequests(() => daemon);

/** Operations by the roles that may call them. */
const readers: readonly RouteName[] = [
  'refreshToken',
  'createSignInCode',
  'getSession',
  'listDevices',
  'getDevice',
  'listEvents',
  'getStatistics',
  'exportDevices',
  'listAppVersions',
  'getLatestAppVersion',
  'getAppVersion',
  'downloadAppVersion',
  'listBackups',
  'listCredentials',
  'listReceipts',
  'getReceipt',
  'downloadBackup',
  'getOwnUser',
  'listTrust',
  'showProofPolicy',
  'showSignInPolicy',
  'showPinPolicy',
  'getKeyRegistrationOptions',
  'registerKey',
  'getStepUpOptions',
  'stepUp',
  'showPeoplePolicy',
  'showTerminalLogin',
  'approveTerminalLogin',
];
const changers: readonly RouteName[] = [
  'registerDevice',
  'batchRegisterDevices',
  'activateDevice',
  'lockDevice',
  'unlockDevice',
  'shipDevice',
  'deactivateDevice',
  'updateDevice',
  'generateActivationCode',
  'batchUpdateDevices',
  'recordUsage',
  'createBackup',
  'restoreBackup',
  'createProofChallenge',
  'listPeople',
  'getPerson',
  'submitProof',
  'listProviders',
  'startCredential',
  'finishCredential',
  'storePin',
  'showKeyReset',
  'recordKeyReset',
  'removeCredential',
  'createIdentityChallenge',
  'listIdentityCandidates',
  'bindIdentity',
  'proveIdentity',
  'createReceipt',
  'submitReceipt',
];
const administrators: readonly RouteName[] = [
  'uploadAppVersion',
  'createUser',
  'listUsers',
  'updateUser',
  'setPassword',
  'logoutUser',
  'createToken',
  'listTokens',
  'adoptToken',
  'revokeToken',
  'decide',
  'listSshKeys',
  'judgeProofsAgain',
  'importTrust',
  'removeTrust',
  'setProofPolicy',
  'setSignInPolicy',
  'createPerson',
  'countLeftovers',
  'getPersonAccess',
  'checkPeople',
  'listProvisioning',
  'listCases',
  'showCase',
  'keepCaseItem',
  'closeCase',
  'reportPerson',
  'erasePerson',
  'personLeaves',
  'personReturns',
  'listHeldPeople',
  'listRefusedRequests',
  'listUnmatched',
  'importPeople',
  'matchPeople',
  'undoPeople',
  'comparePeople',
  'releasePeople',
  'setPeoplePolicy',
  'listKeysOfUser',
  'removeKeyOfUser',
  'requireKeyOfUser',
  'allowRegistration',
  'createWebhook',
  'listWebhooks',
  'testWebhook',
  'disableWebhook',
  'enableWebhook',
  'removeWebhook',
  'webhookDeliveries',
  'replayWebhookDelivery',
  'setSso',
  'showSsoSettings',
  'testSso',
  'showDirectory',
  'setDirectory',
  'testDirectory',
  'syncDirectory',
  'createProvider',
  'testProvider',
  'reconcileProvider',
  'setProviderSecret',
  'removeProvider',
  'setPinPolicy',
  'readPin',
];
/** Operations that no service token may call. */
const ofPeople: readonly RouteName[] = [
  'refreshToken',
  'createUser',
  'updateUser',
  'setPassword',
  'logoutUser',
  'createToken',
  'adoptToken',
  'revokeToken',
  'setSignInPolicy',
  'removeKeyOfUser',
  'requireKeyOfUser',
  'allowRegistration',
  'getKeyRegistrationOptions',
  'registerKey',
  'getStepUpOptions',
  'stepUp',
  'showTerminalLogin',
  'approveTerminalLogin',
  'getSession',
  'setSso',
  'showSsoSettings',
  'testSso',
  'showDirectory',
  'setDirectory',
  'testDirectory',
  'syncDirectory',
  'createProvider',
  'testProvider',
  'reconcileProvider',
  'setProviderSecret',
  'removeProvider',
];
/** The value that a service token needs in its `may` for an operation. */
const permissions: Readonly<Partial<Record<RouteName, TokenPermission>>> = {
  createWebhook: 'webhooks',
  listWebhooks: 'webhooks',
  testWebhook: 'webhooks',
  disableWebhook: 'webhooks',
  enableWebhook: 'webhooks',
  removeWebhook: 'webhooks',
  webhookDeliveries: 'webhooks',
  replayWebhookDelivery: 'webhooks',
  decide: 'decide',
  listSshKeys: 'ssh',
  showProofPolicy: 'policies',
  setProofPolicy: 'policies',
  showSignInPolicy: 'policies',
  showPeoplePolicy: 'policies',
  setPeoplePolicy: 'policies',
  showPinPolicy: 'policies',
  setPinPolicy: 'policies',
};
/** Their examples show what a real key answers; the key of these tests is simulated. */
const ofRealKeys: readonly RouteName[] = ['proveKey', 'issueKey', 'identifyKey', 'signReceipt'];
/** Operations of a HOLDER on own keys, and nothing else. */
const ofHolders: readonly RouteName[] = ['listOwnDevices', 'listOwnDeviceEvents', 'reportLost', 'confirmReceived'];
const rows = [
  ...ofHolders.map(operation => ({ operation, allowed: ['HOLDER'] })),
  { operation: 'listKeys' as const, allowed: ['ADMIN', 'DEALER', 'VIEWER', 'LOCAL'] },
  { operation: 'proveKey' as const, allowed: ['ADMIN', 'DEALER', 'LOCAL'] },
  { operation: 'issueKey' as const, allowed: ['ADMIN', 'DEALER', 'LOCAL'] },
  { operation: 'identifyKey' as const, allowed: ['ADMIN', 'DEALER', 'LOCAL'] },
  { operation: 'signReceipt' as const, allowed: ['ADMIN', 'DEALER', 'LOCAL'] },
  ...readers.map(operation => ({ operation, allowed: ['ADMIN', 'DEALER', 'VIEWER'] })),
  ...changers.map(operation => ({ operation, allowed: ['ADMIN', 'DEALER'] })),
  ...administrators.map(operation => ({ operation, allowed: ['ADMIN'] })),
];
const cells = rows.flatMap(({ operation, allowed }) =>
  [...roles, 'LOCAL'].map(role => ({ operation, role, may: allowed.includes(role) ? 'may' : 'may not' })),
);

/** Status and business code; 200 for a download, which has no envelope. */
async function send(operation: RouteName, token: string | null, sent: Sent) {
  const shape: RouteShape = routes[operation];
  const path = sent.path ?? shape.path;
  const options = { token, ...(sent.raw ? { raw: sent.raw } : {}) };
  if (sent.byName && token) return new Page(daemon).call(shape.method, path, sent.body, token);
  if (!shape.raw) return daemon.call(shape.method, path, sent.body, options);
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(daemon.url + path, { method: shape.method, headers });
  if (!response.ok) return daemon.call(shape.method, path, sent.body, options);
  await response.arrayBuffer();
  return { status: response.status, code: 200 };
}

describe('roles', () => {
  it('the table has every operation that requires a token', () => {
    const guarded = Object.entries<RouteShape>(routes).filter(([, { access }]) => typeof access !== 'string');
    expect([...rows.map(({ operation }) => operation), 'streamNotifications'].sort()).toEqual(
      guarded.map(([name]) => name).sort(),
    );
  });

  it('the tables have every role of accounts', () => {
    expect([...roles, 'HOLDER']).toEqual(accountRoles);
  });

  it.each(cells)('$role $may: $operation', async ({ operation, role, may }) => {
    const response = await send(operation, tokens[role]!, await requests[operation]!(tokens[role]));
    expect(response).toMatchObject(
      may === 'may' ? { status: 200, code: 200 } : { status: 403, code: 2007, data: null },
    );
    if (role === 'ADMIN' && isOfValidRequests(operation) && !ofRealKeys.includes(operation))
      expect(exampleFaults(routes[operation], response)).toEqual([]);
  });
});

describe('the role HOLDER', () => {
  let held: TestDaemon;
  let provider: SsoProvider;
  let ada: Awaited<ReturnType<typeof holder>>;
  beforeAll(async () => {
    held = await startTestDaemon({ simulateKeys: 1, webhookAllow: ['127.0.0.1'] });
    provider = await letHoldersIn(held);
    ada = await holder(held, provider, 'ada');
  });
  afterAll(async () => {
    await provider?.stop();
    await held?.stop();
  });
  const requestsOf = validRequests(() => held);

  it.each(rows.filter(({ allowed }) => !allowed.includes('HOLDER')))('may not: $operation', async ({ operation }) => {
    const sent = await requestsOf[operation]!(ada.token);
    const { path = routes[operation].path, body, raw } = sent;
    const options = { token: ada.token, ...(raw ? { raw } : {}) };
    expect(await held.call(routes[operation].method, path, body, options)).toMatchObject({
      status: 403,
      code: 2007,
      data: null,
    });
  });

  it('may not open a stream, send persons, scrape from elsewhere or change their account', async () => {
    const call = (method: string, path: string, body?: object) => held.call(method, path, body, { token: ada.token });
    const { token } = ada;
    expect(await refusedUpgrade(held.url, `/api/ws/notifications?token=${token}`)).toMatchObject({
      status: 403,
      code: 2007,
    });
    const scim = await fetch(`${held.url}/scim/v2/Users`, { headers: { authorization: `Bearer ${token}` } });
    expect(scim.status).toBe(403);
    const headers = { 'x-forwarded-for': '192.0.2.7', authorization: `Bearer ${token}` };
    expect((await fetch(`${held.url}/metrics`, { headers })).status).toBe(403);
    const password = { password: 'another password', oldPassword: adminPassword };
    expect(await call('POST', `/api/users/${ada.user.id}/password`, password)).toMatchObject({ code: 2007 });
    expect(await call('POST', `/api/users/${ada.user.id}/logout`)).toMatchObject({ code: 2007 });
  });

  it('may: the operations on own keys', async () => {
    const call = (method: string, path: string, body?: object) =>
      held.call(method, `/api/me/devices${path}`, body, { token: ada.token });
    const { deviceId } = await heldDevice(held, 'ada');
    data(await held.call('POST', `/api/devices/${deviceId}/shipped`));
    const succeeds = async (operation: RouteName, answer: ReturnType<typeof call>) => {
      expect(await answer).toMatchObject({ code: 200 });
      expect(exampleFaults(routes[operation], await answer)).toEqual([]);
    };
    await succeeds('listOwnDevices', call('GET', ''));
    await succeeds('listOwnDeviceEvents', call('GET', `/${deviceId}/events`));
    await succeeds('confirmReceived', call('POST', `/${deviceId}/received`));
    await succeeds('reportLost', call('POST', `/${deviceId}/lost`, { reason: 'left on a train' }));
  });
});

describe('service tokens', () => {
  const cellsOfTokens = cells
    .filter(({ role }) => role !== 'LOCAL')
    .map(cell => ({ ...cell, may: ofPeople.includes(cell.operation) ? 'may not' : cell.may }))
    .map(cell => (cell.operation === 'decide' || cell.operation === 'listSshKeys' ? { ...cell, may: 'may' } : cell));

  it.each(cellsOfTokens)('of the role $role $may: $operation', async ({ operation, role, may }) => {
    const needed = permissions[operation];
    const { token } = await serviceToken(daemon, { role, may: needed ? [needed] : [] });
    expect(await send(operation, token, await requests[operation]!(token))).toMatchObject(
      may === 'may' ? { status: 200, code: 200 } : { status: 403, code: 2007, data: null },
    );
  });

  const cellsWithout = cellsOfTokens.filter(({ operation, may }) => permissions[operation] && may === 'may');
  it.each(cellsWithout)('of the role $role may not without the permission: $operation', async ({ operation, role }) => {
    const needed = permissions[operation]!;
    for (const may of [undefined, tokenPermissions.filter(permission => permission !== needed)]) {
      const { token } = await serviceToken(daemon, { role, may });
      const sent = await requests[operation]!(token);
      // The body is not looked at.
      const wrong = sent.body ? { ...sent, body: { unknown: 1 } } : sent;
      expect(await send(operation, token, wrong)).toMatchObject({
        status: 403,
        code: 2007,
        data: null,
        message: expect.stringContaining(needed),
      });
    }
  });
});

describe('a service token of the role VIEWER for a door, a host or a provider of persons', () => {
  const read = Object.values<RouteShape>(routes).filter(
    ({ access, tokenMay, websocket }) => Array.isArray(access) && access.includes('VIEWER') && !tokenMay && !websocket,
  );

  it.each(['scim', 'decide', 'ssh', 'record-use'])('with %s reads nothing else', async permission => {
    const { token } = await serviceToken(daemon, { role: 'VIEWER', may: [permission] });
    for (const { id, method, path } of read) {
      const answer = daemon.call(method, path.replaceAll(/\{\w+\}/g, 'DEV-1'), undefined, { token });
      expect(await answer, id).toMatchObject(
        id === 'getOwnUser' ? { code: 200 } : { status: 403, code: 2007, data: null },
      );
    }
    expect(await refusedUpgrade(daemon.url, `/api/ws/notifications?token=${token}`)).toMatchObject({ code: 2007 });
    const headers = { 'x-forwarded-for': '192.0.2.7', authorization: `Bearer ${token}` };
    expect((await fetch(`${daemon.url}/metrics`, { headers })).status).toBe(403);
  });
});

describe('without a valid token', () => {
  it.each(rows)('$operation is refused with 1004, whether the token is missing or invented', async ({ operation }) => {
    const sent = { path: routes[operation].path.replaceAll(/\{\w+\}/g, 'X-1') };
    expect(await send(operation, null, sent)).toMatchObject({ status: 401, code: 1004 });
    expect(await send(operation, 'made.up.token', sent)).toMatchObject({ status: 401, code: 1004 });
  });

  it.each([
    '/api/health',
    '/api/swagger-ui.html',
    '/api/openapi.json',
    '/api/openapi.yaml',
    '/api/postman.json',
    '/metrics',
  ])('%s is open', async path => {
    const response = await fetch(daemon.url + path);
    expect(response.status).toBe(200);
    expect((await response.text()).length).toBeGreaterThan(10);
  });

  it('metrics are open on this machine; from elsewhere they need a token', async () => {
    const scrape = async (token: string | undefined) => {
      const headers = { 'x-forwarded-for': '192.0.2.7', ...(token ? { authorization: `Bearer ${token}` } : {}) };
      return (await fetch(`${daemon.url}/metrics`, { headers })).status;
    };
    expect(await scrape(undefined)).toBe(401);
    expect(await scrape('made.up.token')).toBe(401);
    for (const role of roles) expect(await scrape(tokens[role])).toBe(200);
    expect(await scrape(tokens.LOCAL)).toBe(403);
  });

  it.each([null, 'made.up.token'])('an unknown path is 404 with the token %j', async token => {
    expect(await daemon.call('GET', '/api/no-such-thing', undefined, { token })).toMatchObject({
      status: 404,
      code: 404,
    });
  });
});

describe('a role', () => {
  it('is the current role of the user, not that in the token', async () => {
    const { id, token } = await daemon.user('promoted', 'VIEWER');
    const register = () => daemon.call('POST', '/api/devices/register', registration(), { token });
    expect(await register()).toMatchObject({ code: 2007 });
    data(await daemon.call('PUT', `/api/users/${id}`, { role: 'DEALER' }));
    expect(await register()).toMatchObject({ code: 200 });
  });

  it('VIEWER sees no activation code in the list or in the detail', async () => {
    const { deviceId, activationCode } = await deviceIn('INACTIVE', daemon);
    for (const [role, shown] of [
      ['DEALER', activationCode],
      ['VIEWER', null],
    ] as const) {
      const token = tokens[role]!;
      const detail = data(await daemon.call('GET', `/api/devices/${deviceId}`, undefined, { token }));
      expect(detail.activationCode).toBe(shown);
      const query = `/api/devices/list?keyword=${detail.serialNumber}`;
      expect(data(await daemon.call('GET', query, undefined, { token })).list[0].activationCode).toBe(shown);
    }
  });

  it('DEALER and VIEWER set only their own password, with the old one', async () => {
    const { id, token } = await daemon.user('own-password', 'VIEWER');
    const set = (user: string, body: object) => daemon.call('POST', `/api/users/${user}/password`, body, { token });
    expect(await set('USR-1', { password: 'another password', oldPassword: adminPassword })).toMatchObject({
      code: 2007,
    });
    expect(await set(id, { password: 'another password' })).toMatchObject({ code: 1001 });
    expect(await set(id, { password: 'another password', oldPassword: 'wrong one' })).toMatchObject({ code: 1003 });
    expect(await set(id, { password: 'another password', oldPassword: adminPassword })).toMatchObject({ code: 200 });
    await daemon.login('own-password', 'another password');
  });

  it('DEALER confirms a deactivation with the password of any ADMIN, not with their own', async () => {
    const made = await daemon.call('POST', '/api/users', {
      username: 'dealer-2',
      password: 'the dealers own',
      role: 'DEALER',
    });
    data(made);
    const token = await daemon.login('dealer-2', 'the dealers own');
    const path = `/api/devices/${(await deviceIn('ACTIVE', daemon)).deviceId}/deactivate`;
    const deactivate = (confirmPassword: string) =>
      daemon.call('POST', path, { reason: 'worn out', confirmPassword }, { token });
    expect(await deactivate('the dealers own')).toMatchObject({ status: 403, code: 1003 });
    expect(await deactivate(adminPassword)).toMatchObject({ code: 200 });
  });

  it('ADMIN confirms a deactivation with their own password only, not with that of another ADMIN', async () => {
    data(await daemon.call('POST', '/api/users', { username: 'admin-2', password: 'the second admin', role: 'ADMIN' }));
    const token = await daemon.login('admin-2', 'the second admin');
    const path = `/api/devices/${(await deviceIn('ACTIVE', daemon)).deviceId}/deactivate`;
    const deactivate = (confirmPassword: string) =>
      daemon.call('POST', path, { reason: 'worn out', confirmPassword }, { token });
    expect(await deactivate(adminPassword)).toMatchObject({ status: 403, code: 1003 });
    expect(await deactivate('the second admin')).toMatchObject({ code: 200 });
  });
});
