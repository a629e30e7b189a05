/** The driver as an ordinary user: what needs no opening is read, what does is waited for, explained, and picked up later. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { HidProcess } from '../../support/hid-process.ts';
import { Hands } from '../hands.ts';

const AS_TESTER = ['setpriv', '--reuid', '1000', '--regid', '1000', '--clear-groups'];
const hands = new Hands();
const hid = new HidProcess(AS_TESTER);
await hid.next('started');

const plain = await hands.plug({ recipe: 'plain', serial: 'FT-0001' });
const listed = await hid.next('attached');
assert.partialDeepStrictEqual(listed.key, { serialNumber: 'FT-0001', problem: null });
console.log('  a key that need not be opened is read');

const yubikey = await hands.plug({ recipe: 'yubikey5' });
const refused = await hid.next('attached');
assert.equal(refused.key.serialNumber, null);
assert.match(refused.key.problem ?? '', /GROUP="devmgr", MODE="0660"/);
console.log(`  a key that may not be opened: ${refused.key.problem}`);

for (const node of readdirSync('/dev').filter(name => name.startsWith('hidraw'))) chmodSync(`/dev/${node}`, 0o666);
const changed = await hid.next('changed');
assert.partialDeepStrictEqual(changed.key, { serialNumber: '12345678', problem: null, keyId: refused.key.keyId });
console.log('  once it may be, it is told again with its serial');
await hands.pull(yubikey.place);
await hid.next('detached');

mkdirSync('/run/udev/rules.d', { recursive: true });
const rule = 'SUBSYSTEM=="hidraw", ACTION=="add", PROGRAM="/bin/sleep 1", MODE="0666"\n';
writeFileSync('/run/udev/rules.d/99-lab.rules', rule);
execFileSync('udevadm', ['control', '--reload']);
const late = await hands.plug({ recipe: 'yubikey5' });
const patient = await hid.next('attached');
assert.partialDeepStrictEqual(patient.key, { serialNumber: '12345678', problem: null });
console.log('  udev being a second late, the key is told once and whole');

await hands.pull(late.place);
await hands.pull(plain.place);
await hid.next('detached');
await hid.next('detached');
assert.equal(await hid.end(), 0);
hands.end();
