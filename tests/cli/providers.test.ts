/** What providers give: sign-in, people and keys, each from its own settings. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon } from './program.ts';

let daemon: Daemon;
let oidc: readonly string[];
beforeAll(async () => {
  daemon = await startDaemon();
  const secret = join(daemon.home, 'secret');
  writeFileSync(secret, 'planted-secret\n', { mode: 0o600 });
  oidc = ['--issuer', 'https://127.0.0.1:9', '--client-id', 'x', '--client-secret-file', secret];
  const okta = ['--address', 'https://127.0.0.1:9', '--secret-file', secret];
  expect((await daemon.run(['providers', 'add', 'okta', 'company', ...okta])).code).toBe(0);
  expect((await daemon.run(['providers', 'add', 'scim', 'company'])).stdout).toMatch(/^devmgr_\w+\n$/);
  expect((await daemon.run(['tokens', 'add', 'other', '--role', 'VIEWER'])).code).toBe(0);
});
afterAll(() => discard(daemon));

test('the list has a row for each name with what it gives, and --quiet only ids', async () => {
  const { json, stdout } = await daemon.run(['providers', 'list', '--json']);
  expect(json.list).toMatchObject([
    { providerId: 'IDP-1', name: 'company', type: 'okta', signIn: false, people: true, keys: true },
  ]);
  expect(json.list[0].problem).toContain('people: its token was never used');
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
  expect((await daemon.run(['providers', 'test', '--people', '--json'])).json.list).toMatchObject([
    { gives: 'people' },
  ]);
  expect(await daemon.run(['providers', 'test', 'none'])).toMatchObject({ code: 5 });
  expect(await daemon.run(['providers', 'test', 'company', '--sign-in'])).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('only gives keys, people'),
  });
});

test('sign-in is added to the name, shown, not added twice, and removed alone', async () => {
  const added = await daemon.run(['providers', 'add', 'oidc', 'company', ...oidc, '--role', 'ADMIN=admins']);
  expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('company') });
  expect(await daemon.run(['providers', 'add', 'oidc', 'other', ...oidc])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('devmgr providers update oidc'),
  });
  const again = ['--sign-in', '--address', 'https://127.0.0.1:9', '--client-id', 'x'];
  expect((await daemon.run(['providers', 'add', 'okta', 'other', ...again])).code).toBe(1);
  expect((await daemon.run(['providers', 'list', '--json'])).json.list).toMatchObject([
    { name: 'company', signIn: true, people: true, keys: true },
  ]);
  const shown = await daemon.run(['providers', 'show', 'company', '--json']);
  expect(shown.json.list).toMatchObject([{ providerId: 'IDP-1' }, { clientId: 'x' }, { may: ['scim'] }]);
  expect(shown.stdout).not.toContain('planted-secret');
  expect((await daemon.run(['providers', 'show', 'oidc', '--json'])).json).toMatchObject({
    roles: { ADMIN: ['admins'] },
  });
  expect((await daemon.run(['providers', 'remove', 'company', '--sign-in', '--people', '--yes'])).code).toBe(0);
  expect((await daemon.run(['providers', 'list', '--json'])).json.list).toMatchObject([
    { name: 'company', signIn: false, people: false, keys: true },
  ]);
});

test('a directory is added by name, and added no second time', async () => {
  const line = ['providers', 'add', 'ldap', 'staff', 'ldap://127.0.0.1:9', '--base', 'dc=x'];
  expect((await daemon.run(line)).code).toBe(0);
  expect(await daemon.run(line)).toMatchObject({ code: 1, stderr: expect.stringContaining('providers update ldap') });
  expect((await daemon.run(['providers', 'list', '--json'])).json.list[1]).toMatchObject({
    name: 'staff',
    type: 'ldap',
  });
  expect((await daemon.run(['providers', 'test', 'staff'])).stdout).toContain('FAILED');
  expect((await daemon.run(['providers', 'show', 'staff', '--json'])).json).toMatchObject({ name: 'staff' });
  expect((await daemon.run(['providers', 'remove', 'staff', '--yes'])).code).toBe(0);
});

test('one command adds several things; what cannot be added is refused before the first change', async () => {
  const domain = ['--tenant', 'example.com', '--client-id', 'x', '--sign-in', '--people'];
  expect(await daemon.run(['providers', 'add', 'entra', 'id', ...domain])).toMatchObject({ code: 2 });
  expect((await daemon.run(['providers', 'list', '--json'])).json.list).toHaveLength(1);
  expect(await daemon.run(['providers', 'add', 'devmgr', 'x', '--people', '--address', 'https://x'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('can only be used for keys'),
  });
  const tenant = '7d1c5a36-0000-4000-8000-000000000001';
  const file = join(daemon.home, 'secret');
  const all = ['--tenant', tenant, '--client-id', 'x', '--secret-file', file, '--sign-in', '--people', '--keys'];
  const { code, json } = await daemon.run(['providers', 'add', 'entra', 'id', ...all, '--json']);
  expect([code, json.list]).toMatchObject([
    0,
    [
      { type: 'entra' },
      { token: expect.stringMatching(/^devmgr_/) },
      { issuer: `https://login.microsoftonline.com/${tenant}/v2.0`, name: 'id' },
    ],
  ]);
  expect((await daemon.run(['providers', 'list', '--json'])).json.list[1]).toMatchObject({
    ...{ name: 'id', type: 'entra', signIn: true, people: true, keys: true },
  });
});
