/** Proofs over the interface: a challenge, its answer, and what the registry makes of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANSWERING_AAGUID as AAGUID, type Challenged, fidoAnswer, u2fAnswer } from '../support/challenged.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, form, freshSerial, register, registration } from '../support/fleet.ts';
import { itAnswersLikeExamples } from '../support/recorded-examples.ts';
import { authenticatorRoot } from '../support/test-authenticator.ts';
import { cardRoot, TestScp11bCard } from '../support/test-scp11b-card.ts';

const root = cardRoot();
const fidoRoot = authenticatorRoot();
const bytes = (value: string) => Buffer.from(value, 'base64url');

let daemon: TestDaemon;
let dealer: string;
async function trust(certificate: Uint8Array, fields: Record<string, string>): Promise<void> {
  const raw = form(fields, { name: 'root.der', content: new Uint8Array(certificate) });
  data(await daemon.call('POST', '/api/trust', undefined, { raw }));
}
const fidoFields = { purpose: 'fido', label: 'Test FIDO', aaguids: AAGUID };
beforeAll(async () => {
  daemon = await startTestDaemon();
  dealer = (await daemon.user('a-dealer', 'DEALER')).token;
  await trust(root.der, { purpose: 'scp11b', label: 'Test vendor' });
  await trust(fidoRoot.der, fidoFields);
});
afterAll(() => daemon?.stop());

const as = (token?: string) => (token === undefined ? {} : { token });
const challenge = async (token?: string): Promise<Challenged> =>
  data(await daemon.call('POST', '/api/proofs/challenge', {}, as(token)));
const send = (proofId: string, body: object, token?: string) =>
  daemon.call('POST', `/api/proofs/${proofId}`, body, as(token));

/** Serial numbers of cards are numbers. */
let lastCard = 40_000_000 + (process.pid % 10_000) * 100;
const cardSerial = () => ++lastCard;

const cardEvidence = (serialNumber: number, { ephemeralPublicKey }: Challenged) =>
  new TestScp11bCard({ serialNumber, firmware: [5, 7, 4], formFactor: 1, root }).evidence(ephemeralPublicKey);
const fidoEvidence = (serialNumber: string, asked: Challenged) => fidoAnswer(fidoRoot, serialNumber, asked);

const detailOf = async (deviceId: string) => data(await daemon.call('GET', `/api/devices/${deviceId}`));
const listed = async (query: string) => data(await daemon.call('GET', `/api/devices/list?${query}`)).list;

describe('a challenge', () => {
  it('has 32 bytes, a point of P-256, the id of the registry and five minutes', async () => {
    const made = await challenge();
    expect(bytes(made.challenge)).toHaveLength(32);
    expect(bytes(made.ephemeralPublicKey)).toHaveLength(65);
    expect(made.registryId).toMatch(/^[0-9a-f]{32}$/);
    expect(Date.parse(made.expiresAt) - Date.now()).toBeLessThanOrEqual(5 * 60_000);
    expect((await challenge()).challenge).not.toBe(made.challenge);
  });

  it('names the method that the policy needs, to a service token that may not read the policy', async () => {
    const body = { name: 'station', role: 'DEALER', expiresInDays: 1, may: [] };
    const { token } = data(await daemon.call('POST', '/api/tokens', body));
    const setPolicy = async (allowedAaguids: readonly string[]) =>
      data(
        await daemon.call('PUT', '/api/policies/proof', { requiredGrade: 'none', allowedAaguids, leastFirmware: [] }),
      );
    expect(await challenge(token)).toMatchObject({ method: null });
    await setPolicy([AAGUID]);
    expect(await challenge(token)).toMatchObject({ method: 'fido' });
    await setPolicy([]);
    expect(await challenge(token)).toMatchObject({ method: null });
  });

  it('is answered once', async () => {
    const { proofId } = await challenge();
    const body = { serialNumber: freshSerial(), claims: { firmware: '5.7.4' } };
    data(await send(proofId, body));
    expect(await send(proofId, body)).toMatchObject({
      code: 1001,
      message: expect.stringContaining('answered before'),
    });
  });

  it('accepts one of two simultaneous answers', async () => {
    const { proofId } = await challenge();
    const body = { serialNumber: freshSerial(), claims: { firmware: '5.7.4' } };
    const codes = (await Promise.all([send(proofId, body), send(proofId, body)])).map(({ code }) => code);
    expect(codes.sort((a, b) => a - b)).toEqual([200, 1001]);
  });

  it('of another caller is refused', async () => {
    const { proofId } = await challenge();
    const answer = await send(proofId, { serialNumber: freshSerial(), claims: { firmware: '1' } }, dealer);
    expect(answer).toMatchObject({ code: 1001, message: expect.stringContaining('another caller') });
  });

  it.each(['unknown', 'AAAA', 'A'.repeat(63), 'é', '_'.repeat(500)])('%s does not exist', async proofId => {
    const answer = await send(encodeURIComponent(proofId), { serialNumber: freshSerial(), claims: { firmware: '1' } });
    expect(answer).toMatchObject({ status: 404, code: 404 });
  });
});

