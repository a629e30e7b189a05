/**
 * Credentials of devices at providers: begun, finished, removed; lost answers; keys that are lost. Stand-ins for the providers: see
 * their file.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { entra } from '../../daemon/issuing/providers/entra.ts';
import { okta } from '../../daemon/issuing/providers/okta.ts';
import { pinBounds } from '../../src/contract/limits.ts';
import { tryAnswersOfKeys, tryProviderAnswers } from '../fuzz/issuing.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';
import { letHoldersIn } from '../support/holder.ts';
import { answering, json } from '../support/http-servers.ts';
import {
  answerOf,
  type ProviderState,
  startEntra,
  startOkta,
  startWebauthnServer,
} from '../support/issuing-providers.ts';
import { itAnswersLikeExamples } from '../support/recorded-examples.ts';
import { Browser } from '../support/sso-provider.ts';

let daemon: TestDaemon;
let daemons: TestDaemon[] = [];
/** A registry has at most 16 providers: each group of tests has a daemon of its own. */
const ownDaemon = () =>
  beforeAll(async () => {
    daemon = await startTestDaemon({ webhookAllow: ['127.0.0.1'] });
    daemons.push(daemon);
  });
ownDaemon();
afterAll(async () => {
  await Promise.all(daemons.map(one => one.stop()));
  daemons = [];
});

let made = 0;
const call = (method: string, path: string, body?: object, token?: string) =>
  daemon.call(method, path, body, token === undefined ? {} : { token });

/** A device of a person of its own, and a provider. */
async function issuing<S extends object>(start: () => Promise<{ state: ProviderState; settings: S }>) {
  const { state, settings } = await start();
  const provider = data(await call('POST', '/api/providers', { name: `provider-${++made}`, ...settings }));
  const person = `person-${made}`;
  await call('POST', '/api/people', { userName: person, name: 'Ada Lovelace' });
  const device = await register(daemon);
  const { deviceId } = data(await call('POST', '/api/devices/activate', activation(device, person)));
  const { providerId } = provider;
  const credentials = `/api/devices/${deviceId}/credentials`;
  const begin = () => call('POST', credentials, { providerId });
  const finish = (credentialId: string, response: object) =>
    call('POST', `${credentials}/${credentialId}`, { response });
  const list = async () => data(await call('GET', credentials)) as Record<string, unknown>[];
  const issue = async () => {
    const begun = data(await begin());
    return data(await finish(begun.credentialId, answerOf(begun)));
  };
  return { state, settings, provider, person, deviceId, providerId, credentials, begin, finish, list, issue };
}

const stands = { 'Entra ID': startEntra, Okta: startOkta, 'a WebAuthn server': startWebauthnServer };

