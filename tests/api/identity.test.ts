/** The credential by which a key is recognized, over the interface: registered, found, proved, lost. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { identityDataHash } from '../../daemon/devices/client-data.ts';
import { Code } from '../../src/contract/codes.ts';
import { identityBounds } from '../../src/contract/limits.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, deviceIn, freshSerial, register, registration } from '../support/fleet.ts';
import { IDENTITY_AAGUID, IdentityKey, identityChallenge } from '../support/identity-key.ts';
import { startWebauthnServer } from '../support/issuing-providers.ts';
import { itAnswersLikeExamples } from '../support/recorded-examples.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';

let daemon: TestDaemon;
let dealer: string;
beforeAll(async () => {
  daemon = await startTestDaemon({ webhookAllow: ['127.0.0.1'] });
  dealer = (await daemon.user('identity-dealer', 'DEALER')).token;
});
afterAll(() => daemon?.stop());

/** How the answer of a key deviates. */
interface Deviation {
  readonly wrong?: string;
  readonly flags?: number;
  readonly signature?: Uint8Array;
  readonly format?: string;
}

const detail = async (deviceId: string) => data(await daemon.call('GET', `/api/devices/${deviceId}`));
const bind = async (key: IdentityKey, body: object, token?: string) => {
  const asked = await identityChallenge(daemon, token);
  const whole = { evidence: key.make(asked), numberSource: 'printed', ...body };
  return daemon.call('POST', `/api/identity/${asked.identityId}/bind`, whole, token === undefined ? {} : { token });
};
const reset = async (deviceId: string) =>
  data(await daemon.call('POST', `/api/devices/${deviceId}/reset`, { stage: 'done' }));
const candidates = async (body: object) =>
  data(await daemon.call('POST', '/api/identity/candidates', { protocol: 'CTAP2', aaguid: IDENTITY_AAGUID, ...body }));

