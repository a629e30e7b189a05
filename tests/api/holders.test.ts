/** People who hold keys and sign in by single sign-on: what the role HOLDER sees and does, and what it does not. */
import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkReceipt } from '../../src/contract/receipts/check.ts';
import type { Receipt } from '../../src/contract/receipts.ts';
import { Page } from '../support/browser.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data } from '../support/fleet.ts';
import { heldDevice, holder, letHoldersIn } from '../support/holder.ts';
import { ReceiptKey, trustReceiptKeys } from '../support/receipt-key.ts';
import { SoftwareKey } from '../support/software-key.ts';
import { Browser, type SsoProvider, setUp } from '../support/sso-provider.ts';
import { openStream } from '../support/stream-client.ts';

let daemon: TestDaemon;
let provider: SsoProvider;
let ada: Awaited<ReturnType<typeof holder>>;
let bob: typeof ada;
beforeAll(async () => {
  daemon = await startTestDaemon();
  provider = await letHoldersIn(daemon);
  await trustReceiptKeys(daemon);
  ada = await holder(daemon, provider, 'ada.lovelace');
  bob = await holder(daemon, provider, 'bob.secret');
});
afterAll(async () => {
  await provider?.stop();
  await daemon?.stop();
});

const as = ({ token }: { readonly token: string }, method: string, path: string, body?: object, key?: string) =>
  daemon.call(method, `/api/me/devices${path}`, body, { token, headers: key ? { 'idempotency-key': key } : {} });
const own = async (who: typeof ada) => data(await as(who, 'GET', '')).list;
const detail = async (deviceId: string) => data(await daemon.call('GET', `/api/devices/${deviceId}`));
const eventsOf = async (deviceId: string) => data(await daemon.call('GET', `/api/events?deviceId=${deviceId}`)).list;
const match = async (deviceId: string, { personId }: { readonly personId: string }) =>
  data(await daemon.call('POST', '/api/people/match', { matches: [{ deviceId, personId }] }));
const undo = async (from: string) => data(await daemon.call('POST', '/api/people/undo', { actor: 'admin', from }));
const ship = (deviceId: string, options = {}) =>
  daemon.call('POST', `/api/devices/${deviceId}/shipped`, undefined, options);
/** A key that signs in here, issued to the account of the person of a device. */
async function issue(page: Page, deviceId: string): Promise<SoftwareKey> {
  const found = data(await daemon.call('GET', '/api/providers/list')).list.find(
    ({ name }: { name: string }) => name === 'accounts',
  );
  const provider = { name: 'accounts', type: 'devmgr', address: page.origin };
  const { providerId } = found ?? data(await daemon.call('POST', '/api/providers', provider));
  const path = `/api/devices/${deviceId}/credentials`;
  const begun = data(await daemon.call('POST', path, { providerId }));
  const key = new SoftwareKey();
  const made = { response: key.create(begun.options, page.origin) };
  data(await daemon.call('POST', `${path}/${begun.credentialId}`, made));
  return key;
}
const signIn = (sub: string) => new Browser().signIn(daemon, sub);

