import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { Client } from '../connection.ts';
import type { ExportResult } from '../export-reader.ts';
import { type BenchDaemon, runJson, settled, startDaemon } from '../processes.ts';
import { bound, median, type Row } from '../report.ts';

/** Answers that one figure is the median of. */
const times = 50;
/** Devices that one batch changes. */
const batchSize = 1000;

/** Requests of operators about a whole registry: statistics, the history of a device, an export, and one change for many devices. */
export async function* figureRows(bench: Bench): AsyncGenerator<Row> {
  const home = join(bench.scratch, 'figures');
  await cp(await bench.home(bench.devices), home, { recursive: true });
  const daemon = await startDaemon(home);
  try {
    await settled(daemon.pid);
    const client = new Client(daemon.url, daemon.token);
    const device = `DEV-${Math.ceil(bench.devices / 2)}`;
    yield bound(`statistics of ${bench.devices} devices`, 'ms', await repeated(bench, client, '/api/statistics'), 10);
    yield bound('events of one device', 'ms', await repeated(bench, client, `/api/events?deviceId=${device}`), 5);
    yield* exportRows(bench, daemon, client);
    yield bound(`batch-update of ${batchSize}`, 'ms', await batches(bench, daemon), 60);
    client.end();
  } finally {
    await daemon.stop();
  }
}

async function repeated({ repetitions }: Bench, client: Client, path: string): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const answers: number[] = [];
    for (let k = 0; k < times; k++) answers.push((await client.get(path)).ms);
    samples.push(median(answers));
  }
  return samples;
}

async function* exportRows({ repetitions, devices }: Bench, daemon: BenchDaemon, other: Client): AsyncGenerator<Row> {
  const perRow: number[] = [];
  const longest: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    let isOver = false;
    const reading = runJson<ExportResult>('export-reader.ts', daemon.url, daemon.token).finally(() => {
      isOver = true;
    });
    let wait = 0;
    while (!isOver) {
      wait = Math.max(wait, (await other.get('/api/devices/DEV-7')).ms);
      await pause(1);
    }
    const result = await reading;
    if (result.devices !== devices) throw new Error(`the export has ${result.devices} of ${devices} devices`);
    perRow.push((1e6 * result.seconds) / result.devices);
    longest.push(wait);
  }
  yield bound('export, for each device', 'µs', perRow, 10);
  yield bound('another request beside an export: the longest wait', 'ms', longest, 10);
}

/** Each batch locks the devices that the one before it has unlocked. */
async function batches({ repetitions }: Bench, daemon: BenchDaemon): Promise<number[]> {
  const run = String(Date.now());
  const devices = Array.from({ length: batchSize }, (_, n) => ({
    deviceType: 'UKEY',
    serialNumber: `f${run}-${n}`,
    manufacturer: 'Maker 1',
    model: 'M1',
  }));
  const { data } = await daemon.call('POST', '/api/devices/batch-register', { devices });
  const { results } = data as { results: { deviceId: string; activationCode: string }[] };
  const items = results.map(({ deviceId, activationCode }) => ({ deviceId, activationCode, userId: 'bench' }));
  await batchUpdate(daemon, 'ACTIVATE', items);
  const samples: number[] = [];
  for (let i = 0; i < 2 * (repetitions + 2); i++) {
    const ms = await batchUpdate(
      daemon,
      i % 2 ? 'UNLOCK' : 'LOCK',
      results.map(({ deviceId }) => ({ deviceId, reason: 'bench' })),
    );
    // The first ones compile the code.
    if (i >= 4) samples.push(ms);
  }
  return samples;
}

async function batchUpdate(daemon: BenchDaemon, operation: string, items: readonly object[]): Promise<number> {
  const begun = performance.now();
  const { status, data } = await daemon.call('POST', '/api/devices/batch-update', { operation, items });
  const ms = performance.now() - begun;
  if (status !== 200 || (data as { success: number }).success !== items.length)
    throw new Error(`${operation} failed for some devices`);
  return ms;
}
