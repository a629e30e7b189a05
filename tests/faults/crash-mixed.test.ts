/** kill -9 under mixed load. `npm run crash` does it 200 times. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { crash } from '../support/crashes.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'devmgr-crash-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

it('a daemon killed repeatedly under mixed load has every acknowledged change, no partial ones, correct counters, an intact journal and no stray files', async () => {
  const seed = Number(process.env.DEVMGR_TEST_SEED ?? Date.now() % 1_000_000_000);
  const { acknowledged, faults } = await crash({ home, kills: 6, seed });
  expect(faults, `seed ${seed}`).toEqual([]);
  expect(acknowledged).toBeGreaterThan(0);
});
