/** Output and questions at a terminal: the program on a pseudo-terminal. Kinds of questions: prompts.test.ts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { adminPassword, type Daemon, devmgr, discard, programFile, startDaemon, temporaryFolder } from './program.ts';
import { atTerminal, ctrl, ESC, keys, type Screen, withoutColors } from './screen.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({ args: ['--simulate-keys', '1'] });
});
afterAll(() => discard(daemon));

/** The program with its three streams on one pseudo-terminal, so wide. */
const devmgrAt = (args: readonly string[], columns = 80, home = daemon.home): Screen =>
  atTerminal([process.execPath, programFile, ...args], { home, columns });

needs('script', 'bsdutils')('at a terminal', () => {
  test('asks for a password and does not show it', async () => {
    const screen = devmgrAt(['login', '--server', daemon.url], 80, temporaryFolder());
    await screen.answer(/User name:/, 'admin');
    await screen.answer(/Password of admin:/, adminPassword);
    const { code, stdout } = await screen.ended;
    expect(code).toBe(0);
    expect(stdout).not.toContain(adminPassword);
    expect(withoutColors(stdout)).toContain('Logged in as admin (ADMIN)');
  });

  test('asks for a password if --password-stdin is a terminal', async () => {
    const screen = devmgrAt(['login', 'admin', '--password-stdin', '--server', daemon.url], 80, temporaryFolder());
    await screen.answer(/Password of admin:/, adminPassword);
    expect((await screen.ended).code).toBe(0);
  });

  test('asks for missing values; with --no-input it names their flags', async () => {
    const screen = devmgrAt(['register', '--type', 'UKEY', '--serial', 'TTY-1']);
    await screen.answer(/Manufacturer:/, 'Acme');
    await screen.answer(/Model:/, 'One');
    expect(withoutColors((await screen.ended).stdout)).toMatch(/Registered DEV-\d+ \(INACTIVE\)/);
    const silent = await devmgrAt(['register', '--type', 'UKEY', '--serial', 'TTY-2', '--no-input']).ended;
    expect(silent.code).toBe(2);
    expect(silent.stdout).toContain('register needs --manufacturer, --model');
  });

  test('checks each answer at its question: register', async () => {
    const screen = devmgrAt(['register']);
    await screen.shows(/Type/);
    screen.type(`bad serial!${keys.enter}`);
    await screen.answer(/Serial number:/, 'bad serial!');
    await screen.shows(/This must/);
    screen.type(ctrl.c);
    const { code, stdout } = await screen.ended;
    expect({ code, asked: withoutColors(stdout).includes('Manufacturer:') }).toEqual({ code: 130, asked: false });
  });

  test('refuses to restore a file that does not exist, before it asks', async () => {
    const { code, stdout } = await devmgrAt(['daemon', 'restore', 'missing.db'], 80, temporaryFolder()).ended;
    expect(code).toBe(1);
    expect(stdout).toContain('missing.db');
    expect(stdout).not.toContain('Replace the registry');
  });

  test('retires a device only after its id was typed', async () => {
    const { deviceId } = await daemon.register('TTY-RETIRE');
    const wrong = devmgrAt(['deactivate', 'TTY-RETIRE', '--reason', 'x']);
    await wrong.answer(/Type DEV-\d+ to continue:/, 'yes');
    const refused = await wrong.ended;
    expect(refused.code).toBe(2);
    expect(refused.stdout).toContain('nothing was changed');
    expect((await daemon.call('GET', `/api/devices/${deviceId}`)).status).toBe('INACTIVE');
    const right = devmgrAt(['deactivate', 'TTY-RETIRE', '--reason', 'x']);
    await right.answer(/Type DEV-\d+ to continue:/, deviceId);
    await right.answer(/administrator's password:/, adminPassword);
    expect((await right.ended).code).toBe(0);
    expect((await daemon.call('GET', `/api/devices/${deviceId}`)).status).toBe('DEACTIVATED');
  });

  test('asks twice for a password that is set, and does nothing if the two differ', async () => {
    const names = async () =>
      (await daemon.call('GET', '/api/users/list')).list.map(({ username }: { username: string }) => username);
    const add = async (again: string) => {
      const screen = devmgrAt(['users', 'add', 'typed-twice', '--role', 'VIEWER']);
      await screen.answer(/Password of typed-twice:/, 'a password of mine');
      await screen.answer(/Password of typed-twice, again:/, again);
      return screen.ended;
    };
    const refused = await add('a password of min');
    expect(refused.code).toBe(2);
    expect(refused.stdout).toContain('the passwords do not match');
    expect(await names()).not.toContain('typed-twice');
    expect((await add('a password of mine')).code).toBe(0);
    expect(await names()).toContain('typed-twice');
  });

  test('ends at Ctrl-C and Ctrl-D at a question', async () => {
    const interrupted = devmgrAt(['login', '--server', daemon.url]);
    await interrupted.until('stdout', /User name:/);
    interrupted.type(ctrl.c);
    expect((await interrupted.ended).code).toBe(130);
    const ended = devmgrAt(['login', '--server', daemon.url]);
    await ended.until('stdout', /User name:/);
    ended.type(ctrl.d);
    expect((await ended.ended).code).toBe(2);
  });

  test('breaks long texts of a device between words', async () => {
    const { deviceId, activationCode } = await daemon.register('WIDE-1');
    const words = Array.from({ length: 30 }, (_, n) => `word${n}`).join(' ');
    await daemon.run(['update', deviceId, '--note', words]);
    await daemon.run(['activate', deviceId, '--code', activationCode, '--user', 'u']);
    await daemon.run(['lock', deviceId, '--reason', words]);
    const { stdout } = await devmgrAt(['show', deviceId], 60).ended;
    for (const line of withoutColors(stdout).split(/\r?\n/)) expect(stringWidth(line)).toBeLessThanOrEqual(60);
    expect(withoutColors(stdout).replaceAll(/\s+/g, ' ').split(words)).toHaveLength(5);
  });

  test('shows the findings of doctor within the width', async () => {
    const { stdout } = await devmgrAt(['doctor'], 60).ended;
    const found = withoutColors(stdout)
      .split(/\r?\n/)
      .filter(line => !/^ {4}(→| {2}\S)/.test(line));
    expect(found.join('\n')).toMatch(/key {8}UKEY[\s\S]*attached\s[^,]*,\s+simulated/);
    for (const line of found) expect(stringWidth(line)).toBeLessThanOrEqual(60);
  });

  test('asks for a missing role and a missing version', async () => {
    const user = devmgrAt(['users', 'add', 'role-asked']);
    await user.answer(/Role:[^?]*VIEWER[^?]*chooses/, 'viewer');
    await user.answer(/Password of role-asked:/, 'a password of mine');
    await user.answer(/Password of role-asked, again:/, 'a password of mine');
    expect((await user.ended).stdout).toMatch(/role:\s+VIEWER/);
    const file = join(temporaryFolder(), 'devmgr.deb');
    writeFileSync(file, 'a package');
    const upload = devmgrAt(['apps', 'add', file]);
    await upload.answer(/Version number, such as 1\.0\.0:/, '7.7.7');
    const { code, stdout } = await upload.ended;
    expect(code).toBe(0);
    expect(withoutColors(stdout)).toMatch(/Uploaded APP-\d+ {2}LINUX 7\.7\.7/);
  });

  test('asks twice for a new password of the user who is logged in', async () => {
    const password = 'a password of mine';
    await daemon.run(['users', 'add', 'own-twice', '--role', 'VIEWER', '--password-stdin'], { input: `${password}\n` });
    const home = temporaryFolder();
    await devmgr(['login', 'own-twice', '--server', daemon.url, '--password-stdin'], { home, input: `${password}\n` });
    const screen = devmgrAt(['users', 'passwd'], 80, home);
    await screen.answer(/Current password:/, password);
    await screen.answer(/New password:/, 'another password');
    await screen.answer(/New password, again:/, 'anoher password');
    const { code, stdout } = await screen.ended;
    expect({ code, told: stdout.includes('the passwords do not match') }).toEqual({ code: 2, told: true });
  });

  test('ends an enrollment at Ctrl-C with a summary', async () => {
    const screen = devmgrAt(['enroll']);
    await screen.until('stdout', /1 done\./);
    screen.type(ctrl.c);
    const { code, stdout } = await screen.ended;
    expect(code).toBe(130);
    expect(stdout).toContain('1 key handled');
    expect(stdout).not.toContain('interrupted');
  });

  test.each([60, 80, 160])('fits a table into %i columns, in colors', async columns => {
    const devices = [
      {
        deviceType: 'SIMKEY',
        serialNumber: `${columns}-${'8'.repeat(55)}`,
        manufacturer: '北京飞天诚信科技有限公司',
        model: 'Ein sehr langer Name eines Modells',
      },
    ];
    await daemon.call('POST', '/api/devices/batch-register', { devices });
    const { code, stdout } = await devmgrAt(['list'], columns).ended;
    expect(code).toBe(0);
    expect(stdout).toContain(`${ESC}[33mINACTIVE`);
    for (const line of withoutColors(stdout).split(/\r?\n/)) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
    expect((await devmgrAt(['list', '--no-color'], columns).ended).stdout).not.toContain(ESC);
  });

  test.each([40, 80])(
    'breaks what tokens add, login --web, enroll --roster and a list report between words, at %i columns',
    async columns => {
      const roster = join(temporaryFolder(), 'people.csv');
      writeFileSync(roster, 'userId,name\nnora,Nora Nordmann\n');
      const web = devmgrAt(['login', '--web', '--server', daemon.url], columns, temporaryFolder());
      await web.shows(/Ctrl-C\s+ends/);
      web.type(ctrl.c);
      const line = devmgrAt(['enroll', '--roster', roster, '--skip-attached'], columns);
      await line.shows(/plug in a key/);
      line.type(ctrl.c);
      const screens = [web, line, devmgrAt(['tokens', 'add', `t${columns}`, '--role', 'VIEWER'], columns)];
      for (const screen of [...screens, devmgrAt(['list'], columns)]) {
        const { stdout } = await screen.ended;
        for (const text of withoutColors(stdout).split(/\r?\n/))
          if (/ /.test(text.trim())) expect(stringWidth(text)).toBeLessThanOrEqual(columns);
      }
      expect(withoutColors((await devmgrAt(['list'], columns).ended).stdout)).toMatch(
        /Not\s+shown: [A-Z, \s]+\. All\s+columns: -o\s+wide/,
      );
    },
  );

  test('draws no list on a terminal that cannot move its cursor', async () => {
    const env = { TERM: 'dumb' };
    const screen = atTerminal([process.execPath, programFile, 'show'], { home: daemon.home, env });
    const { code, stdout } = await screen.ended;
    expect([code, stdout]).toEqual([2, expect.stringMatching(/this terminal cannot show the list[\s\S]*--help/)]);
    expect(stdout).not.toContain(ESC);
  });

  test('breaks the notice below a page between words', async () => {
    const devices = Array.from({ length: 21 }, (_, n) => ({
      deviceType: 'UKEY',
      serialNumber: `PAGE-${n}`,
      manufacturer: 'Acme',
      model: 'One',
    }));
    await daemon.call('POST', '/api/devices/batch-register', { devices });
    const { stdout } = await devmgrAt(['list', '--keyword', 'PAGE-'], 45).ended;
    const lines = withoutColors(stdout).trimEnd().split(/\r?\n/);
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(45);
    expect(lines.slice(-2).join(' ')).toBe('Page 1 of 2 (21 devices). More: --page 2, or --all');
  });

  test('breaks the lines of quickstart between words, and no command', async () => {
    const home = temporaryFolder();
    onTestFinished(async () => void (await devmgr(['daemon', 'stop'], { home })));
    const { code, stdout } = await devmgrAt(['quickstart'], 80, home).ended;
    expect(code).toBe(0);
    // The work under way is drawn again and again in one line.
    const lines = withoutColors(stdout.replaceAll(`${ESC}[1G`, '\n')).split(/[\r\n]+/);
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(80);
    const command = /^ {2}devmgr activate DEV-1 --code \S{19} --user alice$/;
    expect(lines.filter(line => command.test(line))).toHaveLength(1);
  });

  test('breaks an event between its parts if a line has no room for them', async () => {
    const { deviceId, activationCode } = await daemon.register('NARROW-1');
    await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
    await daemon.call('POST', `/api/devices/${deviceId}/lock`, {
      reason: 'lost on the way to the customer, and not found',
    });
    const args = ['watch', '--since', '0', '--type', 'DEVICE_LOCKED', '--device', 'NARROW-1', '--count', '1'];
    const linesAt = async (columns: number) => {
      const lines = withoutColors((await devmgrAt(args, columns).ended).stdout)
        .trim()
        .split(/\r?\n/);
      return lines.slice(lines.findIndex(line => /^\d\d:\d\d:\d\d /.test(line)));
    };
    const [head, ...parts] = await linesAt(60);
    expect(head).toMatch(/^\d\d:\d\d:\d\d {2}#\d+$/);
    expect(parts.length).toBeGreaterThan(1);
    for (const line of parts) expect(line).toMatch(/^ {4}\S.{0,55}$/);
    expect(await linesAt(300)).toHaveLength(1);
  });

  test('shows the progress of a file and removes it at the end', async () => {
    const file = join(temporaryFolder(), 'keys.csv');
    const rows = Array.from({ length: 3_000 }, (_, n) => `UKEY,TTY-FILE-${n},Acme,One`);
    writeFileSync(file, `type,serial,manufacturer,model\n${rows.join('\n')}\n`);
    const { code, stdout } = await devmgrAt(['register', '--file', file, '--batch-size', '5', '--out', `${file}.out`])
      .ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/Registering {2}\d+% {2}[\d,]+ lines {2}[\d,]+ lines\/s {2}\S+ left/);
    // Lines that were read ahead do not count.
    for (const [, percent, done] of stdout.matchAll(/(\d+)% {2}([\d,]+) lines/g))
      expect(
        Math.abs(Number(percent) - Number(done!.replace(',', '')) / 30),
        `${percent} % of ${done} lines`,
      ).toBeLessThan(5);
    const afterwards = stdout.slice(stdout.lastIndexOf('Registering'));
    expect(afterwards).toMatch(/\u001b\[1G\u001b\[0K[\s\S]*3,000 devices registered/);
  });

  test('a dry run shows the first lines of each kind and counts the others', async () => {
    const file = join(temporaryFolder(), 'keys.csv');
    const rows = Array.from({ length: 60 }, (_, n) => `UKEY,DRY-${n},Acme,${n < 30 ? 'One' : ''}`);
    writeFileSync(file, `type,serial,manufacturer,model\n${rows.join('\n')}\n`);
    const { stdout } = await devmgrAt(['register', '--file', file, '--dry-run']).ended;
    const text = withoutColors(stdout);
    expect([text.match(/ new /g)?.length, text.match(/ invalid /g)?.length]).toEqual([20, 20]);
    expect(text).toContain('20 more lines are not shown; --out FILE writes all.');
    expect(text).toMatch(/Dry run: 30 new, 0 already registered, 30 invalid/);
    const piped = await daemon.run(['register', '--file', file, '--dry-run']);
    expect(piped.stdout.trim().split('\n')).toHaveLength(60);
  });

  test.each(['--quiet', '--json'])('shows no progress with %s', async flag => {
    const file = join(temporaryFolder(), 'keys.csv');
    const rows = Array.from({ length: 500 }, (_, n) => `UKEY,TTY${flag}-${n},Acme,One`);
    writeFileSync(file, `type,serial,manufacturer,model\n${rows.join('\n')}\n`);
    const args = ['register', '--file', file, '--batch-size', '1', '--out', `${file}.out`, flag];
    const { code, stdout } = await devmgrAt(args).ended;
    expect({ code, animated: stdout.includes(ESC) }).toEqual({ code: 0, animated: false });
  });

  test('shows help, within the width, if no command is given', async () => {
    const { code, stdout } = await devmgrAt([], 60).ended;
    expect(code).toBe(2);
    for (const line of withoutColors(stdout).split(/\r?\n/)) expect(stringWidth(line)).toBeLessThanOrEqual(60);
  });
});
