/** `watch --exec`: each event reaches the program, in order, and again until it succeeds. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Daemon, discard, type Running, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

let serials = 0;
const registerOne = async () => (await daemon.register(`EXEC-${++serials}`)).deviceId;
const registered = async (count: number) => {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(await registerOne());
  return ids;
};

/** A folder with a file that programs write to, and the newest event before the test. */
let log = '';
let cursor = '';
let head = 0;
beforeEach(async () => {
  const folder = temporaryFolder();
  log = join(folder, 'log');
  cursor = join(folder, 'cursor.json');
  head = (await daemon.call('GET', '/api/events?limit=1')).head;
});

/** A program of Node that gets the event as `event`, the log's name as `log`, and `say` to write a line to it. */
const programOf = (code: string) => [
  process.execPath,
  '--',
  '-e',
  `const fs = require('node:fs'); const log = process.argv[1]; const say = text => fs.appendFileSync(log, text + '\\n');
   const event = JSON.parse(fs.readFileSync(0, 'utf8')); ${code}`,
];
const sayId = programOf('say(event.data.deviceId)');
const watch = (flags: readonly string[], program: readonly string[]) => [
  'watch',
  ...['--since', String(head), '--cursor', cursor, '--type', 'DEVICE_REGISTERED', ...flags],
  ...['--exec', ...program, log],
];
const logged = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []);
const stored = () => JSON.parse(readFileSync(cursor, 'utf8')).last as number;

function isAlive(pid: number): boolean {
  try {
    // A process that has ended but was not waited for is not alive.
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Resolves when the file has so many lines. */
async function untilLogged(lines: number): Promise<void> {
  while (logged().length < lines) await new Promise(resolve => setTimeout(resolve, 20));
}

test('delivers no change of administration unless its type is named', async () => {
  await daemon.call('POST', '/api/users', { username: `exec-${head}`, password: 'correct horse', role: 'VIEWER' });
  const id = await registerOne();
  const program = programOf('say(event.type + " " + (event.data.deviceId ?? event.data.username))');
  const words = (types: readonly string[]) => [
    ...['watch', '--since', String(head), '--cursor', `${cursor}${types.length}`, '--count', '1', ...types],
    ...['--exec', ...program, log],
  ];
  await daemon.run(words([]));
  await daemon.run(words(['--type', 'USER_CREATED']));
  expect(logged()).toEqual([`DEVICE_REGISTERED ${id}`, `USER_CREATED exec-${head}`]);
});

test('runs the program once for each event, in order, with the event on standard input', async () => {
  const ids = await registered(3);
  const program = programOf('say(JSON.stringify([event.id, event.type, event.data, process.argv.slice(2)]))');
  const { code, stdout, stderr } = await daemon.run([...watch(['--count', '3'], program), 'one', '$(two)']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  const events = logged().map(line => JSON.parse(line));
  expect(events.map(([, , { deviceId }]) => deviceId)).toEqual(ids);
  expect(events[0]).toMatchObject([expect.any(Number), 'DEVICE_REGISTERED', { deviceType: 'UKEY' }, ['one', '$(two)']]);
  expect(stored()).toBe(events[2][0]);
  expect(stderr).toContain('3 events delivered');
});

test('the next run continues after the last event that succeeded, whatever --since is', async () => {
  const first = await registered(2);
  await daemon.run(watch(['--count', '2'], sayId));
  const second = await registered(2);
  const { stderr } = await daemon.run(watch(['--count', '2'], sayId));
  expect(logged()).toEqual([...first, ...second]);
  expect(stderr).toContain('Continuing after event #');
});

test('without --cursor the position is in the home folder, for this program and selection', async () => {
  const plain = (count: number, ...more: string[]) => [
    ...['watch', '--since', String(head), '--type', 'DEVICE_REGISTERED', '--count', String(count), ...more],
    ...['--exec', ...sayId, log],
  ];
  const ids = await registered(2);
  await daemon.run(plain(1));
  await daemon.run(plain(1));
  expect(logged()).toEqual(ids);
  await daemon.run(plain(1, '--device', ids[0]!));
  expect(logged()).toEqual([...ids, ids[0]]);
});

test('a program that fails is tried again, with its exit code on standard error', async () => {
  const [id] = await registered(1);
  const program = programOf(`say('try'); process.exit(fs.readFileSync(log, 'utf8').split('try').length > 2 ? 0 : 3)`);
  const { code, stderr } = await daemon.run(watch(['--count', '1'], program));
  expect({ code, tries: logged().length }).toEqual({ code: 0, tries: 2 });
  expect(stderr).toMatch(/event #\d+: .* ended with 3; trying again in \d/);
  expect(id).toBeDefined();
});

test('after its attempts the run ends with 1 and the position before that event; --skip-failed continues', async () => {
  const [good, bad, last] = await registered(3);
  const program = programOf(`if (event.data.deviceId === '${bad}') process.exit(7); say(event.data.deviceId)`);
  const run = (...flags: string[]) => daemon.run(watch(['--retries', '0', '--timeout', '2', ...flags], program));
  const failed = await run();
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/was not delivered to .* ended with 7/) });
  expect(logged()).toEqual([good]);
  expect((await run()).code).toBe(1);
  const skipped = await run('--skip-failed');
  expect(skipped).toMatchObject({ code: 0, stderr: expect.stringContaining('ended with 7; skipped') });
  expect(logged()).toEqual([good, last]);
});

test('kill -9: the next run delivers every event, the one under way again', async () => {
  const ids = await registered(6);
  const block = join(temporaryFolder(), 'block');
  writeFileSync(block, '');
  // The third event waits for as long as the file exists.
  const program = programOf(
    `say(event.data.deviceId); while (event.data.deviceId === '${ids[2]}' && fs.existsSync('${block}')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)`,
  );
  const running = daemon.start(watch([], program));
  await untilLogged(3);
  running.child.kill('SIGKILL');
  // The program outlives the watch and holds its output open.
  unlinkSync(block);
  await running.ended;
  const { code } = await daemon.run(watch(['--count', '4'], program));
  expect(code).toBe(0);
  expect(logged()).toEqual([...ids.slice(0, 3), ...ids.slice(2)]);
});

describe('Ctrl-C', () => {
  async function interruptedRun(): Promise<{ readonly running: Running; readonly release: () => void }> {
    const release = join(temporaryFolder(), 'release');
    const program = programOf(
      `say('begun'); while (!fs.existsSync('${release}')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20); say('finished')`,
    );
    await registered(2);
    const running = daemon.start(watch([], program));
    await untilLogged(1);
    running.child.kill('SIGINT');
    return { running, release: () => writeFileSync(release, '') };
  }

  test('lets the running program finish and stores the position', async () => {
    const { running, release } = await interruptedRun();
    release();
    const { code, stderr } = await running.ended;
    expect({ code, logged: logged() }).toEqual({ code: 130, logged: ['begun', 'finished'] });
    expect(stderr).toContain('1 event delivered');
    const { list } = await daemon.call('GET', `/api/events?after=${head}&limit=1`);
    expect(stored()).toBe(list[0].id);
  });

  test('twice ends it, and the event is delivered again by the next run', async () => {
    const { running, release } = await interruptedRun();
    await running.until('stderr', /Ctrl-C again ends it/);
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(stored()).toBe(head);
    release();
    await daemon.run(watch(['--count', '2'], sayId));
    expect(logged().filter(line => line.startsWith('DEV-'))).toHaveLength(2);
  });
});

test('a program that ignores SIGTERM is killed with what it has started', async () => {
  const program = programOf(`process.on('SIGTERM', () => say('ignored')); setInterval(() => {}, 1000);
    const child = require('node:child_process').spawn('sleep', ['600']); say(process.pid); say(child.pid)`);
  await registered(1);
  const running = daemon.start(watch([], program));
  await untilLogged(2);
  const pids = logged().map(Number);
  running.child.kill('SIGINT');
  await running.until('stderr', /Ctrl-C again ends it/);
  running.child.kill('SIGINT');
  await untilLogged(3);
  running.child.kill('SIGINT');
  expect((await running.ended).code).toBe(130);
  for (const pid of pids) await expect.poll(() => isAlive(pid)).toBe(false);
});

test('a program may end without reading its input', async () => {
  await registered(3);
  const { code, stderr } = await daemon.run(watch(['--count', '3'], [process.execPath, '--', '-e', '0']));
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringContaining('EPIPE') });
});

