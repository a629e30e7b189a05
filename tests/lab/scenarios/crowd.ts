/** Twenty keys at once, two that give one serial, one key put back at once: each told as it should be. */
import assert from 'node:assert/strict';
import { createHidDriver } from '../../../drivers/hid/index.ts';
import { Eyes, Hands } from '../hands.ts';

const driver = createHidDriver({ notice: (message, detail) => console.log('  notice:', message, detail) });
const hands = new Hands();
const eyes = new Eyes(driver);
await eyes.start();
const isTold = (kind: string, serial: string | null) => (one: { kind: string; key: { serialNumber: string | null } }) =>
  one.kind === kind && one.key.serialNumber === serial;

const serials = Array.from({ length: 20 }, (_, i) => `CROWD-${i + 10}`);
const orders = serials.map(serial => hands.plug({ recipe: 'plain', serial }));
const places = (await Promise.all(orders)).map(report => report.place);
for (const serial of serials) await eyes.until(serial, isTold('attached', serial), 0, 60_000);
assert.deepEqual(
  driver
    .keys()
    .map(key => key.serialNumber)
    .sort(),
  [...serials].sort(),
);
assert.equal(new Set(driver.keys().map(key => key.keyId)).size, 20);
await Promise.all(places.map(place => hands.pull(place)));
for (const serial of serials) await eyes.until(`${serial} gone`, isTold('detached', serial), 0, 60_000);
assert.equal(eyes.seen.length, 40);
console.log('  twenty at once: each told once, each gone once');

let from = eyes.seen.length;
const first = await hands.plug({ recipe: 'plain', serial: 'TWIN-7' });
await eyes.until('the first twin', isTold('attached', 'TWIN-7'), from);
const second = await hands.plug({ recipe: 'plain', serial: 'TWIN-7' });
await eyes.until('the second twin', isTold('attached', null), from);
await eyes.until('the first twin losing its serial', isTold('changed', null), from);
assert.equal(driver.keys().length, 2);
await hands.pull(second.place);
await eyes.until('the second twin going', one => one.kind === 'detached', from);
assert.equal(driver.keys()[0]?.serialNumber, null);
await hands.pull(first.place);
await eyes.until('both gone', () => driver.keys().length === 0, from);
console.log('  two keys of one serial: neither is named by it');

from = eyes.seen.length;
const once = await hands.plug({ recipe: 'plain', serial: 'AGAIN-1' });
const before = await eyes.until('the key', isTold('attached', 'AGAIN-1'), from);
await hands.pull(once.place);
const back = await hands.plug({ recipe: 'plain', serial: 'AGAIN-1' });
const after = await eyes.until(
  'the key put back',
  one => one.kind === 'attached' && one.key.keyId !== before.key.keyId,
  from,
);
assert.equal(after.key.serialNumber, 'AGAIN-1');
assert.deepEqual(
  eyes.seen.slice(from).map(one => one.kind),
  ['attached', 'detached', 'attached'],
);
await hands.pull(back.place);
console.log('  a key put back at once: one going and one coming, with a new keyId');

await driver.stop();
hands.end();