describe('an answer', () => {
  it('of a card proves the unit, and the device has the proof from then on', async () => {
    const serial = cardSerial();
    const device = await register(daemon, { serialNumber: String(serial) });
    expect((await detailOf(device.deviceId)).proof).toBeNull();
    const asked = await challenge();
    const { proof, ...rest } = data(
      await send(asked.proofId, { serialNumber: String(serial), claims: {}, evidence: cardEvidence(serial, asked) }),
    );
    expect(rest).toEqual({ serialNumber: String(serial), deviceId: device.deviceId, rule: null, reason: null });
    expect(proof).toMatchObject({ grade: 'unit', method: 'scp11b', serial: String(serial), root: 'Test vendor' });
    expect((await detailOf(device.deviceId)).proof).toEqual(proof);
    expect((await listed(`proof=unit&serialNumber=${serial}`))[0].proof).toEqual(proof);
    expect(await listed(`proof=model,none&serialNumber=${serial}`)).toEqual([]);
  });

  it('of an authenticator proves the model', async () => {
    const { deviceId, serialNumber } = await register(daemon);
    const asked = await challenge(dealer);
    const body = { serialNumber, claims: {}, evidence: fidoEvidence(serialNumber, asked) };
    const { proof } = data(await send(asked.proofId, body, dealer));
    expect(proof).toMatchObject({ grade: 'model', method: 'fido', aaguid: AAGUID, warnings: expect.any(Array) });
    expect((await listed(`aaguid=${AAGUID}&proof=model`)).map((one: { deviceId: string }) => one.deviceId)).toContain(
      deviceId,
    );
  });

  it('for another serial number fails, and the device reports this', async () => {
    const serial = cardSerial();
    const { deviceId } = await register(daemon, { serialNumber: String(serial) });
    const asked = await challenge();
    const evidence = cardEvidence(serial + 50_000_000, asked);
    const answer = data(await send(asked.proofId, { serialNumber: String(serial), claims: {}, evidence }));
    expect(answer).toMatchObject({ rule: 'serial', proof: { grade: 'failed' } });
    expect(answer.proof.warnings[0]).toBe(answer.reason);
    expect((await detailOf(deviceId)).proof.grade).toBe('failed');
  });

  it('that was sent for an earlier challenge is recognized', async () => {
    const serial = String(cardSerial());
    const asked = await challenge();
    const evidence = cardEvidence(Number(serial), asked);
    data(await send(asked.proofId, { serialNumber: serial, claims: {}, evidence }));
    const again = data(await send((await challenge()).proofId, { serialNumber: serial, claims: {}, evidence }));
    expect(again).toMatchObject({ rule: 'replay', proof: { grade: 'failed' } });
  });

  it('with claims alone is claimed, and does not replace evidence', async () => {
    const { deviceId, serialNumber } = await register(daemon);
    const claim = async () =>
      data(await send((await challenge()).proofId, { serialNumber, claims: { firmware: '5.4.3', aaguid: AAGUID } }));
    expect((await claim()).proof).toMatchObject({ grade: 'claimed', firmware: '5.4.3' });
    const asked = await challenge();
    data(await send(asked.proofId, { serialNumber, claims: {}, evidence: fidoEvidence(serialNumber, asked) }));
    expect((await claim()).proof.grade).toBe('claimed');
    expect((await detailOf(deviceId)).proof.grade).toBe('model');
  });

  it('with an advisory is found by it', async () => {
    const { deviceId, serialNumber } = await register(daemon, { manufacturer: 'Yubico', model: 'YubiKey 5 NFC' });
    data(await send((await challenge()).proofId, { serialNumber, claims: { firmware: '5.4.3' } }));
    const found = await listed('advisory=YSA-2024-03');
    expect(found.map((one: { deviceId: string }) => one.deviceId)).toEqual([deviceId]);
  });

  it.each([
    ['no claims', { evidence: null }, 'claims is required'],
    ['nothing at all', { claims: {} }, 'claims or evidence is required'],
    ['claims that are a text', { claims: 'x' }, 'claims must be a JSON object'],
    ['a claim of another type', { claims: { firmware: 5 } }, 'claims.firmware must be a string'],
    ['a claim that is too long', { claims: { variant: 'x'.repeat(513) } }, 'claims.variant is longer than 512'],
    [
      'too many options',
      { claims: { options: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [i, true])) } },
      'claims.options',
    ],
    ['an option that is not a boolean', { claims: { options: { rk: 'yes' } } }, 'claims.options'],
    ['a method that is unknown', { claims: {}, evidence: { method: 'faith' } }, 'evidence.method'],
    ['evidence that is an array', { claims: {}, evidence: [] }, 'evidence must be a JSON object'],
    [
      'a chain without certificates',
      { claims: {}, evidence: { method: 'scp11b', kvn: 1, cardPublicKey: 'AA', receipt: 'AA', chain: [] } },
      'evidence.chain',
    ],
    [
      'bytes that are not base64url',
      { claims: {}, evidence: { method: 'u2f', registration: 'a+b' } },
      'evidence.registration',
    ],
    [
      'too many bytes',
      { claims: {}, evidence: { method: 'fido', attestationObject: 'A'.repeat(22_000) } },
      'evidence.attestationObject',
    ],
  ])('with %s is refused, and the challenge can still be answered', async (_, body, message) => {
    const { proofId } = await challenge();
    const serialNumber = freshSerial();
    expect(await send(proofId, { serialNumber, ...body })).toMatchObject({
      code: 1001,
      message: expect.stringContaining(message),
    });
    expect(await send(proofId, { serialNumber, claims: { firmware: '1' } })).toMatchObject({ code: 200 });
  });
});

