/** Answers that prove nothing: too late, for another device, for another registry. The clock is in the hands of the test. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proofBounds } from '../../src/contract/limits.ts';
import { ANSWERING_AAGUID, type Challenged, fidoAnswer } from '../support/challenged.ts';
import { holdClock, second } from '../support/clock.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, form, freshSerial, register, registration } from '../support/fleet.ts';
import { authenticatorRoot } from '../support/test-authenticator.ts';
import { cardRoot, TestScp11bCard } from '../support/test-scp11b-card.ts';

const fidoRoot = authenticatorRoot();
const cards = cardRoot();

let clock: ReturnType<typeof holdClock>;
let daemon: TestDaemon;
beforeAll(async () => {
  clock = holdClock();
  daemon = await startTestDaemon();
  await trusting(daemon);
});
afterAll(async () => {
  await daemon?.stop();
  clock.release();
});

async function trusting(registry: TestDaemon): Promise<void> {
  const trust = async (der: Uint8Array, fields: Record<string, string>) => {
    const raw = form(fields, { name: 'root.der', content: new Uint8Array(der) });
    data(await registry.call('POST', '/api/trust', undefined, { raw }));
  };
  await trust(fidoRoot.der, { purpose: 'fido', label: 'Test FIDO', aaguids: ANSWERING_AAGUID });
  await trust(cards.der, { purpose: 'scp11b', label: 'Test vendor' });
}

const challenge = async (registry = daemon): Promise<Challenged> =>
  data(await registry.call('POST', '/api/proofs/challenge', {}));
const send = (proofId: string, body: object, registry = daemon) =>
  registry.call('POST', `/api/proofs/${proofId}`, body);
const gradeOf = async (deviceId: string) =>
  data(await daemon.call('GET', `/api/devices/${deviceId}`)).proof?.grade ?? null;

describe('a challenge', () => {
  it('can be answered for five minutes and not later', async () => {
    const serialNumber = freshSerial();
    const [first, second_] = [await challenge(), await challenge()];
    const { deviceId } = await register(daemon, { serialNumber });
    const evidence = fidoAnswer(fidoRoot, serialNumber, second_);
    clock.forward(proofBounds.challengeSeconds * second - 1);
    expect(await send(first.proofId, { serialNumber, claims: { firmware: '1' } })).toMatchObject({ code: 200 });
    clock.forward(1);
    expect(await send(second_.proofId, { serialNumber, claims: {}, evidence })).toMatchObject({
      status: 400,
      code: 1001,
      message: 'proofId: this challenge has expired; request another one',
    });
    expect(await gradeOf(deviceId)).toBe('claimed');
  });

  it('that was answered stays answered until it has expired, however many answers follow for its serial number', async () => {
    const serialNumber = freshSerial();
    const answered = await challenge();
    const body = { serialNumber, claims: { firmware: '1' } };
    data(await send(answered.proofId, body));
    for (let more = 0; more < 2 * proofBounds.keptPerSerial; more++)
      data(await send((await challenge()).proofId, body));
    clock.forward(proofBounds.challengeSeconds * second - 1);
    data(await send((await challenge()).proofId, body));
    expect(await send(answered.proofId, body)).toMatchObject({
      code: 1001,
      message: expect.stringContaining('answered before'),
    });
  });
});

describe('evidence', () => {
  it('of a FIDO key about one device does not prove another one', async () => {
    const [genuine, other] = [freshSerial(), await register(daemon)];
    const asked = await challenge();
    const evidence = fidoAnswer(fidoRoot, genuine, asked);
    const answer = data(await send(asked.proofId, { serialNumber: other.serialNumber, claims: {}, evidence }));
    expect(answer).toMatchObject({ rule: 'fido-signature', proof: { grade: 'failed', serial: null } });
    expect(await gradeOf(other.deviceId)).toBe('failed');
  });

  it('of a card about one device does not prove another one', async () => {
    const other = await register(daemon, { serialNumber: '70000002' });
    const asked = await challenge();
    const card = new TestScp11bCard({ serialNumber: 70_000_001, firmware: [5, 7, 4], formFactor: 1, root: cards });
    const evidence = card.evidence(asked.ephemeralPublicKey);
    const answer = data(await send(asked.proofId, { serialNumber: other.serialNumber, claims: {}, evidence }));
    expect(answer).toMatchObject({ rule: 'serial', proof: { grade: 'failed', serial: null } });
  });

  it('by self attestation does not fail: the key is registered, unless a rule asks for more', async () => {
    const serialNumber = freshSerial();
    const asked = await challenge();
    const evidence = fidoAnswer(fidoRoot, serialNumber, asked, 'self');
    const answer = data(await send(asked.proofId, { serialNumber, claims: { firmware: '1' }, evidence }));
    expect(answer).toMatchObject({ rule: 'fido-self', proof: { grade: 'claimed' } });
    const body = registration({ serialNumber, proofId: asked.proofId });
    const policy = (requiredGrade: string) =>
      daemon.call('PUT', '/api/policies/proof', { requiredGrade, allowedAaguids: [], leastFirmware: [] });
    data(await policy('model'));
    expect(await daemon.call('POST', '/api/devices/register', body)).toMatchObject({
      code: 1001,
      message: expect.stringMatching(/required grade.*claimed/),
    });
    data(await policy('none'));
    expect(data(await daemon.call('POST', '/api/devices/register', body))).toMatchObject({ serialNumber });
  });

  it('for the challenge of one registry is refused by another one', async () => {
    const elsewhere = await startTestDaemon();
    try {
      await trusting(elsewhere);
      const { deviceId, serialNumber } = await register(daemon);
      const theirs = await challenge(elsewhere);
      const evidence = fidoAnswer(fidoRoot, serialNumber, theirs);
      const body = { serialNumber, claims: {}, evidence };
      expect(await send(theirs.proofId, body)).toMatchObject({ status: 404, code: 404 });
      expect(await gradeOf(deviceId)).toBeNull();
      const ours = await challenge();
      expect(ours.registryId).not.toBe(theirs.registryId);
      expect(data(await send(ours.proofId, body))).toMatchObject({
        rule: 'fido-signature',
        proof: { grade: 'failed' },
      });
      // The evidence itself is genuine.
      expect(data(await send(theirs.proofId, body, elsewhere))).toMatchObject({
        rule: null,
        proof: { grade: 'model' },
      });
    } finally {
      await elsewhere.stop();
    }
  });

  it('is judged with the id of the registry, even if a station sends another id', async () => {
    const { serialNumber } = await register(daemon);
    const asked = await challenge();
    const evidence = fidoAnswer(fidoRoot, serialNumber, { ...asked, registryId: 'another' });
    const body = { serialNumber, claims: {}, evidence, registryId: 'another' };
    expect(data(await send(asked.proofId, body))).toMatchObject({ rule: 'fido-signature', proof: { grade: 'failed' } });
  });
});