describe.each(Object.entries(stands))('at %s', (_name, start) => {
  ownDaemon();

  it('a key is issued for the person that its device is bound to', async () => {
    const { state, person, providerId, issue, list } = await issuing(start);
    const credential = await issue();
    expect(credential).toEqual({
      credentialId: expect.stringMatching(/^CRD-\d+$/),
      providerId,
      person,
      createdAt: expect.any(String),
      removedAt: null,
      pending: false,
    });
    expect(state.accepted).toMatchObject([{ person }]);
    expect(await list()).toEqual([credential]);
  });

  it('a device has one credential at a provider', async () => {
    const { state, issue, begin } = await issuing(start);
    await issue();
    expect(await begin()).toMatchObject({
      code: 1001,
      message: expect.stringContaining('remove that credential first'),
    });
    expect(state.accepted).toHaveLength(1);
  });

  it('a locked device loses its credential there, and an unlocked one needs another', async () => {
    const { state, deviceId, issue, list, begin } = await issuing(start);
    await issue();
    await call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
    await state.emptied();
    await expect.poll(list).toMatchObject([{ pending: false, removedAt: expect.any(String) }]);
    expect(await begin()).toMatchObject({ code: 2004 });
    await call('POST', `/api/devices/${deviceId}/unlock`);
    expect((await issue()).pending).toBe(false);
    expect(await list()).toHaveLength(2);
  });

  it('a leaver loses every credential', async () => {
    const { state, person, issue } = await issuing(start);
    await issue();
    const [{ personId }] = data(await call('GET', `/api/people/list?keyword=${person}`)).list;
    await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' });
    await state.emptied();
  });

  it('an answer that is lost is looked up, and the same request finishes', async () => {
    const { state, begin, finish, list } = await issuing(start);
    const begun = data(await begin());
    state.trouble('finish', 'lost');
    const answer = answerOf(begun);
    const first = await finish(begun.credentialId, answer);
    const again = await finish(begun.credentialId, answer);
    expect([first.code, again.code]).toContain(200);
    expect(data(again)).toMatchObject({ createdAt: expect.any(String), pending: false });
    expect(state.accepted).toHaveLength(1);
    expect(await list()).toHaveLength(1);
  });

  it.each(['late', 'unlisted'] as const)(
    'what the provider accepts or lists %s, when the key is issued once more, does not stay there',
    async trouble => {
      const { state, deviceId, person, begin, finish, issue, list } = await issuing(start);
      const begun = data(await begin());
      state.trouble('finish', trouble);
      const answer = answerOf(begun);
      expect(await finish(begun.credentialId, answer)).toMatchObject({ code: 500 });
      const second = await issue();
      await state.settle();
      expect(await finish(begun.credentialId, answer)).toMatchObject({ code: 1001 });
      // It looks at once after a start, and else each half minute.
      await daemon.restart();
      await expect.poll(() => state.accepted.length, { timeout: 10_000 }).toBe(1);
      expect(await list()).toMatchObject([{ credentialId: begun.credentialId, createdAt: null }, second]);
      expect(state.accepted).toMatchObject([{ person }]);
      await call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
      await state.emptied();
    },
  );

  it('a provider that is away is asked again by the same request', async () => {
    const { state, begin, finish } = await issuing(start);
    const begun = data(await begin());
    state.trouble('finish', 'away');
    const answer = answerOf(begun);
    expect(await finish(begun.credentialId, answer)).toMatchObject({
      status: 503,
      code: 500,
      message: expect.stringContaining('Repeat'),
    });
    expect(data(await finish(begun.credentialId, answer))).toMatchObject({ pending: false });
    expect(state.accepted).toHaveLength(1);
  });

  it('a redirect does not count as a refusal: the provider may have registered the key', async () => {
    const { state, begin, finish } = await issuing(start);
    const begun = data(await begin());
    state.trouble('finish', 'moved');
    const answer = answerOf(begun);
    const first = await finish(begun.credentialId, answer);
    expect(first.code === 200 || first.status === 503).toBe(true);
    expect(data(await finish(begun.credentialId, answer))).toMatchObject({ pending: false });
    expect(state.accepted).toHaveLength(1);
  });

  it('a provider that does not know yet what it has accepted just now is asked again to remove it', async () => {
    const { state, deviceId, issue, list } = await issuing(start);
    await issue();
    state.trouble('remove', 'absent');
    await call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
    await expect.poll(() => state.requests.filter(kind => kind === 'remove').length).toBe(1);
    await expect.poll(list).toMatchObject([{ pending: true, removedAt: null }]);
    // It looks at once after a start, and else each half minute.
    await daemon.restart();
    await state.emptied();
    await expect.poll(list).toMatchObject([{ pending: false, removedAt: expect.any(String) }]);
  });

  it('a refusal leaves nothing, and the credential can be begun again', async () => {
    const { state, begin, finish, issue } = await issuing(start);
    const begun = data(await begin());
    state.trouble('finish', 'refused');
    expect(await finish(begun.credentialId, answerOf(begun))).toMatchObject({
      code: 1001,
      message: expect.stringContaining('not allowed'),
    });
    expect((await issue()).credentialId).toBe(begun.credentialId);
    expect(state.accepted).toHaveLength(1);
  });

  it('an answer to options that have expired is refused, and the credential can be begun again', async () => {
    const { state, begin, finish, issue } = await issuing(start);
    const begun = data(await begin());
    state.expireChallenges();
    expect(await finish(begun.credentialId, answerOf(begun))).toMatchObject({
      code: 1001,
      message: expect.stringContaining('refuses with HTTP 400'),
    });
    expect(state.accepted).toEqual([]);
    expect((await issue()).credentialId).toBe(begun.credentialId);
    expect(state.accepted).toHaveLength(1);
  });

  it('a removal that the provider is too busy for is tried again, not before the time that it names', async () => {
    const { state, deviceId, issue } = await issuing(start);
    await issue();
    state.retryAfter = '2';
    state.trouble('remove', 'busy');
    const locked = performance.now();
    await call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
    await state.emptied();
    expect(performance.now() - locked).toBeGreaterThan(2000);
  });

  it('a provider that is too busy to register a key is asked again by the same request, after the time that it names', async () => {
    const { state, begin, finish } = await issuing(start);
    state.trouble('options', 'busy');
    state.retryAfter = '7';
    const busy = await begin();
    expect(busy).toMatchObject({ code: 429, message: expect.stringContaining('asks to wait') });
    expect(busy.headers.get('retry-after')).toBe('7');
    const begun = data(await begin());
    const answer = answerOf(begun);
    state.trouble('finish', 'busy');
    // A date in a year: longer than anything is waited for.
    state.retryAfter = new Date(Date.now() + 31_536_000_000).toUTCString();
    expect((await finish(begun.credentialId, answer)).headers.get('retry-after')).toBe('300');
    expect(state.requests).not.toContain('list');
    expect(data(await finish(begun.credentialId, answer))).toMatchObject({ pending: false });
    expect(state.accepted).toHaveLength(1);
  });

  it('a provider is tested, and one with credentials is not removed', async () => {
    const { providerId, settings, credentials, issue } = await issuing(start);
    const test = async (id: string) => data(await call('POST', `/api/providers/${id}/test`));
    expect(await test(providerId)).toEqual({ reachable: true, problem: null, proxy: null });
    const wrong = data(await call('POST', '/api/providers', { ...settings, name: `wrong-${++made}`, secret: 'other' }));
    expect(await test(wrong.providerId)).toMatchObject({
      reachable: false,
      problem: expect.stringMatching(/refuses with HTTP 40[13]/),
    });
    const { credentialId } = await issue();
    expect(await call('POST', `/api/providers/${providerId}/remove`)).toMatchObject({ code: 1001 });
    expect(data(await call('POST', `${credentials}/${credentialId}/remove`)).removedAt).not.toBeNull();
    expect(data(await call('POST', `/api/providers/${providerId}/remove`))).toEqual({ providerId, removed: true });
  });
});

