/** The package as a file: what Debian's own checks say of it, and what is in it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { present } from './packages.ts';
import { inDebian } from './roots.ts';

inDebian('the package', () => {
  let tree: string;
  beforeAll(() => {
    tree = mkdtempSync(join(tmpdir(), 'devmgr-deb-'));
    execFileSync('dpkg-deb', ['--raw-extract', present.file, tree]);
  });
  afterAll(() => rmSync(tree, { recursive: true, force: true }));
  const text = (path: string) => readFileSync(join(tree, path), 'utf8');

  it('is clean to lintian, but for what is overridden with a reason', () => {
    const call = ['--allow-root', '--fail-on', 'error,warning', present.file];
    const { status, stdout } = spawnSync('lintian', call, { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    const overrides = text('usr/share/lintian/overrides/devmgr').trim().split('\n');
    const unreasoned = overrides.filter(
      (line, index) => !line.startsWith('#') && !overrides[index - 1]?.startsWith('#'),
    );
    expect(unreasoned).toEqual([]);
  });

  it('has the program that sshd asks, at the place that docs/ssh.md names; sshd accepts no other owner and mode', () => {
    const place = 'usr/lib/devmgr/devmgr-ssh-keys';
    expect(text('usr/share/doc/devmgr/ssh.md')).toContain(`AuthorizedKeysCommand /${place} `);
    expect(statSync(join(tree, place)).mode & 0o777).toBe(0o755);
    expect(execFileSync('dpkg-deb', ['--contents', present.file], { encoding: 'utf8' })).toMatch(
      new RegExp(`^-rwxr-xr-x root/root .* \\./${place}$`, 'm'),
    );
  });

  it('depends on a C library that knows every symbol the program asks for', () => {
    const needed = Number(/libc6 \(>= 2\.(\d+)\)/.exec(text('DEBIAN/control'))?.[1]);
    const program = readFileSync(join(tree, 'usr/bin/devmgr'), 'latin1');
    // It contains native modules unchanged, with the library versions that they need.
    const asked = [...program.matchAll(/\0GLIBC_2\.(\d+)(?:\.\d+)?\0/g)].map(([, minor]) => Number(minor));
    expect(Math.max(...asked)).toBe(needed);
  });

  it('names Node and every package that is in the program, with its license', () => {
    const copyright = text('usr/share/doc/devmgr/copyright');
    expect(copyright).toContain('Node.js is licensed for use as follows');
    for (const name of ['fastify', 'better-sqlite3', 'swagger-ui-dist', 'node-hid'])
      expect(copyright).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\)$`, 'm'));
  });
});
