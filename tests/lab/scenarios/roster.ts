/**
 * The built program, used by an operator with a roster and a box of keys: each person gets one key by `devmgr enroll --roster`
 * at a terminal. In between, in random order: keys that are pulled out too early, two keys at once, keys that are undone, keys of
 * other people, keys whose serial number is not readable, something that is not a key, badges, and a run that is ended and
 * continued. Afterwards the registry has each person with the right key and nothing else. Prints how long after the kernel listed
 * a key the screen has its result, beside the code that plain `enroll` shows for the same models in the same run.
 * Arguments: the number of people (200), and the seed.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Box, type BoxKey } from '../box.ts';
import { Bench } from '../harness.ts';
import { listedAt, summary } from '../kernel.ts';
import { administrator, daemonWithLogin, Screen, start, streamsOpen } from '../program.ts';
import { Incidents } from '../roster-incidents.ts';
import { Operator, WatchedBench } from '../roster-operator.ts';
import { randomOf, seeded } from '../seeded-random.ts';

const PEOPLE = Number(process.argv[2] ?? 200);
/** Keys for plain `enroll`, before and after the roster: a daemon that has just started is slower. */
const PLAIN = Math.max(5, Math.ceil(PEOPLE / 10));
const [ROSTER, RESULTS] = ['/tmp/people.csv', '/tmp/handed-out.csv'];
const random = seeded(process.argv[3]);
const pick = randomOf(random);
const box = new Box(pick);

const people = Array.from({ length: PEOPLE }, (_, index) => `p-${String(index + 1).padStart(3, '0')}`);
writeFileSync(ROSTER, `userId,name\n${people.map(id => `${id},Person ${id}`).join('\n')}\n`);

const { daemon, url } = await daemonWithLogin();
const watch = start('watch', '--json', '--type', 'KEY_ATTACHED', '--type', 'KEY_DETACHED');
const watched = new Screen(watch);
const rawBench = new Bench();
const bench = new WatchedBench(rawBench, watched);
const call = await administrator(url);

interface DeviceList {
  readonly list: readonly { readonly serialNumber: string; readonly status: string; readonly userId: string | null }[];
  readonly pagination: { readonly totalPages: number };
}

interface Registered {
  readonly key: BoxKey;
  readonly deviceId: string;
  readonly code: string;
}

const plainFirst: number[] = [];
const plain: number[] = [];

/** Plain `enroll` of some keys: each is registered and INACTIVE. */
async function plainEnroll(): Promise<Registered[]> {
  const enroll = start('enroll');
  const screen = new Screen(enroll);
  await streamsOpen(url, 2);
  const all: Registered[] = [];
  while (all.length < PLAIN) {
    const key = box.take([]);
    const from = screen.lines.length;
    const id = await bench.plug(key.spec);
    const isIt = (text: string) => text.includes('registered') && text.endsWith(key.serial);
    const line = await screen.until(key.serial, isIt, from);
    const shown = await screen.until('its code', text => text.includes('activation code'), line + 1);
    const { text, at } = screen.lines[shown]!;
    const isFirst = !all.some(other => other.key.spec.model === key.spec.model);
    (isFirst ? plainFirst : plain).push(at - listedAt(key.ids)!);
    await bench.unplug(id, key.serial);
    all.push({ key, deviceId: /DEV-\d+/.exec(screen.lines[line]!.text)![0], code: text.split(/\s+/).at(-1)! });
  }
  enroll.kill('SIGINT');
  await once(enroll, 'close');
  return all;
}

const [strangers, locked, ...stock] = await plainEnroll();
for (const { deviceId, code } of [strangers!, locked!])
  await call('POST', '/api/devices/activate', { deviceId, activationCode: code, userId: 'stranger' });
await call('POST', `/api/devices/${locked!.deviceId}/lock`, { reason: 'test' });

const operator = new Operator(bench, ['--roster', ROSTER, '--out', RESULTS]);
await operator.named(people[0]!);
const pluggedBefore = bench.count;
const incidents = new Incidents({
  ...{ operator, bench, box, random, pick, people },
  stock: stock.map(({ key }) => key),
  others: [strangers!.key, locked!.key],
});

