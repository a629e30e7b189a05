/** `enroll --roster` at a terminal with a slow disk and a busy machine: a scanner types while rows are written. */

import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { confirmMs } from '../../src/enrollment/line/keyboard.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import { needs } from '../support/needs.ts';
import { RosterReader } from './roster-station.ts';
import { ctrl, keys, type Screen } from './screen.ts';

const driver = createSimulatedDriver({ count: 0, now: Date.now });
vi.mock('../../daemon/hardware/drivers.ts', () => ({ createDrivers: () => [driver] }));

const daemon = daemonOfTests({ hardware: true });
const reader = new RosterReader(driver, () => daemon);
afterEach(() => reader.pullAll());

/** Types as a scanner does: the time between its characters is what is tested. */
async function scan(screen: Screen, badge: string, gapMs: number): Promise<void> {
  for (const character of `${badge}\r`) {
    screen.type(character);
    await pause(gapMs);
  }
}

/** Scans until the badge is read whole: a scan that was cut is named on the screen, and the operator scans again. */
async function call(screen: Screen, badge: string, gapMs: number): Promise<void> {
  for (;;) {
    await scan(screen, badge, gapMs);
    const seen = await screen.shows(/badge of \S+\s|scan was incomplete|no person in/);
    if (seen.startsWith('badge')) return expect(seen.trim()).toBe(`badge of ${badge}`);
  }
}

/** The program that runs a command with a delay at the end of each sync. */
const withDelay = (ms: number): readonly string[] => [
  'strace',
  '-f',
  '-qq',
  '-o',
  '/dev/null',
  '--seccomp-bpf',
  '-e',
  'trace=fsync',
  '-e',
  `inject=fsync:delay_exit=${ms * 1000}`,
];

/** Longer than `confirmMs`: the program does not count time in which a busy machine does not let it run. */
const quietMs = 3 * confirmMs;

/** Uses processor time until the test ends, or this process: then the parent is another. */
function burn(): void {
  const burner = spawn(process.execPath, ['-e', 'for (const of = process.ppid; process.ppid === of; );'], {
    stdio: 'ignore',
  });
  onTestFinished(() => void burner.kill('SIGKILL'));
}

/** Parts of each other, and with letters that are commands. */
const badges = ['p-12', 'p-1', '12', 'sp-1'];

needs('strace')('with a disk whose sync takes', () => {
  test.each([
    [0, 60],
    [10, 35],
    [50, 5],
  ])(
    '%i ms and a scanner with %i ms between characters, each key goes to the person of its badge',
    async (disk, gap) => {
      burn();
      const ids = badges.map(badge => `${badge}-${disk}`);
      const { out, rows, atTerminalBy } = reader.station(`userId\nfirst-${disk}\n${ids.join('\n')}\n`);
      const screen = atTerminalBy(withDelay(disk), '--out', out);
      await screen.shows(/plug in a key/);
      const serials: (readonly [serial: string, userId: string])[] = [];
      let called = call(screen, ids[0]!, gap);
      for (const [at, id] of ids.entries()) {
        await called;
        const { serialNumber } = await reader.plug();
        serials.push([serialNumber!, id]);
        await screen.shows(/PASS/);
        await pause(quietMs);
        screen.type(keys.enter);
        // The next badge is scanned while the row is written.
        const next = ids[at + 1];
        if (next !== undefined) called = call(screen, next, gap);
        await expect.poll(() => rows().length).toBe(at + 1);
        await reader.pull();
      }
      await screen.shows(new RegExp(`bound {2}${ids.at(-1)}`));
      screen.type(ctrl.c);
      await screen.ended;
      const holders = await reader.holders();
      expect(serials.map(([serial]) => [serial, holders.get(serial)])).toEqual(serials);
    },
  );

  test('2 s, a badge is read while the row of a key that has failed is written', async () => {
    const { out, atTerminalBy } = reader.station('userId\nann-2\nben-2\ncid-2\n');
    const screen = atTerminalBy(withDelay(2000), '--out', out);
    await screen.shows(/ann-2[\s\S]*plug in a key/);
    await reader.plug();
    await screen.shows(/PASS/);
    await reader.pull();
    await screen.shows(/bound {2}ann-2[\s\S]*ben-2[\s\S]*plug in a key/);
    await reader.plugAgain();
    const rowIsWritten = screen.shows(/badge of|FAIL/);
    await scan(screen, 'cid-2', 5);
    expect(await rowIsWritten).toBe('badge of');
    screen.type(ctrl.c);
    expect((await screen.ended).code).toBe(130);
  });
});