describe('at once', () => {
  ownDaemon();

  it.each(Object.entries(stands))(
    'a key that is unlocked before the lost answer of its removal at %s is resolved can be issued again',
    async (_name, start) => {
      const { state, deviceId, issue, begin } = await issuing(start as typeof startEntra);
      await issue();
      state.trouble('remove', 'lost');
      await call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
      await state.emptied();
      data(await call('POST', `/api/devices/${deviceId}/unlock`));
      await expect.poll(async () => (await begin()).code).toBe(200);
      expect((await issue()).pending).toBe(false);
      expect(state.accepted).toHaveLength(1);
    },
  );

  it.each(Object.entries(stands))(
    'an answer, and a removal, that arrives several times at once at %s is carried out once',
    async (_name, start) => {
      const { state, credentials, begin, finish, list } = await issuing(start as typeof startEntra);
      const begun = data(await begin());
      const answer = answerOf(begun);
      // While the provider verifies the first answer, the others have time to be refused.
      state.verifying = async () => {
        for (let look = 0; look < 20; look++) await list();
      };
      const all = await Promise.all([1, 2, 3].map(() => finish(begun.credentialId, answer)));
      expect(all.map(({ code }) => code)).toEqual([200, 200, 200]);
      expect(state.accepted).toHaveLength(1);
      const remove = async () => data(await call('POST', `${credentials}/${begun.credentialId}/remove`));
      state.hook = async (kind, when) => {
        if (kind !== 'remove' || when !== 'after') return;
        // The second one ends before the first one learns that the provider has carried it out.
        state.hook = async () => {};
        await remove();
      };
      await remove();
      expect([(await list()).length, state.accepted]).toEqual([1, []]);
    },
  );
});

describe('an answer of a key is refused', () => {
  ownDaemon();

  it.each([
    [
      'for another challenge',
      (begun: Begun) => ({ ...begun, options: { ...begun.options, challenge: 'A'.repeat(43) } }),
    ],
    ['for another origin', (begun: Begun) => ({ ...begun, origin: 'https://other.example' })],
    ['for another site', (begun: Begun) => ({ ...begun, options: { ...begun.options, rp: { id: 'other.example' } } })],
  ])('%s', async (_what, change) => {
    const { state, begin, finish } = await issuing(startEntra);
    const begun = data(await begin());
    expect(await finish(begun.credentialId, answerOf(change(begun)))).toMatchObject({ code: 1001 });
    expect(state.requests).not.toContain('finish');
  });

  it.each([
    ['that is a signature', { type: 'webauthn.get' }],
    ['without a type', { type: null }],
    ['that has not verified its person, although the provider requires that', { verified: false }],
  ])('%s', async (_what, changes) => {
    const { state, begin, finish } = await issuing(startEntra);
    const begun = data(await begin());
    expect(begun.options.authenticatorSelection.userVerification).toBe('required');
    expect(await finish(begun.credentialId, answerOf(begun, {}, changes))).toMatchObject({ code: 1001 });
    expect(state.requests).not.toContain('finish');
  });

  it('under the id of another credential', async () => {
    const { begin, finish } = await issuing(startEntra);
    const begun = data(await begin());
    const answer = { ...answerOf(begun), id: 'AAAA', rawId: 'AAAA' };
    expect(await finish(begun.credentialId, answer)).toMatchObject({ code: 1001 });
  });

  it.each(Object.entries(stands))(
    'under the id of another credential of the person at %s: what removes it would remove that one',
    async (_name, start) => {
      const { state, person, providerId, issue } = await issuing(start as typeof startEntra);
      await issue();
      const { deviceId } = await register(daemon).then(async device =>
        data(await call('POST', '/api/devices/activate', activation(device, person))),
      );
      const credentials = `/api/devices/${deviceId}/credentials`;
      const begun = data(await call('POST', credentials, { providerId }));
      const { id, ...answer } = answerOf(begun);
      const [{ id: other }] = begun.options.excludeCredentials;
      const hex = (text: string) => Buffer.from(text, 'base64url').toString('hex');
      const object = hex(answer.response.attestationObject).replace(hex(id), hex(other));
      const response = { ...answer.response, attestationObject: Buffer.from(object, 'hex').toString('base64url') };
      const claimed = { ...answer, id: other, rawId: other, response };
      state.trouble('finish', 'away');
      for (let sent = 0; sent < 2; sent++)
        expect(await call('POST', `${credentials}/${begun.credentialId}`, { response: claimed })).toMatchObject({
          code: 1001,
          message: expect.stringContaining('already has a credential with the id'),
        });
      expect(state.requests.filter(kind => kind !== 'options')).toEqual(['finish']);
    },
  );

  it('after the credential was finished with another one', async () => {
    const { begin, finish } = await issuing(startEntra);
    const begun = data(await begin());
    const answer = answerOf(begun);
    const finished = data(await finish(begun.credentialId, answer));
    expect(data(await finish(begun.credentialId, answer))).toEqual(finished);
    expect(await finish(begun.credentialId, answerOf(begun))).toMatchObject({ code: 1001 });
  });
});
interface Begun {
  readonly origin: string;
  readonly options: Record<string, unknown>;
}

it('nothing is issued for a device without a person, or of one who has left', async () => {
  const { providerId, credentials, person } = await issuing(startEntra);
  const free = await register(daemon);
  expect(await call('POST', `/api/devices/${free.deviceId}/credentials`, { providerId })).toMatchObject({ code: 1001 });
  const [{ personId }] = data(await call('GET', `/api/people/list?keyword=${person}`)).list;
  await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' });
  expect(await call('POST', credentials, { providerId })).toMatchObject({ code: 2004 });
  expect(await call('GET', '/api/devices/DEV-99999/credentials')).toMatchObject({ code: 2001 });
});

it('by what a key is asked for a credential is shown to those who issue keys, if the key reports it, and to no VIEWER', async () => {
  const { state, credentials, begin, issue } = await issuing(startEntra);
  const begun = data(await begin());
  const { credentialId } = begun;
  const response = answerOf(begun);
  data(await call('POST', `${credentials}/${credentialId}`, { response, reported: true }));
  const seen = async (role: 'DEALER' | 'VIEWER') => {
    const { token } = await daemon.user(`reads-credentials-${role.toLowerCase()}`, role);
    return data(await call('GET', credentials, undefined, token));
  };
  const [dealer, viewer] = [await seen('DEALER'), await seen('VIEWER')];
  const stored = { site: state.rpId, id: response.id };
  expect(dealer).toMatchObject([{ credentialId, stored }]);
  expect(viewer).toEqual(dealer.map(({ stored: _, ...shown }: Record<string, unknown>) => shown));
  data(await call('POST', `${credentials}/${credentialId}/remove`));
  await issue();
  for (const one of data(await call('GET', credentials))) expect(one).not.toHaveProperty('stored');
});

