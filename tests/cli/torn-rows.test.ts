/** Files of results and of spooled keys that were cut anywhere, as a crash or a power failure leaves them. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { EnrollFile } from '../../src/cli/commands/enrollment/enroll/results.ts';
import type { SpoolEntry } from '../../src/cli/commands/enrollment/spool/lines.ts';
import { SpoolFile } from '../../src/cli/commands/enrollment/spool/spool-file.ts';
import { attemptsOf } from '../../src/cli/commands/reports/attempts.ts';
import { resultRows } from '../../src/cli/jobs/result-rows.ts';
import type { EnrollmentOutcome } from '../../src/enrollment/outcome.ts';
import { tryCutFiles } from '../fuzz/cut-files.ts';
import { temporaryFolder } from './program.ts';

// Each cut is several times written to the disk.
vi.setConfig({ testTimeout: 180_000 });

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const rowOf = (userId: string, more: Partial<EnrollmentOutcome> = {}): EnrollmentOutcome => ({
  result: 'registered',
  deviceId: `DEV-${userId}`,
  serialNumber: `UK-${userId}`,
  deviceType: 'UKEY',
  activationCode: null,
  status: 'ACTIVE',
  userId,
  manufacturer: 'Acme, "Inc."',
  model: 'One',
  firmwareVersion: null,
  serialSource: null,
  simulated: false,
  message: null,
  name: `Ann\n${userId}`,
  failure: null,
  ...more,
});
const options = { proof: null, tags: null, isRoster: true };
const people = ['p-12', 'p-1'];
const bound = async (file: EnrollFile) =>
  (await file.bound()).map(({ userId, serialNumber }) => [userId, serialNumber]);
const pairs = (ids: readonly string[]) => ids.map(id => [id, `UK-${id}`]);

describe.each(['results.csv', 'results.jsonl'])('results in %s', name => {
  test('that were cut at any byte count only complete rows, also after the run has continued', async () => {
    const path = join(folder, name);
    const file = EnrollFile.unlocked(path, options);
    for (const id of people) await file.add(rowOf(id));
    const whole = readFileSync(path);
    for (let end = 0; end < whole.length; end++) {
      rmSync(`${path}.torn`, { force: true });
      writeFileSync(path, whole.subarray(0, end));
      const continued = EnrollFile.unlocked(path, options);
      const lines = whole.subarray(0, end).toString('latin1').split('\n').length - 1;
      const complete = people.slice(0, Math.max(0, name.endsWith('csv') ? lines - 1 : lines));
      expect(await bound(continued)).toEqual(pairs(complete));
      const tail = whole.subarray(whole.subarray(0, end).lastIndexOf('\n') + 1, end);
      expect(continued.tornNotice === null).toBe(tail.length === 0);
      if (tail.length > 0) expect(readFileSync(`${path}.torn`)).toEqual(Buffer.concat([tail, Buffer.from('\n')]));
      await continued.add(rowOf('zoe'));
      expect(await bound(EnrollFile.unlocked(path, options))).toEqual(pairs([...complete, 'zoe']));
    }
  });
});

test('a report of results that were cut at any byte counts only complete rows', async () => {
  const path = join(folder, 'results.csv');
  const file = EnrollFile.unlocked(path, options);
  for (const id of people) await file.add(rowOf(id));
  const whole = readFileSync(path);
  for (let end = whole.indexOf('\n') + 1; end <= whole.length; end++) {
    writeFileSync(path, whole.subarray(0, end));
    const rows = whole.subarray(0, end).toString('latin1').split('\n').slice(1);
    const torn: unknown[] = [];
    const counts = await attemptsOf([path], {}, (name, amount) => torn.push([name, amount]));
    expect(counts?.attempts).toBe(rows.length - 1);
    expect(torn).toEqual(rows.at(-1) === '' ? [] : [[path, 1]]);
  }
});

test('results of the release before, without checks, count without a row that lacks cells or the line feed', async () => {
  const path = join(folder, 'results.csv');
  const file = EnrollFile.unlocked(path, options);
  for (const id of people) await file.add(rowOf(id));
  const before = readFileSync(path, 'utf8').replaceAll(/,(check|c[0-9a-f]{8})$/gm, '');
  for (let end = before.indexOf('\n') + 1; end <= before.length; end++) {
    // That release has started the next row on a new line.
    writeFileSync(path, `${before.slice(0, end)}\n${before.split('\n')[1]}\n`);
    const users = (await bound(EnrollFile.unlocked(path, options))).map(([userId]) => userId);
    for (const userId of users) expect(people).toContain(userId);
    writeFileSync(path, before.slice(0, end));
    const continued = EnrollFile.unlocked(path, options);
    const lines = before.slice(0, end).split('\n').length - 2;
    expect(await bound(continued)).toEqual(pairs(people.slice(0, lines)));
    await continued.add(rowOf('zoe'));
    expect(await bound(continued)).toEqual(pairs([...people.slice(0, lines), 'zoe']));
  }
});

test('a row that was changed does not count; one that a spreadsheet has quoted in another way does', async () => {
  const path = join(folder, 'results.csv');
  const file = EnrollFile.unlocked(path, options);
  for (const id of people) await file.add(rowOf(id));
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('ACTIVE,p-12,', 'ACTIVE,p-1,').replace('DEV-p-1,', '"DEV-p-1",'));
  const rows = [];
  let torn = 0;
  for await (const { userId } of resultRows(path, () => torn++)) rows.push(userId);
  expect(rows).toEqual(['p-1']);
  expect(torn).toBe(people.length - 1);
});

test('of a file with any texts, cut at any byte, complete rows count', async () => {
  expect(await tryCutFiles({ seed: Date.now() % 1_000_000_000, count: 5 })).toEqual([]);
});

test('a file of something else is not cut', () => {
  const path = join(folder, 'results.csv');
  for (const text of ['other', 'a,b\nc']) {
    writeFileSync(path, text);
    expect(() => EnrollFile.unlocked(path, options)).toThrow(/does not contain results/);
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
});

test('a spool file that was cut at any byte keeps the keys before, and takes the next one', async () => {
  const path = join(folder, 'keys.spool');
  const header = { registry: 'r', servers: ['http://127.0.0.1:1'], createdAt: '2026-11-22T10:00:00.000Z' };
  const entryOf = (userId: string): SpoolEntry => ({
    id: `id-${userId}`,
    at: '2026-11-22T10:00:00.000Z',
    registration: { deviceType: 'UKEY', serialNumber: `UK-${userId}`, manufacturer: 'Acme', model: 'One' },
    userId,
    serialSource: null,
    simulated: false,
    label: false,
  });
  const waiting = (spool: SpoolFile) => [...spool.items()].map(({ entry }) => [entry.id, entry.userId]);
  const spool = SpoolFile.open(path, header);
  for (const id of people) await spool.add(entryOf(id), false);
  await spool.close();
  const whole = readFileSync(path);
  for (let end = whole.indexOf('\n') + 1; end <= whole.length; end++) {
    writeFileSync(path, whole.subarray(0, end));
    rmSync(`${path}.torn`, { force: true });
    const continued = SpoolFile.open(path, null);
    const lines = whole.subarray(0, end).toString().split('\n').length - 2;
    const complete = people.slice(0, lines).map(id => [`id-${id}`, id]);
    expect(waiting(continued)).toEqual(complete);
    const tail = whole.subarray(whole.subarray(0, end).lastIndexOf('\n') + 1, end);
    if (continued.tornNotice !== null) expect(readFileSync(`${path}.torn`, 'utf8')).toBe(`${tail}\n`);
    await continued.add(entryOf('zoe'), false);
    expect(waiting(continued)).toEqual([...complete, ['id-zoe', 'zoe']]);
    await continued.close();
  }
});
