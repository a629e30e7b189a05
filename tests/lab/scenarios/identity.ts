/**
 * The built program at two stations, with keys of one model that report no serial number, or one constant for all of them: each is
 * enrolled once, over USB or NFC, and is recognized as its device at each later plugging, at either station and in either way. Prints how
 * long after the kernel listed a key its line was shown, beside keys with a serial number. The registry has 100,000 other devices.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Bench } from '../harness.ts';
import { listedAt, summary } from '../kernel.ts';
import { administrator, daemonWithLogin, run, Screen, stationWithLogin } from '../program.ts';
import { randomOf, seeded } from '../seeded-random.ts';

const KEYS = Number(process.argv[2] ?? 200);
const OTHERS = Number(process.argv[4] ?? 100_000);
/** A serial number that a maker writes into all of its keys. */
const CONSTANT = '0123456789ABCDEF';
/** Pluggings at one station before another one continues. */
const TURN = 20;
/** A known key: of this run, or of an earlier one, at any station. */
const KNOWN = /(?:again: it is|^= known) +(DEV-\d+)/;
const random = seeded(process.argv[3]);
const pick = randomOf(random);

const { daemon, url } = await daemonWithLogin('--role', 'registry');
const call = await administrator(url);
const others = Array.from({ length: OTHERS }, (_, at) => `OTHER-${at}`);
writeFileSync('/tmp/others.csv', `serialNumber\n${others.join('\n')}\n`);
const filled = await run([
  ...['register', '--file', '/tmp/others.csv', '--type', 'UKEY', '--manufacturer', 'Feitian', '--model', 'ePass FIDO2'],
  ...['--out', '/tmp/others-done.csv'],
]);
assert.equal(filled.code, 0, filled.lines.slice(-3).join(' | '));
const stations = [
  await stationWithLogin('/tmp/station-a', url, 7481),
  await stationWithLogin('/tmp/station-b', url, 7482),
];
type Station = (typeof stations)[number];
const bench = new Bench();
const reader = await bench.plugReader('NFC-1');

const keys = Array.from({ length: KEYS }, (_, at) => ({ name: `unit-${at}`, deviceId: null as string | null }));
const visits = keys.flatMap(key => Array<typeof key>(2 + Math.floor(random() * 2)).fill(key));
for (let at = visits.length - 1; at > 0; at--) {
  const other = Math.floor(random() * (at + 1));
  [visits[at], visits[other]] = [visits[other]!, visits[at]!];
}
const times = { recognized: [] as number[], numbered: [] as number[], tapped: [] as number[] };
let numbered = 0;

/** The time at which the line of this plugging was shown, and the device that it names. */
async function shown(screen: Screen, from: number, isNew: boolean) {
  const line = await screen.until(
    'the line of a key',
    text => KNOWN.test(text) || /registered {2}|failed/.test(text),
    from,
  );
  const { text, at } = screen.lines[line]!;
  const id = isNew ? /registered.*?(DEV-\d+)/.exec(text)?.[1] : KNOWN.exec(text)?.[1];
  assert.ok(id, `${isNew ? 'new' : 'known'}: ${text}; lines: ${screen.texts.join(' | ')}`);
  if (isNew) await screen.until('its code', code => code.includes('activation code'), line + 1);
  return { id, at };
}

async function visit(station: Station, screen: Screen, key: (typeof keys)[number]): Promise<void> {
  const from = screen.lines.length;
  const isNew = key.deviceId === null;
  const overNfc = random() < 0.25;
  const serial = random() < 0.5 ? CONSTANT : null;
  const { id, at: began } = overNfc
    ? { id: reader.id, at: (await bench.tap(reader.id, key.name)).at }
    : await bench.plug({ model: 'unnumbered', serial, ownSerial: key.name });
  const way = `${key.name}, ${isNew ? 'new' : key.deviceId}, ${overNfc ? 'NFC' : `USB, serial ${serial}`}`;
  const line = await shown(screen, from, isNew).catch(error => {
    throw new Error(`${way}: ${error.message}`);
  });
  if (isNew) key.deviceId = line.id;
  else {
    assert.equal(line.id, key.deviceId, `${key.name} was taken for another key`);
    if (overNfc) times.tapped.push(line.at - began);
    else times.recognized.push(line.at - listedAt({ vendorId: '096e', productId: '085b', serial })!);
  }
  if (!overNfc) return void (await bench.unplug(id));
  // pcscd asks a reader every 400 ms whether there is a card: a person does not change cards faster.
  await bench.remove(id);
  await station.isEmpty();
}

/** A key with a serial number, twice: the time of its second plugging is the one to compare with. */
async function visitNumbered(screen: Screen): Promise<void> {
  const serial = `BOX-${++numbered}`;
  for (const isNew of [true, false]) {
    const from = screen.lines.length;
    const { id } = await bench.plug({ model: 'plain', serial });
    const { at } = await shown(screen, from, isNew);
    if (!isNew) times.numbered.push(at - listedAt({ vendorId: '096e', productId: '0850', serial })!);
    await bench.unplug(id);
  }
}

while (visits.length > 0) {
  const station = pick(stations);
  // The other station is another machine: its daemon does not see this reader.
  const reading = await station.daemon();
  const enroll = station.start('enroll', '--number', 'auto');
  const screen = new Screen(enroll);
  await screen.until('the start', text => text.startsWith('Plug in a key'));
  for (const key of visits.splice(-TURN)) await visit(station, screen, key);
  await visitNumbered(screen);
  enroll.kill('SIGINT');
  await once(enroll, 'close');
  reading.kill('SIGTERM');
  await once(reading, 'exit');
}

const { total } = await call<{ total: number }>('GET', '/api/statistics');
assert.equal(total, OTHERS + KEYS + numbered, 'no key is registered twice, and none is forgotten');
assert.equal(new Set(keys.map(({ deviceId }) => deviceId)).size, KEYS, 'each key is a separate device');
daemon.kill('SIGTERM');
await once(daemon, 'exit');
await bench.end();
console.log(
  `  ${KEYS} keys, each registered once, each recognized at ${times.recognized.length + times.tapped.length} later pluggings`,
);
console.log(`    ${summary('recognized by its credential, over USB', times.recognized)}`);
console.log(`    ${summary('… over NFC, after the tap', times.tapped)}`);
console.log(`    ${summary('recognized by its serial number', times.numbered)}`);
process.exit(0);
