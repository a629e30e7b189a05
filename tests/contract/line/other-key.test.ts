/** A key whose serial number a device has, and that is another key. */
import { expect, test } from 'vitest';
import { unproved } from '../../../src/contract/values.ts';
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
  ['has a device with firmware in words', key({ firmwareVersion: '4.3.7' }), device({ firmwareVersion: 'five' }), null],
])('a key that %s', (_, shown, recorded, what) => {
  expect(contradictionOf(shown, recorded)?.what ?? null).toBe(what);
});
