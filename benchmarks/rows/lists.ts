import { type Bench, few } from '../bench.ts';
import { Client } from '../connection.ts';
import { commonKeyword, knownUser, sample } from '../fill.ts';
import { type BenchDaemon, runJson, settled, startDaemon } from '../processes.ts';
import { bound, median, type Pair, type Row, ratio } from '../report.ts';
import type { WaitOrder, WaitResult, Waits } from '../waits.ts';

const list = '/api/devices/list';
/** Answers that one figure is the median of. */
const times = 200;

/** Every filter of the interface but the keyword, which has a goal of its own. */
export const filters: Readonly<Record<string, string>> = {
  'no filter': '',
  deviceType: 'deviceType=UKEY',
  status: 'status=ACTIVE',
  manufacturer: 'manufacturer=Maker%203',
  userId: `userId=${knownUser}`,
  'status and userId': `status=ACTIVE&userId=${knownUser}`,
  'type, status and manufacturer': 'deviceType=SIMKEY&status=INACTIVE&manufacturer=Maker%201',
};

/** Every order but those by creation. */
export const sorts = [
  'deviceId',
  'serialNumber',
  'manufacturer',
  'model',
  'status',
  'deviceType',
  'activatedAt',
  'lastUsedAt',
  'updatedAt',
] as const;
const beside = ['', '&status=ACTIVE', '&deviceType=UKEY&manufacturer=Maker%203', '&sortOrder=asc', '&keyword=yk5c'];

export const keywords = (devices: number) => ({
  /** A part of one serial; the number of a device; a text that is nowhere. */
  rare: [sample(Math.ceil(devices / 3)).serialNumber.slice(8), `dev-${devices}`, 'nowhere'],
  /** A part of seven serials in ten; one letter; one digit. */
  most: [commonKeyword, '-', '2'],
});

/** Lists at the large size. */
export async function* listRows(bench: Bench): AsyncGenerator<Row> {
  const large = await startDaemon(await bench.home(bench.devices));
  const small = await startDaemon(await bench.home(few));
  try {
    await settled(small.pid);
    await settled(large.pid);
    yield* filterRows(bench, large, small);
    yield* pageRow(bench, large);
    yield* sortRows(bench, large);
    yield* keywordRows(bench, large);
    yield* searchRows(bench, large);
  } finally {
    await small.stop();
    await large.stop();
  }
}

async function* filterRows({ repetitions, devices }: Bench, large: BenchDaemon, small: BenchDaemon) {
  const [ours, theirs] = [new Client(large.url, large.token), new Client(small.url, small.token)];
  for (const [name, query] of Object.entries(filters)) {
    const path = `${list}?${query}`;
    const [here, there] = [await rowsOf(ours, path), await rowsOf(theirs, path)];
    if (here !== there) throw new Error(`${path}: ${here} rows against ${there}`);
    const pairs: Pair[] = [];
    for (let i = 0; i < repetitions; i++) pairs.push(await alternating(ours, path, theirs, path));
    yield ratio(`list page 1 with total, ${name}, ${devices} devices`, 'ms', pairs, `at ${few} devices`, {
      atMost: 1.5,
    });
  }
  ours.end();
  theirs.end();
}

async function* pageRow({ repetitions, devices }: Bench, large: BenchDaemon) {
  const client = new Client(large.url, large.token);
  const last = Math.ceil(devices / 20);
  const places = { middle: Math.ceil(last / 2), 'a third in': Math.ceil(last / 3), last: last - 1 };
  for (const [name, page] of Object.entries(places)) {
    const path = `${list}?page=${page}`;
    if ((await rowsOf(client, path)) !== 20) throw new Error(`${path} is not a whole page`);
    const pairs: Pair[] = [];
    for (let i = 0; i < repetitions; i++) pairs.push(await alternating(client, path, client, `${list}?page=1`));
    yield ratio(`page of the default order, ${name} (${page})`, 'ms', pairs, 'page 1', { atMost: 2 });
  }
  client.end();
}