describe('a registration with a credential', () => {
  it('makes a device that is known by it', async () => {
    const { deviceId } = await new IdentityKey().enroll(daemon);
    expect(await detail(deviceId)).toMatchObject({ identity: 'credential', identityProvedAt: null, version: 1 });
    expect(await detail((await register(daemon)).deviceId)).toMatchObject({ identity: 'serial' });
  });

  it('shows neither the credential nor its key in details, lists, exports and events', async () => {
    const key = new IdentityKey();
    const { deviceId } = await key.enroll(daemon);
    const shown = [
      await detail(deviceId),
      data(await daemon.call('GET', '/api/devices/list?size=100')),
      data(await daemon.call('GET', `/api/events?deviceId=${deviceId}`)),
      await (
        await fetch(`${daemon.url}/api/devices/export`, { headers: { authorization: `Bearer ${daemon.adminToken}` } })
      ).text(),
    ];
    expect(JSON.stringify(shown)).not.toContain(key.credentialId);
    expect(JSON.stringify(shown)).toContain('"change":"bound"');
  });

  it('refuses a serial number that is taken with 2006, and stores no credential', async () => {
    const { serialNumber } = await register(daemon);
    const key = new IdentityKey();
    const body = await key.registration(daemon, { serialNumber });
    expect((await daemon.call('POST', '/api/devices/register', body)).code).toBe(Code.serialDuplicated);
    expect((await key.prove(daemon)).message).toMatch(/no device has this credential/);
  });

  it('refuses one of two registrations of a serial number at the same time', async () => {
    const serialNumber = freshSerial('PR');
    const bodies = await Promise.all(
      Array.from({ length: 4 }, () => new IdentityKey().registration(daemon, { serialNumber })),
    );
    const answers = await Promise.all(bodies.map(body => daemon.call('POST', '/api/devices/register', body)));
    expect(answers.map(({ code }) => code).sort()).toEqual([200, 2006, 2006, 2006]);
  });

  it('takes the number of the challenge, and no other, as a number that the registry makes', async () => {
    const asked = await identityChallenge(daemon);
    expect(asked.number).toMatch(/^DM-[A-HJ-NP-Z2-9]{5}-[A-HJ-NP-Z2-9]{5}$/);
    const identity = { identityId: asked.identityId, evidence: new IdentityKey().make(asked), numberSource: 'auto' };
    const other = registration({ serialNumber: 'DM-AAAAA-AAAAA', identity });
    expect(await daemon.call('POST', '/api/devices/register', other)).toMatchObject({
      code: 1001,
      message: /not the number/,
    });
    const body = registration({ serialNumber: asked.number, identity });
    expect(data(await daemon.call('POST', '/api/devices/register', body)).serialNumber).toBe(asked.number);
  });

  it.each([
    ['of another challenge', { wrong: 'challenge' }, /does not match/],
    ['for another relying party', { wrong: 'party' }, /another relying party/],
    ['without a touch', { flags: 0x40 }, /did not report a touch/],
    ['with a wrong signature', { signature: randomBytes(70) }, /does not match/],
    ['of an unknown format', { format: 'tpm' }, /format is not supported/],
  ])('refuses evidence %s', async (_, { wrong, ...options }: Deviation, message) => {
    const asked = await identityChallenge(daemon);
    const other = await identityChallenge(daemon);
    const made = new IdentityKey().make(
      {
        ...asked,
        ...(wrong === 'challenge' && { challenge: other.challenge }),
        ...(wrong === 'party' && { relyingParty: `${'0'.repeat(32)}.devmgr.invalid` }),
      },
      options,
    );
    const body = registration({ identity: { identityId: asked.identityId, evidence: made, numberSource: 'printed' } });
    const answer = await daemon.call('POST', '/api/devices/register', body);
    expect(answer).toMatchObject({ code: 1001, message: expect.stringMatching(message) });
  });

  it('takes keys with a certificate of their maker, keys that do not attest, and U2F keys', async () => {
    const root = authenticatorRoot('Test root of identities');
    const authenticator = new TestAuthenticator({ root, aaguid: IDENTITY_AAGUID });
    for (const kind of ['x5c', 'none', 'u2f'] as const) {
      const asked = await identityChallenge(daemon);
      const hash = identityDataHash(asked.relyingParty, Buffer.from(asked.challenge, 'base64url'));
      const site = createHash('sha256').update(asked.relyingParty).digest();
      const evidence =
        kind === 'none'
          ? new IdentityKey().make(asked, { format: 'none' })
          : kind === 'u2f'
            ? { method: 'u2f', registration: authenticator.u2fRegister(hash, site).toString('base64url') }
            : {
                method: 'fido',
                attestationObject: authenticator.attestationObject(asked.relyingParty, hash).toString('base64url'),
              };
      const body = registration({ identity: { identityId: asked.identityId, evidence, numberSource: 'printed' } });
      expect(await daemon.call('POST', '/api/devices/register', body), kind).toMatchObject({ code: 200 });
    }
  });

  it('refuses the challenge of another caller, and an item of a batch', async () => {
    const body = await new IdentityKey().registration(daemon, {}, {}, dealer);
    expect(await daemon.call('POST', '/api/devices/register', body)).toMatchObject({
      code: 1001,
      message: /another caller/,
    });
    const batch = await daemon.call('POST', '/api/devices/batch-register', {
      devices: [await new IdentityKey().registration(daemon)],
    });
    expect(batch.data.results[0]).toMatchObject({ status: 'failed', code: 1001 });
  });
});

