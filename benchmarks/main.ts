/**
 * `npm run bench`: the built daemon beside the floor under it, in the same run and in turn with it.
 *   --devices N       size of the large registry (default 1000000, up to 5000000 and beyond; 10000000 with --only postgres)
 *   --repetitions N   how often each pair is measured (default 3)
 *   --seconds N       length of each load (default 3)
 *   --only WORDS      only groups whose name holds one of these (comma-separated): start, list, http, decisions, batch, figures,
 *                     stream, upload, command, console, people, health, postgres-health, postgres-nodes, postgres-lists
 *   --growth SIZES    instead of the table: the same work at each of these sizes, as a table and a plot in docs/
 *   --folder DIR      keeps the registries it fills there, for the next run
 *   --json            one JSON document instead of the table
 * Floors, figures and their spread are described in docs/performance.md.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bench, Group } from './bench.ts';
import { fill } from './fill.ts';
import { growth } from './growth.ts';
import { machine, othersAtWork } from './machine.ts';
import { judged, type Row, reached, short, table } from './report.ts';
import { batchRows } from './rows/batch.ts';
import { commandRows } from './rows/command.ts';
import { consoleRows } from './rows/console.ts';
import { decisionRows } from './rows/decisions.ts';
import { figureRows } from './rows/figures.ts';
import { healthRows, postgresHealthRows } from './rows/health.ts';
import { httpRows } from './rows/http.ts';
import { listRows } from './rows/lists.ts';
import { nodeRows } from './rows/nodes.ts';
import { peopleRows } from './rows/people.ts';
import { postgresListRows } from './rows/postgres-lists.ts';
import { startRows } from './rows/start.ts';
import { streamRows } from './rows/stream.ts';
import { tableRows } from './rows/tables.ts';
import { uploadRows } from './rows/upload.ts';

const groups: Readonly<Record<string, Group>> = {
  start: startRows,
  command: commandRows,
  list: listRows,
  http: httpRows,
  decisions: decisionRows,
  batch: batchRows,
  figures: figureRows,
  stream: streamRows,
  upload: uploadRows,
  tables: tableRows,
  console: consoleRows,
  people: peopleRows,
  health: healthRows,
  'postgres-health': postgresHealthRows,
  'postgres-nodes': nodeRows,
  'postgres-lists': postgresListRows,
};

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '1000000' },
    repetitions: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string' },
    growth: { type: 'string' },
    folder: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const tell = (text: string) => void process.stderr.write(`${text}\n`);
const scratch = await mkdtemp(join(tmpdir(), 'devmgr-bench-'));
const kept = values.folder ? resolve(values.folder) : scratch;

/** Fills a home of this size if it does not exist yet. */
async function home(devices: number): Promise<string> {
  const dir = join(kept, `${devices}-devices`);
  const done = `${dir}-whole`;
  if (!homes.has(done)) {
    await fill(dir, devices, count => count % 100_000 === 0 && tell(`  registered ${count} of ${devices} devices`));
    homes.add(done);
  }
  return dir;
}
const homes = new Set<string>();

const bench: Bench = {
  scratch,
  tell,
  home,
  devices: Number(values.devices),
  repetitions: Number(values.repetitions),
  seconds: Number(values.seconds),
};

async function* measured(): AsyncGenerator<Row> {
  const wanted = values.only?.split(',');
  for (const [name, group] of Object.entries(groups)) {
    if (wanted && !wanted.some(word => name.includes(word))) continue;
    tell(`measuring: ${name} (load of the machine ${othersAtWork().toFixed(1)})`);
    try {
      yield* group(bench);
    } catch (error) {
      tell(`${name}: no figure, ${(error as Error).stack}`);
    }
  }
}

try {
  if (values.growth) await growth(bench, values.growth.split(',').map(Number), tell);
  else {
    const before = othersAtWork();
    const rows: Row[] = [];
    for await (const row of measured()) {
      rows.push(row);
      tell(`  ${row.work}: ${short(judged(row))}, ${reached(row) ? 'reached' : 'NOT reached'}`);
    }
    const conditions = { machine: machine(), load: before, ...bench };
    process.stdout.write(
      values.json
        ? `${JSON.stringify({ ...conditions, rows: rows.map(row => ({ ...row, reached: reached(row) })) })}\n`
        : `${table(rows)}\n\n${conditions.machine}; load before the run ${before.toFixed(1)}; ${bench.repetitions} repetitions of ${bench.seconds} s\n`,
    );
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}
