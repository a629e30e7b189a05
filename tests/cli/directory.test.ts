/** The directory from the command line. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reading, type Slapd, startSlapd, withSlapd } from '../support/slapd.ts';
import { type Daemon, discard, startDaemon } from './program.ts';

withSlapd('devmgr directory', () => {
  let daemon: Daemon;
  let slapd: Slapd;
  let secretFile = '';
  beforeAll(async () => {
    daemon = await startDaemon();
    slapd = await startSlapd(['ada', 'grace']);
    secretFile = join(daemon.home, 'bind-password');
    writeFileSync(secretFile, `${reading.bindPassword}\n`, { mode: 0o600 });
  });
  afterAll(async () => {
    await slapd?.stop();
    await discard(daemon);
  });
  const run = (...args: readonly string[]) => daemon.run(['directory', ...args]);

  test('set stores the settings and never shows the password, and what is not named does not change', async () => {
    expect((await run('show')).stdout).toContain('No directory is set up');
    const access = ['--bind-dn', reading.bindDn, '--bind-password-file', secretFile];
    const made = await run(
      'set',
      slapd.url,
      '--base',
      reading.base,
      ...access,
      '--group-dn',
      'staff=cn=all staff,dc=x',
    );
    expect(made).toMatchObject({ code: 0 });
    expect(made.stdout + made.stderr).not.toContain(reading.bindPassword);
    expect((await run('set', '--group-dn', 'cn=desk,ou=groups,dc=x', '--attributes', 'email=mail,NAME=cn')).code).toBe(
      0,
    );
    expect((await run('show', '--json')).json).toMatchObject({
      url: slapd.url,
      bindDn: reading.bindDn,
      groups: [{ name: 'desk', dn: 'cn=desk,ou=groups,dc=x' }],
      attributes: { email: 'mail', name: 'cn', userName: null },
    });
    expect((await run('set', '--attributes', 'phone=tel')).stderr).toContain('USE=ATTRIBUTE');
    expect((await run('set', 'ldap://ldap.example.com')).stderr).toContain('must start with ldaps://');
  });

  test('test shows what was found, and ends with 1 if something is wrong', async () => {
    expect(await run('test')).toMatchObject({ code: 0, stdout: expect.stringContaining('2 on the first page') });
    await run('set', '--base', 'dc=nowhere');
    const failed = await run('test');
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('has no such base') });
    await run('set', '--base', reading.base);
  });

  test('sync shows what would change, and does it', async () => {
    const planned = await run('sync', '--dry-run');
    expect(planned).toMatchObject({ code: 0, stdout: expect.stringMatching(/new +- +ada/) });
    expect(planned.stderr).toContain('2 entries: 2 new (nothing was changed)');
    expect((await run('sync')).stderr).toContain('2 entries: 2 new');
    expect((await run('sync', '--json')).json).toMatchObject({ counts: { read: 2, new: 0 }, list: [] });
    expect((await daemon.run(['people', 'list', '--source', 'directory', '--json'])).json.pagination.total).toBe(2);
    await run('set', '--ldap-filter', '(uid=none)');
    const doctor = async () => {
      const { code, json } = await daemon.run(['doctor', '--json']);
      return { code, check: json.checks.find((check: { name: string }) => check.name === 'directory') };
    };
    expect(await doctor()).toMatchObject({ code: 0, check: { state: 'ok', fix: null } });
    expect(await run('sync')).toMatchObject({ code: 1, stderr: expect.stringContaining('no entry') });
    expect(await doctor()).toMatchObject({
      code: 1,
      check: {
        state: 'failed',
        detail: expect.stringContaining('has no entry that can be a person'),
        fix: expect.stringContaining('devmgr providers test ldap'),
      },
    });
  });

  test('remove ends the use of the directory', async () => {
    expect((await run('remove', '--yes')).stdout).toContain('The registry no longer reads the directory');
    expect((await run('show')).stdout).toContain('No directory is set up');
  });
});
