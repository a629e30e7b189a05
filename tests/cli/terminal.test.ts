/** Output and prompts at a terminal: the program on a pseudo-terminal. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import {
  adminPassword,
  type Daemon,
  devmgr,
  discard,
  follow,
  programFile,
  type Running,
  startDaemon,
  temporaryFolder,
} from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({ args: ['--simulate-keys', '1'] });
});
afterAll(() => discard(daemon));

interface Screen extends Running {
  type(text: string): void;
  /** Waits for a prompt and answers it. */
  answer(question: RegExp, text: string): Promise<void>;
}

/** The program with its three streams on one pseudo-terminal of the given width. */
function atTerminal(args: readonly string[], columns = 80, home = daemon.home): Screen {
  const words = [process.execPath, programFile, ...args].map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const child = spawn('script', ['-qefc', `stty cols ${columns} rows 24; exec ${words}`, '/dev/null'], {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      DEVMGR_HOME: home,
      DEVMGR_NO_KEYCHAIN: '1',
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      SHELL: '/bin/sh',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const running = follow(child, null);
  const type = (text: string) => void child.stdin!.write(text);
  return {
    ...running,
    type,
    async answer(question, text) {
      await running.until('stdout', question);
      type(`${text}\r`);
    },
  };
}

const ESC = '\u001b';
const withoutColours = (text: string) => text.replaceAll(new RegExp(`${ESC}\\[[0-9;?]*[A-Za-z]`, 'g'), '');

needs('script', 'bsdutils')('at a terminal', () => {
  test('prompts for a password without showing it', async () => {
    const screen = atTerminal(['login', '--server', daemon.url], 80, temporaryFolder());
    await screen.answer(/User name: /, 'admin');
    await screen.answer(/Password of admin: /, adminPassword);
    const { code, stdout } = await screen.ended;
    expect(code).toBe(0);
    expect(stdout).not.toContain(adminPassword);
    expect(withoutColours(stdout)).toContain('Logged in as admin (ADMIN)');
  });

  test('--password-stdin prompts instead of hanging', async () => {
    const screen = atTerminal(['login', 'admin', '--password-stdin', '--server', daemon.url], 80, temporaryFolder());
    await screen.answer(/Password of admin: /, adminPassword);
    expect((await screen.ended).code).toBe(0);
  });

  test('prompts for missing values; with --no-input an error names them', async () => {
    const screen = atTerminal(['register', '--type', 'UKEY', '--serial', 'TTY-1']);
    await screen.answer(/manufacturer: /, 'Acme');
    await screen.answer(/model: /, 'One');
    expect(withoutColours((await screen.ended).stdout)).toMatch(/Registered DEV-\d+ \(INACTIVE\)/);
    const silent = await atTerminal(['register', '--type', 'UKEY', '--serial', 'TTY-2', '--no-input']).ended;
    expect(silent.code).toBe(2);
    expect(silent.stdout).toContain('register needs --manufacturer, --model');
  });

  test('retires a device only after its id was typed', async () => {
    const { deviceId } = await daemon.register('TTY-RETIRE');
    const wrong = atTerminal(['deactivate', 'TTY-RETIRE', '--reason', 'x']);
    await wrong.answer(/Type DEV-\d+ to continue: /, 'yes');
    const refused = await wrong.ended;
    expect(refused.code).toBe(2);
    expect(refused.stdout).toContain('nothing was changed');
    expect((await daemon.call('GET', `/api/devices/${deviceId}`)).status).toBe('INACTIVE');
    const right = atTerminal(['deactivate', 'TTY-RETIRE', '--reason', 'x']);
    await right.answer(/Type DEV-\d+ to continue: /, deviceId);
    await right.answer(/administrator's password: /, adminPassword);
    expect((await right.ended).code).toBe(0);
    expect((await daemon.call('GET', `/api/devices/${deviceId}`)).status).toBe('DEACTIVATED');
  });

  test('asks twice for a new password, and changes nothing if the two differ', async () => {
    const names = async () =>
      (await daemon.call('GET', '/api/users/list')).list.map(({ username }: { username: string }) => username);
    const add = async (again: string) => {
      const screen = atTerminal(['users', 'add', 'typed-twice', '--role', 'VIEWER']);
      await screen.answer(/Password of typed-twice: /, 'a password of mine');
      await screen.answer(/Password of typed-twice, once more: /, again);
      return screen.ended;
    };
    const refused = await add('a password of min');
    expect(refused.code).toBe(2);
    expect(refused.stdout).toContain('the two passwords differ');
    expect(await names()).not.toContain('typed-twice');
    expect((await add('a password of mine')).code).toBe(0);
    expect(await names()).toContain('typed-twice');
  });

  test('Ctrl-C and Ctrl-D at a prompt end the command', async () => {
    const interrupted = atTerminal(['login', '--server', daemon.url]);
    await interrupted.until('stdout', /User name: /);
    interrupted.type('\u0003');
    expect((await interrupted.ended).code).toBe(130);
    const ended = atTerminal(['login', '--server', daemon.url]);
    await ended.until('stdout', /User name: /);
    ended.type('\u0004');
    expect((await ended.ended).code).toBe(2);
  });

  test('wraps long texts of a device between words', async () => {
    const { deviceId, activationCode } = await daemon.register('WIDE-1');
    const words = Array.from({ length: 30 }, (_, n) => `word${n}`).join(' ');
    await daemon.run(['update', deviceId, '--note', words]);
    await daemon.run(['activate', deviceId, '--code', activationCode, '--user', 'u']);
    await daemon.run(['lock', deviceId, '--reason', words]);
    const { stdout } = await atTerminal(['show', deviceId], 60).ended;
    for (const line of withoutColours(stdout).split(/\r?\n/)) expect(stringWidth(line)).toBeLessThanOrEqual(60);
    expect(withoutColours(stdout).replaceAll(/\s+/g, ' ').split(words)).toHaveLength(4);
  });

  test('wraps the output of doctor', async () => {
    const { stdout } = await atTerminal(['doctor'], 60).ended;
    const found = withoutColours(stdout)
      .split(/\r?\n/)
      .filter(line => !/^ {4}(→| {2}\S)/.test(line));
    expect(found.join('\n')).toMatch(/key {8}UKEY[\s\S]*attached\s[^,]*,\s+simulated/);
    for (const line of found) expect(stringWidth(line)).toBeLessThanOrEqual(60);
  });

  test('prompts for a missing role and version', async () => {
    const user = atTerminal(['users', 'add', 'role-asked']);
    await user.answer(/Role \(ADMIN, DEALER, VIEWER\): /, 'viewer');
    await user.answer(/Password of role-asked: /, 'a password of mine');
    await user.answer(/Password of role-asked, once more: /, 'a password of mine');
    expect((await user.ended).stdout).toMatch(/role:\s+VIEWER/);
    const file = join(temporaryFolder(), 'devmgr.deb');
    writeFileSync(file, 'a package');
    const upload = atTerminal(['upload', file]);
    await upload.answer(/Version number, such as 1\.0\.0: /, '7.7.7');
    const { code, stdout } = await upload.ended;
    expect({ code, told: stdout.includes('7.7.7') }).toEqual({ code: 0, told: true });
  });

  test('asks twice for your own new password', async () => {
    const password = 'a password of mine';
    await daemon.run(['users', 'add', 'own-twice', '--role', 'VIEWER', '--password-stdin'], { input: `${password}\n` });
    const home = temporaryFolder();
    await devmgr(['login', 'own-twice', '--server', daemon.url, '--password-stdin'], { home, input: `${password}\n` });
    const screen = atTerminal(['users', 'passwd'], 80, home);
    await screen.answer(/Current password: /, password);
    await screen.answer(/New password: /, 'another password');
    await screen.answer(/New password, once more: /, 'anoher password');
    const { code, stdout } = await screen.ended;
    expect({ code, told: stdout.includes('the two passwords differ') }).toEqual({ code: 2, told: true });
  });

  test('Ctrl-C ends an enrollment with a summary', async () => {
    const screen = atTerminal(['enroll']);
    await screen.until('stdout', /1 done\./);
    screen.type('\u0003');
    const { code, stdout } = await screen.ended;
    expect(code).toBe(130);
    expect(stdout).toContain('1 key handled');
  });

  test.each([60, 80, 160])('tables fit into %i columns, with colors', async columns => {
    const devices = [
      {
        deviceType: 'SIMKEY',
        serialNumber: `${columns}-${'8'.repeat(55)}`,
        manufacturer: '北京飞天诚信科技有限公司',
        model: 'Ein sehr langer Name eines Modells',
      },
    ];
    await daemon.call('POST', '/api/devices/batch-register', { devices });
    const { code, stdout } = await atTerminal(['list'], columns).ended;
    expect(code).toBe(0);
    expect(stdout).toContain(`${ESC}[33mINACTIVE`);
    for (const line of withoutColours(stdout).split(/\r?\n/)) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
    expect((await atTerminal(['list', '--no-color'], columns).ended).stdout).not.toContain(ESC);
  });

  test('events wrap between fields if a line is too long', async () => {
    const device = {
      deviceType: 'UKEY',
      serialNumber: 'NARROW-1',
      manufacturer: 'Acme',
      model: 'A model of many words',
    };
    await daemon.call('POST', '/api/devices/register', device);
    const args = ['watch', '--since', '0', '--type', 'DEVICE_REGISTERED', '--count', '1'];
    const linesAt = async (columns: number) => {
      const lines = withoutColours((await atTerminal(args, columns).ended).stdout)
        .trim()
        .split(/\r?\n/);
      return lines.slice(lines.findIndex(line => line.includes('DEVICE_REGISTERED')));
    };
    const [head, ...fields] = await linesAt(60);
    expect(head).toMatch(/^\S+Z #\d+ DEVICE_REGISTERED$/);
    expect(fields.length).toBeGreaterThan(0);
    for (const line of fields) expect(line).toMatch(/^ {4}\S.{0,55}$/);
    expect(await linesAt(300)).toHaveLength(1);
  });

  test('register --file shows its progress, and clears it at the end', async () => {
    const file = join(temporaryFolder(), 'keys.csv');
    const rows = Array.from({ length: 3_000 }, (_, n) => `UKEY,TTY-FILE-${n},Acme,One`);
    writeFileSync(file, `type,serial,manufacturer,model\n${rows.join('\n')}\n`);
    const { code, stdout } = await atTerminal([
      'register',
      '--file',
      file,
      '--batch-size',
      '200',
      '--out',
      `${file}.out`,
    ]).ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/Registering {2}\d+% {2}\d+ lines {2}\d+ lines\/s {2}\S+ left/);
    // Counts what is done, not what was read ahead.
    for (const [, percent, done] of stdout.matchAll(/(\d+)% {2}(\d+) lines/g))
      expect(Math.abs(Number(percent) - Number(done) / 30), `${percent} % of ${done} lines`).toBeLessThan(5);
    const last = stdout.split('\r').at(-2) ?? stdout;
    expect(withoutColours(last)).toContain('3000 devices registered');
  });

  test('help fits the width, and a call without a command shows it', async () => {
    const { code, stdout } = await atTerminal([], 60).ended;
    expect(code).toBe(2);
    for (const line of withoutColours(stdout).split(/\r?\n/)) expect(stringWidth(line)).toBeLessThanOrEqual(60);
  });
});
