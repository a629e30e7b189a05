/** The request of a station to a key, by the creation options of a provider. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type IssueInput, issueAttached } from '../../daemon/hardware/issuing.ts';
import type { AttachedKey, Driver } from '../../drivers/driver.ts';
import type { IssuedKey, StoredCredentialRequest } from '../../drivers/issued-key.ts';

const options = { challenge: 'c2VydmVy', rp: { id: 'example.com' }, user: { id: 'AQ', name: 'ada' } };

/** The answer of the station, and what it has asked the key for. */
async function issued(changes: object, step: Partial<IssueInput> = { pin: '2716' }) {
  const requests: StoredCredentialRequest[] = [];
  const key: Partial<IssuedKey> = {
    makeCredential: async request => {
      requests.push(request);
      return { attestationObject: Uint8Array.of(1), credentialId: Uint8Array.of(2) };
    },
    hasAny: async () => true,
  };
  const driver: Partial<Driver> = { issue: (_keyId, _work, task) => task(key as IssuedKey) };
  const attached = { keyId: 'hid-1', serialNumber: 'SN-1' } as AttachedKey;
  const input: IssueInput = {
    step: 'credential',
    serialNumber: 'SN-1',
    origin: 'https://login.example.com',
    options: JSON.stringify({ ...options, ...changes }),
    ...step,
  };
  const proving = { driver: driver as Driver, key: () => attached, onState: () => undefined };
  const how = { signal: new AbortController().signal, isFresh: true };
  const answer = await issueAttached(proving, input, how).catch((error: Error) => error);
  return { answer, requests };
}

test('the key signs client data for the origin and the challenge of the provider', async () => {
  const { answer, requests } = await issued({});
  const { clientDataJSON } = (answer as { response: { response: { clientDataJSON: string } } }).response.response;
  const clientData = Buffer.from(clientDataJSON, 'base64url');
  expect(JSON.parse(clientData.toString())).toEqual({
    type: 'webauthn.create',
    challenge: 'c2VydmVy',
    origin: 'https://login.example.com',
    crossOrigin: false,
  });
  expect(requests[0]).toMatchObject({
    clientDataHash: createHash('sha256').update(clientData).digest(),
    relyingParty: { id: 'example.com' },
    user: { id: Buffer.of(1), name: 'ada', displayName: 'ada' },
  });
});

test.each([
  ['nothing', {}, { protection: 2, enterprise: false, isAnonymous: true }],
  [
    'a PIN for each use',
    { extensions: { credentialProtectionPolicy: 'userVerificationRequired' } },
    { protection: 3, enterprise: false, isAnonymous: true },
  ],
  ['the attestation of the key', { attestation: 'direct' }, { protection: 2, enterprise: false, isAnonymous: false }],
  ['that of the unit', { attestation: 'enterprise' }, { protection: 2, enterprise: true, isAnonymous: false }],
])('a provider that asks for %s', async (_what, changes, request) => {
  expect((await issued(changes)).requests).toMatchObject([request]);
});

test('credentials of the person at the provider are excluded, and its algorithms are kept in order', async () => {
  const pubKeyCredParams = [{ alg: -8 }, { alg: -7 }, { alg: 'x' }, { alg: -8 }];
  const { requests } = await issued({ excludeCredentials: [{ id: 'AQID' }, { id: 5 }], pubKeyCredParams });
  expect(requests).toMatchObject([{ exclude: [Buffer.of(1, 2, 3)], algorithms: [-8, -7] }]);
});

describe('nothing is asked of the key', () => {
  test.each([
    ['for another site', { rp: { id: 'other.example' } }, {}],
    ['for a site whose name only ends alike', {}, { origin: 'https://evilexample.com' }],
    ['for a whole top-level domain', { rp: { id: 'com' } }, {}],
    ['without a challenge', { challenge: undefined }, {}],
    ['without a user', { user: undefined }, {}],
    ['for a user id of 65 bytes', { user: { id: 'A'.repeat(87) } }, {}],
    ['that are not JSON', {}, { options: '{' }],
    ['for an address instead of an origin', {}, { origin: 'https://login.example.com/path' }],
    ['for the serial number of another key', {}, { serialNumber: 'SN-2' }],
  ])('by options %s', async (_what, changes, step) => {
    const { answer, requests } = await issued(changes, { pin: '2716', ...step });
    expect(answer).toMatchObject({ code: 1001 });
    expect(requests).toEqual([]);
  });

  test('without a PIN, if the provider requires one', async () => {
    const authenticatorSelection = { userVerification: 'required' };
    const { answer, requests } = await issued({ authenticatorSelection }, {});
    expect(answer).toMatchObject({ failure: 'unavailable', refusal: 'pin-not-set', response: null });
    expect(requests).toEqual([]);
  });
});
