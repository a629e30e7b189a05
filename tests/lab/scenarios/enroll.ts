/**
 * The built program, used by an operator with a box of keys: 200 pluggings of USB keys and 50 insertions of SIMs in random
 * order, some in bursts, some of known keys, while `devmgr enroll` and `devmgr watch` run. Each key is registered once and its
 * activation code is shown, each later plugging is reported as that device, and `watch` reports each attaching and detaching
 * exactly once. Prints how long after the kernel listed a key the code was shown.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Box, type BoxKey } from '../box.ts';
import { Bench } from '../harness.ts';
import { iccid } from '../iccid.ts';
import { listedAt, summary } from '../kernel.ts';
import { daemonWithLogin, Screen, start, streamsOpen } from '../program.ts';
import { randomOf, seeded } from '../seeded-random.ts';

const PLUGGINGS = Number(process.argv[2] ?? 200);
const INSERTIONS = Number(process.argv[3] ?? 50);
const MOST_AT_ONCE = 6;
const random = seeded(process.argv[4]);
const pick = randomOf(random);

const box = new Box(pick);

const { daemon, url } = await daemonWithLogin();
const watch = start('watch', '--json', '--type', 'KEY_ATTACHED', '--type', 'KEY_DETACHED');
const watched = new Screen(watch);
const enroll = start('enroll', '--out', '/tmp/codes.csv');
const screen = new Screen(enroll);
await streamsOpen(url, 2);

const bench = new Bench();
const reader = await bench.plugReader('LAB-1');
const fromKernel = new Map<string, number[]>();
const first: number[] = [];
const alone: number[] = [];
const atOnce: number[] = [];
const fromPower: number[] = [];
const fromPlug: number[] = [];
const devices = new Map<string, string>();
const held = new Map<BoxKey, number>();
const seen: BoxKey[] = [];
let pluggings = 0;
let insertions = 0;
let cardIn = false;

/** Waits until `enroll` has printed a result for a key: its time. A new key gets a device and a code, a known one its device. */
async function printed(serial: string, from: number): Promise<number> {
  const before = devices.get(serial);
  if (before !== undefined) {
    const line = await screen.until(
      serial,
      text => text.includes(serial) && text.endsWith(`again: it is ${before}`),
      from,
    );
    return screen.lines[line]!.at;
  }
  const line = await screen.until(serial, text => text.includes('registered') && text.endsWith(serial), from);
  devices.set(serial, /DEV-\d+/.exec(screen.lines[line]!.text)![0]);
  const code = await screen.until('its code', () => true, line + 1);
  assert.match(screen.lines[code]!.text, /activation code +[A-Z2-9]{4}(-[A-Z2-9]{4}){3}$/);
  return screen.lines[code]!.at;
}

async function plugOne(together: number): Promise<void> {
  const known = seen.filter(one => ![...held.keys()].some(other => other.spec.model === one.spec.model));
  const key = known.length > 0 && random() < 0.25 ? pick(known) : box.take([...held.keys()]);
  const isNew = !seen.includes(key);
  const from = screen.lines.length;
  held.set(key, 0);
  pluggings += 1;
  const { id, at } = await bench.plug(key.spec);
  const shown = await printed(key.serial, from);
  const listed = listedAt(key.ids);
  assert.ok(listed, `${key.serial} was reported but is not in /sys`);
  if (isNew) {
    seen.push(key);
    fromPlug.push(shown - at);
    // The first key of a model is slower: the code for it is compiled then.
    (!fromKernel.has(key.spec.model) ? first : together === 1 ? alone : atOnce).push(shown - listed);
    fromKernel.set(key.spec.model, [...(fromKernel.get(key.spec.model) ?? []), shown - listed]);
  }
  held.set(key, id);
}

async function unplugOne(): Promise<void> {
  const [key, id] = pick([...held].filter(([, id]) => id > 0));
  held.delete(key);
  const from = watched.lines.length;
  await bench.unplug(id);
  await watched.until(
    `unplugging ${key.serial}`,
    text => text.includes('KEY_DETACHED') && text.includes(key.serial),
    from,
  );
}

async function insertOrRemoveCard(): Promise<void> {
  if (cardIn) {
    const from = watched.lines.length;
    await bench.remove(reader.id);
    await watched.until('removing the SIM', text => /KEY_DETACHED.*SIMKEY|SIMKEY.*KEY_DETACHED/.test(text), from);
  } else {
    const from = screen.lines.length;
    const serial = iccid(Math.floor(random() * 1e9));
    await bench.insert(reader.id, serial);
    const shown = await printed(serial, from);
    fromPower.push(shown - (await bench.poweredAt(reader.id)));
    insertions += 1;
  }
  cardIn = !cardIn;
}

while (pluggings < PLUGGINGS || insertions < INSERTIONS || cardIn) {
  const room = Math.min(MOST_AT_ONCE - held.size, PLUGGINGS - pluggings);
  const forCards = insertions < INSERTIONS || cardIn;
  if (forCards && (room === 0 || random() < 0.35)) await insertOrRemoveCard();
  else if (held.size > 0 && (room === 0 || random() < 0.45)) await unplugOne();
  else if (room > 0) {
    const burst = Math.min(room, random() < 0.2 ? 3 : 1);
    await Promise.all(Array.from({ length: burst }, () => plugOne(burst)));
  }
}
while (held.size > 0) await unplugOne();
await bench.end();
enroll.kill('SIGINT');
await once(enroll, 'close');
watch.kill('SIGINT');
await once(watch, 'close');
daemon.kill('SIGINT');
await once(daemon, 'close');

const registered = screen.lines.filter(({ text }) => text.includes('registered  '));
assert.equal(registered.length, devices.size, 'each key is registered once');
assert.equal(new Set(devices.values()).size, devices.size, 'each key is a separate device');
assert.deepEqual(
  screen.lines.filter(({ text }) => /failed {2}|✗/.test(text)),
  [],
  'no key failed',
);
const events = watched.lines.filter(({ text }) => text.startsWith('{')).map(({ text }) => JSON.parse(text));
for (const type of ['KEY_ATTACHED', 'KEY_DETACHED']) {
  const ids = events.filter(event => event.type === type).map(event => event.data.keyId);
  assert.equal(ids.length, PLUGGINGS + INSERTIONS, `${type} exactly once each`);
  assert.equal(new Set(ids).size, ids.length, `${type} of each plugging`);
}
console.log(
  `  ${PLUGGINGS} pluggings and ${INSERTIONS} insertions of ${devices.size} keys, each reported once, each registered once`,
);
console.log('  code shown after the kernel listed the key');
console.log(`    ${summary('the first of each model', first)}`);
console.log(`    ${summary('the others, plugged in one by one', alone)}`);
console.log(`    ${summary('the others, two or three at once', atOnce)}`);
for (const [model, values] of fromKernel) console.log(`    ${summary(model, values)}`);
console.log(`  ${summary('code shown after the SIM was powered', fromPower)}`);
console.log(`  ${summary('code shown after the key was plugged in', fromPlug)}`);
process.exit(0);
