/** Callbacks and logout tokens of any form: refused at once, never a 500. `npm run fuzz` has them among its inputs. */
import { expect, it, onTestFinished } from 'vitest';
import { ssoInputs } from '../fuzz/inputs.ts';
import { furnish, spawnTried } from '../fuzz/leaks.ts';
import { tryInputs } from '../fuzz/run.ts';
import { temporaryFolder } from '../support/temporary.ts';

it('refuses 5,000 malformed callbacks and logout tokens, none of which holds the main thread for 50 ms', async () => {
  const daemon = await spawnTried(temporaryFolder());
  onTestFinished(() => void daemon.kill());
  const seed = Number(process.env.DEVMGR_TEST_SEED ?? Date.now() % 1_000_000_000);
  await furnish(daemon);
  const { faults, sent, statuses } = await tryInputs(daemon, { seed, count: 5000, inputs: ssoInputs });
  expect(faults, `seed ${seed}`).toEqual([]);
  expect(sent).toBe(5000);
  expect(statuses.get(303)).toBeGreaterThan(100);
  expect(statuses.get(200)).toBeUndefined();
}, 120_000);
