/**
 * `npm run fuzz`: 100,000 hostile inputs for each reader of proofs, evidence under roots that are not trusted, scans with gaps, files
 * that were cut, and files of rows of other systems; then
 * 10,000 histories of persons on SQLite, and as many with three nodes on PostgreSQL; then 200,000 spoiled and
 * long inputs for a daemon of its own on SQLite, and for one on PostgreSQL. Ends with 1 if an answer was wrong or late, if an
 * input held the main thread for 50 ms, if something was logged as an error, if handles or memory are left, or if a history is not
 * that of the model of persons. DEVMGR_FUZZ_SEED, DEVMGR_FUZZ_COUNT and DEVMGR_PERSON_HISTORIES choose others.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresServer, postgresServers } from '../support/postgres-server.ts';
import { tryCutFiles } from './cut-files.ts';
import { tryForeignRoots } from './foreign-roots.ts';
import { tryAnswersOfKeys, tryProviderAnswers } from './issuing.ts';
import { spawnTried, tryDaemon } from './leaks.ts';
import { type PersonHistories, tryPersons, tryPersonsOnNodes } from './persons.ts';
import { tryReader } from './proof.ts';
import { sampledReaders } from './proof-samples.ts';
import { tryScans } from './scans.ts';
import { MOST_WORK } from './stall.ts';
import { tryTables } from './tables.ts';

const seed = Number(process.env.DEVMGR_FUZZ_SEED ?? Date.now() % 1_000_000_000);
const count = Number(process.env.DEVMGR_FUZZ_COUNT ?? 200_000);
const histories = Number(process.env.DEVMGR_PERSON_HISTORIES ?? Math.ceil(count / 20));

const faults: string[] = [];
for (const reader of sampledReaders()) {
  const { tried, refused, slowest, faults: found } = await tryReader(reader, { seed, count: Math.ceil(count / 2) });
  console.log(`${reader.name}: ${tried} tried, ${refused} refused, slowest ${slowest.toFixed(1)} ms, seed ${seed}`);
  faults.push(...found);
  if (slowest > MOST_WORK) faults.push(`${reader.name}: an input took ${Math.round(slowest)} ms`);
}

const others = {
  'evidence under foreign roots': [tryForeignRoots, 100],
  scans: [tryScans, 5],
  'files that were cut': [tryCutFiles, 2000],
  'files of rows': [tryTables, 4],
  'answers of providers at which keys are issued': [tryProviderAnswers, 10],
  'answers of keys, receipts and sealed PINs': [tryAnswersOfKeys, 10],
} as const;
for (const [name, [tryThem, share]] of Object.entries(others)) {
  const tried = Math.ceil(count / share);
  const found = await tryThem({ seed, count: tried });
  console.log(`${name}: ${tried} tried, seed ${seed}`);
  faults.push(...found);
}

/** Half of the histories have a policy with a delay. */
async function tryHistories(engine: string, tryThem: (histories: PersonHistories) => Promise<string[]>): Promise<void> {
  const started = performance.now();
  for (const isDelayed of [false, true])
    faults.push(...(await tryThem({ seed, count: Math.ceil(histories / 2), isDelayed })));
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`histories of persons on ${engine}: ${histories} tried in ${seconds} s, seed ${seed}`);
}

/** Tries a daemon of its own. `database`: its address, and how many connections it has; SQLite if absent. */
async function tryOn(
  engine: string,
  database?: { readonly address: string; readonly connections: () => Promise<number> },
): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'devmgr-fuzz-'));
  const daemon = await spawnTried(home, database?.address);
  console.log(`${engine}: seed ${seed}, ${count} inputs`);
  const started = performance.now();
  const { report, problems } = await tryDaemon(daemon, {
    seed,
    count,
    ...(database && { connections: database.connections }),
  });
  console.log(
    `${report.sent} sent in ${Math.round((performance.now() - started) / 1000)} s; slowest ${Math.round(report.slowest)} ms; ${report.suspects} sent again alone`,
  );
  console.log(
    [...report.statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, times]) => `${status}: ${times}`)
      .join(', '),
  );
  faults.push(...problems);
  await daemon.stop();
  await rm(home, { recursive: true, force: true });
}

await tryHistories('SQLite', tryPersons);
await tryOn('SQLite');
if (postgresServers().length > 0) {
  const server = await PostgresServer.start();
  await tryHistories('PostgreSQL with three nodes', one => tryPersonsOnNodes(server, one));
  const name = await server.database();
  const connections = async () => {
    const counted = `SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = '${name}'`;
    return Number((await server.query(counted))[0]!.open);
  };
  await tryOn('PostgreSQL', { address: server.url(name), connections });
  await server.stop();
} else console.log('PostgreSQL: left out, it is not installed (apt-get install postgresql)');
for (const fault of faults) console.error(fault);
console.log(faults.length ? `${faults.length} faults` : 'no faults');
process.exit(faults.length ? 1 : 0);
