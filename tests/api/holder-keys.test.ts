/** People with the role HOLDER who sign in with their key alone, without the provider: who can, who cannot, and when it ends. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CredentialRemovals } from '../../daemon/issuing/work.ts';
import { AccessJournal } from '../../daemon/requests/access-journal.ts';
import { SsoAccounts } from '../../daemon/single-sign-on/accounts.ts';
import { HolderKeys } from '../../daemon/single-sign-on/holder-keys.ts';
import { Page } from '../support/browser.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data } from '../support/fleet.ts';
import { heldDevice, holder, letHoldersIn } from '../support/holder.ts';
import { answering } from '../support/http-servers.ts';
import { SoftwareKey } from '../support/software-key.ts';
import {
  Browser,
  logoutTokenOf,
  type SsoProvider,
  sendClaims,
  setUp,
  startSsoProvider,
} from '../support/sso-provider.ts';

const notAccepted = { status: 401, code: 1004, message: 'the security key was not accepted', data: null };
const elsewhere = {
  ...{ status: 403, code: 2007, data: null },
  message: 'this account signs in at the provider of single sign-on',
};
const ended = { status: 401, code: 1004, data: null };

let daemon: TestDaemon;
let provider: SsoProvider;
let page: Page;
let providerId: string;
beforeAll(async () => {
  // Removed credentials refuse a key as well: what is tested here must hold before that.
  vi.spyOn(CredentialRemovals.prototype, 'look').mockResolvedValue(false);
  daemon = await startTestDaemon({ trustProxy: ['127.0.0.1/32'] });
  provider = await letHoldersIn(daemon);
  page = new Page(daemon);
  const accounts = { name: 'accounts', type: 'devmgr', address: page.origin };
  ({ providerId } = data(await daemon.call('POST', '/api/providers', accounts)));
});
afterAll(async () => {
  vi.restoreAllMocks();
  await provider?.stop();
  await daemon?.stop();
});

const post = (path: string, body: object = {}) => daemon.call('POST', path, body).then(data);

/** Issues a key that signs in to the account of its person. */
async function issued(deviceId: string): Promise<SoftwareKey> {
  const path = `/api/devices/${deviceId}/credentials`;
  const begun = await post(path, { providerId });
  const key = new SoftwareKey();
  await post(`${path}/${begun.credentialId}`, { response: key.create(begun.options, page.origin) });
  return key;
}

/** A person who has signed in once at the provider, with a key that signs in here. */
async function withKey(name: string) {
  const person = await holder(daemon, provider, name);
  const { deviceId } = await heldDevice(daemon, name);
  return { ...person, deviceId, key: await issued(deviceId) };
}

const tokenOf = async (key: SoftwareKey): Promise<string> => data(await page.signIn(key)).token;
const own = (token: string) => daemon.call('GET', '/api/me/devices', undefined, { token });
const atProvider = (name: string) => new Browser().signIn(daemon, `s-${name}`);