async function* sortRows(bench: Bench, large: BenchDaemon) {
  const waits: WaitResult[] = [];
  for (const sort of sorts) {
    const slowest: number[] = [];
    const pages = beside.map(query => `${list}?sortBy=${sort}${query}`);
    const middle = `${list}?sortBy=${sort}&page=${Math.ceil(bench.devices / 40)}`;
    for (let i = 0; i < bench.repetitions; i++) {
      const result = await wait(large, [...pages, middle]);
      slowest.push(Math.max(...result.answers.map(median)));
      waits.push(result);
    }
    yield bound(`order by ${sort}, alone, with filters, a middle page: the slowest`, 'ms', slowest, 25);
  }
  yield othersWait('another request beside these orders', waits);
}

async function* keywordRows(bench: Bench, large: BenchDaemon) {
  const { rare, most } = keywords(bench.devices);
  const waits: WaitResult[] = [];
  for (const [name, words, atMost] of [
    ['rare', rare, 5],
    ['matching most', most, 40],
  ] as const) {
    const slowest: number[] = [];
    for (let i = 0; i < bench.repetitions; i++) {
      const paths = words.map(word => `${list}?keyword=${encodeURIComponent(word)}`);
      const result = await wait(large, paths);
      slowest.push(Math.max(...result.answers.map(median)));
      waits.push(result);
    }
    yield bound(`keyword, ${name} (${words.join(', ')}): the slowest`, 'ms', slowest, atMost);
  }
  yield othersWait('another request beside these keywords', waits);
}

/** Words of a manufacturer, a model, a user and a serial number. */
const searches = (devices: number) => ['maker:"maker 3"', '"model 12"', 'person:user-17', keywords(devices).rare[0]!];

async function* searchRows({ repetitions, devices }: Bench, large: BenchDaemon) {
  const client = new Client(large.url, large.token);
  const serial = `${list}?keyword=${keywords(devices).rare[0]}`;
  for (const text of searches(devices)) {
    const path = `${list}?search=${encodeURIComponent(text)}`;
    await rowsOf(client, path);
    const pairs: Pair[] = [];
    for (let i = 0; i < repetitions; i++) pairs.push(await alternating(client, path, client, serial));
    yield ratio(`search ${text}, ${devices} devices`, 'ms', pairs, 'keyword of one serial number', { atMost: 1.5 });
  }
  client.end();
}

function wait(daemon: BenchDaemon, paths: readonly string[]): Promise<WaitResult> {
  const order: WaitOrder = { url: daemon.url, token: daemon.token, paths, seconds: 1, other: '/api/devices/DEV-7' };
  return runJson<WaitResult>('waits.ts', JSON.stringify(order));
}

function othersWait(work: string, waits: readonly WaitResult[]): Row {
  const told = (all: readonly Waits[]) => {
    const sum = (pick: (waits: Waits) => number) => all.reduce((sum, waits) => sum + pick(waits), 0);
    const longest = all.map(waits => waits.longest);
    return `${sum(({ late }) => late)} of ${sum(({ asked }) => asked)} over 10 ms; longest wait of a second: median ${median(longest).toFixed(1)} ms, at most ${Math.max(...longest).toFixed(1)} ms`;
  };
  return bound(
    `${work}: the longest wait`,
    'ms',
    waits.map(({ beside }) => beside.longest),
    10,
    `each sample is the longest wait of about a second, with a request each millisecond; ${told(waits.map(({ beside }) => beside))}; without that load, alternately, ${told(waits.map(({ alone }) => alone))}`,
  );
}

/** Medians of two paths that are requested alternately. */
export async function alternating(ours: Client, path: string, theirs: Client, other: string): Promise<Pair> {
  const samples: [number[], number[]] = [[], []];
  for (let i = -20; i < times; i++) {
    const [here, there] = [await ours.get(path), await theirs.get(other)];
    if (i < 0) continue;
    samples[0].push(here.ms);
    samples[1].push(there.ms);
  }
  return [median(samples[0]), median(samples[1])];
}

export async function rowsOf(client: Client, path: string): Promise<number> {
  const { body } = await client.get(path, true);
  const { data } = JSON.parse(body) as { data: { list: unknown[]; pagination: { total: number } } };
  if (data.pagination.total < data.list.length) throw new Error(`${path}: a total of ${data.pagination.total}`);
  return data.list.length;
}
