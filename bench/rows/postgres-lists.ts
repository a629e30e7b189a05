import type { Bench } from '../bench.ts';
import { Client } from '../connection.ts';
import { Registries } from '../postgres.ts';
import { settled } from '../processes.ts';
import { bound, median, type Row, ratio } from '../report.ts';
import { alternating, filters, keywords, rowsOf, sorts } from './lists.ts';

const small = 100_000;
const list = '/api/devices/list';
/** Answers that a figure is the median of. */
const times = 15;

/** Lists of a large registry in PostgreSQL, held against one of 100,000 devices. */
export async function* postgresListRows(bench: Bench): AsyncGenerator<Row> {
  const registries = await Registries.start(bench.scratch, bench.tell);
  try {
    const few = await registries.daemon(await registries.filled(small));
    const many = await registries.daemon(await registries.filled(bench.devices));
    await settled(few.pid);
    await settled(many.pid);
    const ours = new Client(many.url, many.token);
    const theirs = new Client(few.url, few.token);
    yield* filterRows(bench, ours, theirs);
    yield* boundRows(bench, ours);
    await Promise.all([few.stop(), many.stop()]);
  } finally {
    await registries.stop();
  }
}

/** Besides those of SQLite. */
const furtherFilters = (devices: number): Readonly<Record<string, string>> => ({
  tag: 'tag=site%3Asite-7',
  'a day of creation': `createdFrom=2026-01-01T06:00:00.000Z&createdTo=2026-01-01T12:00:00.000Z`,
  serialNumber: `serialNumber=${keywords(devices).rare[0]}`,
});

async function* filterRows({ repetitions, devices }: Bench, ours: Client, theirs: Client): AsyncGenerator<Row> {
  for (const [name, query] of Object.entries({ ...filters })) {
    const path = `${list}?${query}`;
    await rowsOf(ours, path);
    const pairs = [];
    for (let i = 0; i < repetitions; i++) pairs.push(await alternating(ours, path, theirs, path));
    const work = `PostgreSQL: list page 1 with total, ${name}, ${devices} devices`;
    yield ratio(work, 'ms', pairs, `at ${small} devices`, { atMost: 1.5 });
  }
}

async function* boundRows(bench: Bench, client: Client): AsyncGenerator<Row> {
  for (const [work, atMost, paths] of bounded(bench.devices)) {
    const samples: number[] = [];
    for (let i = 0; i < bench.repetitions; i++) {
      const medians: number[] = [];
      for (const path of paths) medians.push(await medianOf(client, path));
      samples.push(Math.max(...medians));
    }
    yield bound(`PostgreSQL: ${work}, ${bench.devices} devices`, 'ms', samples, atMost);
  }
}

function* bounded(devices: number): Generator<readonly [work: string, atMost: number, paths: readonly string[]]> {
  const { rare, most } = keywords(devices);
  const asked = (queries: readonly string[]) => queries.map(query => `${list}?${query}`);
  const searched = (words: readonly string[]) => asked(words.map(word => `keyword=${encodeURIComponent(word)}`));
  yield [`keyword, rare (${rare.join(', ')}): the slowest`, 5, searched(rare)];
  yield [`keyword, matching most (${most.join(', ')}): the slowest`, 1000, searched(most)];
  yield ['the middle page', 5, asked([`page=${Math.ceil(devices / 40)}`])];
  for (const sort of sorts)
    yield [
      `order by ${sort}, both directions: the slower`,
      5,
      asked([`sortBy=${sort}`, `sortBy=${sort}&sortOrder=asc`]),
    ];
  yield [
    'a state by the times, the slowest',
    25,
    asked(['activatedAt', 'lastUsedAt', 'updatedAt'].map(sort => `status=ACTIVE&sortBy=${sort}`)),
  ];
  for (const [name, query] of Object.entries(furtherFilters(devices))) yield [`page 1, ${name}`, 25, asked([query])];
  yield ['the middle page of a state', 100, asked([`status=ACTIVE&page=${Math.ceil((devices * 0.45) / 40)}`])];
  yield ['statistics', 10, ['/api/statistics']];
}

async function medianOf(client: Client, path: string): Promise<number> {
  const answers: number[] = [];
  for (let i = -2; i < times; i++) {
    const { ms } = await client.get(path);
    if (i >= 0) answers.push(ms);
    // What takes seconds needs no more samples.
    if (ms > 2000 && answers.length >= 2) break;
  }
  return median(answers);
}
