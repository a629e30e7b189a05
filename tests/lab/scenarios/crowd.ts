/** Twenty keys at once, two keys with the same serial, one key unplugged and plugged in again at once. */
import assert from 'node:assert/strict';
import { createHidDriver } from '../../../drivers/hid/index.ts';
import { Bench, DriverEvents } from '../harness.ts';

const driver = createHidDriver({ notice: (message, detail) => console.log('  notice:', message, detail) });
const bench = new Bench();
const events = new DriverEvents(driver);
await events.start();
const isEvent =
  (kind: string, serial: string | null) => (one: { kind: string; key: { serialNumber: string | null } }) =>
    one.kind === kind && one.key.serialNumber === serial;

const serials = Array.from({ length: 20 }, (_, i) => `CROWD-${i + 10}`);
const pluggings = serials.map(serial => bench.plug({ model: 'plain', serial }));
const ids = (await Promise.all(pluggings)).map(reply => reply.id);
for (const serial of serials) await events.until(serial, isEvent('attached', serial), 0, 60_000);
assert.deepEqual(
  driver
    .keys()
    .map(key => key.serialNumber)
    .sort(),
  [...serials].sort(),
);
assert.equal(new Set(driver.keys().map(key => key.keyId)).size, 20);
await Promise.all(ids.map(id => bench.unplug(id)));
for (const serial of serials) await events.until(`${serial} detached`, isEvent('detached', serial), 0, 60_000);
assert.equal(events.all.length, 40);
console.log('  twenty at once: each attached once, each detached once');

let from = events.all.length;
const first = await bench.plug({ model: 'plain', serial: 'TWIN-7' });
await events.until('the first twin', isEvent('attached', 'TWIN-7'), from);
const second = await bench.plug({ model: 'plain', serial: 'TWIN-7' });
await events.until('the second twin', isEvent('attached', null), from);
await events.until('the first twin without its serial', isEvent('changed', null), from);
assert.equal(driver.keys().length, 2);
await bench.unplug(second.id);
await events.until('the second twin detached', one => one.kind === 'detached', from);
assert.equal(driver.keys()[0]?.serialNumber, null);
await bench.unplug(first.id);
await events.until('both detached', () => driver.keys().length === 0, from);
console.log('  two keys with the same serial: neither has it');

from = events.all.length;
const once = await bench.plug({ model: 'plain', serial: 'AGAIN-1' });
const before = await events.until('the key', isEvent('attached', 'AGAIN-1'), from);
await bench.unplug(once.id);
const back = await bench.plug({ model: 'plain', serial: 'AGAIN-1' });
const after = await events.until(
  'the key plugged in again',
  one => one.kind === 'attached' && one.key.keyId !== before.key.keyId,
  from,
);
assert.equal(after.key.serialNumber, 'AGAIN-1');
assert.deepEqual(
  events.all.slice(from).map(one => one.kind),
  ['attached', 'detached', 'attached'],
);
await bench.unplug(back.id);
console.log('  a key plugged in again at once: detached and attached once, with a new keyId');

await driver.stop();
await bench.end();
