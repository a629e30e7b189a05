/** The daemon as a user service: the files that are written, and how a real systemd runs it. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { launchdService } from '../../src/cli/commands/daemon/service/launchd.ts';
import { scheduledTask } from '../../src/cli/commands/daemon/service/scheduled-task.ts';
import { marker, type ServiceFacts } from '../../src/cli/commands/daemon/service/service.ts';
import { systemdService } from '../../src/cli/commands/daemon/service/systemd.ts';
import { needs } from '../support/needs.ts';
import { canRunUserSystemd, withUserSystemd } from '../support/user-systemd.ts';
import { devmgr, programFile, temporaryFolder } from './program.ts';

const oddName = `my "100%" $HOME 'keys' \\n`;

/** A runtime folder without a socket, so that the systemd of the person who runs the tests is not used. */
function nowhere() {
  const home = temporaryFolder();
  const config = join(home, 'config of mine');
  const env = { XDG_RUNTIME_DIR: temporaryFolder(), XDG_CONFIG_HOME: config };
  return { home, env, unit: join(config, 'systemd/user/devmgr.service') };
}

describe('without systemd', () => {
  test('the unit is written, with a notice of what is left to do', async () => {
    const { home, env, unit } = nowhere();
    const first = await devmgr(['daemon', 'install', '--port', '7480'], { home, env });
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining('systemctl --user enable --now') });
    const text = readFileSync(unit, 'utf8');
    expect(text).toContain(marker);
    expect(text).toMatch(/^ExecStart=.* daemon run --home \S+ --json --port=7480$/m);
    const again = await devmgr(['daemon', 'install', '--port', '7480', '--json'], { home, env });
    expect(again.json).toMatchObject({ installed: true, written: false, started: false, file: unit });
    expect(readdirSync(join(unit, '..'))).toEqual(['devmgr.service']);
  });

  test('uninstall deletes the unit, but not the data', async () => {
    const { home, env, unit } = nowhere();
    await devmgr(['daemon', 'install', '--no-start'], { home, env });
    writeFileSync(join(home, 'devmgr.db'), 'data');
    const { code, stderr } = await devmgr(['daemon', 'uninstall'], { home, env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('The service was not running;') });
    expect(existsSync(unit)).toBe(false);
    expect(readFileSync(join(home, 'devmgr.db'), 'utf8')).toBe('data');
    expect((await devmgr(['daemon', 'uninstall', '--json'], { home, env })).json).toMatchObject({ removed: false });
  });

  test('a unit that devmgr did not write is neither replaced nor deleted', async () => {
    const { home, env, unit } = nowhere();
    mkdirSync(join(unit, '..'), { recursive: true });
    writeFileSync(unit, '[Service]\nExecStart=/bin/true\n');
    for (const verb of ['install', 'uninstall']) {
      const { code, stderr } = await devmgr(['daemon', verb], { home, env });
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('was not written by devmgr') });
    }
    expect(readFileSync(unit, 'utf8')).toContain('/bin/true');
  });

  test('--print shows the unit and writes nothing', async () => {
    const { home, env } = nowhere();
    const { code, stdout } = await devmgr(['daemon', 'install', '--print'], { home, env });
    expect(code).toBe(0);
    expect(stdout).toContain('[Install]');
    expect(readdirSync(home)).toEqual([]);
  });
});

const template = readFileSync('packaging/systemd/devmgr-user.service', 'utf8');
const facts: ServiceFacts = {
  program: [process.execPath, `/opt/${oddName}/devmgr.cjs`, 'daemon'],
  args: ['--allow-host=a&b'],
  home: `/home/me/${oddName}`,
  userHome: '/home/me',
  userId: 501,
  userName: 'OFFICE\\me',
  env: {},
};

