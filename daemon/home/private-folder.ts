/** Folders that this user alone can read and control. */
import { randomBytes } from 'node:crypto';
import { chmod, lstat, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../base/files.ts';
import { StartRefused } from '../base/start-refused.ts';

/** How messages name a folder. */
interface FolderWords {
  /** Before its path. */
  readonly called: string;
  readonly flag: string;
  readonly variable: string;
}

export const inHome: FolderWords = { called: 'the home folder', flag: '--home', variable: 'DEVMGR_HOME' };
export const inSecrets: FolderWords = {
  called: 'the folder of the secrets',
  flag: '--secrets',
  variable: 'DEVMGR_SECRETS',
};

/**
 * Creates the folder (0700) if it is missing. Refuses with `StartRefused` one that others own or control, one that is not writable,
 * and one in which an entry of `names` is a link or belongs to another user.
 */
export async function openFolder(dir: string, words: FolderWords, names: readonly string[]): Promise<void> {
  try {
    await makeFolder(dir);
  } catch (error) {
    throw refusal('cannot be created', dir, words, error);
  }
  await checkOwned(dir, words);
  await chmod(dir, 0o700).catch(error => {
    throw refusal('cannot be made private', dir, words, error);
  });
  await checkEntries(dir, words, names);
  await probe(dir, words);
}

/** A folder that was open to others may contain what they have put there: links to other places, files that they can still write. */
async function checkEntries(dir: string, { flag }: FolderWords, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const file = join(dir, name);
    const stat = await lstat(file).catch(() => null);
    if (stat?.isSymbolicLink())
      throw new StartRefused(1, `${file} is a symbolic link`, 'replace it by the file itself, or move it away');
    if (stat && process.getuid && stat.uid !== process.getuid())
      throw new StartRefused(1, `${file} belongs to another user`, `chown it, or use another ${flag}`);
  }
}

/** Reports a read-only folder now, with a clear message, instead of at the first write. */
async function probe(dir: string, words: FolderWords): Promise<void> {
  const file = join(dir, `.probe-${randomBytes(6).toString('hex')}`);
  try {
    await (await open(file, 'wx', 0o600)).close();
    await rm(file);
  } catch (error) {
    throw refusal('is not writable', dir, words, error);
  }
}

async function checkOwned(dir: string, { called, flag }: FolderWords): Promise<void> {
  const stat = await lstat(dir);
  if (stat.isSymbolicLink())
    throw new StartRefused(1, `${called} ${dir} is a symbolic link`, `name the folder itself with ${flag}`);
  if (!stat.isDirectory()) throw new StartRefused(1, `${dir} is not a folder`, `name another with ${flag}`);
  if (process.getuid && stat.uid !== process.getuid())
    throw new StartRefused(1, `${called} ${dir} belongs to another user`, `name one of your own with ${flag}`);
}

function refusal(what: string, dir: string, { called, flag, variable }: FolderWords, error: unknown): StartRefused {
  const { code } = error as NodeJS.ErrnoException;
  return new StartRefused(
    1,
    `${called} ${dir} ${what}${code ? ` (${code})` : ''}`,
    `name another with ${flag} or ${variable}`,
  );
}
