import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { Client } from '../connection.ts';
import { listen } from '../listener.ts';
import { Registries } from '../postgres.ts';
import { type BenchDaemon, type Served, settled, startFloor } from '../processes.ts';
import { bound, median, type Row, ratio } from '../report.ts';
import { type Measured, measure, pairs, processorNote, sameShape } from './http.ts';

/** Devices in the database before the load. */
const size = 100_000;
const clients = 64;
const register = '/api/devices/register';
/** Events of which the slowest one in a hundred is the figure. */
const events = 150;

type Servers<S extends Served> = readonly [S, ...S[]];

/** Daemons on one PostgreSQL registry, beside as many bare servers that run the same transactions. */
export async function* nodeRows(bench: Bench): AsyncGenerator<Row> {
  const registries = await Registries.start(bench.scratch, bench.tell);
  try {
    const filled = await registries.filled(size);
    yield* detailRow(bench, registries, filled);
    const floors = registries.server.url(await registries.copyOf(filled, 'floor'));
    for (const count of [1, 3]) yield* registerRow(bench, registries, filled, floors, count);
    yield* eventRow(bench, registries, filled);
  } finally {
    await registries.stop();
  }
}

/** Starts as many as asked for; stops all if one does not start. */
async function several<S extends Served>(count: number, start: () => Promise<S>): Promise<Servers<S>> {
  const started: S[] = [];
  try {
    while (started.length < count) started.push(await start());
    return started as [S, ...S[]];
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}

const stopAll = (servers: readonly Served[]) => Promise.all(servers.map(server => server.stop()));

async function* registerRow(
  { repetitions, seconds }: Bench,
  registries: Registries,
  database: string,
  floorUrl: string,
  count: number,
): AsyncGenerator<Row> {
  const daemons = await several(count, () => registries.daemon(database));
  const floors = await several(count, () => startFloor('grouped.ts', [floorUrl])).catch(async error => {
    await stopAll(daemons);
    throw error;
  });
  const order = { connections: clients, kind: 'register', paths: [register] } as const;
  const at = (servers: Servers<Served>, token: string | null, length: number) =>
    measure(servers, { ...order, seconds: length, token, prefix: `n${count}-${Date.now()}` });
  const ours: Measured[] = [];
  const theirs: Measured[] = [];
  try {
    for (const daemon of daemons) await settled(daemon.pid);
    await warmUp(() => at(daemons, daemons[0].token, 2));
    await warmUp(() => at(floors, null, 2));
    for (let i = 0; i < repetitions; i++) {
      ours.push(await at(daemons, daemons[0].token, seconds));
      theirs.push(await at(floors, null, seconds));
    }
  } finally {
    await stopAll([...daemons, ...floors]);
  }
  sameShape(ours[0]!.sample, theirs[0]!.sample);
  const p99 = (all: readonly Measured[]) => median(all.map(measured => measured.p99)).toFixed(0);
  yield ratio(
    `PostgreSQL: single registers, ${clients} clients, ${count === 1 ? 'one daemon' : `${count} daemons`}`,
    'reg/s',
    pairs(ours, theirs),
    count === 1 ? 'node:http with the same transactions' : `${count} of node:http with the same transactions`,
    { atLeast: 0.7 },
    `p99 ${p99(ours)} ms, of the floor ${p99(theirs)} ms; ${processorNote(ours, theirs)}`,
  );
}

/** A process that has served few requests still compiles its code: more so the larger it is. */
async function warmUp(load: () => Promise<Measured>): Promise<void> {
  for (let [rounds, served] = [0, 0]; rounds < 8 && served < 20_000; rounds++) served += 2 * (await load()).perSecond;
}

async function* detailRow({ repetitions, seconds }: Bench, registries: Registries, database: string) {
  const daemon = await registries.daemon(database);
  const floor = await startFloor('select.ts', [registries.server.url(database)]);
  const paths = Array.from({ length: 2000 }, (_, i) => `/api/devices/DEV-${1 + Math.floor((i * size) / 2000)}`);
  const order = { connections: clients, kind: 'get', paths } as const;
  const ours: Measured[] = [];
  const theirs: Measured[] = [];
  try {
    await measure(daemon, { ...order, seconds: 1, token: daemon.token });
    await measure(floor, { ...order, seconds: 1, token: null });
    for (let i = 0; i < repetitions; i++) {
      ours.push(await measure(daemon, { ...order, seconds, token: daemon.token }));
      theirs.push(await measure(floor, { ...order, seconds, token: null }));
    }
  } finally {
    await stopAll([daemon, floor]);
  }
  const note = processorNote(ours, theirs);
  const work = 'PostgreSQL: detail, authenticated';
  yield ratio(work, 'req/s', pairs(ours, theirs), 'a pipelined SELECT over Fastify', { atLeast: 0.5 }, note);
}

/** One event at a time: from the request to one node until a listener of another has the notification. */
async function* eventRow(bench: Bench, registries: Registries, database: string) {
  const nodes = await several(2, () => registries.daemon(database));
  try {
    const samples: number[] = [];
    for (let i = 0; i < bench.repetitions; i++) samples.push(await slowest(nodes[0], nodes[1]!, `e${i}-${Date.now()}`));
    const work = `PostgreSQL: an event until a listener of another node has it, the 99th percentile of ${events}`;
    yield bound(work, 'ms', samples, 300);
  } finally {
    await stopAll(nodes);
  }
}

async function slowest(writer: BenchDaemon, reader: BenchDaemon, prefix: string): Promise<number> {
  let arrived: () => void = () => {};
  const socket = await listen(reader.url, `/api/ws/notifications?token=${reader.token}`, () => arrived());
  const client = new Client(writer.url, writer.token);
  const taken: number[] = [];
  for (let i = 0; i < events; i++) {
    const device = { deviceType: 'UKEY', serialNumber: `${prefix}-${i}`, manufacturer: 'Bench', model: 'M1' };
    const there = new Promise<void>(resolve => {
      arrived = resolve;
    });
    const begun = performance.now();
    await client.send(client.requests.post(register, JSON.stringify(device)));
    await there;
    taken.push(performance.now() - begun);
    // So that events come at every moment between two looks of the other node.
    await pause((i * 37) % 125);
  }
  client.end();
  socket.destroy();
  return taken.sort((a, b) => a - b)[Math.floor(events * 0.99)]!;
}
