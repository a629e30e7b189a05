/** The fuzzer finds what once held the daemon for seconds, from the contract alone. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { longInputs } from '../fuzz/inputs.ts';
import { furnish } from '../fuzz/leaks.ts';
import { tryInputs } from '../fuzz/run.ts';
import { spawnDaemon } from '../support/daemon-process.ts';
import { sourceOf } from '../support/test-programs.ts';

/** A daemon with the old expressions. */
async function heldUpDaemon() {
  const home = await mkdtemp(join(tmpdir(), 'devmgr-stall-'));
  const preload = join(import.meta.dirname, '../fuzz/old-expressions.ts');
  const daemon = await spawnDaemon({ home }, { NODE_OPTIONS: `--import=${preload}` }, [], sourceOf('daemon-main'));
  onTestFinished(async () => {
    await daemon.kill();
    await rm(home, { recursive: true, force: true });
  });
  expect(
    daemon
      .output()
      .match(/^put back: \w+/gm)
      ?.sort(),
  ).toEqual(['fitsUntrimmed', 'rangeOf', 'trimText'].map(name => `put back: ${name}`));
  await furnish(daemon);
  return daemon;
}

/** Shorter than what `npm run fuzz` sends, which would hold this daemon for ten seconds to minutes. */
const lengths = { body: 20_000, head: 15_000 };
const SHORT = 100;
const held = /held the main thread for \d+ ms, each time\n {2}/;

it.runIf(process.platform === 'linux').each([
  [
    'a text field whose end is looked for at every space',
    { ...lengths, head: SHORT },
    new RegExp(`${held.source}request of \\d+ bytes: "P`),
  ],
  ['a Range header whose parts are looked for at every tab', { ...lengths, body: SHORT }, /Range: bytes=/],
])('finds %s', { timeout: 300_000 }, async (_what, lengths, expected) => {
  const daemon = await heldUpDaemon();
  const inputs = longInputs(lengths);
  const faults: string[] = [];
  for (let round = 0; round < 100 && !faults.some(fault => expected.test(fault)); round++)
    faults.push(...(await tryInputs(daemon, { seed: round * 1000, count: 100, inputs })).faults);
  expect(faults).toContainEqual(expect.stringMatching(expected));
});
