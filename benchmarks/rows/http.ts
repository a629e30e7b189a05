import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import type { LoadOrder } from '../load.ts';
import {
  type BenchDaemon,
  load,
  processorSeconds,
  type Served,
  settled,
  startDaemon,
  startFloor,
} from '../processes.ts';
import { median, type Pair, type Row, ratio } from '../report.ts';

/** The result of one load. */
export interface Measured {
  readonly perSecond: number;
  readonly p99: number;
  /** Microseconds of the server's processor time for one request: what others do on the machine disturbs it least. */
  readonly cpu: number;
  readonly busy: number;
  readonly sample: string;
}

/** The load against one server, or in turn against several. */
export async function measure(
  servers: Served | readonly [Served, ...Served[]],
  order: Omit<LoadOrder, 'url' | 'others'>,
): Promise<Measured> {
  const all: readonly [Served, ...Served[]] = 'pid' in servers ? [servers] : servers;
  const processor = async () => {
    const seconds = await Promise.all(all.map(({ pid }) => processorSeconds(pid)));
    return seconds.reduce((sum, one) => sum + one, 0);
  };
  const before = await processor();
  const [url, ...others] = all.map(server => server.url);
  const { perSecond, p99, busy, sample } = await load({ ...order, url: url!, others });
  const spent = (await processor()) - before;
  return { perSecond, p99, busy, sample, cpu: (spent * 1e6) / (perSecond * order.seconds) };
}

/** Detail, and single registrations, beside a Fastify that does nothing else and one that commits each request. */
export async function* httpRows(bench: Bench): AsyncGenerator<Row> {
  const home = join(bench.scratch, 'http');
  await cp(await bench.home(bench.devices), home, { recursive: true });
  const daemon = await startDaemon(home);
  await settled(daemon.pid);
  const path = `/api/devices/DEV-${Math.ceil(bench.devices / 2)}`;
  const answer = await fetch(daemon.url + path, { headers: { authorization: `Bearer ${daemon.token}` } });
  const floor = await startFloor('http.ts', [join(bench.scratch, 'floor.db'), await answer.text()]);
  try {
    yield* detailRow(bench, daemon, floor);
    yield* registerRows(bench, daemon, floor);
  } finally {
    await floor.stop();
    await daemon.stop();
  }
}

async function* detailRow({ repetitions, seconds, devices }: Bench, daemon: BenchDaemon, floor: Served) {
  const paths = Array.from({ length: 2000 }, (_, i) => `/api/devices/DEV-${1 + Math.floor((i * devices) / 2000)}`);
  const order = { connections: 64, seconds, kind: 'get' } as const;
  const ours: Measured[] = [];
  const theirs: Measured[] = [];
  await measure(daemon, { ...order, token: daemon.token, paths, seconds: 1 });
  for (let i = 0; i < repetitions; i++) {
    ours.push(await measure(daemon, { ...order, token: daemon.token, paths }));
    theirs.push(await measure(floor, { ...order, token: null, paths: ['/static'] }));
  }
  sameShape(ours[0]!.sample, theirs[0]!.sample);
  yield ratio(
    'detail, authenticated',
    'req/s',
    pairs(ours, theirs),
    'bare Fastify, static envelope',
    { atLeast: 0.5 },
    processorNote(ours, theirs),
  );
}

async function* registerRows({ repetitions, seconds }: Bench, daemon: BenchDaemon, floor: Served) {
  const order = { connections: 64, seconds, kind: 'register' } as const;
  const register = '/api/devices/register';
  const at = (server: Served, token: string | null, path: string) =>
    measure(server, { ...order, token, paths: [path], prefix: `s${Date.now()}` });
  const ours: Measured[] = [];
  const answered: Measured[] = [];
  const committed: Measured[] = [];
  await at(daemon, daemon.token, register);
  for (let i = 0; i < repetitions; i++) {
    ours.push(await at(daemon, daemon.token, register));
    answered.push(await at(floor, null, register));
    committed.push(await at(floor, null, `/commit${register}`));
  }
  sameShape(ours[0]!.sample, answered[0]!.sample);
  const p99 = `p99 ${median(ours.map(({ p99 }) => p99)).toFixed(1)} ms, of the floor ${median(committed.map(({ p99 }) => p99)).toFixed(0)} ms`;
  yield ratio(
    'single registers, 64 clients, durable',
    'reg/s',
    pairs(ours, committed),
    'one durable commit a request',
    { atLeast: 6 },
    p99,
  );
  yield ratio(
    'the same',
    'reg/s',
    pairs(ours, answered),
    'answered without a database',
    { atLeast: 0.6 },
    processorNote(ours, answered),
  );
}

/** A figure of both sides, by default the rate, repetition by repetition. */
export const pairs = (
  ours: readonly Measured[],
  theirs: readonly Measured[],
  of: (one: Measured) => number = ({ perSecond }) => perSecond,
): Pair[] => ours.map((one, i) => [of(one), of(theirs[i]!)]);

/** How much of the difference is processor time, which other work on the machine disturbs least. */
export function processorNote(ours: readonly Measured[], theirs: readonly Measured[]): string {
  const cpu = (all: readonly Measured[]) => median(all.map(({ cpu }) => cpu));
  const busiest = Math.max(...theirs.map(({ busy }) => busy));
  return `processor time a request ${cpu(ours).toFixed(0)} µs, of the floor ${cpu(theirs).toFixed(0)} µs (ratio ${(cpu(theirs) / cpu(ours)).toFixed(2)}); against the floor, the load generator was busy ${Math.round(busiest * 100)} % of the time`;
}

/** Throws unless both sides answer an envelope with the same fields: else they cannot be compared. */
export function sameShape(ours: string, theirs: string): void {
  const fields = (text: string) => {
    const { code, data } = JSON.parse(text) as { code: number; data: object };
    return JSON.stringify([code, Object.keys(data).sort()]);
  };
  if (fields(ours) !== fields(theirs)) throw new Error(`the two sides answer different things: ${ours} and ${theirs}`);
}
