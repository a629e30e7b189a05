import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { subjects } from '../../daemon/start/subjects.ts';
import { checkDatabase } from '../../daemon/store/sqlite/check.ts';
import { openSqliteStore } from '../../daemon/store/sqlite/index.ts';
import { needs } from '../support/needs.ts';
import { journalKey } from '../support/sqlite.ts';

const support = (name: string) => new URL(`../support/${name}`, import.meta.url).pathname;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'devmgr-faults-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs the writer, kills it after that many acknowledgements, and returns them. */
async function killed(file: string, run: number, after: number): Promise<string[][]> {
  const child = spawn(process.execPath, [support('store-writer.ts'), file, `r${run}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const acknowledged: string[][] = [];
  for await (const line of createInterface(child.stdout)) {
    acknowledged.push(line.split(' '));
    if (acknowledged.length === after) child.kill('SIGKILL');
  }
  expect((await gone)[1]).toBe('SIGKILL');
  return acknowledged;
}

describe('an SQLite store whose process is killed while it writes', () => {
  it('has everything that was acknowledged, and no partial commit', async () => {
    const file = join(folder, 'devmgr.db');
    for (const [run, after] of [1, 77, 400, 1500, 3000].entries()) {
      const acknowledged = await killed(file, run, after);
      const store = await openSqliteStore({ subjects, file, journalKey });
      const batches = acknowledged.filter(([kind]) => kind === 'batch').map(([, name]) => name!);
      const single = acknowledged.filter(([kind]) => kind !== 'batch');
      const serials = [
        ...single.map(([, serial]) => serial!),
        ...batches.flatMap(name => [`${name}-0`, `${name}-499`]),
      ];
      const found = await store.devicesBySerial(serials);
      expect(serials.filter(serial => !found.has(serial))).toEqual([]);
      const locked = single.filter(([kind]) => kind === 'locked').map(([, serial]) => serial!);
      expect(locked.filter(serial => found.get(serial)?.status !== 'LOCKED')).toEqual([]);
      const next = await store.devicesBySerial([0, 499].map(i => `r${run}-batch${batches.length}-${i}`));
      expect([0, 2]).toContain(next.size);
      expect((await checkDatabase(subjects, file, journalKey)).problems).toEqual([]);
      await store.close();
    }
  });
});

needs('unshare', 'util-linux')('an SQLite store on a disk that fills up', () => {
  it('refuses with a clear message, stays up, loses nothing, and works again when there is room', async () => {
    // A mount in a separate namespace: no other process sees it, and it ends with the process.
    const script = 'mount -t tmpfs -o size=4m devmgr "$1" && exec "$2" "$3" "$1"';
    const inside = ['sh', '-c', script, 'sh', folder, process.execPath, support('full-disk.ts')];
    const { stdout } = await promisify(execFile)('unshare', ['--user', '--map-root-user', '--mount', ...inside]);
    const seen = JSON.parse(stdout);
    expect(seen).toMatchObject({
      name: 'StoreFailure',
      unready: { ready: false },
      ready: { ready: true },
      problems: [],
    });
    expect(seen.message).toMatch(/devmgr\.db.*the disk is full: free some space/);
    expect(seen.acknowledged).toBeGreaterThan(10);
    expect(seen.present).toBe(seen.acknowledged);
    expect(seen.after).toEqual({ kind: 'added', number: seen.acknowledged + 1 });
  });
});
