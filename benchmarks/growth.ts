import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from './bench.ts';
import { Client } from './connection.ts';
import { plot, type Series } from './plot.ts';
import { load, residentMiB, settled, startDaemon } from './processes.ts';
import { markdown, median, short } from './report.ts';
import { batch } from './rows/batch.ts';
import { filters, keywords, sorts } from './rows/lists.ts';

const docs = join(import.meta.dirname, '..', 'docs');
const list = '/api/devices/list';
const times = 30;

/** Work → figure, at one size. The unit is part of the name. */
type Figures = Readonly<Record<string, number>>;

/** Measures one workload at each size. Writes `performance-growth.svg` into docs/ and the table to stdout. */
export async function growth(bench: Bench, sizes: readonly number[], tell: (text: string) => void): Promise<void> {
  const columns: Figures[] = [];
  for (const size of sizes) {
    tell(`growth: ${size} devices`);
    columns.push(await figuresAt(bench, size));
  }
  const names = Object.keys(columns[0]!);
  const cells = names.map(name => [name, ...columns.map(column => short(column[name]!))]);
  process.stdout.write(`${markdown(['work', ...sizes.map(size => `${short(size)} devices`)], cells)}\n`);
  const series: Series[] = names.map(name => ({ name, values: columns.map(column => column[name]!) }));
  await writeFile(join(docs, 'performance-growth.svg'), plot(sizes, series));
}

async function figuresAt(bench: Bench, size: number): Promise<Figures> {
  const home = join(bench.scratch, `growth-${size}`);
  await cp(await bench.home(size), home, { recursive: true });
  // The first start makes the keys; it is the second that is measured.
  await (await startDaemon(home)).stop();
  const daemon = await startDaemon(home);
  try {
    await settled(daemon.pid);
    const memory = await residentMiB(daemon.pid);
    const client = new Client(daemon.url, daemon.token);
    const reads = await readingAt(client, size);
    client.end();
    const order = { url: daemon.url, token: daemon.token, connections: 64, seconds: bench.seconds } as const;
    const prefix = `g${Date.now()}`;
    const { perSecond } = await load({ ...order, kind: 'register', paths: ['/api/devices/register'], prefix });
    const batches: number[] = [];
    for (let i = 0; i < bench.repetitions; i++) batches.push(await batch(daemon, `g${i}`));
    return {
      ...reads,
      'single registers, a second': perSecond,
      'batch of 10,000, devices a second': median(batches),
      'start to first answer, ms': daemon.startMs,
      'memory idle, MiB': memory,
    };
  } finally {
    await daemon.stop();
    await rm(home, { recursive: true, force: true });
  }
}

async function readingAt(client: Client, size: number): Promise<Figures> {
  const { rare, most } = keywords(size);
  const paths: Record<string, string> = {
    'detail, ms': `/api/devices/DEV-${Math.ceil(size / 2)}`,
    'middle page, ms': `${list}?page=${Math.ceil(size / 40)}`,
  };
  for (const [name, query] of Object.entries(filters)) paths[`page 1, ${name}, ms`] = `${list}?${query}`;
  for (const sort of sorts) paths[`order by ${sort}, ms`] = `${list}?sortBy=${sort}`;
  paths[`keyword, rare (${'part of one serial'}), ms`] = `${list}?keyword=${rare[0]}`;
  paths['keyword, matching most, ms'] = `${list}?keyword=${most[0]}`;
  const figures: Record<string, number> = {};
  for (const [name, path] of Object.entries(paths)) {
    const samples: number[] = [];
    for (let i = -3; i < times; i++) {
      const { ms } = await client.get(path);
      if (i >= 0) samples.push(ms);
    }
    figures[name] = median(samples);
  }
  return figures;
}
