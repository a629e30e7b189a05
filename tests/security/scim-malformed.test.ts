/** Filters, paths and bodies of SCIM of any form: an error of the standard at once, never a 500. `npm run fuzz` has them among its inputs. */
import { expect, it, onTestFinished } from 'vitest';
import { scimInputs } from '../fuzz/inputs.ts';
import { furnish, spawnTried } from '../fuzz/leaks.ts';
import { tryInputs } from '../fuzz/run.ts';
import { temporaryFolder } from '../support/temporary.ts';

it('answers 8,000 malformed requests, none of which holds the main thread for 50 ms', async () => {
  const daemon = await spawnTried(temporaryFolder());
  onTestFinished(() => void daemon.kill());
  const seed = Number(process.env.DEVMGR_TEST_SEED ?? Date.now() % 1_000_000_000);
  const target = { ...daemon, scimToken: await furnish(daemon) };
  const { faults, sent, statuses } = await tryInputs(target, { seed, count: 8000, inputs: scimInputs });
  expect(faults, `seed ${seed}`).toEqual([]);
  expect(sent).toBe(8000);
  for (const status of [200, 400, 401, 404])
    expect([status, statuses.get(status) ?? 0]).toEqual([status, expect.any(Number)]);
  expect(statuses.get(200)).toBeGreaterThan(100);
}, 120_000);