describe('a registration', () => {
  const proved = async (serialNumber: string) => {
    const asked = await challenge();
    data(await send(asked.proofId, { serialNumber, claims: {}, evidence: fidoEvidence(serialNumber, asked) }));
    return asked.proofId;
  };
  const setPolicy = async (policy: object) =>
    data(
      await daemon.call('PUT', '/api/policies/proof', {
        requiredGrade: 'none',
        allowedAaguids: [],
        leastFirmware: [],
        ...policy,
      }),
    );

  it('takes the verdict for its serial number', async () => {
    const serialNumber = freshSerial();
    const proofId = await proved(serialNumber);
    const { deviceId } = await register(daemon, { serialNumber, proofId });
    expect((await detailOf(deviceId)).proof).toMatchObject({ grade: 'model', aaguid: AAGUID });
    const other = freshSerial();
    await proved(other);
    const batch = await daemon.call('POST', '/api/devices/batch-register', {
      devices: [registration({ serialNumber: other }), registration()],
    });
    const ids = data(batch).results.map((item: { deviceId: string }) => item.deviceId);
    expect((await detailOf(ids[0])).proof.grade).toBe('model');
    expect((await detailOf(ids[1])).proof).toBeNull();
  });

  it('is judged by what is trusted now, not by what was when the key answered', async () => {
    const serialNumber = freshSerial();
    await proved(serialNumber);
    data(await daemon.call('POST', `/api/trust/${fidoRoot.fingerprint}/remove`, {}));
    await setPolicy({ requiredGrade: 'model' });
    const refused = await daemon.call('POST', '/api/devices/register', registration({ serialNumber }));
    expect(refused).toMatchObject({ code: 1001, message: expect.stringContaining('the grade of this key is claimed') });
    await trust(fidoRoot.der, fidoFields);
    const { deviceId } = await register(daemon, { serialNumber });
    await setPolicy({});
    expect((await detailOf(deviceId)).proof).toMatchObject({ grade: 'model', aaguid: AAGUID });
  });

  it('with the challenge of another serial number is refused', async () => {
    const proofId = await proved(freshSerial());
    const answer = await daemon.call('POST', '/api/devices/register', registration({ proofId }));
    expect(answer).toMatchObject({ code: 1001, message: expect.stringContaining('proofId') });
  });

  it('must comply with the policy, and a refusal names the rule', async () => {
    const registered = freshSerial();
    await register(daemon, { serialNumber: registered });
    await setPolicy({ requiredGrade: 'model' });
    const refused = await daemon.call('POST', '/api/devices/register', registration());
    expect(refused).toMatchObject({ code: 1001, message: expect.stringContaining('required grade') });
    const serialNumber = freshSerial();
    await proved(serialNumber);
    const devices = [registration(), registration({ serialNumber })];
    expect(data(await daemon.call('POST', '/api/devices/batch-register', { devices }))).toMatchObject({
      success: 1,
      results: [{ status: 'failed', code: 1001 }, { status: 'success' }],
    });
    const again = data(
      await daemon.call('POST', '/api/devices/batch-register', {
        devices: [registration({ serialNumber: registered })],
      }),
    );
    expect(again.results).toMatchObject([{ status: 'failed', code: 2006 }]);
    await setPolicy({ allowedAaguids: ['99999999-8888-7777-6666-555555555555'] });
    const other = freshSerial();
    await proved(other);
    const answer = await daemon.call('POST', '/api/devices/register', registration({ serialNumber: other }));
    expect(answer).toMatchObject({ code: 1001, message: expect.stringContaining('allowed AAGUIDs') });
    await setPolicy({});
    await register(daemon, { serialNumber: other });
  });

  it.each([
    ['allowed AAGUIDs', { allowedAaguids: [AAGUID] }, 'the AAGUID of this key is not proved'],
    ['least firmware', { leastFirmware: [{ version: '5.7.0' }] }, 'the firmware of this key is not proved'],
    [
      'least firmware',
      { leastFirmware: [{ model: 'YubiKey', version: '5.7.0' }] },
      'the firmware and the model of this key are not proved',
    ],
  ])('that proves nothing does not meet a rule on %s, whatever the key claims: %j', async (rule, policy, fact) => {
    await setPolicy(policy);
    const claiming = freshSerial();
    data(
      await send((await challenge()).proofId, {
        serialNumber: claiming,
        claims: { firmware: '5.7.4', aaguid: AAGUID },
      }),
    );
    const refusal = { code: 1001, message: expect.stringMatching(`^proof \\(${rule}\\): .*${fact} \\(proof: `) };
    const rows = [
      registration({ serialNumber: claiming, firmwareVersion: '5.7.4' }),
      registration({ firmwareVersion: '5.7.4' }),
      registration({ deviceType: 'SIMKEY' }),
    ];
    for (const row of rows) expect(await daemon.call('POST', '/api/devices/register', row)).toMatchObject(refusal);
    expect(data(await daemon.call('POST', '/api/devices/batch-register', { devices: rows })).results).toMatchObject(
      rows.map(() => ({ status: 'failed', ...refusal })),
    );
    await setPolicy({});
  });

  it('is judged by the AAGUID of a U2F key as not proved, although the key claims it', async () => {
    const u2fRoot = authenticatorRoot('Test U2F Root');
    await trust(u2fRoot.der, { purpose: 'fido', label: 'Test U2F' });
    await setPolicy({ requiredGrade: 'model', allowedAaguids: [AAGUID] });
    const serialNumber = freshSerial();
    const asked = await challenge();
    const evidence = u2fAnswer(u2fRoot, serialNumber, asked);
    const { proof } = data(await send(asked.proofId, { serialNumber, claims: { aaguid: AAGUID }, evidence }));
    expect(proof).toMatchObject({ grade: 'model', method: 'u2f' });
    expect(await daemon.call('POST', '/api/devices/register', registration({ serialNumber }))).toMatchObject({
      code: 1001,
      message: expect.stringContaining('the AAGUID of this key is not proved (proof: u2f)'),
    });
    await setPolicy({});
  });

  it('meets a rule by the fact that its evidence proves', async () => {
    await setPolicy({ allowedAaguids: [AAGUID] });
    const serialNumber = freshSerial();
    await proved(serialNumber);
    await register(daemon, { serialNumber });
    await setPolicy({ leastFirmware: [{ model: 'YubiKey', version: '5.7.0' }] });
    const card = cardSerial();
    const asked = await challenge();
    data(await send(asked.proofId, { serialNumber: String(card), claims: {}, evidence: cardEvidence(card, asked) }));
    await register(daemon, { serialNumber: String(card) });
    await setPolicy({});
  });

  it.each([
    { allowedAaguids: ['X'] },
    { leastFirmware: [{ version: 'new' }] },
    { requiredGrade: 'failed' },
    { leastFirmware: ['5.7'] },
  ])('a policy %j is refused', async policy => {
    const body = { requiredGrade: 'none', allowedAaguids: [], leastFirmware: [], ...policy };
    expect(await daemon.call('PUT', '/api/policies/proof', body)).toMatchObject({ code: 1001 });
  });
});

