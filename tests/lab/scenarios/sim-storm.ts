/** SIMs put into a USB reader 50 times and taken out again: each told exactly once, with its ICCID. */
import assert from 'node:assert/strict';
import { createPcscDriver } from '../../../drivers/pcsc/index.ts';
import { Eyes, Hands } from '../hands.ts';
import { iccid } from '../iccid.ts';
import { summary } from '../kernel.ts';
import { seeded } from '../random.ts';

const INSERTIONS = Number(process.argv[2] ?? 50);
const random = seeded(process.argv[3]);

const driver = createPcscDriver({ notice: (message, detail) => console.log('  notice:', message, detail) });
const hands = new Hands();
const eyes = new Eyes(driver);
await eyes.start();
const reader = await hands.plugReader('LAB-1');
await eyes.state('ready');

const fromInsertion: number[] = [];
const fromPower: number[] = [];
const removed: number[] = [];
for (let i = 0; i < INSERTIONS; i += 1) {
  const serial = iccid(Math.floor(random() * 1e9));
  const from = eyes.seen.length;
  const { at } = await hands.insert(reader.place, serial);
  const seen = await eyes.until(`insertion ${i + 1}`, one => one.kind === 'attached', from);
  assert.equal(seen.key.serialNumber, serial);
  assert.equal(seen.key.serialSource, 'iccid');
  fromInsertion.push(seen.at - at);
  fromPower.push(seen.at - (await hands.poweredAt(reader.place)));
  const out = await hands.remove(reader.place);
  const gone = await eyes.until(`removal ${i + 1}`, one => one.kind === 'detached', from);
  assert.equal(gone.key.keyId, seen.key.keyId);
  removed.push(gone.at - out.at);
}
const of = (kind: string) => eyes.seen.filter(one => one.kind === kind);
assert.equal(of('attached').length, INSERTIONS, 'each insertion is told exactly once');
assert.equal(of('detached').length, INSERTIONS, 'each removal is told exactly once');
await driver.stop();
hands.end();
console.log(`  ${INSERTIONS} insertions and removals, each told once`);
console.log(`  ${summary('told after the card was put in', fromInsertion)}`);
console.log(`  ${summary('told after the card was given power', fromPower)}`);
console.log(`  ${summary('gone after the card was taken out', removed)}`);