describe('candidates', () => {
  it('come by station, then firmware, the last seen first, each once', async () => {
    const aaguid = '11111111-1111-4111-8111-111111111111';
    const enroll = async (station: string, firmware: string) => {
      const key = new IdentityKey();
      const asked = await identityChallenge(daemon);
      const evidence = key.make(asked, { aaguid });
      const identity = { identityId: asked.identityId, evidence, numberSource: 'printed', station, firmware };
      return data(await daemon.call('POST', '/api/devices/register', registration({ identity }))).deviceId as string;
    };
    const [here, other, old, elsewhere] = [
      await enroll('a', '5.4.3'),
      await enroll('b', '5.4.3'),
      await enroll('b', '5.1.0'),
      await enroll('b', '5.4.3'),
    ];
    const found = await candidates({ aaguid, station: 'a', firmware: '5.4.3' });
    expect(found.list.map(({ deviceId }: { deviceId: string }) => deviceId)).toEqual([here, elsewhere, other, old]);
    expect(found.next).toBeNull();
    expect((await candidates({ aaguid: '22222222-2222-4222-8222-222222222222' })).list).toEqual([]);
    expect(
      (await candidates({ aaguid, protocol: 'U2F' })).list.map((one: { deviceId: string }) => one.deviceId),
    ).not.toContain(here);
  });

  it('name the credential of one serial number alone', async () => {
    const key = new IdentityKey();
    const { deviceId, serialNumber } = await key.enroll(daemon);
    expect((await candidates({ serialNumber })).list).toEqual([
      { credentialId: key.credentialId, deviceId, serialNumber },
    ]);
    expect((await candidates({ serialNumber: 'NONE-1' })).list).toEqual([]);
  });

  it('are at most three portions', async () => {
    expect(identityBounds.portions).toHaveLength(3);
    const answer = await daemon.call('POST', '/api/identity/candidates', { protocol: 'CTAP2', portion: 4 });
    expect(answer).toMatchObject({ code: 1001, message: /portion/ });
  });

  it('are not shown to a VIEWER', async () => {
    const { token } = await daemon.user('identity-viewer', 'VIEWER');
    const answer = await daemon.call('POST', '/api/identity/candidates', { protocol: 'CTAP2' }, { token });
    expect(answer.code).toBe(Code.noPermission);
  });
});

describe('a signature', () => {
  it('with a touch is recorded in the details and the journal', async () => {
    const key = new IdentityKey();
    const { deviceId, serialNumber } = await key.enroll(daemon);
    const { provedAt, ...proved } = data(await key.prove(daemon, { deviceId }));
    expect(proved).toEqual({ deviceId, serialNumber, touched: true });
    expect(await detail(deviceId)).toMatchObject({ identityProvedAt: provedAt, version: 2 });
    const { list } = data(await daemon.call('GET', `/api/events?deviceId=${deviceId}&types=DEVICE_IDENTITY`));
    expect(list.map((one: { data: object }) => one.data)).toMatchObject([{ change: 'bound' }, { change: 'proved' }]);
  });

  it('without a touch recognizes the key, and moves it to the station, without an event', async () => {
    const key = new IdentityKey();
    const { deviceId } = await key.enroll(daemon, {}, { station: 'a' });
    expect(data(await key.prove(daemon, { station: 'b' }, false))).toMatchObject({
      deviceId,
      touched: false,
      provedAt: null,
    });
    expect((await candidates({ station: 'b' })).list[0]).toMatchObject({ deviceId });
    expect(await detail(deviceId)).toMatchObject({ identityProvedAt: null, version: 1 });
  });

  it('of the key of another device is refused, and both are named', async () => {
    const key = new IdentityKey();
    const [one, other] = [await key.enroll(daemon), await register(daemon)];
    const answer = await key.prove(daemon, { deviceId: other.deviceId });
    expect(answer).toMatchObject({
      code: Code.serialDuplicated,
      data: {
        credential: { deviceId: one.deviceId, serialNumber: one.serialNumber },
        expected: { deviceId: other.deviceId, serialNumber: other.serialNumber },
      },
    });
    expect(answer.message).toContain(one.deviceId);
    expect(answer.message).toContain(other.deviceId);
  });

  it('counts once', async () => {
    const key = new IdentityKey();
    await key.enroll(daemon);
    const asked = await identityChallenge(daemon);
    const send = (body: object) => daemon.call('POST', `/api/identity/${asked.identityId}/prove`, body);
    const signed = key.sign(asked);
    expect((await send(signed)).code).toBe(200);
    expect(await send(signed)).toMatchObject({ code: 1001, message: /after this challenge/ });
    expect(await send(key.sign(asked))).toMatchObject({ code: 1001, message: /after this challenge/ });
  });

  it('with a counter that went back is refused', async () => {
    const key = new IdentityKey();
    await key.enroll(daemon);
    key.counter = 7;
    data(await key.prove(daemon));
    key.counter = 7;
    await vi.waitFor(async () => expect((await key.prove(daemon)).code).toBe(1001));
    key.counter = 3;
    expect(await key.prove(daemon)).toMatchObject({ code: 1001, message: /went back/ });
  });

  it('for another challenge, with changed data or of another key is refused', async () => {
    const [key, other] = [new IdentityKey(), new IdentityKey()];
    await key.enroll(daemon);
    await other.enroll(daemon);
    const [asked, next] = [await identityChallenge(daemon), await identityChallenge(daemon)];
    const send = (body: object) => daemon.call('POST', `/api/identity/${asked.identityId}/prove`, body);
    const signed = key.sign(asked);
    for (const body of [
      key.sign(next),
      { ...signed, authenticatorData: key.sign(next).authenticatorData },
      { ...other.sign(asked), credentialId: key.credentialId },
      { ...signed, signature: 'AAAA' },
      { ...signed, authenticatorData: 'AAAA' },
    ])
      expect(await send(body)).toMatchObject({ code: 1001 });
    expect((await send(signed)).code).toBe(200);
  });
});

