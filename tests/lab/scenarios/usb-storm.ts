/**
 * 200 pluggings of USB keys in random order, up to six at a time, some in bursts, some keys put back again: each is told
 * exactly once, and pulled exactly once. Prints how long after the kernel's own listing the driver told it.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createHidDriver } from '../../../drivers/hid/index.ts';
import { Eyes, Hands } from '../hands.ts';
import { listedAt, summary } from '../kernel.ts';
import { randomOf, seeded } from '../random.ts';
import type { KeyOrder } from '../recipes.ts';

const PLUGGINGS = Number(process.argv[2] ?? 200);
const MOST_AT_ONCE = 6;
const random = seeded(process.argv[3]);
const pick = randomOf(random);

interface Held {
  readonly order: KeyOrder;
  readonly serial: string;
  readonly place: number;
  readonly keyId: string;
}

/** Keys that can be plugged; the one with a protocol of its own is asked through it. */
const BOX: readonly { order: KeyOrder; serial: string; ids: [string, string]; descriptor: string | null }[] = [
  ...Array.from({ length: 12 }, (_, i) => {
    const serial = `FT-${1000 + i}`;
    return {
      order: { recipe: 'plain', serial } as const,
      serial,
      ids: ['096e', '0850'] as [string, string],
      descriptor: serial,
    };
  }),
  ...Array.from({ length: 6 }, (_, i) => {
    const serial = `LM.${2000 + i}`;
    return {
      order: { recipe: 'bank', serial } as const,
      serial,
      ids: ['055c', 'db08'] as [string, string],
      descriptor: serial,
    };
  }),
  { order: { recipe: 'yubikey5' }, serial: '12345678', ids: ['1050', '0407'], descriptor: null },
  {
    order: { recipe: 'nitrokey3' },
    serial: 'A1B2C3D4E5F60718293A4B5C6D7E8F90',
    ids: ['20a0', '42b2'],
    descriptor: null,
  },
];

const driver = createHidDriver({ notice: (message, detail) => console.log('  notice:', message, detail) });
const hands = new Hands();
const eyes = new Eyes(driver);
await eyes.start();

const openFiles = (): number => readdirSync('/proc/self/fd').length;
const held = new Map<string, Held>();
const fromPlug: number[] = [];
const fromKernel: number[] = [];
const pulled: number[] = [];
const byRecipe = new Map<string, number[]>();
let count = 0;

async function plugOne(): Promise<void> {
  const key = pick(BOX.filter(one => !held.has(one.serial)));
  const from = eyes.seen.length;
  held.set(key.serial, { order: key.order, serial: key.serial, place: 0, keyId: '' });
  count += 1;
  const { place, at } = await hands.plug(key.order);
  const seen = await eyes.until(
    `plugging ${key.serial}`,
    one => one.kind === 'attached' && one.key.serialNumber === key.serial,
    from,
  );
  const listed = listedAt({ vendorId: key.ids[0], productId: key.ids[1], serial: key.descriptor });
  assert.ok(listed, `${key.serial} was told but is not there`);
  fromPlug.push(seen.at - at);
  fromKernel.push(seen.at - listed);
  byRecipe.set(key.order.recipe, [...(byRecipe.get(key.order.recipe) ?? []), seen.at - listed]);
  held.set(key.serial, { order: key.order, serial: key.serial, place, keyId: seen.key.keyId });
}

async function pullOne(): Promise<void> {
  const one = pick([...held.values()].filter(each => each.keyId !== ''));
  held.delete(one.serial);
  const { at } = await hands.pull(one.place);
  const gone = await eyes.until(
    `pulling ${one.serial}`,
    each => each.kind === 'detached' && each.key.keyId === one.keyId,
  );
  pulled.push(gone.at - at);
}

// The first key opens what is kept open from then on.
await plugOne();
await pullOne();
const filesAtStart = openFiles();
while (count < PLUGGINGS) {
  const room = Math.min(MOST_AT_ONCE - held.size, PLUGGINGS - count);
  if (held.size > 0 && (room === 0 || random() < 0.45)) await pullOne();
  else await Promise.all(Array.from({ length: Math.min(room, random() < 0.2 ? 3 : 1) }, plugOne));
}
while (held.size > 0) await pullOne();

const of = (kind: string) => eyes.seen.filter(one => one.kind === kind);
assert.equal(of('attached').length, PLUGGINGS, 'each plugging is told exactly once');
assert.equal(of('detached').length, PLUGGINGS, 'each pulling is told exactly once');
assert.equal(of('changed').length, 0, 'nothing is told twice');
assert.equal(new Set(of('attached').map(one => one.key.keyId)).size, PLUGGINGS, 'each plugging has a keyId of its own');
assert.deepEqual(driver.keys(), []);
assert.equal(openFiles(), filesAtStart, 'no handle is left open');
await driver.stop();
hands.end();
console.log(`  ${PLUGGINGS} pluggings, ${PLUGGINGS} pullings, each told once`);
console.log(`  ${summary('told after the kernel listed it', fromKernel)}`);
for (const [recipe, values] of byRecipe) console.log(`    ${summary(recipe, values)}`);
console.log(`  ${summary('told after it was plugged', fromPlug)}`);
console.log(`  ${summary('gone after it was pulled', pulled)}`);