describe('beside that', () => {
  ownDaemon();

  it('a key that was locked while it was issued is not registered at the provider', async () => {
    const { state, deviceId, begin, finish } = await issuing(startEntra);
    const begun = data(await begin());
    await call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
    expect(await finish(begun.credentialId, answerOf(begun))).toMatchObject({ code: 2004 });
    expect(state.requests).not.toContain('finish');
  });

  it.each([
    ['Entra ID', startEntra],
    ['Okta', startOkta],
  ])('a person who has another name at %s since is still found there when the key is lost', async (_name, start) => {
    const { state, deviceId, person, issue } = await issuing(start);
    await issue();
    state.rename(person, `${person}.married`);
    await call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
    await state.emptied();
  });

  it('a key that is lost while both of its providers are away is removed at both after the registry has restarted', async () => {
    const { state, deviceId, credentials, issue, list } = await issuing(startEntra);
    const okta = await startOkta();
    const body = { name: `provider-${++made}`, ...okta.settings };
    const { providerId } = data(await call('POST', '/api/providers', body));
    await issue();
    const begun = data(await call('POST', credentials, { providerId }));
    data(await call('POST', `${credentials}/${begun.credentialId}`, { response: answerOf(begun) }));
    const both = [state, okta.state];
    for (const one of both) one.trouble('remove', ...Array<'away'>(500).fill('away'));
    await call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
    await daemon.stopKeepingHome();
    for (const one of both) expect(one.accepted).toHaveLength(1);
    for (const one of both) one.trouble('remove');
    await daemon.startAgain();
    await Promise.all(both.map(one => one.emptied()));
    const gone = { pending: false, removedAt: expect.any(String) };
    await expect.poll(list).toMatchObject([gone, gone]);
  });

  it('a provider that does not answer does not delay another one, and what it still has to remove is counted', async () => {
    const [dead, other] = [await issuing(startOkta), await issuing(startEntra)];
    await Promise.all([dead.issue(), other.issue()]);
    dead.state.trouble('remove', ...Array<'away'>(500).fill('away'));
    for (const { deviceId } of [dead, other]) await call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
    await other.state.emptied();
    const pending = async () =>
      Number(/^devmgr_idp_pending{.*} (\d+)$/m.exec(await (await fetch(`${daemon.url}/metrics`)).text())![1]);
    await expect.poll(pending).toBe(1);
    const of = async (id: string) =>
      (data(await call('GET', '/api/providers/list')).list as { providerId: string }[]).find(
        ({ providerId }) => providerId === id,
      );
    expect(await of(dead.providerId)).toMatchObject({ pending: 1, problem: expect.any(String) });
    expect(await of(other.providerId)).toMatchObject({ pending: 0, problem: null });
    dead.state.trouble('remove');
    await dead.state.emptied();
  });

  it('a key that its holder reports lost is being removed at every provider from then on, also while one of them is away', async () => {
    const { state: away, person, deviceId, providerId: first, credentials, issue, list } = await issuing(startEntra);
    await issue();
    const providers = [first];
    const others = await Promise.all([startOkta(), startWebauthnServer()]);
    for (const { settings } of others) {
      const { providerId } = data(await call('POST', '/api/providers', { name: `provider-${++made}`, ...settings }));
      providers.push(providerId);
      const begun = data(await call('POST', credentials, { providerId }));
      data(await call('POST', `${credentials}/${begun.credentialId}`, { response: answerOf(begun) }));
    }
    const sso = await letHoldersIn(daemon);
    onTestFinished(() => sso.stop());
    sso.people.set('s-holder', { name: person, groups: ['staff'] });
    const { token } = await new Browser().signIn(daemon, 's-holder');
    away.trouble('remove', ...Array<'away'>(500).fill('away'));
    data(await call('POST', `/api/me/devices/${deviceId}/lost`, { reason: 'left on a train' }, token));
    const begun = await list();
    expect(begun.map(one => one.pending || one.removedAt !== null)).toEqual([true, true, true]);
    await Promise.all(others.map(({ state }) => state.emptied()));
    const gone = { pending: false, removedAt: expect.any(String) };
    await expect.poll(list).toMatchObject([{ pending: true, removedAt: null }, gone, gone]);
    away.trouble('remove');
    await away.emptied();
    await expect.poll(list).toMatchObject([gone, gone, gone]);
    // The daemon of this group has place for 16 providers.
    for (const providerId of providers) data(await call('POST', `/api/providers/${providerId}/remove`));
  });

  it('a key that is lost is removed while others may still be registered late, and others cannot be removed', async () => {
    const { state, deviceId, providerId, issue } = await issuing(startOkta);
    const lock = (id: string) => call('POST', `/api/devices/${id}/lock`, { reason: 'lost' });
    for (const person of ['late.0', 'late.1', 'late.2']) state.kept.add(person);
    for (let i = 0; i < 8; i++) {
      const device = await register(daemon);
      data(await call('POST', '/api/devices/activate', activation(device, `late.${i}`)));
      const credentials = `/api/devices/${device.deviceId}/credentials`;
      const begun = data(await call('POST', credentials, { providerId }));
      if (i > 2) state.trouble('finish', 'late');
      await call('POST', `${credentials}/${begun.credentialId}`, { response: answerOf(begun) });
      await lock(device.deviceId);
    }
    await expect.poll(() => state.requests.filter(kind => kind === 'remove').length).toBeGreaterThanOrEqual(3);
    await issue();
    await lock(deviceId);
    await expect.poll(() => state.accepted.map(({ person }) => person)).toEqual(['late.0', 'late.1', 'late.2']);
  });

  describe('a list of Graph that has several pages', () => {
    const paged = async (next: string | null = null) => {
      const { state, settings, begin, finish, person } = await issuing(startEntra);
      for (const i of [1, 2, 3, 4, 5])
        state.accepted.push({ remoteId: `own-${i}`, credentialId: `own-${i}`, person, label: 'my phone' });
      Object.assign(state.pages, { size: 2, next });
      const begun = data(await begin());
      state.trouble('finish', 'lost');
      const answer = answerOf(begun);
      return { state, graph: settings.address, finished: () => finish(begun.credentialId, answer) };
    };

    it('is read to its end: a lost answer is found on the last one', async () => {
      const { state, finished } = await paged();
      expect(data(await finished())).toMatchObject({ pending: false });
      expect(state.requests).toEqual(['options', 'finish', 'list', 'list', 'list']);
    });

    it('is not read at another address than that of Graph, which would get the token', async () => {
      const other = await startEntra();
      const { state, finished } = await paged(`${other.settings.address}/v1.0/users`);
      expect(await finished()).toMatchObject({ code: 500 });
      expect(await finished()).toMatchObject({
        code: 500,
        message: expect.stringContaining('at another address than Graph'),
      });
      expect([state.requests.filter(kind => kind === 'list').length, other.connections()]).toEqual([2, 0]);
    });

    it('is given up after 20 pages', async () => {
      const { state, graph, finished } = await paged();
      state.pages.next = `${graph}/v1.0/users/ada/authentication/fido2Methods`;
      expect(await finished()).toMatchObject({ code: 500 });
      expect(state.requests.filter(kind => kind === 'list')).toHaveLength(20);
    });
  });

  it('a credential of another registry, or of an earlier version that this one does not know, is shown and stays', async () => {
    const { state, providerId, deviceId, person, issue } = await issuing(startEntra);
    const { credentialId } = await issue();
    const [made] = state.accepted;
    expect(made!.label).toMatch(/^devmgr [0-9a-f]{8} [0-9a-f]{10}$/);
    expect(made!.label.length).toBeLessThanOrEqual(30);
    const other = made!.label.startsWith('devmgr 0') ? '1' : '0';
    const foreign = [
      { remoteId: 'other-registry', label: made!.label.replace(/devmgr ./, `devmgr ${other}`) },
      { remoteId: 'earlier-version', label: 'devmgr 0123456789' },
      { remoteId: 'longer', label: `${made!.label}0` },
    ];
    for (const one of foreign) state.accepted.push({ ...one, credentialId: 'x', person });
    const reconcile = `/api/providers/${providerId}/reconcile`;
    const found = data(await call('POST', reconcile, { apply: true }));
    expect(found.onlyThere).toEqual(
      foreign.map(one => ({ ...one, account: state.accountOf(person), removable: false })),
    );
    expect(state.accepted).toHaveLength(4);
    // A credential of an earlier version that was removed here, and is listed there again, is known by its id.
    data(await call('POST', `/api/devices/${deviceId}/credentials/${credentialId}/remove`));
    state.accepted.push({ ...made!, label: 'devmgr 9876543210' });
    expect(data(await call('POST', reconcile, { apply: true })).onlyThere).toContainEqual(
      expect.objectContaining({ remoteId: made!.remoteId, removable: true }),
    );
    expect(state.accepted.map(({ remoteId }) => remoteId)).toEqual(foreign.map(({ remoteId }) => remoteId));
  });

  it('a credential that only the provider has is found, and removed if this registry has made it', async () => {
    const { state, providerId, deviceId, person, issue } = await issuing(startEntra);
    const { credentialId } = await issue();
    const compare = async (body: object) => data(await call('POST', `/api/providers/${providerId}/reconcile`, body));
    expect(await compare({})).toEqual({ onlyHere: [], onlyThere: [], otherPerson: [], next: null });
    const [made] = state.accepted;
    const orphan = made!.label.replace(/.{10}$/, '0123456789');
    state.accepted.push(
      { ...made!, remoteId: 'orphan', label: orphan },
      { ...made!, remoteId: 'own', label: 'my phone' },
    );
    const account = state.accountOf(person);
    const onlyThere = [
      { account, remoteId: 'orphan', label: orphan, removable: true },
      { account, remoteId: 'own', label: 'my phone', removable: false },
    ];
    expect(await compare({})).toMatchObject({ onlyThere });
    expect(await compare({ apply: true })).toMatchObject({ onlyThere });
    expect(state.accepted.map(({ remoteId }) => remoteId)).toEqual([made!.remoteId, 'own']);
    // Another person has the name now: the credential signs in the first one.
    state.rename(person, 'somebody.else');
    expect(await compare({})).toMatchObject({ otherPerson: [{ credentialId, deviceId }] });
    // Another removal has ended before this one learns of its own.
    state.hook = async (kind, when) => {
      if (kind !== 'remove' || when !== 'after') return;
      state.hook = async () => {};
      data(await call('POST', `/api/devices/${deviceId}/credentials/${credentialId}/remove`));
    };
    await compare({ apply: true });
    expect(state.accepted.map(({ remoteId }) => remoteId)).toEqual(['own']);
  });
});

