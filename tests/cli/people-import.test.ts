/** `people import`: files of other systems, dry run, conflicts, leavers, and runs that are killed. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';
import { loseResponse, relayTo } from './relay.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const files = join(import.meta.dirname, '../files/persons');
const run = (...words: string[]) => daemon.run(['people', 'import', ...words]);
const listed = async (keyword: string) => {
  const { list } = await daemon.call('GET', `/api/people/list?sortOrder=asc&size=100&keyword=${keyword}`);
  return list as { userName: string; name: string | null; active: boolean; source: string }[];
};
const fileOf = (text: string) => {
  const folder = temporaryFolder();
  const file = join(folder, 'staff.csv');
  writeFileSync(file, text);
  return { file, out: join(folder, 'results.csv') };
};
let made = 0;
/** Binds a new key to a user name. */
const bind = async (userId: string): Promise<string> => {
  const device = { deviceType: 'UKEY', serialNumber: `STAFF-${++made}`, manufacturer: 'Feitian', model: 'K9' };
  const { deviceId, activationCode } = await daemon.call('POST', '/api/devices/register', device);
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId });
  return deviceId;
};

describe('people import', () => {
  test('shows what would change, then adds persons by their logins and skips those who are marked as gone', async () => {
    const file = join(files, 'okta-users.csv');
    const dry = await run(file, '--dry-run');
    expect(dry).toMatchObject({ code: 0, stderr: expect.stringContaining('Dry run: 2 created, 1 skipped.') });
    expect(dry.stdout).toMatch(/line 2 +\+ created +mary\.jackson@example\.org +name: - -> Mary Jackson/);
    expect(dry.stdout).toMatch(/line 4 +! skipped +dorothy\.vaughan@example\.org .*Status: DEPROVISIONED/);
    expect(await listed('jackson')).toEqual([]);
    expect((await run(file)).code).toBe(0);
    expect(await listed('example.org')).toMatchObject([
      { userName: 'mary.jackson@example.org', name: 'Mary Jackson', source: 'import' },
      { userName: 'katherine.johnson@example.org', name: 'Katherine Johnson' },
    ]);
    const again = await run(file, '--json');
    expect(again.rows.map(({ status }) => status)).toEqual(['unchanged', 'unchanged', 'skipped']);
  });

  test('lists what differs from persons who were added by hand, and takes them with --adopt', async () => {
    await daemon.call('POST', '/api/people', { userName: 'hand.made', name: 'By Hand' });
    const { file } = fileOf('userId,name\nhand.made,Of the file\nfile.made,\n');
    const { code, stdout, stderr } = await run(file);
    expect([code, stderr]).toEqual([7, expect.stringContaining('1 row of 2 failed: 1 failed, 1 created')]);
    expect(stdout).toMatch(/line 2 +✗ failed +hand\.made +hand\.made is PER-\d+ of the source local/);
    expect((await run(file, '--adopt')).stdout).toContain('name: By Hand -> Of the file, source: local -> import');
  });

  test('locks the keys of those alone whom --leavers marks, never of those who are missing', async () => {
    const { file } = fileOf('userId,Contract\nada.import,open\ngrace.import,open\nmissing.import,open\n');
    expect((await run(file)).code).toBe(0);
    const devices = await Promise.all(['ada.import', 'grace.import', 'missing.import'].map(bind));
    writeFileSync(file, 'userId,Contract,Status\nada.import,open,Suspended\ngrace.import,Ended,\nnew.import,Ended,\n');
    const dry = await run(file, '--leavers', 'Contract=ended', '--dry-run');
    expect(dry.stdout).toMatch(/line 3 +- left +grace\.import +keys: 1/);
    const { code, stdout } = await run(file, '--leavers', 'Contract=ended');
    expect(code).toBe(0);
    expect(stdout).toMatch(/line 4 += unchanged +new\.import +the registry has no such person/);
    const states = await Promise.all(devices.map(async id => (await daemon.call('GET', `/api/devices/${id}`)).status));
    expect(states).toEqual(['ACTIVE', 'LOCKED', 'ACTIVE']);
    const absent = await run(file, '--leavers', 'Ended=yes');
    expect(absent).toMatchObject({ code: 2, stderr: expect.stringContaining('has no column Ended') });
    const two = await run(file, '--leavers', 'Contract=ended', '--leavers', 'Status=gone');
    expect(two).toMatchObject({ code: 2, stderr: expect.stringContaining('two columns: Contract, Status') });
  });

  test('counts a person in two spellings once, and fails a line of two that differ in who leaves', async () => {
    const decomposed = await run(join(files, 'decomposed.csv'), '--json');
    expect(decomposed.rows.map(({ status, message }) => [status, message])).toEqual([
      ['created', 'success'],
      ['repeated', 'line 3 repeats line 2'],
      ['repeated', 'line 4 repeats line 2'],
    ]);
    expect(decomposed.code).toBe(0);
    const { file } = fileOf('userId,State\ntwice.import,active\nTWICE.import,Left\n');
    const { code, stdout } = await run(file, '--leavers', 'State=Left');
    expect([code, stdout]).toEqual([7, expect.stringMatching(/line 3 +✗ failed .*marks the person as a leaver/)]);
  });

  test('asks for the column of the logins instead of taking ids', async () => {
    const { file } = fileOf('User Id,Name\n00u7k2m1,Mary Jackson\n');
    const { code, stderr } = await run(file);
    expect(code).toBe(2);
    expect(stderr).toContain('column "User Id" has ids that a system generated, not logins');
    expect(stderr).toContain('--map userId=COLUMN');
    expect((await run(file, '--map', 'userId=User Id', '--dry-run')).stdout).toContain('00u7k2m1');
  });

  test.each([
    ['', 'is empty'],
    ['userId,name\n', 'has no persons: it has only a header row'],
    ['<html><table></table></html>', 'an HTML page'],
  ])('refuses a file without persons (%#)', async (text, words) => {
    const { file } = fileOf(text);
    expect(await run(file)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  });
});

describe('a killed import', () => {
  /** Kills a run while its second batch is on the way; `executed` shows whether the daemon gets it. */
  async function killed(args: readonly string[], executed: boolean): Promise<void> {
    const reached = Promise.withResolvers<void>();
    let batches = 0;
    const url = await relayTo(
      daemon.url,
      (forward, answer) => {
        if (++batches !== 2) void forward();
        else if (executed) loseResponse(forward, answer).then(reached.resolve, reached.reject);
        else reached.resolve();
      },
      /people\/import/,
    );
    const running = daemon.start(['people', 'import', ...args, '--server', url], {
      env: { DEVMGR_TOKEN: daemon.token },
    });
    await reached.promise;
    running.child.kill('SIGKILL');
    await running.ended;
  }

  test.each([true, false])(
    'is continued: each line has one result (executed: %s)',
    async executed => {
      const prefix = `killed.${executed}`;
      const lines = Array.from({ length: 1_500 }, (_, n) => (n === 3 ? `${prefix}.2` : `${prefix}.${n}`));
      const { file, out } = fileOf(`userId\n${lines.join('\n')}\n`);
      await killed([file, '--out', out], executed);
      const results = () =>
        readFileSync(out, 'utf8')
          .trimEnd()
          .split('\n')
          .slice(1)
          .map(line => line.split(','));
      expect(results()).toHaveLength(1_000);
      expect(await run(file, '--out', out)).toMatchObject({ code: 2, stderr: expect.stringContaining('--resume') });
      const resumed = await run(file, '--out', out, '--resume');
      expect(resumed.stderr).toContain('Continuing after 1,000 rows.');
      expect(resumed).toMatchObject({ code: 0, stderr: expect.stringContaining('1,499 created, 1 repeated') });
      expect(results().map(([, , userName]) => userName)).toEqual(lines);
      expect(results().filter(([, status]) => status === 'created')).toHaveLength(1_499);
      expect(existsSync(`${out}.resume.json`)).toBe(false);
      const { pagination } = await daemon.call('GET', `/api/people/list?keyword=${prefix}.`);
      expect(pagination.total).toBe(1_499);
      writeFileSync(file, 'userId\nother\n');
      expect((await run(file, '--out', out, '--resume')).code).toBe(2);
      const forced = await run(file, '--out', out, '--force');
      expect(forced).toMatchObject({ code: 0, stderr: expect.stringContaining('results.csv.before') });
    },
    60_000,
  );
});
