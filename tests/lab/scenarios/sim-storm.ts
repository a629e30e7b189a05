/** 50 insertions of SIMs into a USB reader: each is reported exactly once, with its ICCID. */
import assert from 'node:assert/strict';
import { createPcscDriver } from '../../../drivers/pcsc/index.ts';
import { Bench, DriverEvents } from '../harness.ts';
import { iccid } from '../iccid.ts';
import { summary } from '../kernel.ts';
import { seeded } from '../seeded-random.ts';

const INSERTIONS = Number(process.argv[2] ?? 50);
const random = seeded(process.argv[3]);

const driver = createPcscDriver({ notice: (message, detail) => console.log('  notice:', message, detail) });
const bench = new Bench();
const events = new DriverEvents(driver);
await events.start();
const reader = await bench.plugReader('LAB-1');
await events.state('ready');

const fromInsertion: number[] = [];
const fromPower: number[] = [];
const removed: number[] = [];
for (let i = 0; i < INSERTIONS; i += 1) {
  const serial = iccid(Math.floor(random() * 1e9));
  const from = events.all.length;
  const { at } = await bench.insert(reader.id, serial);
  const seen = await events.until(`insertion ${i + 1}`, one => one.kind === 'attached', from);
  assert.equal(seen.key.serialNumber, serial);
  assert.equal(seen.key.serialSource, 'iccid');
  fromInsertion.push(seen.at - at);
  fromPower.push(seen.at - (await bench.poweredAt(reader.id)));
  const removal = await bench.remove(reader.id);
  const detached = await events.until(`removal ${i + 1}`, one => one.kind === 'detached', from);
  assert.equal(detached.key.keyId, seen.key.keyId);
  removed.push(detached.at - removal.at);
}
const of = (kind: string) => events.all.filter(one => one.kind === kind);
assert.equal(of('attached').length, INSERTIONS, 'each insertion is reported exactly once');
assert.equal(of('detached').length, INSERTIONS, 'each removal is reported exactly once');
await driver.stop();
await bench.end();
console.log(`  ${INSERTIONS} insertions and removals, each reported once`);
console.log(`  ${summary('attached after the card was inserted', fromInsertion)}`);
console.log(`  ${summary('attached after the card was powered', fromPower)}`);
console.log(`  ${summary('detached after the card was removed', removed)}`);
