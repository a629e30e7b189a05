/** A disk of the home that takes nothing more: commands that store something end in words, with exit code 1. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { mountSmallDisk, needsMount } from '../support/small-disk.ts';
import { adminPassword, type Daemon, devmgr, discard, startDaemon } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

needsMount('a home on a disk that takes nothing more', () => {
  test.each([
    ['is full', (dir: string) => writeFileSync(join(dir, 'filler'), Buffer.alloc(2 ** 20)), 'the disk is full'],
    ['is read-only', (dir: string) => execFileSync('mount', ['-o', 'remount,ro', dir]), 'the file system is read-only'],
  ])('if it %s, login, logout and config set report this', async (_, fill, words) => {
    const disk = await mountSmallDisk(8 * 4096);
    onTestFinished(() => disk.unmount());
    const home = join(disk.dir, 'home');
    mkdirSync(home, { mode: 0o700 });
    const server = ['--server', daemon.url];
    const login = () => devmgr(['login', 'admin', '--password-stdin', ...server], { home, input: adminPassword });
    expect((await login()).code).toBe(0);
    try {
      fill(disk.dir);
    } catch {
      // A full disk takes a part of the file.
    }
    for (const args of [
      ['logout', ...server],
      ['config', 'set', 'printer', 'lp'],
    ]) {
      const { code, stderr } = await devmgr(args, { home });
      expect([code, stderr]).toEqual([1, expect.stringMatching(`^devmgr: cannot write ${home}/.*: ${words}\n`)]);
    }
    const { code, stderr } = await login();
    expect([code, stderr]).toEqual([1, expect.stringMatching(`devmgr: cannot write ${home}/.*: ${words}\n`)]);
  });
});
