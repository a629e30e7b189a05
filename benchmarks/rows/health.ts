import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import type { BurstOrder, BurstResult } from '../burst.ts';
import { type BenchDaemon, runJson, type Served, settled, startDaemon, startFloor } from '../processes.ts';
import { bound, median, type Row } from '../report.ts';

const size = 100_000;
const requests = 300;
/** Milliseconds within which health is answered. */
const goal = 250;

type BurstLoad = Pick<BurstOrder, 'method' | 'paths' | 'body'>;

const get = (path: string, vary = ''): BurstLoad => ({
  method: 'GET',
  paths: vary === '' ? [path] : Array.from({ length: requests }, (_, i) => `${path}${vary}${i + 1}`),
});
const post = (path: string, body: object): BurstLoad => ({ method: 'POST', paths: [path], body: JSON.stringify(body) });

/** What strangers and users can send many of. */
const loads: Readonly<Record<string, BurstLoad>> = {
  'unknown paths': get('/api/nothing'),
  'Postman collections': get('/api/postman.json'),
  'OpenAPI documents as YAML': get('/api/openapi.yaml'),
  'scripts of the Swagger page': get('/api/swagger-ui/swagger-ui-bundle.js'),
  'wrong passwords': post('/api/auth/login', { username: 'admin', password: 'not this one' }),
  lists: get('/api/devices/list', '?size=100&page='),
  'lists by model': get('/api/devices/list', '?size=100&sortBy=model&createdFrom=2026-01-01T00:00:00Z&page='),
  keywords: get('/api/devices/list', '?size=100&keyword=ft-2026&page='),
  statistics: get('/api/statistics'),
  exports: get('/api/devices/export'),
  'reads of 1,000 events': get('/api/events', '?limit=1000&after='),
  'lists of persons': get('/api/people/list', '?size=100&page='),
  'changes of 100 devices': post('/api/devices/batch-update', {
    operation: 'UPDATE',
    items: Array.from({ length: 100 }, (_, i) => ({ deviceId: `DEV-${i + 1}`, note: 'burst' })),
  }),
};

/** The longest answer of health while 300 requests of a kind that were sent at once are under way. */
export async function* healthRows(bench: Bench): AsyncGenerator<Row> {
  const home = join(bench.scratch, 'health');
  await cp(await bench.home(size), home, { recursive: true });
  const daemon = await startDaemon(home, { env: { DEVMGR_LIMIT_DOCUMENT: 'off' } });
  const floor = await startFloor('http.ts', [join(bench.scratch, 'health-floor.db'), '{}']);
  try {
    await settled(daemon.pid);
    for (const [name, load] of Object.entries(loads)) yield await healthRow(bench, daemon, floor, name, load);
  } finally {
    await floor.stop();
    await daemon.stop();
  }
}

async function healthRow(
  { repetitions, scratch }: Bench,
  daemon: BenchDaemon,
  floor: Served,
  name: string,
  load: BurstLoad,
): Promise<Row> {
  const headers = { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' };
  const burst = async ({ url }: Served, { method, paths, body }: BurstLoad) => {
    const order: BurstOrder = { url, headers, method, paths, requests, ...(body === undefined ? {} : { body }) };
    const file = join(scratch, 'burst.json');
    await writeFile(file, JSON.stringify(order));
    return runJson<BurstResult>('burst.ts', file);
  };
  const [ours, theirs]: [BurstResult[], BurstResult[]] = [[], []];
  for (let i = 0; i < repetitions; i++) {
    theirs.push(await burst(floor, get('/static')));
    ours.push(await burst(daemon, load));
  }
  const [took, none] = [ours, theirs].map(all =>
    median(all.map(({ longest, took }) => (all === ours ? took : longest))),
  );
  const answers = Object.entries(ours[0]!.statuses).map(([status, count]) => `${count} times ${status}`);
  return bound(
    `health beside ${requests} ${name}: the longest answer`,
    'ms',
    ours.map(({ longest }) => longest),
    goal,
    `all answered after ${took!.toFixed(0)} ms (${answers.join(', ')}); beside ${requests} requests to a bare Fastify, its longest ${none!.toFixed(0)} ms`,
  );
}
