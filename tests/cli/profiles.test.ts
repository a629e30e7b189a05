/** Profiles: settings and logins under a name. A mistyped name is not an empty profile. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminPassword, type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

test.each([['whoami'], ['list'], ['logout'], ['config'], ['config', 'get', 'server'], ['doctor']])(
  '%s %s with an unknown profile is a usage error that lists the profiles and how to create one',
  async (...args) => {
    const home = temporaryFolder();
    await devmgr(['config', 'set', 'server', daemon.url, '--profile', 'work'], { home });
    const { code, stdout, stderr } = await devmgr([...args.filter(Boolean), '--profile', 'wrok'], { home });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('there is no profile "wrok", only default, work');
    expect(stderr).toContain('devmgr login --profile wrok --server URL');
  },
);

test('config use rejects an unknown profile', async () => {
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
