/**
 * `npm run bench`: the built daemon beside the floor under it, in the same run and in turn with it.
 *   --devices N       size of the registry (default 10000)
 *   --repetitions N   how often each pair is measured (default 3)
 *   --seconds N       length of each load (default 3)
 *   --only WORDS      only groups whose name holds one of these (comma-separated)
 *   --json            one JSON document instead of the table
 */
import { parseArgs } from 'node:util';
import { fill } from './fill.ts';
import { type BenchDaemon, benchFolder, removeFolder, startDaemon } from './processes.ts';
import { type Row, reached, table } from './report.ts';
import { batchRows, httpRows } from './rows/http.ts';
import { listRows } from './rows/lists.ts';

export interface Bench {
  readonly daemon: BenchDaemon;
  readonly folder: string;
  readonly devices: number;
  readonly repetitions: number;
  readonly seconds: number;
}

const groups: Readonly<Record<string, (bench: Bench) => AsyncGenerator<Row>>> = {
  list: listRows,
  http: httpRows,
  batch: batchRows,
};

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '10000' },
    repetitions: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const wanted = values.only?.split(',');
const folder = await benchFolder();
const daemon = await startDaemon(folder);
const rows: Row[] = [];
try {
  const bench: Bench = {
    daemon,
    folder,
    devices: Number(values.devices),
    repetitions: Number(values.repetitions),
    seconds: Number(values.seconds),
  };
  process.stderr.write(`registering ${bench.devices} devices\n`);
  await fill(daemon, bench.devices);
  for (const [name, group] of Object.entries(groups)) {
    if (wanted && !wanted.some(word => name.includes(word))) continue;
    process.stderr.write(`measuring: ${name}\n`);
    for await (const row of group(bench)) rows.push(row);
  }
} finally {
  await daemon.stop();
  await removeFolder(folder);
}
process.stdout.write(
  values.json ? `${JSON.stringify(rows.map(row => ({ ...row, reached: reached(row) })))}\n` : `${table(rows)}\n`,
);
