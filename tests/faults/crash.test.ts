/** kill -9 at any moment: acknowledged changes survive, others are complete or absent. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Home } from '../../daemon/home/home.ts';
import { subjects } from '../../daemon/start/subjects.ts';
import { checkDatabase } from '../../daemon/store/sqlite/check.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'devmgr-crash-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const device = (serialNumber: string) => ({ deviceType: 'UKEY', serialNumber, manufacturer: 'Feitian', model: 'K9' });

/** The serial numbers in the database after the next start has recovered it. */
async function recovered(): Promise<{ serials: Set<string>; problems: readonly string[] }> {
  const daemon = await spawnDaemon({ home });
  await daemon.stop();
  const key = await (await Home.open(home)).secretKey('journalKey');
  const { problems } = await checkDatabase(subjects, join(home, 'devmgr.db'), key);
  const db = new Database(join(home, 'devmgr.db'), { readonly: true });
  const serials = db.prepare('SELECT serial_number FROM device').pluck().all() as string[];
  db.close();
  return { serials: new Set(serials), problems };
}

/** The users in the database; none if a start ended before it made one. */
function usernames(): readonly unknown[] {
  const file = join(home, 'devmgr.db');
  if (!existsSync(file)) return [];
  const db = new Database(file, { readonly: true });
  const names = db.prepare('SELECT username FROM user').pluck().all();
  db.close();
  return names;
}

/** 64 clients register devices until the daemon is killed; returns the acknowledged serial numbers. */
async function registerUntilKilled(daemon: DaemonProcess, run: string, killAfter: number): Promise<string[]> {
  const acknowledged: string[] = [];
  let killed = false;
  const client = async (name: number) => {
    for (let i = 0; !killed; i++) {
      const serial = `${run}-${name}-${i}`;
      const answer = await daemon.call('POST', '/api/devices/register', device(serial)).catch(() => null);
      if (answer?.code !== 200) return;
      acknowledged.push(serial);
      if (acknowledged.length === killAfter) {
        killed = true;
        await daemon.kill();
      }
    }
  };
  await Promise.all(Array.from({ length: 64 }, (_, name) => client(name)));
  return acknowledged;
}

describe('after kill -9', () => {
  test('during registrations by 64 clients, every acknowledged device exists, with its event', async () => {
    const acknowledged: string[] = [];
    for (const [run, killAfter] of [1, 50, 300, 900].entries())
      acknowledged.push(...(await registerUntilKilled(await spawnDaemon({ home }), `r${run}`, killAfter)));
    const { serials, problems } = await recovered();
    expect(problems).toEqual([]);
    expect(acknowledged.filter(serial => !serials.has(serial))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(1251);
  });

  test('during a batch, the batch is complete or absent', async () => {
    const acknowledged: number[] = [];
    for (const [run, delayedBy] of [0, 1, 2, 5].entries()) {
      const daemon = await spawnDaemon({ home });
      const devices = Array.from({ length: 10_000 }, (_, i) => device(`b${run}-${i}`));
      const answered = daemon.call('POST', '/api/devices/batch-register', { devices }).then(
        answer => answer.code === 200,
        () => false,
      );
      // Health requests are answered between the steps of the batch: each one delays the kill to a later step.
      for (let i = 0; i < delayedBy; i++) await fetch(`${daemon.url}/api/health`).catch(() => undefined);
      await daemon.kill();
      if (await answered) acknowledged.push(run);
    }
    const { serials, problems } = await recovered();
    expect(problems).toEqual([]);
    const counts = [0, 1, 2, 3].map(run => [...serials].filter(serial => serial.startsWith(`b${run}-`)).length);
    for (const [run, count] of counts.entries()) {
      expect([0, 10_000]).toContain(count);
      if (acknowledged.includes(run)) expect(count).toBe(10_000);
    }
  });

  test('the next start works without manual steps: no lock or process file blocks it', async () => {
    for (let i = 0; i < 3; i++) await (await spawnDaemon({ home })).kill();
    const daemon = await spawnDaemon({ home });
    expect(await daemon.stop()).toBe(0);
  });
});

test('a second daemon on the same home is refused and names the first one', async () => {
  const first = await spawnDaemon({ home });
  await expect(spawnDaemon({ home })).rejects.toThrow(
    new RegExp(`ended with 1 .*already running .*process ${first.pid}`, 's'),
  );
  expect((await first.call('GET', '/api/devices/list')).code).toBe(200);
  await first.stop();
});

test.each([
  ['a first password that is too short', { DEVMGR_ADMIN_PASSWORD: 'short' }],
  ['a first password of white space', { DEVMGR_ADMIN_PASSWORD: '          ' }],
  [
    'a first password that is the username',
    { DEVMGR_ADMIN_USERNAME: 'first-admin', DEVMGR_ADMIN_PASSWORD: 'First-Admin' },
  ],
  ['a first password that is common', { DEVMGR_ADMIN_PASSWORD: 'Password123' }],
  ['a malformed limit', { DEVMGR_LIMIT_LOGIN: 'many' }],
])('%s stops the start with exit code 2 and leaves no administrator', async (_what, env) => {
  await expect(spawnDaemon({ home }, env as unknown as Record<string, string>)).rejects.toThrow(
    /ended with 2 .*DEVMGR_/s,
  );
  expect(usernames()).toEqual([]);
});

test('a start that was stopped for its first password can be repeated with another one', async () => {
  const refused = spawnDaemon({ home }, { DEVMGR_ADMIN_USERNAME: 'first-admin', DEVMGR_ADMIN_PASSWORD: 'First-Admin' });
  await expect(refused).rejects.toThrow(/ended with 2 .*DEVMGR_/s);
  const daemon = await spawnDaemon({ home });
  expect((await daemon.call('GET', '/api/users/me')).data).toMatchObject({ username: 'admin', role: 'ADMIN' });
  await daemon.stop();
  expect(usernames()).toEqual(['admin']);
});
