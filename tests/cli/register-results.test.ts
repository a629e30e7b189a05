/** `register --file --out`: results that were written are not lost, whatever is typed next. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, discard, follow, programFile, startDaemon, temporaryFolder } from './program.ts';
import { relayTo } from './relay.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

let runs = 0;
const prefix = () => `OUT${++runs}`;
const csvOf = (p: string, count: number, from = 0) =>
  `deviceType,serialNumber,manufacturer,model\n${Array.from({ length: count }, (_, n) => `UKEY,${p}-${n + from},Acme,One\n`).join('')}`;
const total = async (p: string) =>
  (await daemon.call('GET', `/api/devices/list?size=1&keyword=${p}-`)).pagination.total as number;

function files(content: string, out = 'codes.csv') {
  const folder = temporaryFolder();
  const file = join(folder, 'keys.csv');
  writeFileSync(file, content);
  return { file, out: join(folder, out) };
}

const successes = (out: string) =>
  readFileSync(out, 'utf8')
    .split('\n')
    .filter(line => /success.*[A-Z2-9]{4}(-[A-Z2-9]{4}){3}/.test(line)).length;

/** A run that is interrupted during the second batch, with 40 of 60 lines done. */
async function interrupted(args: readonly string[], input?: string) {
  const reached = Promise.withResolvers<() => void>();
  let batches = 0;
  const url = await relayTo(daemon.url, forward => {
    if (++batches === 2) reached.resolve(() => void forward());
    else void forward();
  });
  const env = { DEVMGR_TOKEN: daemon.token, DEVMGR_SERVER: url };
  const running = daemon.start([...args, '--batch-size', '20'], { env, ...(input === undefined ? {} : { input }) });
  const goOn = await reached.promise;
  running.child.kill('SIGINT');
  goOn();
  return running.ended;
}

describe('existing results', () => {
  test.each([
    ['codes.csv', []],
    ['codes.jsonl', []],
    ['codes', ['--json']],
  ])('in %s: --resume has nothing to do, other runs are refused, and no byte changes', async (name, flags) => {
    const p = prefix();
    const { file, out } = files(csvOf(p, 5), name);
    const args = ['register', '--file', file, '--out', out, ...flags];
    expect((await daemon.run([...args, '--resume'])).code).toBe(0);
    const written = readFileSync(out, 'utf8');
    expect(successes(out)).toBe(5);
    const resumed = await daemon.run([...args, '--resume', '--verbose']);
    expect(resumed.code).toBe(0);
    expect(resumed.stderr).toContain('Nothing to do: all 5 lines are done');
    expect(resumed.stderr).not.toContain('Continuing');
    writeFileSync(file, csvOf(p, 6));
    const again = await daemon.run(args);
    expect(again.code).toBe(2);
    expect(again.stderr).toMatch(/already exists.*--resume.*--force/s);
    expect(readFileSync(out, 'utf8')).toBe(written);
    expect(await total(p)).toBe(5);
  });

  test('with a cell that a spreadsheet would evaluate are read back', async () => {
    const p = prefix();
    const { file, out } = files(
      `deviceType,serialNumber,manufacturer,model\nUKEY,'-${p}-1,Acme,One\nUKEY,-${p}-2,'Acme,One\n`,
    );
    const args = ['register', '--file', file, '--out', out];
    expect((await daemon.run(args)).code).toBe(0);
    expect(readFileSync(out, 'utf8')).toMatch(new RegExp(`^2,'-${p}-1,.*\n3,'-${p}-2,`, 'm'));
    const { list } = await daemon.call('GET', `/api/devices/list?keyword=${p}-&sortBy=deviceId&sortOrder=asc`);
    expect(list).toMatchObject([{ serialNumber: `-${p}-1` }, { serialNumber: `-${p}-2`, manufacturer: "'Acme" }]);
    const resumed = await daemon.run([...args, '--resume']);
    expect({ code: resumed.code, told: resumed.stderr.includes('Nothing to do') }).toEqual({ code: 0, told: true });
    expect((await daemon.run(['list', '--csv', '--keyword', `${p}-`])).stdout).toContain(`,'-${p}-1,`);
  });

  test('are continued if the input has grown', async () => {
    const p = prefix();
    const { file, out } = files(csvOf(p, 3));
    const args = ['register', '--file', file, '--out', out];
    await daemon.run(args);
    writeFileSync(file, csvOf(p, 5));
    expect((await daemon.run([...args, '--resume'])).code).toBe(0);
    expect(successes(out)).toBe(5);
    expect(
      readFileSync(out, 'utf8')
        .split('\n')
        .slice(1, -1)
        .map(line => line.split(',')[0]),
    ).toEqual(['2', '3', '4', '5', '6']);
  });

  test('with failures end with 7 again', async () => {
    const p = prefix();
    const { file, out } = files(`${csvOf(p, 2)}UKEY,,Acme,One\n`);
    const args = ['register', '--file', file, '--out', out];
    expect((await daemon.run(args)).code).toBe(7);
    const { code, stderr } = await daemon.run([...args, '--resume']);
    expect(code).toBe(7);
    expect(stderr).toContain('nothing to do: 1 of 3 lines failed, 2 devices are registered');
  });

  test('of another input are neither continued nor overwritten', async () => {
    const p = prefix();
    const { file, out } = files(csvOf(p, 2));
    for (const content of ['my notes\n', 'line,serialNumber,status\n2,OTHER-1,success\n', '{"a":1}\n', '[\n', 'x']) {
      writeFileSync(out, content);
      for (const flags of [[], ['--resume'], ['--dry-run']]) {
        const { code, stderr } = await daemon.run(['register', '--file', file, '--out', out, ...flags]);
        expect({ code, content, flags }).toEqual({ code: 2, content, flags });
        expect(stderr).toContain('--force');
        expect(readFileSync(out, 'utf8')).toBe(content);
      }
      expect(await total(p)).toBe(0);
    }
  });

  test('are kept as a copy with --force', async () => {
    const p = prefix();
    const { file, out } = files(csvOf(p, 2));
    const args = ['register', '--file', file, '--out', out];
    await daemon.run(args);
    const first = readFileSync(out, 'utf8');
    const { code, stderr } = await daemon.run([...args, '--force']);
    expect(code).toBe(7);
    expect(stderr).toContain(`${out}.before`);
    expect(stderr).toContain('already registered');
    expect(stderr).not.toContain('fix those');
    expect(readFileSync(`${out}.before`, 'utf8')).toBe(first);
    await daemon.run([...args, '--force']);
    expect(readFileSync(`${out}.before`, 'utf8')).toBe(first);
    expect(existsSync(`${out}.before.2`)).toBe(true);
    expect((await daemon.run([...args, '--force', '--dry-run'])).code).toBe(2);
  });

  test('are not created by a run that was refused', async () => {
    const { file, out } = files(csvOf(prefix(), 2));
    const args = ['register', '--file', file, '--out', out];
    expect((await daemon.run(args, { env: { DEVMGR_TOKEN: 'wrong' } })).code).toBe(3);
    expect([existsSync(out), existsSync(`${out}.resume.json`), existsSync(`${out}.lock`)]).toEqual([
      false,
      false,
      false,
    ]);
    expect((await daemon.run(args)).code).toBe(0);
  });
});

