/** Service tokens on the command line: created, used, listed, revoked, and never shown again. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Redactor } from '../../src/cli/commands/doctor/redact.ts';
import { scimCheck } from '../../src/cli/commands/doctor/sources.ts';
import type { ServiceToken } from '../../src/contract/tokens.ts';
import { type Daemon, devmgr, discard, type Finished, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

let made = 0;
async function add(...flags: string[]): Promise<{ name: string; token: string; finished: Finished }> {
  const name = `station-${++made}`;
  const finished = await daemon.run(['tokens', 'add', name, '--role', 'DEALER', ...flags]);
  expect(finished).toMatchObject({ code: 0 });
  return { name, token: finished.stdout.trim(), finished };
}

/** A file that only its owner can read. */
function fileOf(token: string, mode = 0o600): string {
  const file = join(temporaryFolder(), 'line.token');
  writeFileSync(file, `${token}\n`);
  chmodSync(file, mode);
  return file;
}

describe('tokens add', () => {
  test('writes the token alone to standard output, and what it is to standard error', async () => {
    const { name, token, finished } = await add();
    expect(finished.stdout).toMatch(/^devmgr_[0-9A-Za-z]{49}\n$/);
    expect(finished.stderr).toMatch(new RegExp(`TOK-\\d+ ${name} \\(DEALER\\) is valid until .*not shown again`));
    expect(finished.stderr).not.toContain(token);
  });

  test('writes the response with --json, and sends days and networks', async () => {
    const flags = ['--expires-in-days', '7', '--allowed-from', '10.0.0.0/8', '--allowed-from', '2001:db8::/32'];
    const { json } = await daemon.run(['tokens', 'add', 'in-json', '--role', 'viewer', ...flags, '--json']);
    expect(json).toMatchObject({ name: 'in-json', role: 'VIEWER', token: expect.stringMatching(/^devmgr_/) });
    expect(Math.round((Date.parse(json.expiresAt) - Date.now()) / 86_400_000)).toBe(7);
    const { list } = (await daemon.run(['tokens', 'list', '--json'])).json;
    expect(list[0]).toMatchObject({ name: 'in-json', allowedFrom: ['10.0.0.0/8', '2001:db8::/32'] });
  });

  test('names the flag that is wrong', async () => {
    const wrong = ['tokens', 'add', 'wrong', '--role', 'DEALER'];
    const network = await daemon.run([...wrong, '--allowed-from', '10.0.0.1']);
    expect(network).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('allowed-from') });
    expect(await daemon.run([...wrong, '--expires-in-days', '366'])).toMatchObject({ code: 2, stdout: '' });
    const { name } = await add();
    const twice = await daemon.run(['tokens', 'add', name, '--role', 'DEALER']);
    expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining(`${name} already exists`) });
  });
});

describe('tokens list and revoke', () => {
  test('say that there is no token', async () => {
    const empty = await startDaemon();
    onTestFinished(() => discard(empty));
    const { stdout, stderr } = await empty.run(['tokens', 'list']);
    expect({ stdout, stderr }).toEqual({ stdout: '', stderr: 'There is no service token.\n' });
  });

  test('show each token without its text, and revoke it by name or id', async () => {
    const { name, token } = await add();
    const list = async () => (await daemon.run(['tokens', 'list'])).stdout;
    const row = (text: string) => text.split('\n').find(line => line.includes(name));
    expect(row(await list())).toMatch(/valid/);
    const revoked = await daemon.run(['tokens', 'remove', name, '--json']);
    expect(revoked.json).toMatchObject({ name, revokedAt: expect.any(String) });
    expect(row(await list())).toMatch(/revoked/);
    expect((await daemon.run(['tokens', 'remove', revoked.json.tokenId])).stdout).toContain('is revoked');
    const csv = (await daemon.run(['tokens', 'list', '--csv'])).stdout;
    expect(csv).toMatch(/^tokenId,name,role,createdBy,createdAt,expiresAt,lastUsedAt,revokedAt,allowedFrom,may\r?\n/);
    for (const text of [await list(), csv, JSON.stringify(revoked.json)]) expect(text).not.toContain(token.slice(7));
  });

  test('an unknown token has exit code 5, and a token that was typed instead of its name is not repeated', async () => {
    expect(await daemon.run(['tokens', 'remove', 'TOK-999'])).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/TOK-999[\s\S]*devmgr tokens list/),
    });
    const { token } = await add();
    const { code, stderr } = await daemon.run(['tokens', 'remove', token]);
    expect(code).toBe(5);
    expect(stderr).not.toContain(token.slice(0, 20));
  });
});