it('a credential that is issued while registry and provider are compared stays', async () => {
  const { state, person, providerId, issue } = await issuing(startEntra);
  await issue();
  const { deviceId } = data(await call('POST', '/api/devices/activate', activation(await register(daemon), person)));
  const credentials = `/api/devices/${deviceId}/credentials`;
  const begun = data(await call('POST', credentials, { providerId }));
  state.hook = async (kind, when) => {
    if (kind !== 'list' || when !== 'before') return;
    state.hook = async () => {};
    data(await call('POST', `${credentials}/${begun.credentialId}`, { response: answerOf(begun) }));
  };
  const compared = data(await call('POST', `/api/providers/${providerId}/reconcile`, { apply: true }));
  expect([compared.onlyThere, state.accepted.length]).toEqual([[], 2]);
});

describe('who is asked, and with what', () => {
  ownDaemon();

  it.each([
    ['Entra ID', startEntra, (state: ProviderState) => state.accountOf('grace')],
    ['Okta', startOkta, (state: ProviderState) => state.accountOf('grace')],
    ['Okta', startOkta, () => 'me'],
  ])('a user name for which %s finds another person gets no key', async (_name, start, nameIn) => {
    const { state, providerId } = await issuing(start);
    const device = await register(daemon);
    const userName = nameIn(state);
    const { deviceId } = data(await call('POST', '/api/devices/activate', activation(device, userName)));
    expect(await call('POST', `/api/devices/${deviceId}/credentials`, { providerId })).toMatchObject({
      code: 1001,
      message: expect.stringContaining(`no user with exactly the name ${userName}`),
    });
    expect(state.requests).toEqual([]);
  });

  it.each([
    ['Entra ID', startEntra],
    ['Okta', startOkta],
  ])(
    'a secret of %s that has expired is replaced, and what it kept from being removed is removed',
    async (_n, start) => {
      const { state, settings, providerId, deviceId, issue } = await issuing(start);
      const put = (secret: string) => call('POST', `/api/providers/${providerId}/secret`, { secret });
      await issue();
      data(await put('expired'));
      await call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
      const [before] = data(await call('GET', '/api/providers/list')).list.slice(-1);
      expect(before).toMatchObject({ providerId, credentials: 1 });
      expect(state.requests).not.toContain('remove');
      expect(await put('zwei\nZeilen')).toMatchObject({ code: 1001, message: expect.stringContaining('printable') });
      expect(data(await put(settings.secret))).toMatchObject({ providerId, credentials: 1 });
      // It looks at once after a start, and else each half minute.
      await daemon.restart();
      await state.emptied();
      const events = JSON.stringify(await call('GET', '/api/events?after=0&limit=1000'));
      expect(events).not.toContain(settings.secret);
    },
  );

  it('options with U+0000 are an answer of no provider', async () => {
    const options = `{"challenge":"${'A'.repeat(43)}","rp":{"id":"a.example"},"user":{"name":"a\\u0000"}}`;
    const { url } = await answering((_, response) =>
      response.writeHead(200, json).end(`{"origin":"https://a.example","options":${options}}`),
    );
    const addresses = { address: url, finishAddress: url, removeAddress: url };
    const body = { name: `provider-${++made}`, type: 'webauthn', secret: 's', ...addresses };
    const { providerId } = data(await call('POST', '/api/providers', body));
    const { deviceId } = data(await call('POST', '/api/devices/activate', activation(await register(daemon), 'ada')));
    expect(await call('POST', `/api/devices/${deviceId}/credentials`, { providerId })).toMatchObject({
      status: 503,
      message: expect.stringContaining('U+0000'),
    });
  });

  it('options that are nested too deep to be written again are an answer of no provider', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const options = `{"challenge":"${'A'.repeat(43)}","rp":{"id":"a.example"},"extensions":${deep}}`;
    const { url } = await answering((_, response) =>
      response.writeHead(200, json).end(`{"origin":"https://a.example","options":${options}}`),
    );
    const addresses = { address: url, finishAddress: url, removeAddress: url };
    const body = { name: `provider-${++made}`, type: 'webauthn', secret: 's', ...addresses };
    const { providerId } = data(await call('POST', '/api/providers', body));
    const { deviceId } = data(await call('POST', '/api/devices/activate', activation(await register(daemon), 'ada')));
    expect(await call('POST', `/api/devices/${deviceId}/credentials`, { providerId })).toMatchObject({
      status: 503,
      message: expect.stringContaining('levels of JSON'),
    });
    await call('POST', `/api/providers/${providerId}/remove`);
  });

  it('a WebAuthn server cannot change to the origin of another site', async () => {
    const { state, begin, issue, credentials } = await issuing(startWebauthnServer);
    const { credentialId } = await issue();
    data(await call('POST', `${credentials}/${credentialId}/remove`));
    Object.assign(state, { origin: 'https://login.microsoft.com', rpId: 'login.microsoft.com' });
    expect(await begin()).toMatchObject({
      code: 1001,
      message: expect.stringContaining(
        'names the origin https://login.microsoft.com, and before https://accounts.example',
      ),
    });
  });

  it('a credential of one device is not finished or removed under another one', async () => {
    const [one, other] = [await issuing(startEntra), await issuing(startEntra)];
    const begun = data(await one.begin());
    expect(await other.finish(begun.credentialId, answerOf(begun))).toMatchObject({ code: 404 });
    expect(await call('POST', `${other.credentials}/${begun.credentialId}/remove`)).toMatchObject({ code: 404 });
    expect(one.state.requests).toEqual(['options']);
  });

  it('an error with the status 200 is not an empty list, with which each credential would count as removed', async () => {
    const access = { allowed: ['127.0.0.1'], now: Date.now };
    const [graph, factors] = [await startEntra(), await startOkta()];
    for (const { state } of [graph, factors]) state.trouble('list', 'hollow');
    const atGraph = entra(graph.settings, { ...access, secret: graph.settings.secret });
    await expect(atGraph.list(await atGraph.account('ada'))).rejects.toThrow('no list');
    const atOkta = okta(factors.settings.address, { ...access, secret: factors.settings.secret });
    await expect(atOkta.list(await atOkta.account('ada'))).rejects.toThrow('no list');
  });

  it('a token that Graph refuses before its end is replaced once', async () => {
    const { state, settings } = await startEntra();
    const { secret } = settings;
    const graph = entra(settings, { secret, allowed: ['127.0.0.1'], now: Date.now });
    const account = await graph.account('ada');
    state.trouble('list', 'expired');
    expect(await graph.list(account)).toEqual([]);
    state.trouble('list', 'expired', 'expired');
    await expect(graph.list(account)).rejects.toThrow('HTTP 401');
  });
});

