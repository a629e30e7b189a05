/** Service tokens end with the account of their owner, on every daemon, and another ADMIN can take them over. */
import { describe, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { devmgr } from '../cli/program.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import { activation, data, register } from '../support/fleet.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { openStream } from '../support/stream-client.ts';

const daemon = daemonOfTests();
const lost = { status: 401, code: 1004, message: expect.stringContaining('devmgr tokens adopt') };
let admins = 0;

/** An ADMIN, and a token of that ADMIN. */
async function owner(body: object = {}) {
  const username = `owner-${++admins}`;
  const { id, token: session } = await daemon.user(username, 'ADMIN');
  const given = { name: `of-${username}`, role: 'DEALER', expiresInDays: 30, ...body };
  const made = data(await daemon.call('POST', '/api/tokens', given, { token: session }));
  const set = async (disabled: boolean) => data(await daemon.call('PUT', `/api/users/${id}`, { disabled }));
  const use = () => daemon.call('GET', '/api/devices/list', undefined, { token: made.token });
  const adopt = () => daemon.call('POST', `/api/tokens/${made.tokenId}/adopt`);
  return { id, username, session, ...made, set, use, adopt };
}
const listed = async (tokenId: string) =>
  data(await daemon.call('GET', '/api/tokens/list?size=100')).list.find(
    (item: { tokenId: string }) => item.tokenId === tokenId,
  );

describe('a service token', () => {
  it('is refused while the account of its owner is disabled, from the next request on', async () => {
    const { set, use, token, username, tokenId } = await owner();
    expect(await use()).toMatchObject({ code: 200 });
    await set(true);
    expect(await use()).toMatchObject(lost);
    expect(await use()).toMatchObject(lost);
    const device = { deviceType: 'UKEY', serialNumber: 'LATE-1', manufacturer: 'x', model: 'y' };
    expect(await daemon.call('POST', '/api/devices/register', device, { token })).toMatchObject(lost);
    expect(await listed(tokenId)).toMatchObject({ createdBy: username, owner: username, ownerLost: true });
    await set(false);
    expect(await use()).toMatchObject({ code: 200 });
  });

  it('is refused if the person of its owner has left, also if the account is enabled again, until the person is back', async () => {
    const { id, username, set, use } = await owner();
    const { personId } = data(await daemon.call('POST', '/api/people', { userName: username.toUpperCase() }));
    data(await daemon.call('POST', `/api/people/${personId}/leave`, { reason: 'has left' }));
    await set(true);
    expect(await use()).toMatchObject(lost);
    await set(false);
    expect(data(await daemon.call('GET', '/api/users/list?size=100')).list).toContainEqual(
      expect.objectContaining({ id, disabled: false }),
    );
    expect(await use()).toMatchObject(lost);
    data(await daemon.call('POST', `/api/people/${personId}/return`));
    expect(await use()).toMatchObject({ code: 200 });
  });

  it('has its streams closed with 4401', async () => {
    const { set, token } = await owner();
    const stream = await openStream(daemon.url, { token });
    await set(true);
    expect(await stream.closed).toMatchObject({ code: 4401 });
  });

  it('opens no stream with a code that was made before', async () => {
    const { set, token } = await owner();
    const { code } = data(await daemon.call('POST', '/api/auth/codes', { purpose: 'STREAM' }, { token }));
    await set(true);
    await expect(openStream(daemon.url, { code })).rejects.toThrow();
  });
});

describe('a token that another ADMIN takes over', () => {
  it('is accepted again, with the text that it had', async () => {
    const { set, use, adopt, tokenId, username } = await owner();
    await set(true);
    const { createdAt } = await listed(tokenId);
    expect(data(await adopt())).toMatchObject({ tokenId, owner: 'admin', createdBy: username, createdAt });
    expect(await use()).toMatchObject({ code: 200 });
    expect(data(await adopt())).toMatchObject({ owner: 'admin' });
    expect(await listed(tokenId)).toMatchObject({ owner: 'admin', ownerLost: false, createdBy: username });
  });

  it('ends with the account of that ADMIN from then on', async () => {
    const [first, second] = [await owner(), await owner()];
    const path = `/api/tokens/${first.tokenId}/adopt`;
    data(await daemon.call('POST', path, undefined, { token: second.session }));
    await first.set(true);
    expect(await first.use()).toMatchObject({ code: 200 });
    await second.set(true);
    expect(await first.use()).toMatchObject(lost);
  });

  it('is refused if it is revoked, if it is unknown, and to a service token', async () => {
    const { adopt, tokenId } = await owner();
    const { token } = await owner({ role: 'ADMIN' });
    const path = `/api/tokens/${tokenId}/adopt`;
    expect(await daemon.call('POST', path, undefined, { token })).toMatchObject({ status: 403, code: 2007 });
    data(await daemon.call('POST', `/api/tokens/${tokenId}/revoke`));
    expect(await adopt()).toMatchObject({ status: 400, code: 1001 });
    expect(await daemon.call('POST', '/api/tokens/TOK-999/adopt')).toMatchObject({ status: 404, code: 404 });
  });

  it('leaves a journal that proves its owner', async () => {
    const { adopt } = await owner();
    data(await adopt());
    await register(daemon);
    const run = { home: daemon.home, json: false, device: null, since: null, limit: null, verify: true };
    expect(await runDaemonProgram(audit, run)).toMatchObject({ code: 0 });
  });
});

describe('leaving', () => {
  const allowed = { webhookAllow: ['127.0.0.1'] };
  const registry = daemonOfTests(allowed);
  const call = async (method: string, path: string, body?: object, token?: string) =>
    data(await registry.call(method, path, body, token === undefined ? {} : { token }));

  it('names accounts, tokens and credentials that end, and what continues', async () => {
    const userName = 'mallory';
    const { personId } = await call('POST', '/api/people', { userName });
    const { id, token } = await registry.user('Mallory', 'ADMIN');
    const make = (name: string, role: string, more = {}) =>
      call('POST', '/api/tokens', { name, role, expiresInDays: 1, ...more }, token);
    const [kept, revoked] = [await make('kept', 'ADMIN', { may: ['webhooks'] }), await make('revoked', 'DEALER')];
    await call('POST', `/api/tokens/${revoked.tokenId}/revoke`);
    const hooks = await Promise.all(
      [token, kept.token].map(of => call('POST', '/api/webhooks', { url: 'https://127.0.0.1:9/x' }, of)),
    );
    const webhooks = hooks.map(({ webhookId }) => webhookId).sort();
    const device = await register(registry);
    const { deviceId } = await call('POST', '/api/devices/activate', activation(device, userName));
    const provider = { name: 'accounts', type: 'devmgr', address: `http://localhost:${new URL(registry.url).port}` };
    const { providerId } = await call('POST', '/api/providers', provider);
    const { credentialId } = await call('POST', `/api/devices/${deviceId}/credentials`, { providerId });
    const access = { accounts: [id], tokens: [kept.tokenId], webhooks };
    expect(await call('GET', `/api/people/${personId}/access`)).toEqual(access);
    expect(await call('GET', '/api/people/leftovers')).toEqual({ activeDevices: 0, tokens: 0, webhooks: [] });
    const left = await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' });
    const ended = { locked: [deviceId], accounts: [id], tokens: [kept.tokenId], credentials: [credentialId] };
    expect(left).toEqual({ ...ended, held: [], dueAt: null });
    expect(await call('GET', `/api/people/${personId}/access`)).toEqual(access);
    await call('POST', `/api/devices/${deviceId}/unlock`);
    expect(await call('GET', '/api/people/leftovers')).toEqual({ activeDevices: 1, tokens: 1, webhooks });
    const { stdout } = await devmgr(['doctor', '--server', registry.url], {
      env: { DEVMGR_TOKEN: registry.adminToken },
    });
    expect(stdout).toMatch(new RegExp(`! webhooks +${webhooks.join(' ')}: events are still sent`));
    const metrics = await (await fetch(`${registry.url}/metrics`)).text();
    expect(metrics).toMatch(/^devmgr_leavers_active_devices{.*} 1$/m);
    expect(metrics).toMatch(/^devmgr_leavers_tokens{.*} 1$/m);
    await call('POST', `/api/tokens/${kept.tokenId}/adopt`);
    expect((await call('POST', `/api/people/${personId}/leave`, { reason: 'again' })).locked).toEqual([deviceId]);
    const [ofAccount] = hooks;
    expect(await call('GET', '/api/people/leftovers')).toEqual({
      activeDevices: 0,
      tokens: 0,
      webhooks: [ofAccount.webhookId],
    });
    await call('POST', `/api/webhooks/${ofAccount.webhookId}/disable`);
    expect((await call('GET', '/api/people/leftovers')).webhooks).toEqual([]);
  });

  it('with a delay ends nothing before it is over', async () => {
    const policy = { personsRequired: false, leavers: 'lock' };
    await call('PUT', '/api/policies/people', { ...policy, leaverDelayHours: 1 });
    const { personId } = await call('POST', '/api/people', { userName: 'later' });
    const { token: session } = await registry.user('later', 'ADMIN');
    const body = { name: 'of-later', role: 'DEALER', expiresInDays: 1 };
    const { token } = await call('POST', '/api/tokens', body, session);
    const left = await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' });
    expect(left).toMatchObject({ accounts: [], tokens: [], dueAt: expect.any(String) });
    await call('GET', '/api/devices/list', undefined, token);
    await call('PUT', '/api/policies/people', { ...policy, leaverDelayHours: 0 });
  });

  it('of the last enabled ADMIN ends the tokens, not the account', async () => {
    const { personId } = await call('POST', '/api/people', { userName: 'admin' });
    const { token } = await call('POST', '/api/tokens', { name: 'of-admin', role: 'DEALER', expiresInDays: 1 });
    await call('PUT', '/api/users/USR-3', { disabled: true });
    await call('GET', '/api/devices/list', undefined, token);
    const left = await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' });
    expect(left.accounts).toEqual([]);
    expect(left.tokens).toHaveLength(2);
    expect(await registry.call('GET', '/api/devices/list', undefined, { token })).toMatchObject(lost);
    await call('POST', `/api/people/${personId}/return`);
    await call('GET', '/api/devices/list', undefined, token);
  });
});