describe('an interrupted run', () => {
  test('is not started over by the same command; the error names --resume and --force', async () => {
    const p = prefix();
    const { file, out } = files(csvOf(p, 60));
    const args = ['register', '--file', file, '--out', out];
    expect((await interrupted(args)).code).toBe(130);
    const again = await daemon.run(args);
    expect(again.code).toBe(2);
    expect(again.stderr).toMatch(/interrupted.*--resume.*--force/s);
    expect(successes(out)).toBe(40);
    const resumed = await daemon.run([...args, '--resume']);
    expect(resumed.code).toBe(0);
    expect(resumed.stderr).toContain('Continuing after line 41 (40 registered, 0 failed before it).');
    expect(successes(out)).toBe(60);
  });

  test('without a result file names them, too', async () => {
    const p = prefix();
    const { file } = files(csvOf(p, 60));
    const first = await interrupted(['register', '--file', file, '--quiet']);
    expect(first.stdout.trim().split('\n')).toHaveLength(40);
    expect((await daemon.run(['register', '--file', file])).code).toBe(2);
    const resumed = await daemon.run(['register', '--file', file, '--resume', '--quiet']);
    expect(resumed.stdout.trim().split('\n')).toHaveLength(20);
    expect(await total(p)).toBe(60);
  });

  test('whose results were deleted is not continued', async () => {
    const { file, out } = files(csvOf(prefix(), 60));
    const args = ['register', '--file', file, '--out', out];
    await interrupted(args);
    writeFileSync(out, '');
    const { code, stderr } = await daemon.run([...args, '--resume']);
    expect({ code, told: stderr.includes('no longer contains') }).toEqual({ code: 2, told: true });
  });

  test('from standard input continues only with the same input', async () => {
    const p = prefix();
    const { out } = files('');
    const args = ['register', '--file', '-', '--out', out];
    const first = await interrupted(args, csvOf(p, 60));
    expect({ code: first.code, told: /--resume/.test(first.stderr) }).toEqual({ code: 130, told: true });
    const other = await daemon.run([...args, '--resume'], { input: csvOf(`${p}x`, 60) });
    expect({ code: other.code, other: await total(`${p}x`) }).toEqual({ code: 2, other: 0 });
    const resumed = await daemon.run([...args, '--resume'], { input: csvOf(p, 60) });
    expect({ code: resumed.code, written: successes(out), total: await total(p) }).toEqual({
      code: 0,
      written: 60,
      total: 60,
    });
    expect((await daemon.run([...args, '--resume'], { input: csvOf(p, 60) })).stderr).toContain('Nothing to do');
  });

  test('from standard input without a result file cannot be continued', async () => {
    const { code, stderr } = await daemon.run(['register', '--file', '-', '--resume'], { input: csvOf(prefix(), 1) });
    expect({ code, told: stderr.includes('--out FILE') }).toEqual({ code: 2, told: true });
  });
});