describe('a device whose key was reset', () => {
  it('has lost its identity, and the next credential of its number is bound to it', async () => {
    const key = new IdentityKey();
    const { deviceId, serialNumber } = await key.enroll(daemon);
    await reset(deviceId);
    expect(await detail(deviceId)).toMatchObject({ identity: 'none', identityProvedAt: null });
    expect((await candidates({ serialNumber })).list).toEqual([]);
    expect(await key.prove(daemon)).toMatchObject({ code: 1001, message: /reset/ });
    data(await bind(key, { deviceId }, dealer));
    expect(await detail(deviceId)).toMatchObject({ identity: 'credential' });
    expect((await candidates({ serialNumber })).list).toMatchObject([{ credentialId: key.credentialId }]);
  });

  it('is known by the serial number that its key reports', async () => {
    const { deviceId } = await new IdentityKey().enroll(daemon, {}, { numberSource: 'key' });
    await reset(deviceId);
    expect(await detail(deviceId)).toMatchObject({ identity: 'serial' });
  });
});

describe('an action at the key of a device, some minutes after it was enrolled', () => {
  afterEach(() => vi.useRealTimers());
  const later = (minutes: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 });
  const enrolled = async () => {
    const key = new IdentityKey();
    const { deviceId, activationCode } = await key.enroll(daemon);
    data(await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'ida' }));
    return { key, deviceId };
  };

  it('is refused without a signature for it, of this key, after a touch, by this caller', async () => {
    const { key, deviceId } = await enrolled();
    const { key: other, deviceId: another } = await enrolled();
    later(6);
    const send = (stage: string, body: object = {}) =>
      daemon.call('POST', `/api/devices/${deviceId}/reset`, { stage, ...body });
    for (const stage of ['begun', 'done'])
      expect(await send(stage)).toMatchObject({ code: 1001, message: /must sign with it for this reset/ });
    const refused: [object, number, RegExp][] = [
      [await key.allow(daemon, 'issue', deviceId), 1001, /for another action/],
      [await key.allow(daemon, 'reset', another), 1001, /for another action/],
      [await key.allow(daemon, 'reset', deviceId, true, dealer), 1001, /another caller/],
      [await key.allow(daemon, 'reset', deviceId, false), 1001, /not touched/],
      [await other.allow(daemon, 'reset', deviceId), 2006, /by its credential/],
    ];
    for (const [body, code, message] of refused)
      expect(await send('begun', body)).toMatchObject({ code, message: expect.stringMatching(message) });
    const earlier = await key.allow(daemon, 'reset', deviceId);
    data(await key.prove(daemon));
    expect(await send('begun', earlier)).toMatchObject({ code: 1001, message: /after this challenge/ });
    later(0.1);
    const signed = await key.allow(daemon, 'reset', deviceId);
    data(await send('begun', signed));
    later(14);
    data(await send('done', signed));
    expect(await detail(deviceId)).toMatchObject({ identity: 'none' });
  });

  it('is allowed by one touch at each provider, and the journal has it once', async () => {
    const { key, deviceId } = await enrolled();
    const providers = await Promise.all(
      ['signed-1', 'signed-2'].map(async name => {
        const { settings } = await startWebauthnServer();
        const body = { name: `${name}-${deviceId}`, ...settings };
        return data(await daemon.call('POST', '/api/providers', body)).providerId as string;
      }),
    );
    later(6);
    const start = (providerId: string, body: object = {}) =>
      daemon.call('POST', `/api/devices/${deviceId}/credentials`, { providerId, ...body });
    expect(await start(providers[0]!)).toMatchObject({ code: 1001, message: /for this issue/ });
    const signed = await key.allow(daemon, 'issue', deviceId);
    for (const providerId of providers) data(await start(providerId, signed));
    const { list } = data(await daemon.call('GET', `/api/events?deviceId=${deviceId}&types=DEVICE_IDENTITY`));
    expect(list.map((one: { data: { change: string } }) => one.data.change)).toEqual(['bound', 'proved']);
  });
});