describe('who becomes a HOLDER', () => {
  it('is a person of the registry in none of the groups', async () => {
    expect(ada.user).toMatchObject({ username: 'ada.lovelace', role: 'HOLDER' });
    provider.people.set('s-stranger', { name: 'stranger', groups: ['staff'] });
    expect(await signIn('s-stranger')).toMatchObject({ problem: 'groups', token: '' });
  });

  it('has the name of the person after NFC, in upper or lower case', async () => {
    const device = await heldDevice(daemon, 'Zoë.Ångström');
    data(await daemon.call('POST', '/api/people', { userName: 'Zoë.Ångström' }));
    provider.people.set('s-zoe', { name: 'zoë.ÅNGSTRÖM'.normalize('NFD'), groups: [] });
    const signed = await signIn('s-zoe');
    expect(signed.user).toMatchObject({ role: 'HOLDER' });
    expect(await own(signed as never)).toMatchObject([{ deviceId: device.deviceId }]);
  });

  it('has no other role: the groups decide first, and again at each sign-in', async () => {
    data(await daemon.call('POST', '/api/people', { userName: 'desk' }));
    provider.people.set('s-desk', { name: 'desk', groups: ['keys-desk'] });
    expect((await signIn('s-desk')).user).toMatchObject({ role: 'DEALER' });
    provider.people.set('s-desk', { name: 'desk', groups: [] });
    expect((await signIn('s-desk')).user).toMatchObject({ role: 'HOLDER' });
    provider.people.set('s-desk', { name: 'desk', groups: ['keys-readers'] });
    const { token, user } = await signIn('s-desk');
    expect(user).toMatchObject({ role: 'VIEWER' });
    expect(await as({ token }, 'GET', '')).toMatchObject({ status: 403, code: 2007 });
  });

  it('loses with an earlier role the streams that were opened with it', async () => {
    data(await daemon.call('POST', '/api/people', { userName: 'reader' }));
    provider.people.set('s-reader', { name: 'reader', groups: ['keys-readers'] });
    const { token } = await signIn('s-reader');
    const stream = await openStream(daemon.url, { token });
    provider.people.set('s-reader', { name: 'reader', groups: [] });
    expect((await signIn('s-reader')).user).toMatchObject({ role: 'HOLDER' });
    expect((await stream.closed).code).toBe(4401);
  });

  it('stays the person of the first sign-in, whatever name the provider sends later', async () => {
    const carl = await holder(daemon, provider, 'carl');
    provider.people.set('s-carl', { name: 'bob.secret', groups: [] });
    const { user, token } = await signIn('s-carl');
    expect(user).toEqual(carl.user);
    const device = await heldDevice(daemon, 'bob.secret');
    expect(JSON.stringify(await own({ ...carl, token }))).not.toContain(device.deviceId);
  });

  it('is one account: another one with the same name is refused until an ADMIN disables the first', async () => {
    const dora = await holder(daemon, provider, 'dora');
    provider.people.set('s-other', { name: 'dora', groups: [] });
    expect(await signIn('s-other')).toMatchObject({ problem: 'other', token: '' });
    data(await daemon.call('PUT', `/api/users/${dora.user.id}`, { disabled: true }));
    expect((await signIn('s-other')).user).toMatchObject({ role: 'HOLDER' });
  });

  it('has an account that ends with the person, also if it could not get the name of the person', async () => {
    await daemon.user('omar', 'VIEWER');
    for (const [name, account] of [
      ['omar', 'omar-2'],
      ['Renée', 'Renee'],
    ] as const) {
      const { user, personId } = await holder(daemon, provider, name);
      expect(user.username).toBe(account);
      const left = data(await daemon.call('POST', `/api/people/${personId}/leave`, { reason: 'left' }));
      expect(left.accounts).toContain(user.id);
      const { items } = data(await daemon.call('GET', `/api/people/${personId}/case`));
      expect(items).toContainEqual(expect.objectContaining({ kind: 'account', id: user.id, state: 'closed' }));
    }
  });

  it('is a new person with the same account if the registry has erased the earlier one', async () => {
    for (const name of ['rehired', 'Zoé']) {
      const { user, personId } = await holder(daemon, provider, name);
      const { deviceId } = await heldDevice(daemon, name);
      const of = (id: string, path: string, body: object) => daemon.call('POST', `/api/people/${id}${path}`, body);
      data(await of(personId, '/leave', { reason: 'left' }));
      data(await of(personId, '/case/close', { reason: 'done' }));
      data(await of(personId, '/erase', { confirmPassword: adminPassword }));
      const again = data(await daemon.call('POST', '/api/people', { userName: name }));
      // The leave has disabled the account: an ADMIN decides whether it continues.
      expect(await signIn(`s-${name}`)).toMatchObject({ token: '' });
      data(await daemon.call('PUT', `/api/users/${user.id}`, { disabled: false }));
      const signed = await signIn(`s-${name}`);
      expect(signed.user).toMatchObject({ id: user.id, role: 'HOLDER' });
      const later = await heldDevice(daemon, name);
      const list = await own(signed as never);
      expect(list).toMatchObject([{ deviceId: later.deviceId }]);
      expect(JSON.stringify(list)).not.toContain(deviceId);
      expect(data(await of(again.personId, '/leave', { reason: 'left' })).accounts).toContain(user.id);
    }
  });

  it('gets another name if an account that was given to a person has it', async () => {
    const { id: accountId } = await daemon.user('contractor-7', 'VIEWER');
    const { personId } = data(await daemon.call('POST', '/api/people', { userName: 'gil' }));
    data(await daemon.call('POST', '/api/people/match', { matches: [{ accountId, personId }] }));
    provider.people.set('s-7', { name: 'contractor-7', groups: ['keys-readers'] });
    expect((await signIn('s-7')).user).toMatchObject({ username: 'contractor-7-2', role: 'VIEWER' });
  });

  it('can be given to no local account and no service token', async () => {
    const user = { username: 'local', password: 'correct horse battery', role: 'HOLDER' };
    expect(await daemon.call('POST', '/api/users', user)).toMatchObject({ code: 1001 });
    const { id } = await daemon.user('local', 'VIEWER');
    expect(await daemon.call('PUT', `/api/users/${id}`, { role: 'HOLDER' })).toMatchObject({ code: 1001 });
    const token = { name: 'holder', role: 'HOLDER', expiresInDays: 1 };
    expect(await daemon.call('POST', '/api/tokens', token)).toMatchObject({ code: 1001 });
  });

  it('loses everything with the next request after leaving', async () => {
    const eva = await holder(daemon, provider, 'eva');
    const { deviceId } = await heldDevice(daemon, 'eva');
    data(await daemon.call('POST', `/api/people/${eva.personId}/leave`, { reason: 'left' }));
    expect((await as(eva, 'GET', '')).data).toBeNull();
    expect((await as(eva, 'POST', `/${deviceId}/lost`, { reason: 'x' })).data).toBeNull();
    expect((await signIn('s-eva')).token).toBe('');
  });
});

