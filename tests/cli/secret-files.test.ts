/** Files with secrets that flags name: one that others can read or change, or that another user owns, is reported. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

function fileOf(mode: number): string {
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, 'AGE-SECRET-KEY-1\nsecond\n');
  chmodSync(file, mode);
  return file;
}

/** The text on standard error about the file of its flag. */
async function warningOf(file: string, ...args: string[]): Promise<string | undefined> {
  const { stderr } = await devmgr([...args, file, '--server', daemon.url], { home: daemon.home });
  expect(stderr).not.toContain('AGE-SECRET-KEY');
  return stderr.split('\n').find(line => line.startsWith('warning: '));
}

const login = ['login', 'admin', '--password-file'];

test.runIf(process.platform !== 'win32').each<[string, ...string[]]>([
  ['password', ...login],
  ['password', 'users', 'passwd', '--password-file'],
  ['secret', 'webhooks', 'add', 'https://hooks.example.com/x', '--secret-file'],
  ['secret', 'watch', '--forward-to', 'http://127.0.0.1:1', '--secret-file'],
  [
    'secret',
    'providers',
    'add',
    'oidc',
    'x',
    '--issuer',
    'https://login.example.com',
    '--client-id',
    'x',
    '--client-secret-file',
  ],
  [
    'secret',
    'providers',
    'add',
    'ldap',
    'x',
    'ldap://127.0.0.1:1',
    '--base',
    'dc=x',
    '--bind-dn',
    'cn=x',
    '--bind-password-file',
  ],
  ['secret', 'providers', 'add', 'okta', 'o', '--address', 'https://example.okta.com', '--secret-file'],
  ['passphrase', 'daemon', 'backup', '/nowhere/line.age', '--passphrase-file'],
  ['passphrase', 'daemon', 'restore', '/nowhere/line.age', '--yes', '--passphrase-file'],
  ['identity', 'daemon', 'restore', '/nowhere/line.age', '--yes', '--identity-file'],
])('a %s that others can read is reported by %s %s', async (what, ...args) => {
  const file = fileOf(0o644);
  expect(await warningOf(file, ...args)).toBe(
    `warning: other users can read the ${what} in ${file}: chmod 600 ${file}, and consider a new ${what}`,
  );
  expect(await warningOf(fileOf(0o600), ...args)).toBeUndefined();
});

test.runIf(process.platform !== 'win32')('a file that others can only execute is not reported', async () => {
  expect(await warningOf(fileOf(0o711), ...login)).toBeUndefined();
});

test('a file that cannot be looked at is a fault of its command', async () => {
  const passphrase = join(fileOf(0o600), 'below-a-file');
  const args = ['daemon', 'backup', '/nowhere/line.age', '--passphrase-file', passphrase];
  const { code, stderr } = await devmgr(args, { home: daemon.home });
  expect([code, stderr]).toEqual([2, expect.stringContaining(`${passphrase} cannot be read`)]);
});

test.runIf(process.platform !== 'win32')('a file that others can only change is reported', async () => {
  expect(await warningOf(fileOf(0o620), ...login)).toContain('other users can change the password in');
});

test.runIf(process.platform !== 'win32')('with --json, standard error holds the error alone', async () => {
  const args = [...login, fileOf(0o644), '--server', daemon.url, '--json'];
  const { stderr } = await devmgr(args, { home: daemon.home });
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: expect.any(Number) } });
});

test.runIf(process.getuid?.() === 0)('a file of another user is reported, and refused as a token', async () => {
  const file = fileOf(0o600);
  chownSync(file, 65_534, 65_534);
  expect(await warningOf(file, ...login)).toContain('another user (uid 65534) owns the password in');
  expect(await devmgr(['login', '--token-file', file, '--server', daemon.url])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('another user (uid 65534) owns the token in'),
  });
});

test.runIf(process.platform !== 'win32')('a pipe is accepted as it is', async () => {
  const pipe = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', ['-m', '666', pipe]);
  const asked = warningOf(pipe, ...login);
  // Its writer keeps it open: the first line is enough.
  const writer = openSync(pipe, 'w');
  writeSync(writer, 'not the password\n');
  expect(await asked).toBeUndefined();
  closeSync(writer);
});