describe('login --token-file', () => {
  const here = (...args: string[]) => [...args, '--server', daemon.url];

  test('stores the token for the profile, and the next commands use it', async () => {
    const { name, token } = await add();
    const home = temporaryFolder();
    const login = await devmgr(here('login', '--token-file', fileOf(token)), { home });
    expect(login).toMatchObject({ code: 0, stdout: expect.stringContaining(`Logged in as token:${name} (DEALER)`) });
    expect(login.stdout + login.stderr).not.toContain(token.slice(7));
    expect((await devmgr(['whoami', '--json'], { home })).json).toMatchObject({
      username: `token:${name}`,
      role: 'DEALER',
      expiresAt: expect.any(String),
    });
    const whoami = await devmgr(['whoami', '--verbose'], { home });
    expect(whoami.stdout).toMatch(/valid until/);
    expect(whoami.stderr).not.toMatch(/auth\/refresh/);
    expect((await devmgr(['list'], { home })).code).toBe(0);
    expect((await devmgr(['doctor'], { home })).stdout).toContain(`token:${name} (DEALER)`);
    const stored = JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8'));
    expect(stored.default[daemon.url]).toMatchObject({ token, username: `token:${name}` });
    expect((await devmgr(['logout'], { home })).code).toBe(0);
    expect((await devmgr(['list'], { home })).code).toBe(3);
  });

  test('reads standard input, and writes the same JSON as a login with a password', async () => {
    const { name, token } = await add();
    const { json } = await devmgr(here('login', '--token-file', '-', '--json'), { input: `${token}\n` });
    expect(json).toEqual({
      expireTime: expect.any(String),
      user: { id: expect.stringMatching(/^TOK-/), username: `token:${name}`, role: 'DEALER', email: null },
    });
  });

  test.runIf(process.platform !== 'win32')('refuses a file that others can read', async () => {
    const { token } = await add();
    for (const mode of [0o640, 0o604, 0o644]) {
      const file = fileOf(token, mode);
      const home = temporaryFolder();
      const login = await devmgr(here('login', '--token-file', file), { home });
      expect(login).toMatchObject({ code: 2, stdout: '' });
      expect(login.stderr).toContain(`other users can read the token in ${file}`);
      expect(login.stderr).toContain('chmod 600');
      expect((await devmgr(here('list'), { home })).code).toBe(3);
    }
  });

  test('refuses what is not a token, is missing, or was revoked, and does not show it', async () => {
    const secret = 'the password, by mistake';
    const notToken = await devmgr(here('login', '--token-file', fileOf(secret)), {});
    expect(notToken).toMatchObject({ code: 2, stderr: expect.stringContaining('does not contain a token') });
    expect(notToken.stderr).not.toContain(secret);
    const missing = await devmgr(here('login', '--token-file', '/nowhere/line.token'));
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('it does not exist') });
    const { name, token } = await add();
    await daemon.run(['tokens', 'remove', name]);
    const revoked = await devmgr(here('login', '--token-file', fileOf(token)));
    expect(revoked).toMatchObject({ code: 3, stderr: expect.stringContaining('was revoked') });
    expect(revoked.stderr).not.toContain(token.slice(7));
  });

  test('takes neither a user name nor a password', async () => {
    const file = fileOf('devmgr_x');
    for (const more of [['admin'], ['--username', 'admin'], ['--password-stdin']])
      expect(await devmgr(here('login', '--token-file', file, ...more))).toMatchObject({ code: 2 });
  });
});

describe('DEVMGR_TOKEN with a service token', () => {
  test('is used once and stored nowhere', async () => {
    const { name, token } = await add();
    const home = temporaryFolder();
    const env = { DEVMGR_TOKEN: token, DEVMGR_SERVER: daemon.url };
    const whoami = await devmgr(['whoami', '--verbose'], { home, env });
    expect(whoami.stdout).toMatch(new RegExp(`token:${name} \\(DEALER\\)[\\s\\S]*DEVMGR_TOKEN`));
    expect(whoami.stdout + whoami.stderr).not.toContain(token.slice(7));
    expect((await devmgr(['list', '--server', daemon.url], { home })).code).toBe(3);
  });

  test('may not change users, passwords or tokens: exit code 4', async () => {
    const { stdout } = await daemon.run(['tokens', 'add', 'not-for-people', '--role', 'ADMIN']);
    const env = { DEVMGR_TOKEN: stdout.trim(), DEVMGR_SERVER: daemon.url };
    for (const args of [
      ['tokens', 'add', 'more', '--role', 'ADMIN'],
      ['tokens', 'remove', 'TOK-1'],
      ['users', 'update', 'USR-1', '--email', 'eve@example.com'],
      ['users', 'logout'],
    ])
      expect(await devmgr(args, { env })).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('a service token is not allowed to do this'),
      });
    const passwd = await devmgr(['users', 'passwd'], { env });
    expect(passwd).toMatchObject({ code: 2, stderr: expect.stringContaining('has no password') });
  });
});

test('a report of doctor has no service token', async () => {
  const { token } = await add();
  const redactor = new Redactor();
  for (const text of [token, `Bearer ${token}`, `the token ${token} was refused`, `{"x":"${token}"}`])
    expect(redactor.text(text)).not.toContain(token.slice(7));
});

test('doctor names tokens of providers that report no leavers, because they are unused or have expired, and those with a role that they do not need', () => {
  const now = Date.UTC(2026, 10, 23);
  const days = (count: number) => new Date(now + count * 86_400_000).toISOString();
  const found = (more: Partial<ServiceToken>) => {
    const token = {
      name: 'okta',
      role: 'VIEWER',
      createdAt: days(-30),
      expiresAt: days(30),
      lastUsedAt: null,
      ...more,
    } as ServiceToken;
    const { state, detail, fix } = scimCheck({ serverFlags: '' }, token, now);
    return `${state}: ${detail}. ${fix}`;
  };
  expect(found({ lastUsedAt: days(-1) })).toContain('ok: token okta, last used');
  expect(found({ createdAt: days(-1) })).toContain('ok: token okta, never used');
  expect(found({})).toMatch(/^warning: token okta, never used: the provider reports no leavers.*tokens remove okta$/);
  expect(found({ lastUsedAt: days(-8) })).toMatch(/^warning: token okta, last used .*check address/);
  expect(found({ lastUsedAt: days(-1), expiresAt: days(0) })).toMatch(
    /^warning: .*expired .*devmgr providers add scim NAME/,
  );
  expect(found({ lastUsedAt: days(-1), role: 'DEALER' })).toMatch(
    /^warning: token okta has the role DEALER: .*providers add scim NAME/,
  );
});
