/** Values that were copied or written by an editor: tokens, passwords and addresses with something around them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminPassword, type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

async function token(): Promise<string> {
  const home = temporaryFolder();
  const args = ['login', 'admin', '--password-stdin', '--server', daemon.url];
  expect(await devmgr(args, { home, input: adminPassword })).toMatchObject({ code: 0 });
  return JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8')).default[daemon.url].token;
}

const asked = (value: string) =>
  devmgr(['whoami', '--server', daemon.url], { home: temporaryFolder(), env: { DEVMGR_TOKEN: value } });

test.each(['\r', '\r\n', ' '])('a token in the environment that ends with %j is used without it', async end => {
  expect(await asked(`${await token()}${end}`)).toMatchObject({ code: 0 });
});

test('a token in typographic quotes is refused before anything is sent, and is not shown', async () => {
  const value = await token();
  const { code, stderr } = await asked(`“${value}”`);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('DEVMGR_TOKEN has a character that no token has, at position 1'),
  });
  expect(stderr).not.toContain(value.slice(0, 20));
});

test('a byte order mark is not part of a password, in a file or on standard input', async () => {
  const file = join(temporaryFolder(), 'password');
  writeFileSync(file, `\ufeff${adminPassword}\r\n`, { mode: 0o600 });
  const login = ['login', 'admin', '--server', daemon.url];
  for (const [flags, input] of [
    [['--password-file', file], ''],
    [['--password-stdin'], `\ufeff${adminPassword}\r\n`],
  ] as const)
    expect(await devmgr([...login, ...flags], { home: temporaryFolder(), input })).toMatchObject({ code: 0 });
});

test('the address of the console is that of its server', async () => {
  const home = temporaryFolder();
  const args = ['login', 'admin', '--password-stdin', '--server', `${daemon.url}/console/devices/DEV-1`];
  expect(await devmgr(args, { home, input: adminPassword })).toMatchObject({ code: 0 });
  expect(Object.keys(JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8')).default)).toEqual([daemon.url]);
});

test('a home folder that depends on the working directory is refused', async () => {
  const env = { HOME: 'relative', DEVMGR_HOME: undefined, XDG_DATA_HOME: undefined };
  const { code, stderr } = await devmgr(['whoami'], { env, cwd: temporaryFolder() });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('relative, is not an absolute path') });
});

test('for a serial number that begins with a hyphen, the error shows how it is named', async () => {
  const { code, stderr } = await devmgr(['show', '-X1']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('devmgr show -- NAME') });
});

test('a group without a command shows the options that its help shows', async () => {
  const [alone, helped] = [await devmgr(['webhooks']), await devmgr(['webhooks', '--help'])];
  expect(alone.stderr + alone.stdout).toContain(helped.stdout.slice(helped.stdout.indexOf('Global options:')));
});