describe('the unit', () => {
  test('is the packaged one, except for the program', () => {
    const { text, file } = systemdService(facts, template);
    expect(file).toBe('/home/me/.config/systemd/user/devmgr.service');
    const others = (unit: string) => unit.split('\n').filter(line => !/^(#|ExecStart=)/.test(line));
    expect(others(text)).toEqual(others(template));
  });

  needs('systemd-analyze', 'systemd')('in the eyes of systemd', () => {
    test('is valid for any folder name', () => {
      const file = join(temporaryFolder(), 'devmgr.service');
      writeFileSync(file, systemdService(facts, template).text);
      const call = ['verify', '--man=no', '--recursive-errors=no', file];
      const { status, stdout, stderr } = spawnSync('systemd-analyze', call, { encoding: 'utf8' });
      expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
    });
  });
});

describe.runIf(canRunUserSystemd)('under a real systemd', () => {
  test('the service starts, restarts after a crash, accepts new options, and leaves only the data when it is removed', () => {
    const user = temporaryFolder();
    const home = join(user, oddName);
    const script = `
      devmgr() { '${process.execPath}' '${programFile}' "$@"; }
      devmgr daemon start --port 0 --quiet
      devmgr daemon install --port 0
      devmgr daemon status --json >first.json
      systemctl --user is-enabled devmgr
      kill -9 "$(systemctl --user show -P MainPID devmgr)"
      until [ "$(systemctl --user show -P NRestarts devmgr)" = 1 ] && devmgr daemon status --json >second.json; do sleep 0.1; done
      devmgr daemon install --port 0 --simulate-keys 1 --json >third.json
      systemctl --user show -P ExecStart devmgr >words
      devmgr daemon uninstall
      systemctl --user is-active devmgr || true
      devmgr daemon status --json >last.json || true`;
    const env = { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, HOME: user, DEVMGR_HOME: home, DEVMGR_NO_KEYCHAIN: '1' };
    const { code, stdout, stderr } = withUserSystemd(`cd '${user}'\n${script}`, env);
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('The service was stopped, and'),
    });
    expect(stdout).toMatch(/^enabled\ninactive\n$/m);
    const read = (name: string) => JSON.parse(readFileSync(join(user, name), 'utf8'));
    const [first, second, third] = ['first.json', 'second.json', 'third.json'].map(read);
    expect(new Set([first.pid, second.pid, third.pid]).size).toBe(3);
    expect(third).toMatchObject({ written: true, started: true });
    expect(readFileSync(join(user, 'words'), 'utf8')).toContain(' --json --port=0 --simulate-keys=1 ');
    expect(read('last.json')).toMatchObject({ running: false });
    expect(existsSync(join(user, '.config/systemd/user/devmgr.service'))).toBe(false);
    expect(readdirSync(home)).toEqual(expect.arrayContaining(['devmgr.db', 'journal-key']));
  });
});

describe('other systems', () => {
  test('launchd: a property list with every argument intact', () => {
    const { text, file, start, tested } = launchdService(facts);
    expect(text).toContain(marker);
    expect(tested).toBe(false);
    expect(file).toBe('/home/me/Library/LaunchAgents/devmgr.daemon.plist');
    expect(wordsOf(text)).toEqual([...facts.program, 'run', '--home', facts.home, '--json', ...facts.args]);
    expect(start.at(-1)).toEqual(['launchctl', 'bootstrap', 'gui/501', file]);
  });

  test('launchd: each key is one of launchd.plist(5), with a value of its type', () => {
    const { text } = launchdService(facts);
    const types: Record<string, RegExp> = {
      Label: /^<string>/,
      ProgramArguments: /^<array>/,
      RunAtLoad: /^<true\/>/,
      KeepAlive: /^<dict><key>SuccessfulExit<\/key><false\/>/,
      // KeepAlive has it.
      SuccessfulExit: /^<false\/>/,
      ThrottleInterval: /^<integer>\d+</,
      ExitTimeOut: /^<integer>\d+</,
      ProcessType: /^<string>Background</,
      // Decimal for 077: a property list has no octal numbers.
      Umask: /^<integer>63</,
      StandardOutPath: /^<string>\//,
      StandardErrorPath: /^<string>\//,
    };
    const entries = [...text.matchAll(/<key>(\w+)<\/key>\s*/g)];
    expect(entries.map(([, key]) => key).sort()).toEqual(Object.keys(types).sort());
    for (const { 0: whole, 1: key, index } of entries) expect(text.slice(index + whole.length)).toMatch(types[key!]!);
  });

  test('Windows: a task of this user, whose arguments are parsed back unchanged', () => {
    const home = 'C:\\Users\\me & you\\keys\\';
    const { text, tested, encoding } = scheduledTask({ ...facts, program: ['C:\\devmgr.exe', 'daemon'], home });
    expect({ tested, encoding }).toEqual({ tested: false, encoding: 'utf16le' });
    expect(text).toContain(marker);
    const line = xmlText(/<Arguments>(.*)<\/Arguments>/.exec(text)![1]!);
    expect(line).toBe('daemon start --home "C:\\Users\\me & you\\keys\\\\" --allow-host=a&b');
    expect(text).toContain('<UserId>OFFICE\\me</UserId>');
  });
});

const xmlText = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

const wordsOf = (plist: string) =>
  [.../<array>([\s\S]*)<\/array>/.exec(plist)![1]!.matchAll(/<string>(.*)<\/string>/g)].map(([, word]) =>
    xmlText(word!),
  );