/** Ends the run while a key has passed: nothing is bound, and the continued run checks the key again. */
async function interrupted(person: string): Promise<void> {
  const key = incidents.key();
  const inReader = await operator.pass(key, person);
  await operator.startAgain();
  incidents.forgetBadge();
  const now = incidents.next!;
  const { id } = await operator.passed(key, inReader, now, 0);
  await operator.bind(key, id, now, true);
  incidents.done(now);
}

let isContinued = false;
while (incidents.next !== null) {
  const person = await incidents.before();
  if (person === null) continue;
  if (!isContinued && operator.pairs.size >= PEOPLE / 2) {
    isContinued = true;
    await interrupted(person);
    continue;
  }
  const key = incidents.key();
  await operator.bind(key, await operator.pass(key, person), person, random() < 0.5);
  incidents.done(person);
}
assert.equal(await operator.ended(), 0, 'each person has a key');
const pluggings = bench.count - pluggedBefore;
const after = await plainEnroll();

/** Who has each key, as it must be. */
const wanted = new Map<string, string>([
  ...[...stock, ...after].map(({ key }) => [key.serial, 'INACTIVE'] as const),
  [strangers!.key.serial, 'ACTIVE stranger'],
  [locked!.key.serial, 'LOCKED stranger'],
  ...[...operator.pairs].map(([{ serial }, userId]) => [serial, `ACTIVE ${userId}`] as const),
]);
assert.deepEqual([...operator.pairs.values()].sort(), people, 'each person has one key');
assert.deepEqual(
  await holders(),
  new Map([...wanted].sort()),
  'the registry has the right pairs, and nothing of other keys',
);
assert.equal(await eventsOf('DEVICE_REGISTERED'), wanted.size, 'each key is registered once');
assert.equal(await eventsOf('DEVICE_ACTIVATED'), PEOPLE + 2, 'each key is activated once');
const rows = readFileSync(RESULTS, 'utf8').trimEnd().split('\n').slice(1);
const bound = rows.map(row => row.split(',')).filter(([result]) => result !== 'failed');
const pairs = [...operator.pairs].map(([{ serial }, userId]) => `${serial} ${userId}`);
assert.deepEqual(bound.map(cells => `${cells[2]} ${cells[6]}`).sort(), pairs.sort(), 'the results have the same pairs');

await rawBench.end();
watch.kill('SIGINT');
await once(watch, 'close');
daemon.kill('SIGINT');
await once(daemon, 'close');

console.log(`  ${pluggings} pluggings, ${PEOPLE} right pairs of person and key`);
for (const [incident, times] of incidents.counts) console.log(`    ${incident}: ${times}`);
console.log(`    keys that did not answer in time, and were plugged in again: ${operator.unread}`);
console.log('  shown after the kernel listed the key');
console.log(`    ${summary('enroll, the code: the first of each model', plainFirst)}`);
console.log(`    ${summary('enroll, the code: the others', plain)}`);
console.log(`    ${summary('enroll --roster, PASS: the first of each model', operator.firstPasses)}`);
console.log(`    ${summary('enroll --roster, PASS: the others', operator.passes)}`);
console.log(`  ${summary('bound after the key was pulled out, or Enter', operator.bindings)}`);
process.exit(0);

/** The state of each registered key, by serial number. */
async function holders(): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (let page = 1; ; page++) {
    const { list, pagination } = await call<DeviceList>('GET', `/api/devices/list?size=100&page=${page}`);
    for (const { serialNumber, status, userId } of list) {
      assert.ok(!all.has(serialNumber), `${serialNumber} is registered twice`);
      all.set(serialNumber, userId === null ? status : `${status} ${userId}`);
    }
    if (page >= pagination.totalPages) return new Map([...all].sort());
  }
}

async function eventsOf(type: string): Promise<number> {
  return (await call<{ list: unknown[] }>('GET', `/api/events?types=${type}&limit=1000`)).list.length;
}