describe('a HOLDER who signs in with the key alone', () => {
  it('sees own keys and nothing else', async () => {
    const { deviceId, key, user } = await withKey('ada');
    await heldDevice(daemon, 'someone.else');
    const signed = data(await page.signIn(key));
    expect(signed.user).toEqual(user);
    expect(data(await own(signed.token)).list).toMatchObject([{ deviceId, signsInAt: ['accounts'] }]);
    for (const path of ['/api/devices/list', '/api/users/me', '/api/auth/session'])
      expect(await daemon.call('GET', path, undefined, { token: signed.token })).toMatchObject({ code: 2007 });
    for (const path of ['/api/auth/refresh', '/api/auth/codes', '/api/auth/webauthn/register/options'])
      expect(await daemon.call('POST', path, {}, { token: signed.token }), path).toMatchObject({ code: 2007 });
  });

  it('needs the PIN, and a key that is registered', async () => {
    const { key } = await withKey('bea');
    expect(await page.signIn(key, { unverified: true })).toMatchObject(notAccepted);
    const stranger = new SoftwareKey();
    stranger.create({ challenge: 'AAAA', rp: { id: 'localhost' }, user: { id: 'AAAA' } }, page.origin);
    expect(await page.signIn(stranger)).toMatchObject(notAccepted);
    expect(await page.signIn(key)).toMatchObject({ code: 200 });
  });

  it('is not let in with a locked key, and the lock ends the session, before the credential is removed', async () => {
    const { deviceId, key } = await withKey('cid');
    const token = await tokenOf(key);
    await post(`/api/devices/${deviceId}/lock`, { reason: 'audit' });
    const recorded = vi.spyOn(AccessJournal.prototype, 'record');
    expect(await page.signIn(key)).toMatchObject(elsewhere);
    const detail = { method: 'key', reason: 'local sign-in not allowed' };
    expect(recorded.mock.calls).toEqual([[expect.objectContaining({ type: 'LOGIN_FAILED', account: 'cid', detail })]]);
    recorded.mockRestore();
    expect(await own(token)).toMatchObject(ended);
  });

  it('is not let in with a key that is locked while it signs in', async () => {
    const { deviceId, key } = await withKey('dan');
    const { commit } = SsoAccounts.prototype;
    const spy = vi.spyOn(SsoAccounts.prototype, 'commit').mockImplementationOnce(async function (
      this: SsoAccounts,
      ...to
    ) {
      await post(`/api/devices/${deviceId}/lock`, { reason: 'audit' });
      return commit.apply(this, to);
    });
    expect(await page.signIn(key)).toMatchObject(elsewhere);
    expect(spy).toHaveBeenCalledOnce();
    spy.mockRestore();
  });

  it('loses the session by reporting the key lost, which the report of another key does not do', async () => {
    const { deviceId, key } = await withKey('eve');
    const other = await heldDevice(daemon, 'eve');
    const token = await tokenOf(key);
    const lost = (id: string) => daemon.call('POST', `/api/me/devices/${id}/lost`, { reason: 'x' }, { token });
    data(await lost(other.deviceId));
    data(await own(token));
    data(await lost(deviceId));
    expect(await own(token)).toMatchObject(ended);
  });

  it('is not let in with a key that belongs to someone else now', async () => {
    const { personId } = await holder(daemon, provider, 'fay');
    const { deviceId } = await heldDevice(daemon, 'an earlier name');
    const from = new Date().toISOString();
    await post('/api/people/match', { matches: [{ deviceId, personId }] });
    const key = await issued(deviceId);
    const token = await tokenOf(key);
    data(await own(token));
    await post('/api/people/undo', { actor: 'admin', from });
    expect(await page.signIn(key)).toMatchObject(elsewhere);
    expect(await own(token)).toMatchObject(ended);
  });

  it('is not let in after leaving, or after the key was removed', async () => {
    const { key, personId } = await withKey('gil');
    const token = await tokenOf(key);
    await post(`/api/people/${personId}/leave`, { reason: 'left' });
    expect(await page.signIn(key)).toMatchObject(notAccepted);
    expect(await own(token)).toMatchObject(ended);
    const { user, key: removed } = await withKey('hal');
    const before = await tokenOf(removed);
    const keys = `/api/users/${user.id}/passkeys`;
    const [{ passkeyId }] = data(await daemon.call('GET', `${keys}/list`)).list;
    await post(`${keys}/${passkeyId}/remove`);
    expect(await page.signIn(removed)).toMatchObject(notAccepted);
    expect(await own(before)).toMatchObject(ended);
  });

  it('opens nothing of a role that the groups give: that needs the provider', async () => {
    const { key } = await withKey('ida');
    const token = await tokenOf(key);
    for (const [group, role] of [
      ['keys-readers', 'VIEWER'],
      ['keys-admins', 'ADMIN'],
    ] as const) {
      provider.people.set('s-ida', { name: 'ida', groups: [group] });
      expect((await atProvider('ida')).user).toMatchObject({ role });
      for (const path of ['/api/devices/list', '/api/me/devices'])
        expect(await daemon.call('GET', path, undefined, { token })).toMatchObject(ended);
      expect(await page.signIn(key)).toMatchObject(elsewhere);
    }
    // Also if the role changes between the check of the session and the read of the account.
    const check = vi.spyOn(HolderKeys.prototype, 'check').mockResolvedValue();
    expect(await own(token)).toMatchObject(ended);
    expect(check).toHaveBeenCalled();
    check.mockRestore();
  });

  it('is not let in with a key that the account has registered itself in an earlier role', async () => {
    data(await daemon.call('POST', '/api/people', { userName: 'mia' }));
    provider.people.set('s-mia', { name: 'mia', groups: ['keys-readers'] });
    const key = new SoftwareKey();
    data(await page.register(key, (await atProvider('mia')).token));
    expect(await page.signIn(key)).toMatchObject(elsewhere);
    provider.people.set('s-mia', { name: 'mia', groups: [] });
    expect((await atProvider('mia')).user).toMatchObject({ role: 'HOLDER' });
    expect(await page.signIn(key)).toMatchObject(elsewhere);
  });

  it('is not let in with an own key whose id another provider has for a credential of the device', async () => {
    data(await daemon.call('POST', '/api/people', { userName: 'nia' }));
    provider.people.set('s-nia', { name: 'nia', groups: ['keys-desk'] });
    const { token } = await atProvider('nia');
    const key = new SoftwareKey();
    data(await page.register(key, token));
    const { deviceId } = await heldDevice(daemon, 'nia');
    const options = {
      challenge: 'A'.repeat(43),
      rp: { id: 'a.example', name: 'a' },
      user: { id: 'AAAA', name: 'nia' },
    };
    const { url } = await answering((_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ origin: 'https://a.example', options })),
    );
    const addresses = { address: url, finishAddress: url, removeAddress: url };
    const server = await post('/api/providers', { name: 'server', type: 'webauthn', secret: 's', ...addresses });
    const path = `/api/devices/${deviceId}/credentials`;
    const begun = data(await daemon.call('POST', path, { providerId: server.providerId }, { token }));
    const { id } = key.get(await page.options(), page.origin);
    const made = new SoftwareKey().create(begun.options, begun.origin);
    const object = Buffer.from(made.response.attestationObject, 'base64url');
    object.set(Buffer.from(id, 'base64url'), object.indexOf(Buffer.from(made.id, 'base64url')));
    const answered = { ...made.response, attestationObject: object.toString('base64url') };
    const response = { ...made, id, rawId: id, response: answered };
    data(await daemon.call('POST', `${path}/${begun.credentialId}`, { response }, { token }));
    provider.people.set('s-nia', { name: 'nia', groups: [] });
    const signed = await atProvider('nia');
    expect(signed.user).toMatchObject({ role: 'HOLDER' });
    expect(await page.signIn(key)).toMatchObject(elsewhere);
    await post(`/api/devices/${deviceId}/shipped`);
    const received = `/api/me/devices/${deviceId}/received`;
    expect(data(await page.call('POST', received, {}, signed.token!))).toMatchObject({ browser: null });
  });

  it('is not let in with an account that has given way to another one, until it signs in at the provider again', async () => {
    const { key, user } = await withKey('oda');
    const disable = async (disabled: boolean) => data(await daemon.call('PUT', `/api/users/${user.id}`, { disabled }));
    await disable(true);
    provider.people.set('s-oda2', { name: 'oda', groups: [] });
    expect((await atProvider('oda2')).user).toMatchObject({ role: 'HOLDER' });
    await disable(false);
    expect(await page.signIn(key)).toMatchObject(elsewhere);
    expect((await atProvider('oda')).user).toMatchObject({ id: user.id });
    data(await own(await tokenOf(key)));
  });

  it('is not let in with an account of an earlier provider', async () => {
    const { key } = await withKey('pia');
    const other = await startSsoProvider({ daemons: [daemon.url] });
    await setUp(daemon, other, { holders: true });
    expect(await page.signIn(key)).toMatchObject(elsewhere);
    await setUp(daemon, provider, { holders: true });
    data(await own(await tokenOf(key)));
    await other.stop();
  });

  it('is logged out by the provider as well', async () => {
    const { key } = await withKey('jan');
    const token = await tokenOf(key);
    await provider.logout('s-jan');
    expect(await own(token)).toMatchObject(ended);
  });

  it('is logged out by a logout that names only the session at the provider', async () => {
    const { key } = await withKey('jon');
    const other = await withKey('jil');
    sendClaims(provider, { sid: 'session of jon' });
    await atProvider('jon');
    provider.alter = null;
    const [token, others] = [await tokenOf(key), await tokenOf(other.key)];
    const logout = { logout_token: await logoutTokenOf(provider, 'session of jon') };
    expect(await daemon.call('POST', '/api/auth/sso/logout', logout, { token: null })).toMatchObject({ code: 200 });
    expect(await own(token)).toMatchObject(ended);
    data(await own(others));
  });

  it('confirms the arrival of a key with this key, and with no other one', async () => {
    const { deviceId, key } = await withKey('ned');
    const second = await heldDevice(daemon, 'ned');
    const token = await tokenOf(key);
    const keys = { [deviceId]: key, [second.deviceId]: await issued(second.deviceId) };
    for (const [id, other] of [
      [deviceId, second.deviceId],
      [second.deviceId, deviceId],
    ] as const) {
      await post(`/api/devices/${id}/shipped`);
      const received = (body: object) => page.call('POST', `/api/me/devices/${id}/received`, body, token);
      const { receiptId, text, challenge, browser } = data(await received({}));
      const sign = (one: SoftwareKey) => {
        const answer = one.get({ challenge, rpId: browser.relyingParty }, page.origin);
        const { authenticatorData, signature, clientDataJSON: clientData } = answer.response;
        return { receiptId, text, credentialId: answer.id, authenticatorData, signature, clientData };
      };
      expect(await received(sign(keys[other]!))).toMatchObject({ code: 1001 });
      data(await received(sign(keys[id]!)));
    }
  });

  it('is bound by the limits of sign-ins without the provider, and its session ends when they exclude it', async () => {
    const { key } = await withKey('kim');
    const limited = (localAccounts: object) => setUp(daemon, provider, { holders: true, localAccounts });
    const token = await tokenOf(key);
    const elsewhere = data(await new Page(daemon, { headers: { 'x-forwarded-for': '203.0.113.7' } }).signIn(key)).token;
    await limited({ from: 'LOOPBACK', names: null });
    data(await own(token));
    expect(await own(elsewhere)).toMatchObject(ended);
    await limited({ from: 'ANYWHERE', names: ['admin'] });
    expect(await page.signIn(key)).toMatchObject({ status: 403, code: 2007, data: null });
    expect(await own(token)).toMatchObject(ended);
    await limited({ from: 'ANYWHERE', names: null });
    expect(await page.signIn(key)).toMatchObject({ code: 200 });
  });

  it('is let in only while holders are', async () => {
    const { key } = await withKey('lea');
    const token = await tokenOf(key);
    await setUp(daemon, provider, { holders: false });
    expect(await own(token)).toMatchObject(ended);
    expect(await page.signIn(key)).toMatchObject(elsewhere);
    await setUp(daemon, provider, { holders: true });
    expect(await own(token)).toMatchObject(ended);
    data(await own(await tokenOf(key)));
  });
});
