/** Runs the phases one after the other, checks after each, and reports. */
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seeded } from '../lab/seeded-random.ts';
import { Cluster } from './cluster.ts';
import { limitHere, pauseOf } from './pauses.ts';
import type { Phase } from './phases/index.ts';
import type { Settings } from './settings.ts';
import { Chance } from './waiting.ts';

/** Lines of a log that are shown after a fault. */
const LOG_LINES = 15;

/** Milliseconds of load without a fault, before each phase: they show how busy the machine is. */
const QUIET_MS = 3_000;

interface Result {
  readonly phase: Phase;
  readonly times: number;
  readonly writes: number;
  readonly entries: number;
  /** Seconds in which a write must be acknowledged again, on this machine. */
  readonly limit: number;
  /** Seconds: the longest time without a write, and the longest that one client waited. */
  readonly silent: readonly number[];
  readonly longest: number;
  readonly faults: readonly string[];
  /** Whether the phase ended early. */
  readonly isBroken: boolean;
}

/** Resolves with the exit code. */
export async function runPhases(folder: string, { seed, chosen, fileMiB, logs }: Settings): Promise<number> {
  try {
    return await runAll(folder, { seed, chosen, fileMiB });
  } finally {
    if (logs !== null) keepLogs(folder, logs);
  }
}

async function runAll(folder: string, { seed, chosen, fileMiB }: Omit<Settings, 'logs'>): Promise<number> {
  const begun = performance.now();
  const cluster = await Cluster.start(folder, new Chance(seeded(String(seed)))).catch(error => {
    showLogs(folder);
    throw error;
  });
  cluster.fileMiB = fileMiB;
  console.log(`cluster ready after ${seconds(performance.now() - begun)} s`);
  const results: Result[] = [];
  for (const { phase, times } of chosen) {
    if (times === 0) continue;
    const result = await run(cluster, phase, times);
    results.push(result);
    if (result.faults.length > 0) showLogs(folder);
    // A cluster that is not whole would fail in every phase.
    if (result.isBroken) break;
  }
  await cluster.load.stop();
  report(results);
  // Who sees only the end of the output sees what went wrong.
  for (const { phase, faults } of results) for (const fault of faults) console.log(`FAULT in ${phase.name}: ${fault}`);
  console.log(`sent again: ${[...cluster.requests.again].map(([why, n]) => `${n} × ${why}`).join('; ') || 'nothing'}`);
  await cluster.stop();
  const faults = results.flatMap(({ faults }) => faults).length;
  console.log(faults === 0 ? `All passed in ${seconds(performance.now() - begun)} s.` : `${faults} faults.`);
  return faults === 0 ? 0 : 1;
}

async function run(cluster: Cluster, phase: Phase, times: number): Promise<Result> {
  console.log(`${phase.name}: ${phase.what}, ${times} ×`);
  const before = cluster.requests.writes.length;
  const silent: number[] = [];
  const faults: string[] = [];
  let longest = 0;
  let isBroken = false;
  const untouched = await cluster.under(() => cluster.chance.pause(QUIET_MS, QUIET_MS));
  const limit = limitHere(phase.limit, pauseOf(untouched, cluster.faultAt, performance.now()));
  try {
    for (let i = 0; i < times; i++) {
      await cluster.chance.pause(200, 2000);
      let words = '';
      const writes = await cluster.under(async () => {
        words = await phase.fault(cluster, i);
      });
      const pause = pauseOf(writes, cluster.faultAt, performance.now());
      silent.push(pause.silent);
      longest = Math.max(longest, pause.longest);
      console.log(
        `  ${i + 1}, ${timeOf(cluster.faultAt)}: ${words}; no write for ${pause.silent.toFixed(1)} s, one waited ${pause.longest.toFixed(1)} s`,
      );
      if (pause.silent > limit) faults.push(`no write for ${pause.silent.toFixed(1)} s, more than ${limit.toFixed(1)}`);
    }
  } catch (error) {
    isBroken = true;
    faults.push((error as Error).stack ?? String(error));
  }
  const writes = cluster.requests.writes.length - before;
  const checked = await cluster.check().catch(error => ({ entries: 0, faults: [String((error as Error).stack)] }));
  console.log(`  ${writes} writes acknowledged, ${checked.entries} entries compared on all streams`);
  const all = [...faults, ...checked.faults];
  return { phase, times, limit, writes, entries: checked.entries, silent, longest, faults: all, isBroken };
}

function report(results: readonly Result[]): void {
  console.log('\nphase        times  writes  entries  no write for (median, most)  one waited  faults');
  for (const { phase, times, limit, writes, entries, silent, longest, faults } of results) {
    const sorted = silent.toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
    const pause = `${median.toFixed(1)} s, ${(sorted.at(-1) ?? 0).toFixed(1)} s (limit ${limit.toFixed(1)})`;
    console.log(
      `${phase.name.padEnd(12)} ${String(times).padStart(5)} ${String(writes).padStart(7)} ${String(entries).padStart(8)}  ${pause.padEnd(27)} ${longest.toFixed(1).padStart(8)} s ${String(faults.length).padStart(7)}`,
    );
  }
}

function showLogs(folder: string): void {
  for (const name of logsIn(folder)) {
    console.error(`── ${name} ends:`);
    console.error(readFileSync(join(folder, name), 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n'));
  }
}

function keepLogs(folder: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const name of logsIn(folder)) cpSync(join(folder, name), join(target, name));
}

const logsIn = (folder: string): readonly string[] => readdirSync(folder).filter(name => name.endsWith('.log'));

/** Time of day as in the logs, of a moment by `performance.now()`. */
const timeOf = (moment: number): string => new Date(performance.timeOrigin + moment).toISOString().slice(11, 23);

const seconds = (milliseconds: number) => Math.round(milliseconds / 1000);