test('two runs on one file at once: the second is refused, the first completes', async () => {
  const p = prefix();
  const { file, out } = files(csvOf(p, 60));
  const reached = Promise.withResolvers<() => void>();
  let batches = 0;
  const url = await relayTo(daemon.url, forward => {
    if (++batches === 2) reached.resolve(() => void forward());
    else void forward();
  });
  const env = { DEVMGR_TOKEN: daemon.token, DEVMGR_SERVER: url };
  const args = ['register', '--file', file, '--out', out, '--batch-size', '20'];
  const first = daemon.start(args, { env });
  const goOn = await reached.promise;
  for (const flag of ['--resume', '--force']) {
    const second = await daemon.run([...args, flag], { env });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`another run uses ${out} (process ${first.child.pid})`);
  }
  goOn();
  expect((await first.ended).code).toBe(0);
  expect(successes(out)).toBe(60);
  expect(existsSync(`${out}.lock`)).toBe(false);
});

test('--resume recovers the results of a first batch without a response, with their codes', async () => {
  const p = prefix();
  const { file, out } = files(csvOf(p, 30));
  let batches = 0;
  const url = await relayTo(daemon.url, (forward, answer) => {
    batches++;
    if (batches === 1) {
      // Executed, but the response is lost.
      Object.defineProperty(answer, 'write', { value: () => true });
      Object.defineProperty(answer, 'writeHead', { value: () => answer });
      Object.defineProperty(answer, 'end', { value: () => answer.destroy() });
      void forward();
    } else if (batches === 2) {
      answer.writeHead(401, { 'content-type': 'application/json' });
      answer.end('{"code":1005,"message":"the token has expired","data":null}');
    } else void forward();
  });
  const args = ['register', '--file', file, '--out', out, '--server', url];
  const env = { DEVMGR_TOKEN: daemon.token };
  const first = await daemon.run(args, { env });
  expect([first.code, await total(p)]).toEqual([3, 30]);
  expect(first.stderr).toContain('the devices that were sent may have been registered');
  expect((await daemon.run([...args, '--resume'], { env })).code).toBe(0);
  expect(successes(out)).toBe(30);
});

test.skipIf(process.getuid?.() !== 0)('an unreadable input is a usage error (skipped unless root)', () => {
  const { file, out } = files(csvOf(prefix(), 1));
  const [folder, home] = [dirname(file), temporaryFolder()];
  const other = 65_534;
  for (const place of [folder, home]) chownSync(place, other, other);
  chmodSync(file, 0);
  for (const more of [[], ['--out', out]]) {
    const { status, stderr } = spawnSync(process.execPath, [programFile, 'register', '--file', file, ...more], {
      uid: other,
      gid: other,
      env: { DEVMGR_HOME: home, DEVMGR_SERVER: 'http://127.0.0.1:9', DEVMGR_TOKEN: 'a.b.c' },
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([2, expect.stringContaining(`${file} cannot be read`)]);
  }
});

test('an empty lock file, as after a power failure, is ignored once it is old', async () => {
  const { file, out } = files(csvOf(prefix(), 2));
  const args = ['register', '--file', file, '--out', out];
  const lock = `${out}.lock`;
  writeFileSync(lock, '');
  expect((await daemon.run(args)).code).toBe(1);
  utimesSync(lock, 1, 1);
  expect((await daemon.run(args)).code).toBe(0);
});

test('the lock of a run that has ended does not block the next one', async () => {
  const { file, out } = files(csvOf(prefix(), 2));
  writeFileSync(`${out}.lock`, '4194305 gone:1\n');
  expect((await daemon.run(['register', '--file', file, '--out', out])).code).toBe(0);
});

test.each([
  ['in a read-only folder', 'exec 3<"$KEYS"; rm "$KEYS"; exec "$@" --file /proc/self/fd/3'],
  ['that is a pipe', '"$@" --file <(cat "$KEYS")'],
])('an input %s is registered, with a notice', async (_, line) => {
  const p = prefix();
  const { file } = files(csvOf(p, 3));
  const child = spawn('bash', ['-c', line, 'bash', process.execPath, programFile, 'register', '--format', 'csv'], {
    env: { ...process.env, KEYS: file, DEVMGR_HOME: daemon.home, DEVMGR_NO_KEYCHAIN: '1' },
  });
  const { code, stderr } = await follow(child).ended;
  expect({ code, total: await total(p) }).toEqual({ code: 0, total: 3 });
  expect(stderr).toContain('Progress cannot be saved');
});

test('a full disk ends the run, with what is registered and which results are written', async () => {
  const { file } = files(csvOf(prefix(), 60));
  const { code, stderr } = await daemon.run(['register', '--file', file, '--out', '/dev/full', '--batch-size', '20']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/disk is full; 20 registered and 0 failed up to line 21; \/dev\/full has no results of them/);
});

test('one device is reported in the singular', async () => {
  const { file } = files(csvOf(prefix(), 1));
  expect((await daemon.run(['register', '--file', file])).stderr).toMatch(/^1 device registered( in \d+s)?\.$/m);
});
