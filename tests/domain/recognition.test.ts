/** A key that is slow to describe itself may be a device already: it is looked for again before it makes a credential. */
import { expect, test } from 'vitest';
import type { Key } from '../../src/contract/hardware.ts';
import { Recognition } from '../../src/enrollment/recognition.ts';
import type { Poll, Send } from '../../src/enrollment/send.ts';

const key = { keyId: 'key-1', deviceType: 'UKEY', serialNumber: null, simulated: false, claims: {} } as unknown as Key;
const described = { ...key, claims: { aaguid: '54d9fee8-e621-4291-8b18-7157b99c5bec' } };
const candidate = { deviceId: 'DEV-7', serialNumber: 'DM-AAAAA-BBBBB', credentialId: 'AQ' };

/** `describes`: at which look the claims are there. `has`: whether the key has the credential of the device. */
function station({ describes, has }: { readonly describes: number; readonly has: boolean }) {
  const steps: string[] = [];
  let looks = 0;
  const registry = (async (operation: string, { body }: { body?: { protocol?: string } }) => {
    if (operation === 'createIdentityChallenge')
      return { identityId: 'id-1', challenge: 'AA', relyingParty: 'r', policy: 'where-needed', isInUse: true };
    return { relyingParty: 'r', list: body?.protocol === 'CTAP2' ? [candidate] : [], next: null };
  }) as unknown as Send;
  const hardware = (async (operation: string, { body }: { body?: { step: string } }) => {
    if (operation === 'listKeys') return { list: [++looks < describes ? key : described] };
    steps.push(body!.step);
    const found = body!.step === 'find' && has;
    return { credentialId: found ? 'AQ' : null, assertion: null, problem: null, evidence: { attestation: 'AA' } };
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
