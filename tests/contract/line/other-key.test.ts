/** A key whose serial number a device has, and that is another key. */
import { expect, test } from 'vitest';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import type { Key } from '../../../src/contract/hardware.ts';
import { unproved } from '../../../src/contract/key-values.ts';
import { otherKeyOf } from '../../../src/enrollment/other-key.ts';
import type { DeviceQuestions } from '../../../src/enrollment/registry.ts';
import { contradictionOf } from '../../../src/enrollment/same-device.ts';

const aaguid = '2fc0579f-8113-47ea-b116-bb5a8db9202a';
const other = 'ee882879-721c-4913-9775-3dfcce97072a';
type Shown = Parameters<typeof contradictionOf>[0];
type Recorded = Parameters<typeof contradictionOf>[1];
const key = (more: Partial<Shown> = {}): Shown => ({
  deviceType: 'UKEY',
  claims: { aaguid },
  firmwareVersion: '5.4.3',
  ...more,
});
const device = (more: Partial<Recorded> = {}): Recorded => ({
  deviceType: 'UKEY',
  firmwareVersion: '5.4.3',
  proof: { ...unproved, warnings: [], aaguid },
  ...more,
});

const product = (model: string) => ({ manufacturer: 'Maker', model, serialSource: 'usb-descriptor', vendorId: '096e' });
const claimed = (model: string, of: string | null = null) =>
  device({ proof: { ...unproved, grade: 'claimed', method: 'claims', warnings: [], model, aaguid: of } });

test.each<[string, Shown, Recorded, string | null]>([
  ['shows the same', key(), device(), null],
  ['has another type', key({ deviceType: 'SIMKEY' }), device(), 'type'],
  ['has another AAGUID', key({ claims: { aaguid: other } }), device(), 'AAGUID'],
  ['shows its AAGUID in upper case', key({ claims: { aaguid: aaguid.toUpperCase() } }), device(), null],
  ['shows no AAGUID', key({ claims: {} }), device(), null],
  ['has a device without a proof', key({ claims: { aaguid: other } }), device({ proof: null }), null],
  ['has newer firmware', key({ firmwareVersion: '6.0.0' }), device(), null],
  ['has an older major version', key({ firmwareVersion: '4.3.7' }), device(), 'firmware'],
  ['has an older minor version', key({ firmwareVersion: '5.1.0' }), device(), null],
  ['has firmware in another form', key({ firmwareVersion: '328966' }), device(), null],
  ['has an AAGUID of zeros', key({ claims: { aaguid: aaguid.replace(/[0-9a-f]/g, '0') } }), device(), null],
  ['has another name of the product', key(product('Key B')), claimed('Maker Key A'), 'model'],
  ['has another version in that name', key(product('Key A 2.1')), claimed('Maker Key A 1.0.3'), null],
  ['names its enabled interfaces', key({ ...product('Key B'), vendorId: '1050' }), claimed('Maker Key A'), null],
  [
    'has the number of its unit from its own protocol',
    key({ ...product('Key B'), serialSource: 'trussed-uuid' }),
    claimed('Maker Key A'),
    null,
  ],
  ['has the model of the metadata', key(product('Key B')), claimed('Maker Key A', aaguid), null],
  ['has a device with firmware in words', key({ firmwareVersion: '4.3.7' }), device({ firmwareVersion: 'five' }), null],
])('a key that %s', (_, shown, recorded, what) => {
  expect(contradictionOf(shown, recorded)?.what ?? null).toBe(what);
});

const stored = { site: 'login.example', id: 'AAAA' };
const attached = { ...key(), keyId: 'hid-1', serialNumber: 'S-1', simulated: false } as Key;
const active = { ...device(), deviceId: 'DEV-1', status: 'ACTIVE' } as DeviceDetail;
/** The answer of the key, for a device that has a credential it was issued. */
const questions = (
  answer: Partial<Awaited<ReturnType<DeviceQuestions['step']>>>,
  hasCredential: boolean | null = null,
  carried: string | null = null,
): DeviceQuestions => ({
  withClaims: async one => one,
  recognition: {
    hasCredentialOf: async () => hasCredential,
    carried: async () => carried && { deviceId: carried },
  } as unknown as DeviceQuestions['recognition'],
  credentials: async () => [{ credentialId: 'CRD-1', stored }] as never,
  step: async () => ({ problem: null, ...answer }) as never,
});

const recognized = { ...active, identity: 'credential', status: 'INACTIVE' } as DeviceDetail;

test.each<[string, Parameters<typeof otherKeyOf>, string | null]>([
  ['lacks the credential of the device', [questions({}, false), attached, recognized], 'credential'],
  ['has the credential of the device', [questions({}, true), attached, recognized], null],
  ['cannot be asked for the credential', [questions({}, null), attached, recognized], null],
  ['was recognized by it', [questions({}, false), { ...attached, serialSource: 'credential' }, recognized], null],
  ['has the credential of another device', [questions({}, null, 'DEV-2'), attached, active], 'credential'],
  ['has it and will be erased', [questions({}, null, 'DEV-2'), attached, active, true], 'credential'],
  ['has its own credential only', [questions({}, null, 'DEV-1'), attached, active], null],
  ['lacks it and will be erased', [questions({}, false), attached, recognized, true], null],
  ['has none of the credentials', [questions({ hasAny: false }), attached, active], 'credentials'],
  ['has one of them', [questions({ hasAny: true }), attached, active], null],
  ['does not report credentials without its PIN', [questions({ hasAny: null }), attached, active], null],
  ['is busy', [questions({ hasAny: false, problem: 'busy' }), attached, active], null],
  ['cannot be asked', [{ ...questions({}), step: () => Promise.reject(new Error('2007')) }, attached, active], null],
  ['has none, and will be erased', [questions({ hasAny: false }), attached, active, true], null],
  ['is simulated', [questions({ hasAny: false }), { ...attached, simulated: true }, active], null],
  ['is not attached', [questions({ hasAny: false }), { ...attached, keyId: '' }, active], null],
  ['has a device that is locked', [questions({ hasAny: false }), attached, { ...active, status: 'LOCKED' }], null],
])('an attached key that %s', async (_, [asked, shown, recorded, mayBeErased], what) => {
  expect((await otherKeyOf(asked, shown, recorded, mayBeErased))?.what ?? null).toBe(what);
});

test('a credential that the key has never reported without its PIN is not asked for', async () => {
  const asked = { ...questions({ hasAny: false }), credentials: async () => [{ credentialId: 'CRD-1' }] as never };
  expect(await otherKeyOf(asked, attached, active)).toBeNull();
});
