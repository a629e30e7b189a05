import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import type { BurstOrder, BurstResult } from '../burst.ts';
import { type BurstLoad, makeLoads, plainLoads, requests } from '../burst-loads.ts';
import { Registries } from '../postgres.ts';
import { type BenchDaemon, runJson, type Served, settled, startDaemon, startFloor } from '../processes.ts';
import { bound, median, type Row } from '../report.ts';

const size = 100_000;
/** Milliseconds within which health is answered. */
const goal = 250;
/** Limits that the bench does not measure. */
const env = { DEVMGR_LIMIT_DOCUMENT: 'off', DEVMGR_LIMIT_SIGN_IN: 'off', DEVMGR_FILES_DAILY: 'off' };

/** The longest answer of health while 300 requests of a kind that were sent at once are under way. */
export async function* healthRows(bench: Bench): AsyncGenerator<Row> {
  const home = join(bench.scratch, 'health');
  await cp(await bench.home(size), home, { recursive: true });
  yield* rowsOf(bench, '', await startDaemon(home, { env }));
}

/** Figures of `/api/health` of a daemon on PostgreSQL. */
export async function* postgresHealthRows(bench: Bench): AsyncGenerator<Row> {
  const registries = await Registries.start(bench.scratch, bench.tell);
  try {
    yield* rowsOf(bench, 'PostgreSQL: ', await registries.daemon(await registries.filled(size), env));
  } finally {
    await registries.stop();
  }
}

async function* rowsOf(bench: Bench, engine: string, daemon: BenchDaemon): AsyncGenerator<Row> {
  const floor = await startFloor('http.ts', [join(bench.scratch, `${engine}health-floor.db`), '{}']);
  try {
    const made = await makeLoads(daemon);
    try {
      await settled(daemon.pid);
      const plain = Object.entries(plainLoads).map(([name, load]) => [name, async () => load] as const);
      for (const [name, load] of [...plain, ...Object.entries(made.loads)])
        yield await healthRow(bench, daemon, floor, `${engine}health beside ${requests} ${name}`, load);
    } finally {
      await made.stop();
    }
  } finally {
    await floor.stop();
    await daemon.stop();
  }
}

async function healthRow(
  { repetitions, scratch }: Bench,
  daemon: BenchDaemon,
  floor: Served,
  work: string,
  loadOf: () => Promise<BurstLoad>,
): Promise<Row> {
  const headers = { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' };
  const burst = async ({ url }: Served, load: BurstLoad) => {
    const order: BurstOrder = { url, requests, ...load, headers: { ...headers, ...load.headers } };
    const file = join(scratch, 'burst.json');
    await writeFile(file, JSON.stringify(order));
    return runJson<BurstResult>('burst.ts', file);
  };
  const [ours, theirs]: [BurstResult[], BurstResult[]] = [[], []];
  for (let i = 0; i < repetitions; i++) {
    theirs.push(await burst(floor, { method: 'GET', sent: [{ path: '/static' }] }));
    ours.push(await burst(daemon, await loadOf()));
  }
  const [took, none] = [ours, theirs].map(all =>
    median(all.map(({ longest, took }) => (all === ours ? took : longest))),
  );
  const answers = Object.entries(ours[0]!.statuses).map(([status, count]) => `${count} times ${status}`);
  return bound(
    `${work}: the longest answer`,
    'ms',
    ours.map(({ longest }) => longest),
    goal,
    `all answered after ${took!.toFixed(0)} ms (${answers.join(', ')}); beside ${requests} requests to a bare Fastify, its longest ${none!.toFixed(0)} ms`,
  );
}
