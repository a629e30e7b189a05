/** `npm run crash`: kills a daemon under mixed load 200 times (DEVMGR_CRASH_KILLS, DEVMGR_CRASH_SEED). Exit code 1 if anything was lost. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crash } from '../support/crashes.ts';

const kills = Number(process.env.DEVMGR_CRASH_KILLS ?? 200);
const seed = Number(process.env.DEVMGR_CRASH_SEED ?? Date.now() % 1_000_000_000);
const home = await mkdtemp(join(tmpdir(), 'devmgr-crash-'));
console.log(`seed ${seed}, ${kills} kills, home ${home}`);
const { acknowledged, faults } = await crash({ home, kills, seed, progress: text => console.log(text) });
for (const fault of faults) console.error(fault);
if (faults.length === 0) await rm(home, { recursive: true, force: true });
console.log(
  faults.length ? `${faults.length} faults; the home is kept` : `nothing of ${acknowledged} changes was lost`,
);
process.exit(faults.length ? 1 : 0);
