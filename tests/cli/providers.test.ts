/** What providers give: sign-in, people and keys, each from its own settings. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
  const secret = join(daemon.home, 'secret');
  writeFileSync(secret, 'planted-secret\n', { mode: 0o600 });
  const okta = ['--address', 'https://127.0.0.1:9', '--secret-file', secret];
  expect((await daemon.run(['providers', 'add', 'okta', 'company', ...okta])).code).toBe(0);
  expect((await daemon.run(['tokens', 'add', 'company', '--role', 'VIEWER', '--may', 'scim'])).code).toBe(0);
  expect((await daemon.run(['tokens', 'add', 'other', '--role', 'VIEWER'])).code).toBe(0);
});
afterAll(() => discard(daemon));

test('the list shows what each gives, and --quiet only ids', async () => {
  const { json, stdout } = await daemon.run(['providers', 'list', '--json']);
  expect(json.list).toMatchObject([
    { providerId: 'IDP-1', name: 'company', type: 'okta', signIn: false, people: false, keys: true },
    { providerId: null, name: 'company', type: 'scim', signIn: false, people: true, keys: false },
  ]);
  expect(stdout).not.toContain('planted-secret');
  expect((await daemon.run(['providers', 'list', '--quiet'])).stdout).toBe('IDP-1\n');
});

test('a test asks for each thing that a provider gives, and ends with 1 if one does not work', async () => {
  const { code, json } = await daemon.run(['providers', 'test', 'company', '--json']);
  expect(code).toBe(1);
  expect(json.list).toMatchObject([
    { name: 'company', gives: 'keys', ok: false },
    { name: 'company', gives: 'people', ok: false, problem: 'its token was never used' },
  ]);
  expect((await daemon.run(['providers', 'test', '--json'])).json.list).toHaveLength(2);
  expect(await daemon.run(['providers', 'test', 'none'])).toMatchObject({ code: 5 });
});
