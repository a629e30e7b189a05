import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { homeFiles } from '../../src/contract/local.ts';
import type { Bench } from '../bench.ts';
import { type BenchDaemon, runJson, settled, startDaemon } from '../processes.ts';
import { type Pair, type Row, ratio } from '../report.ts';

/** Batches until the daemon's code is compiled as it is when it has run for a while: the first three take up to twice as long. */
const WARMING = 6;

/** A batch of 10,000 beside one raw transaction of the same rows, each into its own copy of the same registry. */
export async function* batchRows(bench: Bench): AsyncGenerator<Row> {
  const home = join(bench.scratch, 'batch');
  const raw = join(bench.scratch, 'raw');
  const filled = await bench.home(bench.devices);
  await cp(filled, home, { recursive: true });
  await mkdir(raw);
  await cp(join(filled, homeFiles.database), join(raw, homeFiles.database));
  const daemon = await startDaemon(home);
  await settled(daemon.pid);
  const samples: Pair[] = [];
  try {
    for (let i = 0; i < WARMING; i++) await batch(daemon, `warm${i}-`);
    for (let i = 0; i < bench.repetitions; i++) {
      const figure = await batch(daemon, String(i));
      await settled(daemon.pid);
      const floor = await runJson<{ rowsPerSecond: number }>('floors/transaction.ts', join(raw, homeFiles.database));
      samples.push([figure, floor.rowsPerSecond]);
    }
  } finally {
    await daemon.stop();
  }
  yield ratio('batch of 10,000', 'devices/s', samples, 'one raw transaction of the same rows', { atLeast: 0.45 });
}

/** Devices a second. */
export async function batch(daemon: BenchDaemon, prefix: string): Promise<number> {
  const now = Date.now();
  const devices = Array.from({ length: 10_000 }, (_, n) => ({
    deviceType: n % 2 ? 'UKEY' : 'SIMKEY',
    serialNumber: `b${prefix}${now}-${n}`,
    manufacturer: `Maker ${n % 5}`,
    model: 'M1',
  }));
  const begun = performance.now();
  const { status, data } = await daemon.call('POST', '/api/devices/batch-register', { devices });
  const figure = 10_000 / ((performance.now() - begun) / 1000);
  if (status !== 200 || (data as { success: number }).success !== 10_000)
    throw new Error('the batch was not accepted whole');
  return figure;
}
