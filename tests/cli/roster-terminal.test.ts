/** `enroll --roster` at a terminal, with a real registry and simulated keys that are plugged in and unplugged. */

import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import { devmgr } from './program.ts';
import { RosterReader } from './roster-station.ts';
import { ctrl, ESC, keys } from './screen.ts';

const driver = createSimulatedDriver({ count: 0, now: Date.now });
vi.mock('../../daemon/hardware/drivers.ts', () => ({ createDrivers: () => [driver] }));

const daemon = daemonOfTests({ hardware: true });
const reader = new RosterReader(driver, () => daemon);
afterEach(() => reader.pullAll());

describe('at a terminal', () => {
  test('Esc undoes without a trace, Enter binds, s skips, r returns, a badge names the person', async () => {
    const { out, rows, atTerminal: begin } = reader.station('userId,name\nann2,Ann Two\nben2,\ncid2,Cid\n');
    const before = await reader.total();
    const screen = begin('--out', out);
    await screen.shows(/Ann Two \(ann2\)[\s\S]*plug in a key/);
    const first = await reader.plug();
    await screen.shows(/PASS[\s\S]*bound to ann2/);
    screen.type(ESC);
    await screen.shows(/undone: nothing was written/);
    await reader.pull();
    expect(await reader.total()).toBe(before);
    const second = await reader.plug();
    await screen.shows(/PASS/);
    screen.type(keys.enter);
    await screen.shows(/bound {2}ann2 [\s\S]*1 of 3 rows done[\s\S]*ben2/);
    screen.type('s');
    await screen.shows(/skipped ben2/);
    screen.type('r');
    await screen.shows(/back to ben2/);
    screen.type(`cid2${keys.enter}`);
    await screen.shows(/badge of Cid/);
    await reader.pull();
    const third = await reader.plug();
    await screen.shows(/PASS/);
    await reader.pull();
    await screen.shows(/bound {2}cid2/);
    screen.type('s');
    const { code, stdout } = await screen.ended;
    expect(stdout).toMatch(/2 of 3 rows done; 2 passed, 0 failed, yield 100 %, .*1 skipped/s);
    expect(code).toBe(7);
    const bound = await reader.holders();
    expect([first, second, third].map(key => bound.get(key.serialNumber!))).toEqual([undefined, 'ann2', 'cid2']);
    expect(rows()).toHaveLength(2);
  });

  test('two keys stop the line, an unknown badge binds nothing, and r keeps what is bound', async () => {
    const { atTerminal: begin } = reader.station('userId,name\nfay,Fay Three\ngus,\n');
    const screen = begin('--big', '--bell');
    await screen.shows(/fay\s+F a y {3}T h r e e/);
    const first = await reader.plug();
    await screen.shows(/PASS/);
    const second = await reader.plug();
    await screen.shows(/two new keys at once: nothing is bound/);
    await reader.pull(first.keyId);
    await screen.shows(/PASS/);
    screen.type(`mallory${keys.enter}`);
    await screen.shows(/userId or name mallory/);
    await reader.pull();
    screen.type(ESC);
    await screen.shows(/undone[\s\S]*F a y/);
    await reader.plugAgain();
    await screen.shows(/PASS/);
    await reader.pull();
    await screen.shows(/bound {2}fay[\s\S]*gus/);
    screen.type('r');
    await screen.shows(/back to Fay Three \(fay\), for another key\. DEV-\d+ stays\s+bound/);
    screen.type('\u0003');
    const { code, stdout } = await screen.ended;
    expect(code).toBe(130);
    expect(stdout).toContain('\u0007');
    const bound = await reader.holders();
    expect([first, second].map(key => bound.get(key.serialNumber!))).toEqual([undefined, 'fay']);
  });

  test('Ctrl-Z leaves a usable terminal; after fg the person and the key that has passed are shown again', async () => {
    const shell = await reader.station('userId,name\nkim,Kim Four\n').inShell();
    await shell.shows(/Kim Four[\s\S]*plug in a key/);
    const key = await reader.plug();
    await shell.shows(/PASS/);
    shell.type(ctrl.z);
    await shell.shows(/Stopped[\s\S]*\$ $/);
    shell.type('stty -a\r');
    await shell.shows(/ icanon [\s\S]* echo /);
    expect(await reader.holders()).not.toContain('kim');
    shell.type('fg\r');
    await shell.shows(/Kim Four \(kim\)[\s\S]*PASS[\s\S]*press Enter: it will be bound to kim/);
    shell.type(keys.enter);
    await shell.shows(/bound {2}kim[\s\S]*\$ $/);
    shell.type('exit $?\r');
    expect((await shell.ended).code).toBe(0);
    expect((await reader.holders()).get(key.serialNumber!)).toBe('kim');
  });

  test('a second run at the same reader, or with the same results, is refused and changes nothing', async () => {
    const { out, run, atTerminal: begin } = reader.station('userId\nmia\n');
    const screen = begin('--out', out);
    await screen.shows(/mia[\s\S]*plug in a key/);
    const before = readFileSync(out, 'utf8');
    const atReader = await run('--out', `${out}.other.csv`);
    expect([atReader.code, atReader.stderr]).toEqual([
      1,
      expect.stringMatching(/another run uses the keys of http\S+ for a roster \(process \d+\)/),
    ]);
    const env = { DEVMGR_TOKEN: daemon.adminToken };
    const withResults = await devmgr(['enroll', '--out', out, '--server', daemon.url, '--timeout', '5'], { env });
    expect([withResults.code, withResults.stderr]).toEqual([
      1,
      expect.stringMatching(/another run uses \S+results\.csv \(process \d+\)/),
    ]);
    screen.type(ctrl.c);
    expect((await screen.ended).code).toBe(130);
    expect(readFileSync(out, 'utf8')).toBe(before);
    expect(existsSync(`${out}.lock`)).toBe(false);
    expect(existsSync(`${out}.other.csv`)).toBe(false);
  });

  test('Ctrl-Z is ignored where no shell could continue the program', async () => {
    const screen = reader.station('userId\nlea\n').atTerminal();
    await screen.shows(/lea[\s\S]*plug in a key/);
    screen.type(`${ctrl.z}r`);
    await screen.shows(/nothing to redo/);
    screen.type('s');
    expect((await screen.ended).code).toBe(7);
  });
});
