/** Kills a daemon under mixed load again and again, and looks after each start whether anything was lost. */
import { join } from 'node:path';
import { Home } from '../../daemon/home/home.ts';
import { entriesOfTypes } from '../../daemon/notifications/administration.ts';
import { subjects } from '../../daemon/start/subjects.ts';
import { checkDatabase } from '../../daemon/store/sqlite/check.ts';
import { openSqliteStore } from '../../daemon/store/sqlite/index.ts';
import { pastEventTypes } from '../../src/contract/event-types.ts';
import { spawnDaemon } from './daemon-process.ts';
import { filesIn } from './forms.ts';
import { MixedLoad } from './mixed-load.ts';

export interface CrashOptions {
  readonly home: string;
  readonly kills: number;
  readonly seed: number;
  /** Told after each kill. */
  readonly progress?: (words: string) => void;
}

export interface CrashReport {
  readonly acknowledged: number;
  readonly faults: readonly string[];
}

/** Changes acknowledged before a kill, at most. */
const MOST_CHANGES = 250;
/** Milliseconds after the last of them, at most: so that a kill comes at any point of a transaction. */
const MOST_DELAY = 8;

export async function crash({ home, kills, seed, progress = () => {} }: CrashOptions): Promise<CrashReport> {
  const random = generator(seed);
  const load = new MixedLoad(random);
  for (let run = 1; run <= kills && load.faults.length === 0; run++) {
    const daemon = await spawnDaemon({ home });
    await load.verify(daemon);
    load.faults.push(...(await problemsOf(home, load)));
    await killAmid(load, daemon, Math.floor(random() * MOST_CHANGES), random() * MOST_DELAY);
    progress(`kill ${run}: ${load.acknowledged} changes acknowledged, ${load.faults.length} faults`);
  }
  const last = await spawnDaemon({ home });
  await load.verify(last);
  if ((await last.stop()) !== 0) load.faults.push('the last daemon did not end cleanly');
  load.faults.push(...(await problemsOf(home, load)), ...(await unseen(home, load)));
  return { acknowledged: load.acknowledged, faults: load.faults };
}

async function killAmid(
  load: MixedLoad,
  daemon: Awaited<ReturnType<typeof spawnDaemon>>,
  after: number,
  delay: number,
): Promise<void> {
  const { promise: killed, resolve, reject } = Promise.withResolvers<void>();
  const kill = () => setTimeout(() => void daemon.kill().then(resolve, reject), delay);
  let left = after;
  if (left === 0) kill();
  await Promise.all([load.work(daemon, () => left-- === 1 && kill()), killed]);
}

/** Database, journal and counters are whole, and there is a file for each record and no other. */
async function problemsOf(home: string, load: MixedLoad): Promise<string[]> {
  const { problems } = await checkDatabase(subjects, join(home, 'devmgr.db'), await keyOf(home));
  const files = (await filesIn({ home })).length;
  return [...problems, ...(files === load.files ? [] : [`${files} files for ${load.files} records`])];
}

/** Each watcher has, without repeats, every event up to its last one, in order: nothing that was not committed, nothing left out. */
async function unseen(home: string, load: MixedLoad): Promise<string[]> {
  const store = await openSqliteStore({ subjects, file: join(home, 'devmgr.db'), journalKey: await keyOf(home) });
  const events = await store.events({ after: 0, limit: 1_000_000, ...entriesOfTypes(pastEventTypes) });
  await store.close();
  return load.watchers.flatMap(({ ids }, i) => {
    const expected = events.filter(({ id }) => id <= (ids.at(-1) ?? 0)).map(({ id }) => id);
    const different = ids.findIndex((id, place) => id !== expected[place]);
    return different < 0 && ids.length === expected.length
      ? []
      : [`watcher ${i}: event ${expected[different]} came as ${ids[different]}`];
  });
}

const keyOf = async (home: string) => (await Home.open(home)).secretKey('journalKey');

/** Numbers from 0 to 1 that follow from the seed (xorshift). */
function generator(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
