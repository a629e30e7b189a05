/** Commands about the security keys that people sign in with. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Page } from '../support/browser.ts';
import { SoftwareKey } from '../support/software-key.ts';
import { adminPassword, type Daemon, discard, startDaemon } from './program.ts';

let daemon: Daemon;
let page: Page;
let passkeyId: string;

beforeAll(async () => {
  daemon = await startDaemon();
  page = new Page(daemon);
  await daemon.run(['users', 'add', 'dealer-berlin', '--role', 'DEALER', '--password-stdin'], { input: adminPassword });
  const { data } = await page.call('POST', '/api/auth/login', { username: 'dealer-berlin', password: adminPassword });
  passkeyId = (await page.register(new SoftwareKey(), data.token)).data.passkeyId;
});
afterAll(() => discard(daemon));

const run = (...words: string[]) => daemon.run(words);
const canLogIn = async () =>
  (await page.call('POST', '/api/auth/login', { username: 'dealer-berlin', password: adminPassword })).code === 200;

describe('users passkeys', () => {
  test('lists the keys of a user, by name or id, and your own', async () => {
    const { json } = await run('users', 'passkeys', 'dealer-berlin', '--json');
    expect(json).toMatchObject({ required: false, list: [{ passkeyId, name: 'desk', rpId: 'localhost' }] });
    expect((await run('users', 'passkeys', 'USR-2', '--quiet')).stdout).toBe(`${passkeyId}\n`);
    expect((await run('users', 'passkeys', 'dealer-berlin')).stdout).toMatch(
      /^KEY +NAME +SITE[^\n]*\nPSK-1 +desk +localhost/,
    );
    expect((await run('users', 'passkeys')).stderr).toContain('admin has no security key.');
    expect((await run('users', 'passkeys', 'carol')).code).toBe(5);
  });
});

describe('users require-passkey', () => {
  test('requires a key of one user until --off', async () => {
    expect((await run('users', 'require-passkey', 'dealer-berlin')).stdout).toContain(
      'must sign in with a security key',
    );
    expect((await run('users', 'passkeys', 'dealer-berlin', '--jq', '.required')).stdout).toBe('true\n');
    expect(await canLogIn()).toBe(false);
    expect((await run('users', 'require-passkey', 'dealer-berlin', '--off', '--json')).json.required).toBe(false);
    expect(await canLogIn()).toBe(true);
  });
});

describe('policies sign-in', () => {
  test('shows and sets the roles, and ends the rule with none', async () => {
    expect((await run('policies', 'sign-in', '--json')).json).toEqual({ requireKey: [] });
    const set = await run('policies', 'sign-in', '--require-key', 'dealer,VIEWER', '--json');
    expect(set.json).toEqual({ requireKey: ['DEALER', 'VIEWER'] });
    expect(await canLogIn()).toBe(false);
    expect((await run('policies', 'sign-in')).stdout).toContain('roles: DEALER, VIEWER');
    expect((await run('policies', 'sign-in', '--require-key', 'none,DEALER')).code).toBe(2);
    expect((await run('policies', 'sign-in', '--require-key', 'none', '--json')).json).toEqual({ requireKey: [] });
    expect(await canLogIn()).toBe(true);
  });

  test('is refused for ADMIN as long as you have no key', async () => {
    const { code, stderr } = await run('policies', 'sign-in', '--require-key', 'ADMIN');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('key') });
  });
});

describe('users remove-passkey', () => {
  test('removes a key, with --yes or a confirmation', async () => {
    expect((await run('users', 'remove-passkey', 'dealer-berlin', passkeyId)).code).toBe(2);
    expect((await run('users', 'remove-passkey', 'dealer-berlin', 'PSK-9', '--yes')).code).toBe(5);
    const { code, stdout } = await run('users', 'remove-passkey', 'dealer-berlin', passkeyId, '--yes');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('PSK-1 of dealer-berlin is removed') });
    expect((await run('users', 'passkeys', 'dealer-berlin', '--json')).json.list).toEqual([]);
  });
});

describe('users allow-registration', () => {
  const logIn = () => daemon.run(['login', 'dealer-berlin', '--password-stdin'], { input: adminPassword });

  test('is what a refused login asks for, and what the next login names', async () => {
    await run('policies', 'sign-in', '--require-key', 'DEALER');
    const refused = await logIn();
    expect(refused.code).toBe(3);
    expect(refused.stderr).toMatch(/users allow-registration NAME[\s\S]*devmgr daemon reset-password NAME/);
    const { code, stdout } = await run('users', 'allow-registration', 'dealer-berlin');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/dealer-berlin may register one security key[\s\S]*until: \d{4}-/),
    });
    expect((await run('users', 'allow-registration', 'unknown')).code).toBe(5);
    const allowed = await logIn();
    expect(allowed.code).toBe(0);
    expect(allowed.stderr).toContain('An ADMIN has allowed this account to register one security key');
  });
});