describe('own keys', () => {
  it('are shown with their state, what to do next, and nothing that others have written', async () => {
    const { deviceId, serialNumber } = await heldDevice(daemon, 'ada.lovelace', { note: 'shared with bob.secret' });
    await heldDevice(daemon, 'bob.secret');
    const find = async () => (await own(ada)).find((one: { deviceId: string }) => one.deviceId === deviceId);
    expect(await find()).toMatchObject({
      serialNumber,
      status: 'ACTIVE',
      next: 'none',
      signsInAt: [],
      shippedAt: null,
    });
    data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'bob.secret has taken it' }));
    expect(await find()).toMatchObject({ status: 'LOCKED', next: 'help' });
    const events = data(await as(ada, 'GET', `/${deviceId}/events`)).list;
    expect(events.map(({ type }: { type: string }) => type)).toEqual(['DEVICE_LOCKED', 'DEVICE_ACTIVATED']);
    expect(JSON.stringify([await own(ada), events])).not.toMatch(/bob|admin|note/);
    const [{ id }] = events;
    expect(data(await as(ada, 'GET', `/${deviceId}/events?before=${id}&limit=1`)).list).toMatchObject([
      { type: 'DEVICE_ACTIVATED', data: { deviceId } },
    ]);
  });

  it('have a history that begins when they became those of the person', async () => {
    const types = async (who: typeof ada, deviceId: string) =>
      data(await as(who, 'GET', `/${deviceId}/events`)).list.map(({ type }: { type: string }) => type);
    const { deviceId } = await heldDevice(daemon, 'someone.else');
    data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' }));
    data(await daemon.call('POST', `/api/devices/${deviceId}/unlock`, {}));
    const from = new Date().toISOString();
    await match(deviceId, bob);
    data(await daemon.call('PUT', `/api/devices/${deviceId}`, { note: 'of bob' }));
    expect(await types(bob, deviceId)).toEqual(['DEVICE_UPDATED', 'DEVICE_UPDATED']);
    await undo(from);
    await match(deviceId, ada);
    expect(await types(ada, deviceId)).toEqual(['DEVICE_UPDATED']);
    for (let n = 0; n < 3; n++) data(await daemon.call('PUT', `/api/devices/${deviceId}`, { note: `note ${n}` }));
    expect(await types(ada, deviceId)).toEqual(Array(4).fill('DEVICE_UPDATED'));
    expect(data(await as(ada, 'GET', `/${deviceId}/events?limit=1`)).list).toHaveLength(1);
  });

  it('have no times and no credentials of a former holder', async () => {
    const page = new Page(daemon);
    const find = async (who: typeof ada, wanted: string) =>
      (await own(who)).find((one: { deviceId: string }) => one.deviceId === wanted);
    const { deviceId } = await heldDevice(daemon, 'a.former.name');
    const from = new Date().toISOString();
    await match(deviceId, bob);
    await issue(page, deviceId);
    const sent = data(await ship(deviceId));
    expect(await find(bob, deviceId)).toMatchObject({
      activatedAt: null,
      shippedAt: sent.shippedAt,
      signsInAt: ['accounts'],
      next: 'receive',
    });
    const browserOf = async ({ token }: typeof ada) =>
      data(await page.call('POST', `/api/me/devices/${deviceId}/received`, {}, token)).browser;
    expect(await browserOf(bob)).not.toBeNull();
    await undo(from);
    await match(deviceId, ada);
    // It is still on its way: who has it can confirm that.
    const past = { activatedAt: null, lockedAt: null, shippedAt: null, receivedAt: null, signsInAt: [] };
    expect(await find(ada, deviceId)).toMatchObject({ ...past, status: 'ACTIVE', next: 'receive' });
    expect(await browserOf(ada)).toBeNull();
    const again = data(await ship(deviceId));
    expect(await find(ada, deviceId)).toMatchObject({ ...past, shippedAt: again.shippedAt });
  });

  it('sign in where they did before they were matched to the person', async () => {
    const page = new Page(daemon);
    await daemon.user('ada.old', 'VIEWER');
    const { deviceId } = await heldDevice(daemon, 'ada.old');
    await issue(page, deviceId);
    await match(deviceId, ada);
    expect(await own(ada)).toContainEqual(expect.objectContaining({ deviceId, signsInAt: ['accounts'] }));
  });

  it('are those of no other person: all others are 2001, as if they did not exist', async () => {
    const { deviceId } = await heldDevice(daemon, 'bob.secret');
    const before = await detail(deviceId);
    for (const id of [deviceId, 'DEV-999999', 'none']) {
      expect(await as(ada, 'GET', `/${id}/events`)).toMatchObject({ status: 404, code: 2001, data: null });
      expect(await as(ada, 'POST', `/${id}/lost`, { reason: 'x' })).toMatchObject({ code: 2001, data: null });
      expect(await as(ada, 'POST', `/${id}/received`, {})).toMatchObject({ code: 2001, data: null });
    }
    expect(await detail(deviceId)).toEqual(before);
  });
});

