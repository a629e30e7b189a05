/** Logins that a user or an administrator ends, and what the command line makes of its own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminPassword, type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const addUser = (username: string) =>
  daemon.call('POST', '/api/users', { username, password: adminPassword, role: 'VIEWER' });

/** A home in which the user is logged in. */
async function loggedIn(username: string): Promise<string> {
  const home = temporaryFolder();
  const args = ['login', username, '--password-stdin', '--server', daemon.url];
  expect((await devmgr(args, { home, input: adminPassword })).code).toBe(0);
  return home;
}

test('who changes the own password stays logged in where it was changed, and nowhere else', async () => {
  await addUser('own-password');
  const [here, there] = [await loggedIn('own-password'), await loggedIn('own-password')];
  const input = `${adminPassword}\nanother password\n`;
  const changed = await devmgr(['users', 'passwd', '--password-stdin'], { home: here, input });
  expect(changed).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('You are logged in with the new password'),
  });
  expect((await devmgr(['whoami'], { home: here })).code).toBe(0);
  expect((await devmgr(['whoami'], { home: there })).code).toBe(3);
});

test('who changes the own password with a token of the environment is told that it has ended', async () => {
  await addUser('own-token');
  const home = await loggedIn('own-token');
  const { default: logins } = JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8'));
  const env = { DEVMGR_TOKEN: logins[daemon.url].token };
  const input = `${adminPassword}\nanother password\n`;
  const { code, stderr } = await devmgr(['users', 'passwd', '--password-stdin'], { home, input, env });
  expect(code).toBe(0);
  expect(stderr).toContain('DEVMGR_TOKEN needs a new token');
});

test('users are logged out everywhere by an administrator, by name or by id, and can log in again', async () => {
  const { id } = await addUser('lost-token');
  for (const name of ['lost-token', id]) {
    const home = await loggedIn('lost-token');
    expect((await devmgr(['whoami'], { home })).code).toBe(0);
    const { json, stdout } = await daemon.run(['users', 'logout', name, '--json']);
    expect(stdout.split('\n')).toHaveLength(2);
    expect(json).toMatchObject({ id, username: 'lost-token', disabled: false });
    expect((await devmgr(['whoami'], { home })).code).toBe(3);
  }
  expect((await daemon.run(['whoami'])).code).toBe(0);
  expect((await daemon.run(['users', 'logout', 'nobody-of-that-name'])).code).toBe(5);
  expect((await daemon.run(['users', 'logout', 'USR-999999'])).code).toBe(5);
});

test('users log themselves out everywhere, and are told that this login has ended too', async () => {
  await addUser('tired');
  const [here, there] = [await loggedIn('tired'), await loggedIn('tired')];
  expect((await devmgr(['users', 'logout', 'admin'], { home: here })).code).toBe(4);
  const { code, stderr } = await devmgr(['users', 'logout'], { home: here });
  expect(code).toBe(0);
  expect(stderr).toContain('devmgr login');
  for (const home of [here, there]) expect((await devmgr(['whoami'], { home })).code).toBe(3);
});

test('a password that would cross a network unencrypted is warned of; on this machine it is not', async () => {
  const login = (server: string, ...more: string[]) =>
    devmgr(['login', 'admin', '--password-stdin', '--server', server, ...more], { input: adminPassword });
  expect((await login(daemon.url)).stderr).not.toContain('not encrypted');
  // Not a name of this machine, though it leads there.
  const elsewhere = daemon.url.replace('127.0.0.1', '0.0.0.0');
  expect((await login(elsewhere.replace('http://', ''))).stderr).toContain('is not encrypted');
  expect((await login(elsewhere, '--json')).stderr).not.toContain('is not encrypted');
});
