/** Logins that a user or an administrator ends. */
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

test('users who change their password stay logged in there, and nowhere else', async () => {
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

test('users who change their password with DEVMGR_TOKEN are warned that the token is invalid', async () => {
  await addUser('own-token');
  const home = await loggedIn('own-token');
  const { default: logins } = JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8'));
  const env = { DEVMGR_TOKEN: logins[daemon.url].token };
  const input = `${adminPassword}\nanother password\n`;
  const { code, stderr } = await devmgr(['users', 'passwd', '--password-stdin'], { home, input, env });
  expect(code).toBe(0);
  expect(stderr).toContain('DEVMGR_TOKEN needs a new token');
});

test('an administrator logs a user out everywhere, by name or by id, and the user can log in again', async () => {
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
  expect((await daemon.run(['users', 'logout', 'no-such-user'])).code).toBe(5);
  expect((await daemon.run(['users', 'logout', 'USR-999999'])).code).toBe(5);
});

test('users log themselves out everywhere, with a notice that this login has ended, too', async () => {
  await addUser('tired');
  const [here, there] = [await loggedIn('tired'), await loggedIn('tired')];
  expect((await devmgr(['users', 'logout', 'admin'], { home: here })).code).toBe(4);
  const { code, stderr } = await devmgr(['users', 'logout'], { home: here });
  expect(code).toBe(0);
  expect(stderr).toContain('devmgr login');
  for (const home of [here, there]) expect((await devmgr(['whoami'], { home })).code).toBe(3);
});

test('a login over unencrypted HTTP shows a warning, except on this machine', async () => {
  const login = (server: string, ...more: string[]) =>
    devmgr(['login', 'admin', '--password-stdin', '--server', server, ...more], { input: adminPassword });
  expect((await login(daemon.url)).stderr).not.toContain('not encrypted');
  // Not a loopback name, though it resolves to this machine.
  const elsewhere = daemon.url.replace('127.0.0.1', '0.0.0.0');
  expect((await login(elsewhere.replace('http://', ''))).stderr).toContain('is not encrypted');
  expect((await login(elsewhere, '--json')).stderr).not.toContain('is not encrypted');
});