describe('a lost key', () => {
  it('is locked, and the service desk gets an event; a repetition is harmless', async () => {
    const { deviceId } = await heldDevice(daemon, 'ada.lovelace');
    const first = data(await as(ada, 'POST', `/${deviceId}/lost`, { reason: 'left on a train' }));
    expect(first).toMatchObject({ deviceId, status: 'LOCKED' });
    expect(await detail(deviceId)).toMatchObject({ status: 'LOCKED', lockReason: 'left on a train', ...first });
    const told = (await eventsOf(deviceId)).slice(-2);
    expect(told).toMatchObject([
      { type: 'DEVICE_LOCKED', actor: { name: 'ada.lovelace', kind: 'user' } },
      { type: 'DEVICE_LOST', data: { deviceId, reason: 'left on a train' } },
    ]);
    expect(data(await as(ada, 'POST', `/${deviceId}/lost`, { reason: 'again' }))).toEqual(first);
    expect((await eventsOf(deviceId)).slice(-2)).toEqual(told);
    const unlock = await daemon.call('POST', `/api/devices/${deviceId}/unlock`, {}, { token: ada.token });
    expect(unlock).toMatchObject({ status: 403, code: 2007 });
  });

  it('is reported once with an Idempotency-Key', async () => {
    const { deviceId } = await heldDevice(daemon, 'ada.lovelace');
    const report = () => as(ada, 'POST', `/${deviceId}/lost`, { reason: 'left on a train' }, 'lost-1');
    const first = await report();
    expect(first.headers.get('idempotent-replay')).toBeNull();
    const second = await report();
    expect(second.headers.get('idempotent-replay')).toBe('true');
    expect(second.data).toEqual(first.data);
    const others = await as(bob, 'POST', `/${deviceId}/lost`, { reason: 'left on a train' }, 'lost-1');
    expect(others).toMatchObject({ code: 2001, data: null });
    expect(others.headers.get('idempotent-replay')).toBeNull();
  });

  it('that the service desk has locked is reported once, and stays locked for that reason', async () => {
    const { deviceId } = await heldDevice(daemon, 'ada.lovelace');
    data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'audit' }));
    for (const reason of ['in the river', 'again'])
      expect(await as(ada, 'POST', `/${deviceId}/lost`, { reason })).toMatchObject({ code: 200 });
    expect(await detail(deviceId)).toMatchObject({ lockReason: 'audit' });
    expect((await eventsOf(deviceId)).slice(-2)).toMatchObject([
      { type: 'DEVICE_LOCKED' },
      { type: 'DEVICE_LOST', data: { reason: 'in the river' } },
    ]);
  });

  it('is reported once, also if the clock was set back after the lock', async () => {
    const { deviceId } = await heldDevice(daemon, 'ada.lovelace');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    try {
      data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'audit' }));
    } finally {
      vi.useRealTimers();
    }
    for (const reason of ['in the river', 'again', 'and again'])
      expect(await as(ada, 'POST', `/${deviceId}/lost`, { reason })).toMatchObject({ code: 200 });
    expect((await eventsOf(deviceId)).slice(-2)).toMatchObject([
      { type: 'DEVICE_LOCKED' },
      { type: 'DEVICE_LOST', data: { reason: 'in the river' } },
    ]);
  });

  it('that was locked before it was theirs does not show when', async () => {
    const { deviceId } = await heldDevice(daemon, 'a.former.name');
    data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'audit' }));
    await match(deviceId, ada);
    const shown = { deviceId, status: 'LOCKED', lockedAt: null };
    expect(await own(ada)).toContainEqual(expect.objectContaining({ ...shown, next: 'help' }));
    for (const reason of ['never arrived', 'again'])
      expect(data(await as(ada, 'POST', `/${deviceId}/lost`, { reason }))).toEqual(shown);
  });

  it('is reported once, also by many requests at the same time', async () => {
    const { deviceId } = await heldDevice(daemon, 'ada.lovelace');
    data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'audit' }));
    const reports = Array.from({ length: 5 }, (_, n) =>
      as(ada, 'POST', `/${deviceId}/lost`, { reason: `report ${n}` }),
    );
    for (const report of await Promise.all(reports)) data(report);
    const types = (await eventsOf(deviceId)).map(({ type }: { type: string }) => type);
    expect(types.filter((type: string) => type === 'DEVICE_LOST')).toHaveLength(1);
  });

  it('needs a reason, and one that is retired is refused', async () => {
    const { deviceId } = await heldDevice(daemon, 'ada.lovelace');
    expect(await as(ada, 'POST', `/${deviceId}/lost`, {})).toMatchObject({ code: 1001 });
    const retired = { reason: 'worn out', confirmPassword: 'correct horse battery' };
    data(await daemon.call('POST', `/api/devices/${deviceId}/deactivate`, retired));
    expect(await as(ada, 'POST', `/${deviceId}/lost`, { reason: 'x' })).toMatchObject({ code: 2005 });
  });
});