describe('judging again', () => {
  const all = async () => {
    const sum = { judged: 0, changed: 0 };
    for (let after: number | null = 0; after !== null; ) {
      const part: { judged: number; changed: number; next: number | null } = data(
        await daemon.call('POST', '/api/proofs/judge-again', { after }),
      );
      sum.judged += part.judged;
      sum.changed += part.changed;
      after = part.next;
    }
    return sum;
  };

  it('follows what is trusted, without the keys', async () => {
    const { deviceId, serialNumber } = await register(daemon);
    const asked = await challenge();
    data(await send(asked.proofId, { serialNumber, claims: {}, evidence: fidoEvidence(serialNumber, asked) }));
    const first = await all();
    expect(first.judged).toBeGreaterThan(0);
    expect(first.changed).toBe(0);
    const before = (await detailOf(deviceId)).proof;
    data(await daemon.call('POST', `/api/trust/${fidoRoot.fingerprint}/remove`, {}));
    expect((await all()).changed).toBeGreaterThan(0);
    expect((await detailOf(deviceId)).proof.grade).toBe('claimed');
    await trust(fidoRoot.der, fidoFields);
    await all();
    expect((await detailOf(deviceId)).proof).toEqual(before);
  });
});

describe('an export', () => {
  it('has the proof as NDJSON and its grade as CSV', async () => {
    const serial = String(cardSerial());
    await register(daemon, { serialNumber: serial });
    const asked = await challenge();
    const evidence = cardEvidence(Number(serial), asked);
    data(await send(asked.proofId, { serialNumber: serial, claims: {}, evidence }));
    const exported = async (query: string) => {
      const headers = { authorization: `Bearer ${daemon.adminToken}` };
      return (await fetch(`${daemon.url}/api/devices/export?serialNumber=${serial}&${query}`, { headers })).text();
    };
    expect(JSON.parse((await exported('format=ndjson')).split('\n')[0]!).proof).toMatchObject({ grade: 'unit' });
    const [header, row] = (await exported('format=csv')).trim().split('\r\n');
    expect(header!.split(',').at(-1)).toBe('proof');
    expect(row!.split(',').at(-1)).toBe('unit');
    expect((await exported('format=csv&proof=none')).trim().split(',')).not.toContain('proof');
  });
});

itAnswersLikeExamples({ createProofChallenge: [200], submitProof: [200], judgeProofsAgain: [200] });
