import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import type { ExportResult } from '../export-reader.ts';
import { sample } from '../fill.ts';
import { type BenchDaemon, runJson, settled, startDaemon } from '../processes.ts';
import { median, type Row, ratio } from '../report.ts';
import { type Measured, measure, pairs } from './http.ts';

/** How long a door waits for a decision, beside the detail of a device: under load, and while exports are read. */
export async function* decisionRows(bench: Bench): AsyncGenerator<Row> {
  const home = join(bench.scratch, 'decisions');
  await cp(await bench.home(bench.devices), home, { recursive: true });
  const daemon = await startDaemon(home, { env: { DEVMGR_LIMIT_DECIDE: '100000000/60' } });
  try {
    await settled(daemon.pid);
    yield await decisionRow(bench, daemon, 'decision, 64 clients', of => of());
    yield await decisionRow(bench, daemon, 'decision beside exports, 64 clients', of => besideExports(daemon, of));
  } finally {
    await daemon.stop();
  }
}

async function decisionRow(
  { repetitions, seconds, devices }: Bench,
  daemon: BenchDaemon,
  work: string,
  around: (of: () => Promise<Measured>) => Promise<Measured>,
): Promise<Row> {
  const numbers = Array.from({ length: 2000 }, (_, i) => 1 + Math.floor((i * devices) / 2000));
  const order = { connections: 64, seconds, token: daemon.token };
  const decide = () =>
    around(() => measure(daemon, { ...order, kind: 'decide', paths: numbers.map(n => sample(n).serialNumber) }));
  const detail = () =>
    around(() => measure(daemon, { ...order, kind: 'get', paths: numbers.map(n => `/api/devices/DEV-${n}`) }));
  await measure(daemon, { ...order, kind: 'decide', paths: numbers.map(n => sample(n).serialNumber), seconds: 1 });
  await measure(daemon, { ...order, kind: 'get', paths: numbers.map(n => `/api/devices/DEV-${n}`), seconds: 1 });
  const [ours, theirs]: [Measured[], Measured[]] = [[], []];
  for (let i = 0; i < repetitions; i++) {
    ours.push(await decide());
    theirs.push(await detail());
  }
  if (!/"reason":"(active|inactive|locked|deactivated)"/.test(ours[0]!.sample))
    throw new Error(`no decision about a device: ${ours[0]!.sample}`);
  const [cpu, detailCpu] = [ours, theirs].map(all => median(all.map(({ cpu }) => cpu)).toFixed(0));
  return ratio(
    `${work}: p99`,
    'ms',
    pairs(ours, theirs, ({ p99 }) => p99),
    'p99 of the detail of a device',
    { atMost: 2 },
    `${devices} devices; processor time a decision ${cpu} µs, a detail ${detailCpu} µs, with what runs beside them`,
  );
}

/** Exports are read one after the other while `of` runs. */
async function besideExports({ url, token }: BenchDaemon, of: () => Promise<Measured>): Promise<Measured> {
  let isOver = false;
  const reading = (async () => {
    while (!isOver) await runJson<ExportResult>('export-reader.ts', url, token);
  })();
  const measured = await of();
  isOver = true;
  await reading;
  return measured;
}
