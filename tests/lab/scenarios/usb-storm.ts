/**
 * 200 pluggings of USB keys in random order, up to six at a time, some in bursts, some of the same key again: each is reported
 * exactly once as attached and once as detached. Prints how long after the kernel listed a key the driver reported it.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createHidDriver } from '../../../drivers/hid/index.ts';
import { Bench, DriverEvents } from '../harness.ts';
import { listedAt, summary } from '../kernel.ts';
import type { KeySpec } from '../key-models.ts';
import { randomOf, seeded } from '../seeded-random.ts';

const PLUGGINGS = Number(process.argv[2] ?? 200);
const MOST_AT_ONCE = 6;
const random = seeded(process.argv[3]);
const pick = randomOf(random);

interface Held {
  readonly spec: KeySpec;
  readonly serial: string;
  readonly id: number;
  readonly keyId: string;
}

/** The keys that are plugged in. */
const BOX: readonly { spec: KeySpec; serial: string; ids: [string, string]; descriptor: string | null }[] = [
  ...Array.from({ length: 12 }, (_, i) => {
    const serial = `FT-${1000 + i}`;
    return {
      spec: { model: 'plain', serial } as const,
      serial,
      ids: ['096e', '0850'] as [string, string],
      descriptor: serial,
    };
  }),
  ...Array.from({ length: 6 }, (_, i) => {
    const serial = `LM.${2000 + i}`;
    return {
      spec: { model: 'bank', serial } as const,
      serial,
      ids: ['055c', 'db08'] as [string, string],
      descriptor: serial,
    };
  }),
  { spec: { model: 'yubikey5' }, serial: '12345678', ids: ['1050', '0407'], descriptor: null },
  {
    spec: { model: 'nitrokey3' },
    serial: 'A1B2C3D4E5F60718293A4B5C6D7E8F90',
    ids: ['20a0', '42b2'],
    descriptor: null,
  },
];

const driver = createHidDriver({ notice: (message, detail) => console.log('  notice:', message, detail) });
const bench = new Bench();
const events = new DriverEvents(driver);
await events.start();

const openFiles = (): number => readdirSync('/proc/self/fd').length;
const held = new Map<string, Held>();
const fromPlug: number[] = [];
const fromKernel: number[] = [];
const afterUnplug: number[] = [];
const byModel = new Map<string, number[]>();
let count = 0;

async function plugOne(): Promise<void> {
  const key = pick(BOX.filter(one => !held.has(one.serial)));
  const from = events.all.length;
  held.set(key.serial, { spec: key.spec, serial: key.serial, id: 0, keyId: '' });
  count += 1;
  const { id, at } = await bench.plug(key.spec);
  const seen = await events.until(
    `plugging ${key.serial}`,
    one => one.kind === 'attached' && one.key.serialNumber === key.serial,
    from,
  );
  const listed = listedAt({ vendorId: key.ids[0], productId: key.ids[1], serial: key.descriptor });
  assert.ok(listed, `${key.serial} was reported but is not in /sys`);
  fromPlug.push(seen.at - at);
  fromKernel.push(seen.at - listed);
  byModel.set(key.spec.model, [...(byModel.get(key.spec.model) ?? []), seen.at - listed]);
  held.set(key.serial, { spec: key.spec, serial: key.serial, id, keyId: seen.key.keyId });
}

async function unplugOne(): Promise<void> {
  const one = pick([...held.values()].filter(each => each.keyId !== ''));
  held.delete(one.serial);
  const { at } = await bench.unplug(one.id);
  const detached = await events.until(
    `unplugging ${one.serial}`,
    each => each.kind === 'detached' && each.key.keyId === one.keyId,
  );
  afterUnplug.push(detached.at - at);
}

// The first key opens the files that stay open from then on.
await plugOne();
await unplugOne();
const filesAtStart = openFiles();
while (count < PLUGGINGS) {
  const room = Math.min(MOST_AT_ONCE - held.size, PLUGGINGS - count);
  if (held.size > 0 && (room === 0 || random() < 0.45)) await unplugOne();
  else await Promise.all(Array.from({ length: Math.min(room, random() < 0.2 ? 3 : 1) }, plugOne));
}
while (held.size > 0) await unplugOne();

const of = (kind: string) => events.all.filter(one => one.kind === kind);
assert.equal(of('attached').length, PLUGGINGS, 'each plugging is reported exactly once');
assert.equal(of('detached').length, PLUGGINGS, 'each unplugging is reported exactly once');
assert.equal(of('changed').length, 0, 'nothing is reported twice');
assert.equal(new Set(of('attached').map(one => one.key.keyId)).size, PLUGGINGS, 'each plugging has a new keyId');
assert.deepEqual(driver.keys(), []);
assert.equal(openFiles(), filesAtStart, 'no handle is left open');
await driver.stop();
await bench.end();
console.log(`  ${PLUGGINGS} pluggings, ${PLUGGINGS} unpluggings, each reported once`);
console.log(`  ${summary('attached after the kernel listed it', fromKernel)}`);
for (const [model, values] of byModel) console.log(`    ${summary(model, values)}`);
console.log(`  ${summary('attached after it was plugged in', fromPlug)}`);
console.log(`  ${summary('detached after it was unplugged', afterUnplug)}`);
