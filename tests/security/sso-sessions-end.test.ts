/** A change of single sign-on that decides who signs in ends its sessions with that request, without a check at the provider. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clockOfTests, daemonOfTests } from '../support/daemon-tests.ts';
import { data, registration } from '../support/fleet.ts';
import { Browser, clientSecret, type SsoProvider, setUp, startSsoProvider } from '../support/sso-provider.ts';
import { openStream } from '../support/stream-client.ts';

clockOfTests();
const daemon = daemonOfTests();
let provider: SsoProvider;
beforeAll(async () => {
  provider = await startSsoProvider({ daemons: [daemon.url] });
});
afterAll(() => provider?.stop());
beforeEach(async () => {
  provider.alter = null;
  provider.people.set('s-ana', { name: 'ana', groups: ['keys-admins'] });
  await setUp(daemon, provider);
});

const off = async () => void data(await daemon.call('PUT', '/api/sso', { enabled: false }));
const roles = { ADMIN: ['keys-admins', 'others'], DEALER: [], VIEWER: [] };
const call = (path: string, token: string, body?: object) => daemon.call(body ? 'POST' : 'GET', path, body, { token });
const open = (path: string, body: object) => daemon.call('POST', path, body, { token: null });

const changes: Record<string, () => Promise<unknown>> = {
  'turned off': off,
  'turned off and on again': async () => {
    await off();
    await setUp(daemon, provider);
  },
  'given another client': () => setUp(daemon, provider, { clientId: 'another' }),
  'given another issuer': () => setUp(daemon, provider, { issuer: provider.issuer.replace('127.0.0.1', 'localhost') }),
  'given other roles': () => setUp(daemon, provider, { roles }),
  'given another claim with the groups': () => setUp(daemon, provider, { groupsClaim: 'memberships' }),
};

describe.each(Object.entries(changes))('if single sign-on is %s', (_what, change) => {
  it('its sessions get 1004 from then on, and what came from them opens none', async () => {
    const { token } = await new Browser().signIn(daemon, 's-ana');
    const renewed = data(await call('/api/auth/refresh', token, {})).token;
    const terminal = data(await open('/api/auth/terminal', { name: 'ana@desk' }));
    data(await call('/api/auth/terminal/approve', token, { userCode: terminal.userCode }));
    const { code } = data(await call('/api/auth/codes', token, { purpose: 'SESSION' }));
    const stream = await openStream(daemon.url, { token });
    const bystander = await openStream(daemon.url, { token: daemon.adminToken });
    await change();
    for (const each of [token, renewed]) {
      expect(await call('/api/auth/session', each)).toMatchObject({ status: 401, code: 1004 });
      expect((await call('/api/auth/refresh', each, {})).code).toBe(1004);
      expect((await call('/api/devices/register', each, registration())).code).toBe(1004);
    }
    expect((await open('/api/auth/exchange', { code })).code).toBe(1004);
    const { requestId, secret } = terminal;
    expect((await open('/api/auth/terminal/token', { requestId, secret })).code).toBe(1004);
    expect((await stream.closed).code).toBe(4401);
    expect(bystander.ws.readyState).toBe(bystander.ws.OPEN);
    bystander.ws.terminate();
  });
});

it('other changes of the settings end no session', async () => {
  const reversed = { ADMIN: ['others', 'keys-admins'], DEALER: [], VIEWER: [] };
  await setUp(daemon, provider, { roles });
  const { token } = await new Browser().signIn(daemon, 's-ana');
  const stream = await openStream(daemon.url, { token });
  await setUp(daemon, provider, { roles: reversed, name: 'Another name', clientSecret, scopes: ['profile', 'groups'] });
  expect((await call('/api/auth/session', token)).code).toBe(200);
  expect(stream.ws.readyState).toBe(stream.ws.OPEN);
  stream.ws.terminate();
});

it('a sign-in that the provider answers during the change opens no session and gives no role', async () => {
  await new Browser().signIn(daemon, 's-ana');
  provider.people.set('s-ana', { name: 'ana', groups: ['keys-desk'] });
  provider.alter = async () => {
    provider.alter = null;
    await setUp(daemon, provider, { roles });
  };
  expect(await new Browser().signIn(daemon, 's-ana')).toMatchObject({ problem: 'state', token: '' });
  const { list } = data(await daemon.call('GET', '/api/users/list?size=100'));
  expect(list.find(({ username }: { username: string }) => username === 'ana').role).toBe('ADMIN');
});

it('a change removes the sealed tokens of the sessions that it ends, and leaves those of others', async () => {
  await new Browser().signIn(daemon, 's-ana');
  const sealed = () => {
    const database = new DatabaseSync(join(daemon.home, 'devmgr.db'), { readOnly: true });
    const rows = database.prepare('SELECT * FROM sso_session').all();
    database.close();
    return JSON.stringify(rows).includes('sealed');
  };
  await setUp(daemon, provider, { name: 'Another name' });
  expect(sealed()).toBe(true);
  await off();
  await expect.poll(sealed).toBe(false);
});
