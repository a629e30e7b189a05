import type { Bench } from '../bench.ts';
import { Client } from '../connection.ts';
import { BEGUN, commonKeyword, DAY, knownUser, sample } from '../fill.ts';
import { Registries } from '../postgres.ts';
import { type BenchDaemon, settled } from '../processes.ts';
import { bound, median, type Row, ratio } from '../report.ts';
import { alternating, filters, keywords, rowsOf, sorts } from './lists.ts';

const small = 100_000;
const list = '/api/devices/list';
/** Answers that a figure is the median of. */
const times = 15;
const HOUR = 3_600_000;

/** Lists of a large registry in PostgreSQL, compared with one of 100,000 devices. */
export async function* postgresListRows(bench: Bench): AsyncGenerator<Row> {
  const registries = await Registries.start(bench.scratch, bench.tell);
  try {
    const few = await registries.daemon(await registries.filled(small));
    const many = await registries.daemon(await registries.filled(bench.devices));
    await settled(few.pid);
    await settled(many.pid);
    yield* rowsOfDaemons(bench, many, few);
    await Promise.all([few.stop(), many.stop()]);
  } finally {
    await registries.stop();
  }
}

/** Rows for existing registries: `few` has 100,000 devices. */
export async function* rowsOfDaemons(
  bench: Bench,
  many: Pick<BenchDaemon, 'url' | 'token'>,
  few: Pick<BenchDaemon, 'url' | 'token'>,
): AsyncGenerator<Row> {
  const ours = new Client(many.url, many.token);
  const theirs = new Client(few.url, few.token);
  yield* firstRows(bench, ours);
  yield* filterRows(bench, ours, theirs);
  yield* boundRows(bench, ours);
  ours.end();
  theirs.end();
}

const aaguid = '2fc0579f-8113-47ea-b116-000000000007';
const tag = 'tag=site%3Asite-7';
const unused = `lastUsedBefore=${new Date(BEGUN + 60 * DAY).toISOString()}`;

/** Besides those of SQLite. */
const furtherFilters: Readonly<Record<string, string>> = {
  'tag of 0.1 %': tag,
  'the tag and a state': `${tag}&status=ACTIVE`,
  'the tag and a user': `${tag}&userId=${knownUser}`,
  'AAGUID of 0.5 %': `aaguid=${aaguid}`,
  'the AAGUID and the tag': `aaguid=${aaguid}&${tag}`,
  'advisory of 0.1 %': 'advisory=YSA-2024-03',
  'the advisory and a state': 'advisory=YSA-2024-03&status=ACTIVE',
  'proof=model': 'proof=model',
  'proof=model,unit': 'proof=model,unit',
  'proof=none': 'proof=none',
  'proof=failed and a state': 'proof=failed&status=LOCKED',
  '6 hours of creation': hours(0, 6),
  '6 hours of creation and a state': `${hours(0, 6)}&status=ACTIVE`,
  'creation from an hour on, and a state': `createdFrom=${new Date(BEGUN + 6 * HOUR).toISOString()}&status=ACTIVE`,
  'a keyword of most and a state': `keyword=${commonKeyword}&status=ACTIVE`,
  'a keyword of most and the tag': `keyword=${commonKeyword}&${tag}`,
  'proof=failed, a type and a user': `proof=failed&deviceType=UKEY&userId=${knownUser}`,
  'the AAGUID, a state and a user': `aaguid=${aaguid}&status=ACTIVE&userId=${knownUser}`,
  'the tag, a type and a state': `${tag}&deviceType=UKEY&status=LOCKED`,
  'two tags': `${tag}&tag=site%3Asite-8`,
  'the tag and 6 hours of creation': `${tag}&${hours(0, 6)}`,
  'search of a manufacturer': `search=${encodeURIComponent('maker:"maker 3"')}`,
  'search of a tag': 'search=tag%3Asite-8',
  'search of a user and a model': `search=${encodeURIComponent('person:user-17 "model 12"')}`,
  'lastUsedBefore and ACTIVE': `${unused}&status=ACTIVE`,
  'lastUsedBefore and a user': `${unused}&userId=${knownUser}`,
  'lastUsedBefore, a type and a manufacturer': `${unused}&deviceType=UKEY&manufacturer=Maker%203`,
  'codeExpiresBefore and the tag': `codeExpiresBefore=${new Date(BEGUN + 366 * DAY).toISOString()}&${tag}`,
};

function hours(from: number, to: number): string {
  const at = (hour: number) => new Date(BEGUN + hour * HOUR).toISOString();
  return `createdFrom=${at(from)}&createdTo=${at(to)}`;
}

/** The first count, which runs before all other rows. */
const firstAsked = [
  tag,
  'proof=model',
  'proof=none',
  `keyword=${commonKeyword}`,
  `keyword=${commonKeyword}&status=ACTIVE`,
];

async function* firstRows({ devices }: Bench, client: Client): AsyncGenerator<Row> {
  for (const query of firstAsked) {
    const { ms } = await client.get(`${list}?${query}`);
    yield bound(`PostgreSQL: the first page 1 with total of ${query}, ${devices} devices`, 'ms', [ms], 20_000);
  }
  const rare = [17, 1017, 2017, 3017, 4017].map(n => sample(n).serialNumber.slice(8));
  const samples: number[] = [];
  for (const word of rare) samples.push((await client.get(`${list}?keyword=${word}`)).ms);
  yield bound(`PostgreSQL: the first search for a rare keyword, ${devices} devices`, 'ms', samples, 5);
}

async function* filterRows({ repetitions, devices }: Bench, ours: Client, theirs: Client): AsyncGenerator<Row> {
  for (const [name, query] of Object.entries({ ...filters, ...furtherFilters })) {
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
  yield ['keyword, a whole serial number', 5, searched([sample(7).serialNumber])];
  yield ['keyword, the start of ids (dev-99999)', 5, searched(['dev-99999'])];
  yield ['page 1, a whole serial number', 5, asked([`serialNumber=${sample(7).serialNumber}`])];
  yield ['the tag, ordered by serial number', 100, asked([`${tag}&sortBy=serialNumber`])];
  yield [
    'codeExpiresBefore and INACTIVE',
    3000,
    asked([`codeExpiresBefore=${new Date(BEGUN + 366 * DAY).toISOString()}&status=INACTIVE`]),
  ];
  yield ['the middle page of a state', 100, asked([`status=ACTIVE&page=${Math.ceil((devices * 0.45) / 40)}`])];
  yield ['statistics', 10, ['/api/statistics']];
}

async function medianOf(client: Client, path: string): Promise<number> {
  const answers: number[] = [];
  for (let i = -2; i < times; i++) {
    const { ms } = await client.get(path);
    if (i >= 0) answers.push(ms);
    // A request that takes seconds needs no more samples.
    if (ms > 2000 && answers.length >= 2) break;
  }
  return median(answers);
}