it('only an encrypted PIN is stored, for a device that is not retired; each reading has an entry', async () => {
  const { deviceId } = await register(daemon);
  const path = `/api/devices/${deviceId}/pin`;
  const seal = (text: string) => ({ sealed: Buffer.from(text).toString('base64url') });
  expect(await call('GET', path)).toMatchObject({ code: 404 });
  expect(await call('POST', path, seal('27182818'))).toMatchObject({ code: 1001 });
  expect(await call('PUT', '/api/policies/pin', { recipients: [`age1${'q'.repeat(58)}`] })).toMatchObject({
    code: 1001,
  });
  const pin = seal('age-encryption.org/v1\n-> sample');
  expect(data(await call('POST', path, pin))).toMatchObject({ deviceId, openedAt: null });
  expect(data(await call('GET', path))).toMatchObject({ ...pin, openedAt: null });
  expect(data(await call('GET', path))).toMatchObject({ ...pin, openedAt: expect.any(String) });
  await call('POST', `/api/devices/${deviceId}/deactivate`, { reason: 'worn out', confirmPassword: adminPassword });
  expect(await call('POST', path, pin)).toMatchObject({ code: 2005 });
  expect(await call('GET', path)).toMatchObject({ code: 404 });
});

it('a recipient for whom nothing can be encrypted is refused when the policy is set', async () => {
  // Its bytes are zero: it has the form of a recipient, and no secret can be agreed on with it.
  const recipients = ['age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z'];
  expect(await call('PUT', '/api/policies/pin', { recipients })).toMatchObject({
    code: 1001,
    message: expect.stringContaining('is not an age recipient'),
  });
});

