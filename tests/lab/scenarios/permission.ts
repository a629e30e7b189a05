/** The driver as a normal user: keys that need not be opened, keys that may not be opened, and a late udev. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { HidProcess } from '../../support/hid-process.ts';
import { Bench } from '../harness.ts';

const AS_TESTER = ['setpriv', '--reuid', '1000', '--regid', '1000', '--clear-groups'];
const bench = new Bench();
const hid = new HidProcess(AS_TESTER);
await hid.next('started');

const plain = await bench.plug({ model: 'plain', serial: 'FT-0001' });
const listed = await hid.next('attached');
assert.partialDeepStrictEqual(listed.key, { serialNumber: 'FT-0001', problem: null });
console.log('  a key that need not be opened is identified');

const yubikey = await bench.plug({ model: 'yubikey5' });
const refused = await hid.next('attached');
assert.equal(refused.key.serialNumber, null);
assert.match(refused.key.problem ?? '', /GROUP="devmgr", MODE="0660"/);
console.log(`  a key that may not be opened: ${refused.key.problem}`);

for (const node of readdirSync('/dev').filter(name => name.startsWith('hidraw'))) chmodSync(`/dev/${node}`, 0o666);
const changed = await hid.next('changed');
assert.partialDeepStrictEqual(changed.key, { serialNumber: '12345678', problem: null, keyId: refused.key.keyId });
console.log('  after it may be opened, it is reported again with its serial');
await bench.unplug(yubikey.id);
await hid.next('detached');

mkdirSync('/run/udev/rules.d', { recursive: true });
const rule = 'SUBSYSTEM=="hidraw", ACTION=="add", PROGRAM="/bin/sleep 1", MODE="0666"\n';
writeFileSync('/run/udev/rules.d/99-lab.rules', rule);
execFileSync('udevadm', ['control', '--reload']);
const late = await bench.plug({ model: 'yubikey5' });
const patient = await hid.next('attached');
assert.partialDeepStrictEqual(patient.key, { serialNumber: '12345678', problem: null });
console.log('  with udev a second late, the key is reported once and complete');

await bench.unplug(late.id);
await bench.unplug(plain.id);
await hid.next('detached');
await hid.next('detached');
assert.equal(await hid.end(), 0);
await bench.end();
