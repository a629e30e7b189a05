/** Answers for serial numbers that no one registers take a bounded place: 10,000 of them, for a day. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { DueTask } from '../../daemon/background/due-work.ts';
import { proofSweep } from '../../daemon/proofs/work.ts';
import { proofBounds } from '../../src/contract/limits.ts';
import { addDevice, commit } from '../contract/store/fixtures.ts';
import { answerOf } from '../contract/store/proof-rules.ts';
import { openTemporary } from '../support/sqlite.ts';

const HOUR_MS = 3_600_000;
const start = 1_800_000_000_000;

let opened: Awaited<ReturnType<typeof openTemporary>>;
let now: number;
let sweep: DueTask;
const turn = new AbortController().signal;
beforeEach(async () => {
  opened = await openTemporary();
  now = start;
  sweep = proofSweep({ store: opened.store, now: () => now });
});
afterEach(async () => {
  await opened.cleanup();
});

const answered = (first: number, count: number) =>
  commit(
    opened.store,
    Array.from({ length: count }, (_, index) => {
      const proof = answerOf(`P${first + index}`, `S${first + index}`, { createdAt: now });
      return { kind: 'proof.add', proof, isRegistered: false, entry: { type: 'PROOF_RECEIVED' } } as const;
    }),
  );
const isKept = async (number: number) => (await opened.store.proof(`P${number}`)) !== null;

it('of 10,002 answers the last 10,000 are kept, beside those of registered devices', async () => {
  expect(proofBounds.unregisteredTotal).toBe(10_000);
  await answered(0, 1);
  await commit(opened.store, [addDevice('S0')]);
  await answered(1, 10_002);
  await sweep.look(turn);
  expect(await Promise.all([0, 1, 2, 3, 10_002].map(isKept))).toEqual([true, false, false, true, true]);
  await sweep.look(turn);
  expect(await isKept(3)).toBe(true);
});

it('an answer is kept for 24 hours', async () => {
  await answered(1, 1);
  now += 24 * HOUR_MS;
  await sweep.look(turn);
  expect(await isKept(1)).toBe(true);
  now += 1;
  await sweep.look(turn);
  expect(await isKept(1)).toBe(false);
});