it('a DEALER cannot make a stored PIN unreadable: a second one is refused, unless the key was reset', async () => {
  const { deviceId } = await register(daemon);
  const path = `/api/devices/${deviceId}/pin`;
  const [first, second] = ['one', 'two'].map(text => ({
    sealed: Buffer.from(`age-encryption.org/v1\n-> ${text}`).toString('base64url'),
  }));
  const { token } = await daemon.user('pin-dealer', 'DEALER');
  const store = (body: object) => call('POST', path, body, token);
  const { storedAt } = data(await store(first!));
  expect(await store(second!)).toMatchObject({ code: 1001, message: expect.stringContaining('is already stored') });
  expect(await store({})).toMatchObject({ code: 1001, message: expect.stringContaining('sealed') });
  expect(data(await call('GET', path))).toMatchObject({ ...first, storedAt });
  expect(data(await store({ ...second, reset: true }))).toMatchObject({ deviceId, openedAt: null });
  // The first one stays readable: it is that of the key, if two programs issued it at the same time.
  expect(data(await call('GET', path))).toMatchObject({ ...second, earlier: [first!.sealed] });
  expect(data(await store({ reset: true }))).toMatchObject({ deviceId, storedAt: null });
  const earlier = [second!.sealed, first!.sealed];
  expect(data(await call('GET', path))).toMatchObject({ sealed: null, storedAt: null, earlier });
  expect(data(await store({ reset: true }))).toMatchObject({ storedAt: null });
  expect(data(await store(second!))).toMatchObject({ storedAt: expect.any(String) });
  const replaced = { ...second, reset: true };
  for (let count = earlier.length; count < pinBounds.earlier; count++) data(await store(replaced));
  for (const body of [replaced, { reset: true }])
    expect(await store(body)).toMatchObject({ code: 1001, message: expect.stringContaining('only an ADMIN') });
  expect(data(await call('GET', path)).earlier.at(-1)).toBe(first!.sealed);
  expect(data(await call('POST', path, replaced))).toMatchObject({ storedAt: expect.any(String) });
  expect(data(await call('GET', path)).earlier).toHaveLength(pinBounds.earlier);
});

it('secrets of providers are in no response and no journal entry', async () => {
  const { providerId } = await issuing(startEntra);
  const listed = JSON.stringify(await call('GET', '/api/providers/list'));
  expect(listed).toContain(providerId);
  const events = JSON.stringify(await call('GET', '/api/events?after=0&limit=1000'));
  expect(listed + events).not.toMatch(/entra-secret|sealed/);
});

