/** A line whose registry was restored from an earlier backup: results alone do not count, and what is lacking comes back. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, devmgr, discard, startDaemon } from './program.ts';

const folder = mkdtempSync(join(tmpdir(), 'devmgr-redeliver-'));
const [results, roster, backup] = ['results.jsonl', 'people.csv', 'saved'].map(name => join(folder, name)) as [
  string,
  string,
  string,
];
const simulated = ['--simulate-keys', '3'];
const enrolling = ['enroll', '--activate-for', 'alice', '--tag', 'lot=7', '--out', results];
const rows = () =>
  readFileSync(results, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));

let daemon: Daemon;
beforeAll(async () => {
  writeFileSync(roster, 'userId,count\nalice,3\n');
  daemon = await startDaemon({ args: simulated });
  expect(await daemon.run([...enrolling, '--count', '1'])).toMatchObject({ code: 0 });
  expect(await devmgr(['daemon', 'backup', backup], { home: daemon.home })).toMatchObject({ code: 0 });
  expect(await daemon.run([...enrolling, '--count', '3'])).toMatchObject({ code: 0 });
  await daemon.end('SIGTERM');
  expect(await devmgr(['daemon', 'restore', backup, '--yes'], { home: daemon.home })).toMatchObject({ code: 0 });
  daemon = await startDaemon({ args: simulated, home: daemon.home });
});
afterAll(async () => {
  await discard(daemon);
  rmSync(folder, { recursive: true, force: true });
});

const statistics = async () => (await daemon.call('GET', '/api/statistics')).byStatus;
const run = () => daemon.run(['enroll', '--roster', roster, '--out', results, '--timeout', '1', '--skip-attached']);
const redeliver = (...more: string[]) => daemon.run(['enroll', '--redeliver', results, ...more]);

test('a continued run counts and names the keys that the registry lacks, and --redeliver brings them back', async () => {
  const lacking = rows().slice(1);
  expect(lacking).toHaveLength(2);
  const before = await run();
  expect(before).toMatchObject({ code: 10, stderr: expect.stringContaining('0 of 1 row done') });
  const names = lacking.map(({ serialNumber }) => `${serialNumber} of alice`).join(', ');
  expect(before.stderr).toContain(`the registry lacks 2 keys of ${results}, so they do not count: ${names}.`);
  expect(before.stderr).toContain(`devmgr enroll --redeliver ${results}`);

  const dry = await redeliver('--dry-run');
  expect(dry).toMatchObject({ code: 0, stderr: expect.stringContaining('2 keys would be restored') });
  expect([await statistics(), rows()]).toEqual([
    expect.objectContaining({ ACTIVE: 1 }),
    expect.objectContaining({ length: 3 }),
  ]);

  expect(await redeliver()).toMatchObject({ code: 0, stderr: expect.stringContaining('2 keys restored') });
  expect(await statistics()).toMatchObject({ ACTIVE: 3, INACTIVE: 0 });
  for (const [index, row] of rows().slice(3).entries()) {
    const { serialNumber, model, activationCode } = lacking[index];
    expect(row).toMatchObject({ result: 'registered', status: 'ACTIVE', userId: 'alice', serialNumber, model });
    expect(row.activationCode).not.toBe(activationCode);
    expect(await daemon.call('GET', `/api/devices/${row.deviceId}`)).toMatchObject({
      serialNumber,
      tags: { lot: '7' },
    });
  }
  const after = await run();
  expect(after).toMatchObject({ code: 0, stderr: expect.not.stringContaining('lacks') });
  expect(await redeliver()).toMatchObject({ code: 0, stderr: expect.stringContaining('The registry has all keys') });
  expect(rows()).toHaveLength(5);
});

test('a key that somebody else has by now is not taken back', async () => {
  const [{ deviceId }] = rows();
  const confirmPassword = 'correct horse battery';
  await daemon.call('POST', `/api/devices/${deviceId}/deactivate`, { reason: 'test', confirmPassword });
  expect(await redeliver()).toMatchObject({ code: 0, stderr: expect.stringContaining('has all keys') });
  writeFileSync(results, readFileSync(results, 'utf8').replaceAll('"userId":"alice"', '"userId":"bob"'));
  const { code, stderr } = await redeliver();
  expect([code, stderr]).toEqual([7, expect.stringContaining('0 keys restored, 3 failed')]);
  expect(await daemon.call('GET', '/api/devices/list?status=ACTIVE&userId=bob')).toMatchObject({ list: [] });
});

test.each([
  ['a file that does not exist', join(folder, 'absent.csv'), 'does not exist'],
  ['another file', roster, 'does not contain results of an enrollment'],
])('%s is refused', async (_, file, message) => {
  const { code, stderr } = await daemon.run(['enroll', '--redeliver', file]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
