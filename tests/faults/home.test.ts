import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rotateSigningKey, signingKeys } from '../../daemon/accounts/signing-keys.ts';
import { StartRefused } from '../../daemon/base/start-refused.ts';
import { Home } from '../../daemon/home/home.ts';
import { mountSmallDisk, needsMount } from '../support/small-disk.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devmgr-home-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('the home folder', () => {
  test('is created private, with the folders above it', async () => {
    const home = await Home.open(join(dir, 'a', 'b'));
    expect(await modeOf(home.dir)).toBe(0o700);
  });
  test('becomes private if others could enter it', async () => {
    await chmod(dir, 0o755);
    await Home.open(dir);
    expect(await modeOf(dir)).toBe(0o700);
  });
  test('is refused if it is a symbolic link', async () => {
    await mkdir(join(dir, 'real'));
    await symlink(join(dir, 'real'), join(dir, 'link'));
    await expect(Home.open(join(dir, 'link'))).rejects.toThrow(/symbolic link/);
  });
  test('is refused with a hint if it is a file', async () => {
    await writeFile(join(dir, 'file'), '');
    await expect(Home.open(join(dir, 'file'))).rejects.toMatchObject({
      exitCode: 1,
      hint: expect.stringContaining('--home'),
    });
  });
  test.each(['devmgr.db', 'devmgr.db-wal', 'blobs', 'daemon.lock', 'daemon.lock.pid', 'daemon.json', 'daemon.log'])(
    'is refused if %s is a symbolic link, even to a file that does not exist yet',
    async name => {
      await symlink(join(dir, 'elsewhere'), join(dir, name));
      await expect(Home.open(dir)).rejects.toThrow(`${join(dir, name)} is a symbolic link`);
      expect(await readdir(dir)).toEqual([name]);
    },
  );
  test('contains nothing left over from the check that it is writable', async () => {
    await Home.open(dir);
    expect(await readdir(dir)).toEqual([]);
  });
});

describe('a secret', () => {
  test('is written so that no one else can read it, and read back', async () => {
    const home = await Home.open(dir);
    await home.writeSecret('initialPassword', 'p\n');
    expect(await modeOf(home.path('initialPassword'))).toBe(0o600);
    expect(await home.readSecret('initialPassword')).toBe('p\n');
    expect(await readdir(dir)).toEqual(['initial-admin-password']);
  });
  test('is refused if others can read it, with the command that fixes it', async () => {
    const home = await Home.open(dir);
    await home.secretKey('journalKey');
    await chmod(home.path('journalKey'), 0o644);
    const refused = await home.secretKey('journalKey').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StartRefused);
    expect((refused as StartRefused).hint).toBe(`chmod 600 ${home.path('journalKey')}`);
  });
  test('is refused behind a symbolic link', async () => {
    const home = await Home.open(dir);
    await writeFile(join(dir, 'elsewhere'), 'x'.repeat(43), { mode: 0o600 });
    await symlink(join(dir, 'elsewhere'), home.path('journalKey'));
    await expect(home.secretKey('journalKey')).rejects.toThrow(/not a plain file/);
  });
  test('is refused if it is truncated, not replaced', async () => {
    const home = await Home.open(dir);
    await writeFile(home.path('journalKey'), 'short\n', { mode: 0o600 });
    await expect(home.secretKey('journalKey')).rejects.toThrow(/damaged/);
    expect(await readFile(home.path('journalKey'), 'utf8')).toBe('short\n');
  });
});

needsMount('a secret on a full disk', () => {
  test('is refused and leaves nothing behind', async () => {
    const disk = await mountSmallDisk(1024 * 1024);
    try {
      const home = await Home.open(disk.dir);
      await writeFile(join(disk.dir, 'filler'), Buffer.alloc(2 * 1024 * 1024)).catch(() => {});
      await expect(home.writeSecret('localToken', 'token\n')).rejects.toThrow(/ENOSPC/);
      expect(await readdir(disk.dir)).toEqual(['filler']);
    } finally {
      await disk.unmount();
    }
  });
});

/** Only root can give a file away. */
const asRoot = process.getuid?.() === 0 ? test : test.skip;
const OTHER_USER = 65_534;

describe('a file of another user', () => {
  asRoot('is not accepted as a home (skipped unless root)', async () => {
    await chown(dir, OTHER_USER, OTHER_USER);
    await expect(Home.open(dir)).rejects.toThrow(/belongs to another user/);
  });
  asRoot('is not accepted in a home (skipped unless root)', async () => {
    await writeFile(join(dir, 'devmgr.db'), '');
    await chown(join(dir, 'devmgr.db'), OTHER_USER, OTHER_USER);
    await expect(Home.open(dir)).rejects.toThrow(/devmgr\.db belongs to another user/);
  });
  asRoot('is not accepted as a secret (skipped unless root)', async () => {
    const home = await Home.open(dir);
    await signingKeys(home, 0);
    await chown(home.path('signingKey'), OTHER_USER, OTHER_USER);
    await expect(signingKeys(home, 0)).rejects.toThrow(/belongs to another user/);
  });
});

describe('signing keys', () => {
  const hour = 3_600_000;
  test('are created once', async () => {
    const home = await Home.open(dir);
    expect(await signingKeys(home, 0)).toEqual(await signingKeys(home, 0));
  });
  test('stay after their replacement for the lifetime of a token, and no longer', async () => {
    const home = await Home.open(dir);
    const [first] = await signingKeys(home, 0);
    await rotateSigningKey(home, hour);
    const [second, ...earlier] = await signingKeys(home, 2 * hour);
    expect(second.key).not.toEqual(first.key);
    expect(second).toMatchObject({ createdAt: hour, replacedAt: null });
    expect(earlier).toEqual([{ ...first, createdAt: 0, replacedAt: hour }]);
    expect(await signingKeys(home, 25 * hour + 1)).toEqual([second]);
  });
});