describe('a key that is sent home', () => {
  it('is on its way until a touch of the key confirms that it has arrived', async () => {
    const { deviceId, serialNumber } = await heldDevice(daemon, 'ada.lovelace');
    const key = new ReceiptKey();
    await key.prove(daemon, serialNumber);
    expect(await detail(deviceId)).toMatchObject({ shippedAt: null, receivedAt: null });
    expect(await as(ada, 'POST', `/${deviceId}/received`)).toMatchObject({ code: 1001 });
    const { data: sent, headers } = await ship(deviceId);
    expect(await detail(deviceId)).toMatchObject({ ...sent, status: 'ACTIVE', receivedAt: null });
    expect(headers.get('etag')).toBe(`"${sent.version}"`);
    expect(await own(ada)).toContainEqual(expect.objectContaining({ deviceId, next: 'receive' }));

    const started = data(await as(ada, 'POST', `/${deviceId}/received`));
    expect(started).toMatchObject({ receivedAt: null, credentials: [expect.any(String)] });
    const signed = key.sign(started.text, started.credentials)!;
    const body = { receiptId: started.receiptId, text: started.text, ...signed };
    for (const field of ['text', 'credentialId', 'authenticatorData', 'signature'])
      expect(await as(ada, 'POST', `/${deviceId}/received`, { ...body, [field]: undefined })).toMatchObject({
        code: 1001,
        message: expect.stringContaining(field),
      });
    const challenge = started.challenge;
    const page = { type: 'webauthn.get', challenge, origin: 'http://localhost', crossOrigin: false };
    const clientData = Buffer.from(JSON.stringify(page)).toString('base64url');
    expect(started.browser).toBeNull();
    expect(await as(ada, 'POST', `/${deviceId}/received`, { ...body, clientData })).toMatchObject({ code: 1001 });
    const others = await heldDevice(daemon, 'bob.secret');
    expect(await as(bob, 'POST', `/${others.deviceId}/received`, body)).toMatchObject({ code: 1001 });
    const stored = data(await as(ada, 'POST', `/${deviceId}/received`, body));
    expect(stored).toMatchObject({ receiptId: started.receiptId, receivedAt: expect.any(String), expiresAt: null });
    const after = await detail(deviceId);
    expect(after).toMatchObject({ shippedAt: sent.shippedAt, receivedAt: stored.receivedAt });
    expect(after.version).toBe(sent.version + 1);
    expect(await as(ada, 'POST', `/${deviceId}/received`, body)).toMatchObject({ code: 1001 });
    expect(await daemon.call('GET', `/api/receipts/${stored.receiptId}`)).toMatchObject({
      data: { kind: 'handover', deviceId, person: 'ada.lovelace' },
    });
    expect(await own(ada)).toContainEqual(expect.objectContaining({ deviceId, next: 'none' }));
    expect((await eventsOf(deviceId)).slice(-2)).toMatchObject([
      { type: 'DEVICE_SHIPPED' },
      { type: 'RECEIPT_SIGNED' },
    ]);
    expect(data(await ship(deviceId)).shippedAt).not.toBeNull();
    expect(await detail(deviceId)).toMatchObject({ receivedAt: null });
  });

  it('is confirmed by a browser that asks a key which signs in here; the receipt verifies offline', async () => {
    const page = new Page(daemon);
    const { deviceId } = await heldDevice(daemon, 'ada.lovelace');
    const key = await issue(page, deviceId);
    data(await ship(deviceId));
    expect(await own(ada)).toContainEqual(expect.objectContaining({ deviceId, signsInAt: ['accounts'] }));
    const received = (body: object) => page.call('POST', `/api/me/devices/${deviceId}/received`, body, ada.token);
    const { receiptId, text, challenge, browser } = data(await received({}));
    const options = { challenge, rpId: browser.relyingParty };
    const sign = (origin: string, asked: object = options) => {
      const { id, response } = key.get(asked as never, origin) as never as {
        id: string;
        response: { authenticatorData: string; signature: string; clientDataJSON: string };
      };
      const { authenticatorData, signature, clientDataJSON: clientData } = response;
      return { receiptId, text, credentialId: id, authenticatorData, signature, clientData };
    };
    for (const wrong of [
      sign('http://localhost:1'),
      sign(page.origin, { ...options, challenge: Buffer.alloc(32).toString('base64url') }),
      { ...sign(page.origin), clientData: undefined },
    ])
      expect(await received(wrong)).toMatchObject({ code: 1001 });
    data(await received(sign(page.origin)));
    const receipt: Receipt = data(await daemon.call('GET', `/api/receipts/${receiptId}`));
    expect(receipt).toMatchObject({ relyingParty: 'localhost', proof: { clientData: expect.any(String) } });
    expect(checkReceipt(receipt, createPublicKey(receipt.publicKey))).toMatchObject({ deviceId });
    expect((await detail(deviceId)).receivedAt).toBe(receipt.signedAt);
  });

  it('is one that is bound, and is sent by ADMIN or DEALER, in the version that they name', async () => {
    const { deviceId } = await heldDevice(daemon, 'ada.lovelace');
    expect(await ship(deviceId, { headers: { 'if-match': '"1"' } })).toMatchObject({ code: 412 });
    expect(await ship(deviceId, { token: ada.token })).toMatchObject({ code: 2007 });
    expect(await ship('DEV-999999')).toMatchObject({ code: 2001 });
    const { register } = await import('../support/fleet.ts');
    expect(await ship((await register(daemon)).deviceId)).toMatchObject({ code: 1001 });
    data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'x' }));
    expect(await ship(deviceId)).toMatchObject({ code: 2004 });
  });
});

describe('limits and settings', () => {
  it('a HOLDER has a limit of its own', async () => {
    const limited = await startTestDaemon({
      limits: { login: null, query: null, modify: null, upload: null, signIn: null, holder: { count: 3, seconds: 60 } },
    });
    const there = await letHoldersIn(limited);
    const { token } = await holder(limited, there, 'ada');
    const codes: number[] = [];
    for (let n = 0; n < 4; n++) codes.push((await limited.call('GET', '/api/me/devices', undefined, { token })).code);
    expect(codes).toEqual([200, 200, 200, 429]);
    await there.stop();
    await limited.stop();
  });

  it('the setting is off unless it is turned on, and turning it off ends all sessions', async () => {
    expect(data(await daemon.call('GET', '/api/sso/settings'))).toMatchObject({ holders: true });
    expect((await as(ada, 'GET', '')).code).toBe(200);
    await setUp(daemon, provider);
    expect(data(await daemon.call('GET', '/api/sso/settings'))).toMatchObject({ holders: false });
    expect(await as(ada, 'GET', '')).toMatchObject({ status: 401, code: 1004 });
    expect(await signIn('s-ada.lovelace')).toMatchObject({ problem: 'groups', token: '' });
  });
});