describe('a credential of a registered device', () => {
  it('is bound to one that has none', async () => {
    const { deviceId } = await register(daemon);
    expect(data(await bind(new IdentityKey(), { deviceId }))).toMatchObject({ deviceId });
    expect(await detail(deviceId)).toMatchObject({ identity: 'credential', version: 2 });
  });

  it('is replaced only if an ADMIN confirms that the key was reset elsewhere', async () => {
    const { deviceId } = await new IdentityKey().enroll(daemon);
    expect(await bind(new IdentityKey(), { deviceId })).toMatchObject({ code: 1001, message: /another key/ });
    expect(await bind(new IdentityKey(), { deviceId, replace: true }, dealer)).toMatchObject({ code: 2007 });
    expect((await bind(new IdentityKey(), { deviceId, replace: true })).code).toBe(200);
    const { list } = data(await daemon.call('GET', `/api/events?deviceId=${deviceId}&types=DEVICE_IDENTITY`));
    expect(list.map((one: { data: { change: string } }) => one.data.change)).toEqual(['bound', 'lost', 'bound']);
  });

  it('is bound to one device only', async () => {
    const key = new IdentityKey();
    const asked = await identityChallenge(daemon);
    const evidence = key.make(asked);
    const [one, other] = [await register(daemon), await register(daemon)];
    const send = (deviceId: string) =>
      daemon.call('POST', `/api/identity/${asked.identityId}/bind`, { deviceId, evidence, numberSource: 'printed' });
    expect((await send(one.deviceId)).code).toBe(200);
    const answer = await send(other.deviceId);
    expect(answer).toMatchObject({ code: 2006, data: { credential: { deviceId: one.deviceId } } });
  });

  it('is refused for a device that is retired or unknown', async () => {
    const { deviceId } = await deviceIn('DEACTIVATED', daemon);
    expect((await bind(new IdentityKey(), { deviceId })).code).toBe(Code.deviceDeactivated);
    expect((await bind(new IdentityKey(), { deviceId: 'DEV-999999' })).code).toBe(Code.deviceNotFound);
  });
});

describe('the policy', () => {
  const set = async (identity?: string) => {
    const rules = { requiredGrade: 'none', allowedAaguids: [], leastFirmware: [] };
    data(await daemon.call('PUT', '/api/policies/proof', { ...rules, ...(identity && { identity }) }));
  };
  const send = async (body: object) => daemon.call('POST', '/api/devices/register', body);

  it('is shown with each challenge', async () => {
    expect((await identityChallenge(daemon)).policy).toBe('where-needed');
    await set('never');
    expect((await identityChallenge(daemon)).policy).toBe('never');
    await set();
  });

  it('requires a credential of each UKEY, or allows none', async () => {
    await set('required');
    expect(await send(registration({ deviceType: 'UKEY' }))).toMatchObject({ code: 1001, message: /\(identity\)/ });
    expect((await send(registration({ deviceType: 'SIMKEY' }))).code).toBe(200);
    await new IdentityKey().enroll(daemon);
    await set('never');
    expect(await send(await new IdentityKey().registration(daemon))).toMatchObject({
      code: 1001,
      message: /\(identity\)/,
    });
    await set();
  });
});

itAnswersLikeExamples({
  createIdentityChallenge: [200],
  listIdentityCandidates: [200],
  bindIdentity: [200, 2001, 2005, 2006],
  proveIdentity: [200, 2006],
  recordKeyReset: [2006],
});
