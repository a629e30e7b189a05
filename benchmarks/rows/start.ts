import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { residentMiB, settled, startDaemon } from '../processes.ts';
import { bound, type Row } from '../report.ts';

/** How long a start takes until the first answer, and what the daemon holds once it has settled. */
export async function* startRows(bench: Bench): AsyncGenerator<Row> {
  const { devices, scratch, repetitions } = bench;
  const first: Measured[] = [];
  const empty: Measured[] = [];
  const full: Measured[] = [];
  const emptyHome = join(scratch, 'start-empty');
  const fullHome = join(scratch, 'start-full');
  await cp(await bench.home(devices), fullHome, { recursive: true });
  await start(fullHome, false);
  for (let i = 0; i < repetitions; i++) {
    await rm(emptyHome, { recursive: true, force: true });
    first.push(await start(emptyHome, false));
    empty.push(await start(emptyHome, true));
    full.push(await start(fullHome, true));
  }
  const ms = (all: readonly Measured[]) => all.map(({ startMs }) => startMs);
  const MiB = (all: readonly Measured[]) => all.map(({ memory }) => memory);
  yield bound('start to first answer, new home', 'ms', ms(first), 400, 'keys and the first password are made');
  yield bound('start to first answer, empty', 'ms', ms(empty), 400);
  yield bound(`start to first answer, ${devices} devices`, 'ms', ms(full), 1000);
  yield bound('memory idle, empty', 'MiB', MiB(empty), 110);
  yield bound(`memory idle, ${devices} devices`, 'MiB', MiB(full), 400);
}

interface Measured {
  readonly startMs: number;
  readonly memory: number;
}

async function start(home: string, settle: boolean): Promise<Measured> {
  const daemon = await startDaemon(home);
  if (settle) await settled(daemon.pid);
  const memory = await residentMiB(daemon.pid);
  await daemon.stop();
  return { startMs: daemon.startMs, memory };
}
