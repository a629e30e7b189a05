import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { fillPeople } from '../fill.ts';
import { type BenchDaemon, processorSeconds, settled, startDaemon } from '../processes.ts';
import { median, type Pair, type Row, ratio } from '../report.ts';
import { type Measured, measure, pairs } from './http.ts';

/** Devices of both registries, and persons of one of them. */
const size = 100_000;
const people = 100_000;
/** Devices that one request activates. */
const ACTIVATED = 1000;

/** Registrations with persons, beside the same without. Processor time: what others do disturbs it least. */
export async function* peopleRows(bench: Bench): AsyncGenerator<Row> {
  const filled = await bench.home(size);
  const homes = ['without', 'with'].map(name => join(bench.scratch, `${name}-people`)) as [string, string];
  for (const home of homes) await cp(filled, home, { recursive: true });
  await fillPeople(homes[1], people);
  const without = await startDaemon(homes[0]);
  const withPeople = await startDaemon(homes[1]);
  try {
    for (const daemon of [without, withPeople]) await settled(daemon.pid);
    const activations = await activate(bench, withPeople, without);
    yield await registerRow(bench, withPeople, without, activations);
  } finally {
    await Promise.all([without.stop(), withPeople.stop()]);
  }
}

async function registerRow(
  { repetitions, seconds }: Bench,
  withPeople: BenchDaemon,
  without: BenchDaemon,
  activations: string,
): Promise<Row> {
  const order = { connections: 64, kind: 'register', paths: ['/api/devices/register'] } as const;
  const at = (daemon: BenchDaemon, length: number) =>
    measure(daemon, { ...order, token: daemon.token, seconds: length, prefix: `p${Date.now()}` });
  const [ours, theirs]: [Measured[], Measured[]] = [[], []];
  // The first loads compile the code of the daemon.
  for (let i = 0; i < 2; i++) for (const daemon of [withPeople, without]) await at(daemon, seconds);
  for (let i = 0; i < repetitions; i++) {
    theirs.push(await at(without, seconds));
    ours.push(await at(withPeople, seconds));
  }
  const rates = [ours, theirs].map(all => Math.round(median(all.map(({ perSecond }) => perSecond))));
  return ratio(
    `single registers, ${people} persons`,
    'µs',
    pairs(ours, theirs, ({ cpu }) => cpu),
    'without persons',
    { atMost: 1.05 },
    `processor time; ${rates.join(' and ')} reg/s; ${activations}`,
  );
}

/** The time of an activation for a person, and for a user name without one. */
async function activate({ repetitions }: Bench, withPeople: BenchDaemon, without: BenchDaemon): Promise<string> {
  const samples: Pair[] = [];
  for (const daemon of [withPeople, without]) await activated(daemon, 'warm');
  for (let i = 0; i < repetitions; i++)
    samples.push([await activated(withPeople, `${i}`), await activated(without, `${i}`)]);
  const [ours, theirs] = [0, 1].map(side => median(samples.map(pair => pair[side]!)));
  return `activations in batches of ${ACTIVATED}: ${ours!.toFixed(0)} µs each for persons, ${theirs!.toFixed(0)} µs for other user names`;
}

/** Activates new devices, each for another user. Microseconds of processor time for one. */
async function activated(daemon: BenchDaemon, prefix: string): Promise<number> {
  const devices = Array.from({ length: 10 * ACTIVATED }, (_, i) => ({
    deviceType: 'UKEY',
    serialNumber: `${prefix}-${Date.now()}-${i}`,
    manufacturer: 'Bench',
    model: 'M1',
  }));
  const registered = await daemon.call('POST', '/api/devices/batch-register', { devices });
  const { results } = registered.data as { results: { deviceId: string; activationCode: string }[] };
  const items = results.map(({ deviceId, activationCode }, i) => ({
    deviceId,
    activationCode,
    userId: `person-${i * 7}`,
  }));
  await settled(daemon.pid);
  const before = await processorSeconds(daemon.pid);
  for (let at = 0; at < items.length; at += ACTIVATED) {
    const body = { operation: 'ACTIVATE', items: items.slice(at, at + ACTIVATED) };
    const { data } = await daemon.call('POST', '/api/devices/batch-update', body);
    if ((data as { success: number }).success !== ACTIVATED) throw new Error('not all were activated');
  }
  return ((await processorSeconds(daemon.pid)) - before) * (1e6 / items.length);
}
