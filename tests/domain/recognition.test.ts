/** A key that is slow to describe itself may be a device already: it is looked for again before it makes a credential. */
import { expect, test } from 'vitest';
import type { Key } from '../../src/contract/hardware.ts';
import { Recognition } from '../../src/enrollment/recognition.ts';
import type { Poll, Send } from '../../src/enrollment/send.ts';

const key = { keyId: 'key-1', deviceType: 'UKEY', serialNumber: null, simulated: false, claims: {} } as unknown as Key;
const described = { ...key, claims: { aaguid: '54d9fee8-e621-4291-8b18-7157b99c5bec' } };
const candidate = { deviceId: 'DEV-7', serialNumber: 'DM-AAAAA-BBBBB', credentialId: 'AQ' };

interface Station {
  /** At which look the claims are there. */
  readonly describes: number;
  /** Whether the key has the credential of the device. */
  readonly has: boolean;
  readonly method?: 'fido' | 'u2f';
  /** What the key does when it is asked for the credential for the n-th time. */
  readonly asked?: (time: number) => object;
}

function station({ describes, has, method = 'fido', asked = () => ({}) }: Station) {
  const steps: string[] = [];
  let looks = 0;
  let times = 0;
  const registry = (async (operation: string, { body }: { body?: { protocol?: string } }) => {
    if (operation === 'createIdentityChallenge')
      return { identityId: 'id-1', challenge: 'AA', relyingParty: 'r', policy: 'where-needed', isInUse: true };
    return { relyingParty: 'r', list: body?.protocol === 'CTAP2' ? [candidate] : [], next: null };
  }) as unknown as Send;
  const hardware = (async (operation: string, { body }: { body?: { step: string } }) => {
    if (operation === 'listKeys') return { list: [++looks < describes ? key : described] };
    steps.push(body!.step);
    const isFind = body!.step === 'find';
    const answer = { assertion: null, problem: null, failure: null, evidence: { method } };
    return { ...answer, credentialId: isFind && has ? 'AQ' : null, ...(isFind && asked(++times)) };
  }) as unknown as Send;
  const once: Poll = async read => read();
  return { recognition: new Recognition(registry, hardware, once), steps };
}

test('a key of a device whose claims came late makes no second credential', async () => {
  const { recognition, steps } = station({ describes: 2, has: true });
  expect(await recognition.recognized(key)).toEqual(key);
  const made = await recognition.make({ ...key, serialNumber: 'DM-CCCCC-DDDDD', serialSource: 'auto' });
  expect(made).toEqual({ identity: null, problem: 'it is DEV-7: plug it in again' });
  expect(steps).toEqual(['find']);
});

test('a new key whose claims came late is looked for once more, and makes its credential', async () => {
  const { recognition, steps } = station({ describes: 2, has: false });
  await recognition.recognized(key);
  const made = await recognition.make({ ...key, serialNumber: 'DM-CCCCC-DDDDD', serialSource: 'auto' });
  expect(made.identity).toMatchObject({ numberSource: 'auto' });
  expect(steps).toEqual(['find', 'make']);
});

test('a new key that was looked for with its claims is not looked for again', async () => {
  const { recognition, steps } = station({ describes: 1, has: false });
  await recognition.recognized(key);
  await recognition.make({ ...key, serialNumber: 'DM-CCCCC-DDDDD', serialSource: 'auto' });
  expect(steps).toEqual(['find', 'make']);
});

const numbered = { ...key, serialNumber: 'DM-CCCCC-DDDDD', serialSource: 'auto' as const };

test('a key of a device that describes itself after it has made a credential is not enrolled with it', async () => {
  const { recognition, steps } = station({ describes: 3, has: true });
  await recognition.recognized(key);
  expect(await recognition.make(numbered)).toEqual({ identity: null, problem: 'it is DEV-7: plug it in again' });
  expect(steps).toEqual(['make', 'find']);
});

test('the credential of a new key that describes itself late has its model', async () => {
  const { recognition } = station({ describes: 3, has: false });
  await recognition.recognized(key);
  expect((await recognition.make(numbered)).identity).toMatchObject({ aaguid: described.claims.aaguid });
});

test('a key of CTAP2 that does not describe itself is not enrolled', async () => {
  const { recognition } = station({ describes: 100, has: true });
  await recognition.recognized(key);
  expect(await recognition.make(numbered)).toMatchObject({
    identity: null,
    problem: expect.stringMatching(/has not described itself/),
  });
});

test('a key of U2F, which describes nothing, makes its credential', async () => {
  const { recognition, steps } = station({ describes: 100, has: false, method: 'u2f' });
  await recognition.recognized(key);
  expect((await recognition.make(numbered)).identity).toMatchObject({ aaguid: null });
  expect(steps).toEqual(['make']);
});

const silent = { problem: 'it does not answer', failure: 'timeout' };

test.each([
  ['does not answer', silent, 'it does not answer whether it is registered: plug it in again'],
  ['answers then', {}, 'it is DEV-7: plug it in again'],
])('a key that has not answered is asked again before it makes a credential: it %s', async (_what, second, problem) => {
  const { recognition, steps } = station({ describes: 1, has: true, asked: time => (time === 1 ? silent : second) });
  expect(await recognition.recognized(key)).toEqual(key);
  expect(await recognition.make(numbered)).toMatchObject({ identity: null, problem });
  expect(steps).toEqual(['find', 'find']);
});

test('a key that could not be looked for because a request failed is looked for before it makes a credential', async () => {
  const failed = () => {
    throw new Error('the service does not answer');
  };
  const { recognition, steps } = station({ describes: 1, has: true, asked: time => (time === 1 ? failed() : {}) });
  expect(await recognition.recognized(key)).toEqual(key);
  expect(await recognition.make(numbered)).toEqual({ identity: null, problem: 'it is DEV-7: plug it in again' });
  expect(steps).toEqual(['find', 'find']);
});