it.each([
  ['without an address', { type: 'okta', secret: 's' }, 'address is required'],
  [
    'with a comma in its name',
    { type: 'okta', secret: 's', address: 'https://x.example', name: 'a,b' },
    'must not contain a comma',
  ],
  [
    'with an id as its name',
    { type: 'okta', secret: 's', address: 'https://x.example', name: 'IDP-9' },
    'or be an id of a provider',
  ],
  [
    'with fields of another type',
    { type: 'okta', secret: 's', address: 'https://x.example', tenant: 't' },
    'tenant is not allowed for',
  ],
  [
    'with a secret that no header carries',
    { type: 'okta', secret: 's\u0001', address: 'https://x.example' },
    'printable ASCII',
  ],
  ['with a secret of two lines', { type: 'okta', secret: 's\r\nt', address: 'https://x.example' }, 'printable ASCII'],
  ['with a plain address', { type: 'okta', secret: 's', address: 'http://x.example' }, 'must start with https://'],
])('a provider %s is refused', async (_what, body, message) => {
  const answer = await call('POST', '/api/providers', { name: `provider-${++made}`, ...body });
  expect(answer).toMatchObject({ code: 1001, message: expect.stringContaining(message) });
});

it('answers of providers and of keys, receipts and sealed PINs that are malformed give a refusal that the interface describes', async () => {
  const tried = { seed: Number(process.env.DEVMGR_TEST_SEED ?? 1), count: 200 };
  expect(await tryProviderAnswers(tried)).toEqual([]);
  expect(await tryAnswersOfKeys(tried)).toEqual([]);
});

describe('an address of a provider', () => {
  const server = 'https://sign-in.example.com/keys';
  const internal = 'https://10.20.0.7/keys';
  it.each([
    ['address', 'https://169.254.169.254/latest', {}],
    ['address', 'https://[::ffff:a9fe:a9fe]/', {}],
    ['address', 'https://2852039166/', {}],
    ['address', 'https://[fe80::1]/', {}],
    ['address', 'https://[fd00:ec2::254]/', {}],
    ['address', 'https://100.100.100.200/', {}],
    ['address', 'https://168.63.129.16/', {}],
    ['address', 'https://0.0.0.0/', {}],
    ['finishAddress', 'https://169.254.169.254/latest', { address: server }],
    ['removeAddress', internal, { address: server }],
    ['finishAddress', 'http://10.0.0.1/', { address: server }],
    ['finishAddress', 'https://localhost/', { address: server }],
  ])('%s %s is refused when it is entered', async (field, address, given) => {
    const all = { address, finishAddress: address, removeAddress: address };
    const addresses = {
      ...all,
      ...('address' in given ? { finishAddress: server, removeAddress: server } : {}),
      ...given,
    };
    const body = { name: 'forbidden', type: 'webauthn', secret: 'secret', ...addresses, [field]: address };
    expect(await call('POST', '/api/providers', body)).toMatchObject({
      code: 1001,
      message: expect.stringMatching(new RegExp(`^${field} must `)),
    });
  });

  it.each(['https://169.254.169.254', 'https://metadata.localhost'])(
    'of a national cloud, or of Okta, is judged in the same way: %s',
    async address => {
      const entra = { name: 'cloud', type: 'entra', secret: 'secret', tenant: 'tenant', clientId: 'client' };
      const isRefused = address.includes('169');
      for (const body of [
        { ...entra, address },
        { ...entra, loginAddress: address },
        { name: 'okta', type: 'okta', secret: 'secret', address },
      ]) {
        const answer = await call('POST', '/api/providers', body);
        expect(answer.code).toBe(isRefused ? 1001 : 200);
        if (!isRefused) await call('POST', `/api/providers/${data(answer).providerId}/remove`);
      }
    },
  );

  it('inside the network is accepted if it is at the host of the first one', async () => {
    const addresses = { address: internal, finishAddress: `${internal}/2`, removeAddress: `${internal}/3` };
    const body = { name: 'inside', type: 'webauthn', secret: 'secret', ...addresses };
    const { providerId } = data(await call('POST', '/api/providers', body));
    await call('POST', `/api/providers/${providerId}/remove`);
  });
});

describe('the erasure of a person', () => {
  ownDaemon();

  it('is refused, and names the credential, while a provider still has one', async () => {
    const { state, person, deviceId, issue } = await issuing(startEntra);
    const { credentialId } = await issue();
    state.kept.add(person);
    const { list } = data(await call('GET', `/api/people/list?userName=${person}`));
    const path = `/api/people/${list[0].personId}`;
    expect(data(await call('POST', `${path}/leave`, { reason: 'has left' }))).toMatchObject({
      credentials: [credentialId],
    });
    data(
      await call('POST', `${path}/case/keep`, { kind: 'credential', id: credentialId, reason: 'the provider is gone' }),
    );
    data(await call('POST', `${path}/case/close`));
    expect(await call('POST', `${path}/erase`, { confirmPassword: adminPassword })).toMatchObject({
      code: 1001,
      message: expect.stringContaining(`${credentialId} of ${deviceId} is not removed at its provider`),
    });
    expect(data(await call('GET', path))).toMatchObject({ userName: person });
    // One that the policy demands is reported once it is a day late.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    try {
      const policy = { personsRequired: false, leavers: 'lock', leaverDelayHours: 0, retentionDays: 1 };
      data(await call('PUT', '/api/policies/people', policy));
      const unerased = async (days: number) => {
        vi.setSystemTime(Date.now() + days * 86_400_000);
        const token = await daemon.login('admin');
        return data(await daemon.call('GET', '/api/people/check', undefined, { token })).unerased;
      };
      expect(await unerased(1)).toBe(0);
      expect(await unerased(3)).toBe(1);
      const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
      expect(metrics).toMatch(/^devmgr_persons_unerased{.*} 1$/m);
    } finally {
      vi.useRealTimers();
    }
  });
});

itAnswersLikeExamples({
  createProvider: [200],
  setProviderSecret: [200],
  removeProvider: [200, 1001],
  startCredential: [200, 2004],
  finishCredential: [200, 404, 2004],
  listCredentials: [200, 2001],
  removeCredential: [200, 404],
  storePin: [200, 2005],
  readPin: [200, 404],
});
