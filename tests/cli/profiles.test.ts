/** Settings and logins under a name. A mistyped name is an error, not an empty profile. */
import { chmodSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { tryLock, withLock } from '../../src/cli/settings/file-lock.ts';
import { chooseProfile, configFile, readConfig, storeSetting } from '../../src/cli/settings/profiles.ts';
import { adminPassword, type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

test.each([['whoami'], ['list'], ['logout'], ['config'], ['config', 'get', 'server'], ['doctor']])(
  '%s %s of a profile that does not exist is a usage error that lists those that do and explains how to create one',
  async (...args) => {
    const home = temporaryFolder();
    await devmgr(['config', 'set', 'server', daemon.url, '--profile', 'work'], { home });
    const { code, stdout, stderr } = await devmgr([...args.filter(Boolean), '--profile', 'wrok'], { home });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('there is no profile "wrok", only default, work');
    expect(stderr).toContain('devmgr login --profile wrok --server URL');
  },
);

test('config use refuses a profile that does not exist', async () => {
  const home = temporaryFolder();
  expect((await devmgr(['config', 'use', 'nowhere'], { home })).code).toBe(2);
  expect((await devmgr(['config', '--json'], { home })).json.profile).toBe('default');
});

test('a login creates its profile, also for the local daemon, and so does a setting', async () => {
  const home = temporaryFolder();
  const env = { DEVMGR_SERVER: daemon.url };
  const login = ['login', 'admin', '--password-stdin', '--profile', 'by-login'];
  expect((await devmgr(login, { home, env, input: adminPassword })).code).toBe(0);
  expect((await devmgr(['whoami', '--profile', 'by-login'], { home, env })).code).toBe(0);
  expect((await devmgr(['config', 'set', 'username', 'admin', '--profile', 'by-setting'], { home })).code).toBe(0);
  expect((await devmgr(['config', '--profile', 'by-setting'], { home })).code).toBe(0);
  const names = (await devmgr(['config', 'profiles', '--quiet'], { home })).stdout;
  expect(names).toBe('by-login\nby-setting\ndefault\n');
});

test('the default profile always exists', async () => {
  expect((await devmgr(['config', '--profile', 'default'])).code).toBe(0);
});

describe('the settings file', () => {
  test('keeps the settings that 12 processes store at the same time', async () => {
    const home = temporaryFolder();
    const names = Array.from({ length: 12 }, (_, n) => `station-${n}`);
    const codes = names.map(name => devmgr(['config', 'set', 'username', name, '--profile', name], { home }));
    expect((await Promise.all(codes)).map(({ code }) => code)).toEqual(names.map(() => 0));
    const { profiles } = readConfig(home);
    expect(profiles).toEqual(Object.fromEntries(names.map(name => [name, { username: name }])));
  });

  test('keeps the logins of 6 profiles that log in at the same time', async () => {
    const home = temporaryFolder();
    const names = Array.from({ length: 6 }, (_, n) => `station-${n}`);
    const login = ['login', 'admin', '--password-stdin', '--server', daemon.url];
    const runs = names.map(name => devmgr([...login, '--profile', name], { home, input: adminPassword }));
    expect((await Promise.all(runs)).map(({ code }) => code)).toEqual(names.map(() => 0));
    expect(Object.keys(JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8'))).sort()).toEqual(names);
    expect((await devmgr(['config', 'profiles', '--quiet'], { home })).stdout).toBe(`default\n${names.join('\n')}\n`);
  });

  test('is readable by its user only, and keeps what a newer version has stored in it', async () => {
    const home = temporaryFolder();
    const stored = { profile: 'work', profiles: { work: { server: 'http://a', color: 'blue' } }, newer: [1] };
    writeFileSync(configFile(home), JSON.stringify(stored));
    chmodSync(configFile(home), 0o644);
    await storeSetting(home, 'work', 'username', 'alice');
    await chooseProfile(home, 'default');
    expect(statSync(configFile(home)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(configFile(home), 'utf8'))).toEqual({
      profile: 'default',
      profiles: { work: { server: 'http://a', color: 'blue', username: 'alice' } },
      newer: [1],
    });
  });

  test.each(['{"profile":7}', '{"profiles":[]}', '{"profiles":{"a":7}}', '{"profiles":{"a":{"server":7}}}', '[]', '{'])(
    'is damaged if it contains %s, and is not overwritten',
    async text => {
      const home = temporaryFolder();
      writeFileSync(configFile(home), text);
      expect(() => readConfig(home)).toThrow('config.json is damaged');
      await expect(storeSetting(home, 'a', 'server', 'http://a')).rejects.toThrow('config.json is damaged');
      expect(readFileSync(configFile(home), 'utf8')).toBe(text);
    },
  );

  test('is stored without leaving handlers of signals: Ctrl-C would count twice', async () => {
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    const handlers = () => signals.map(name => process.listenerCount(name));
    const before = handlers();
    await storeSetting(temporaryFolder(), 'default', 'username', 'alice');
    expect(handlers()).toEqual(before);
  });

  test('below a folder that cannot hold one is an error in words', async () => {
    const { code, stderr } = await devmgr(['config', 'set', 'username', 'a'], { home: '/proc/devmgr/home' });
    expect(code).toBe(1);
    expect(stderr).toContain('cannot write /proc/devmgr/home/config.json');
  });
});

describe('a lock between processes', () => {
  /** A process id that no process has: the largest one that Linux can give is 2^22. */
  const gone = 2 ** 22 + 1;

  test('is held by one at a time, and names its holder', () => {
    const file = join(temporaryFolder(), 'a.lock');
    const first = tryLock(file);
    expect(tryLock(file)).toEqual({ pid: process.pid });
    if ('release' in first) first.release();
    expect(tryLock(file)).toHaveProperty('release');
  });

  test('is taken over if its process is gone, but not while it may have just changed hands', () => {
    const file = join(temporaryFolder(), 'a.lock');
    writeFileSync(file, `${gone} -\n`);
    expect(tryLock(file, 60_000)).toEqual({ pid: gone });
    const old = new Date(Date.now() - 120_000);
    utimesSync(file, old, old);
    expect(tryLock(file, 60_000)).toHaveProperty('release');
  });

  test('is taken over if another process has the id of its holder by now', () => {
    const file = join(temporaryFolder(), 'a.lock');
    writeFileSync(file, `${process.pid} another-start\n`);
    expect(tryLock(file)).toHaveProperty('release');
  });

  test('is waited for, and not forever', async () => {
    const file = join(temporaryFolder(), 'a.lock');
    const first = tryLock(file);
    const second = withLock(file, () => 'mine');
    if ('release' in first) first.release();
    expect(await second).toBe('mine');
    tryLock(file);
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const message = `a.lock is locked by process ${process.pid}`;
    const third = expect(withLock(file, () => 'mine', 500)).rejects.toThrow(message);
    vi.setSystemTime(Date.now() + 60_000);
    await third;
  });
});