test('with --concurrency events of one device stay in order, and the position is that of the slowest', async () => {
  const ids = await registered(4);
  for (const id of ids) for (const note of ['a', 'b']) await daemon.call('PUT', `/api/devices/${id}`, { note });
  const program = programOf(`say(event.data.deviceId + ' ' + event.id)`);
  const args = ['watch', '--since', String(head), '--cursor', cursor, '--count', '12', '--concurrency', '4'];
  const { code } = await daemon.run([...args, '--exec', ...program, log]);
  expect(code).toBe(0);
  for (const id of ids) {
    const own = logged()
      .filter(line => line.startsWith(`${id} `))
      .map(line => Number(line.split(' ')[1]));
    expect(own).toHaveLength(3);
    expect(own).toEqual(own.toSorted((a, b) => a - b));
  }
  expect(stored()).toBe((await daemon.call('GET', '/api/events?limit=1')).head);
});

test('two runs with one cursor exclude each other', async () => {
  const running = daemon.start(watch([], sayId));
  await running.until('stderr', /connected/);
  const { code, stderr } = await daemon.run(watch(['--count', '1'], sayId));
  expect({ code, named: stderr.includes(`process ${running.child.pid}`) }).toEqual({ code: 1, named: true });
  running.child.kill('SIGINT');
  await running.ended;
});

test('a cursor that is a pipe is refused, and not waited for', async () => {
  execFileSync('mkfifo', [cursor]);
  const { code, stderr } = await daemon.run(watch(['--count', '1'], sayId));
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(`${cursor} is not a file`) });
  expect(stderr).toContain('--cursor');
});

test('a cursor that can no longer be written ends the watch, and --cursor is named', async () => {
  await registered(2);
  const program = programOf(
    `say(event.id); const folder = require('node:path').dirname(${JSON.stringify(cursor)});
     fs.renameSync(folder, folder + '.away'); fs.writeFileSync(folder, '')`,
  );
  const { code, stderr } = await daemon.run(watch(['--count', '2'], program));
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(`cannot write ${cursor}`) });
  expect(stderr).toContain('name another file with --cursor');
});

test.each([
  ['a program that does not exist', ['--exec', '/no/such/program'], '/no/such/program cannot be started'],
  ['a command line instead of a program', ['--exec', 'node -e 0'], 'there is no shell'],
  ['arguments without a program', ['--count', '1', 'word'], 'arguments belong to the program of --exec'],
  ['--retries without a program', ['--retries', '1'], '--retries needs'],
  ['--cursor without a program', ['--cursor', 'x'], '--cursor needs'],
  ['a file that is not a cursor', ['--exec', 'true', '--cursor', '@'], 'is not a cursor'],
])('%s is a usage error', async (_, args, words) => {
  await registered(1);
  const other = join(temporaryFolder(), 'other.json');
  writeFileSync(other, '{"a":1}');
  const flags = args.map(word => (word === '@' ? other : word));
  const { code, stderr } = await daemon.run(['watch', '--since', String(head), '--timeout', '2', ...flags]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
});
