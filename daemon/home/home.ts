/** The home folder: made and kept private; secrets in files of their own. */
import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { homeFiles } from '../../src/contract/local.ts';
import { StartRefused } from './settings.ts';

/** What the daemon itself reads and writes; the rest of the home is the command line's. */
const { config: _config, credentials: _credentials, ...ofDaemon } = homeFiles;
const trusted: readonly string[] = [
  ...Object.values(ofDaemon),
  ...['-wal', '-shm'].map(suffix => homeFiles.database + suffix),
  `${homeFiles.lock}.pid`,
];

/** Of the daemon that runs: a power cut ends both. */
const transient: ReadonlySet<keyof typeof homeFiles> = new Set(['localToken', 'daemonInfo']);

export class Home {
  readonly dir: string;

  private constructor(dir: string) {
    this.dir = dir;
  }

  /** Makes the folder where it is missing (0700) and refuses one that is not ours alone. */
  static async open(dir: string): Promise<Home> {
    try {
      await mkdir(dir, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw refusal(`the home folder ${dir} cannot be made`, error);
    }
    await checkOwned(dir);
    await chmod(dir, 0o700).catch(error => {
      throw refusal(`the home folder ${dir} cannot be made private`, error);
    });
    const home = new Home(dir);
    await home.#checkEntries();
    await home.#probe();
    return home;
  }

  path(name: keyof typeof homeFiles): string {
    return join(this.dir, homeFiles[name]);
  }

  /** Whether there is such a file. */
  async has(name: keyof typeof homeFiles): Promise<boolean> {
    return (await lstat(this.path(name)).catch(() => null)) !== null;
  }

  /** A random key kept in the home; made at the first call. */
  async secretKey(name: 'journalKey'): Promise<Buffer> {
    const kept = await this.#keptKey(name);
    if (kept) return kept;
    const key = randomBytes(32);
    await this.writeSecret(name, `${key.toString('base64url')}\n`);
    return key;
  }

  /** The same key where it must be there already: a new one in its place would look like a journal that was tampered with. */
  async existingKey(name: 'journalKey'): Promise<Buffer> {
    const kept = await this.#keptKey(name);
    if (kept) return kept;
    throw new StartRefused(1, `${this.path(name)} is missing`, 'put it back from where the backups are kept');
  }

  async #keptKey(name: 'journalKey'): Promise<Buffer | null> {
    const kept = await this.readSecret(name);
    if (kept === null) return null;
    const key = Buffer.from(kept.trim(), 'base64url');
    if (key.length < 32)
      throw new StartRefused(1, `${this.path(name)} is damaged`, 'restore it from a backup of the home folder');
    return key;
  }

  /** Null where there is none. Refuses a file that others can read, or that is no plain file of ours. */
  async readSecret(name: keyof typeof homeFiles): Promise<string | null> {
    const file = this.path(name);
    try {
      const stat = await lstat(file);
      if (!stat.isFile()) throw new StartRefused(1, `${file} is not a plain file`, 'move it away');
      if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
        throw new StartRefused(1, `${file} can be read by others`, `chmod 600 ${file}`);
      if (process.getuid && stat.uid !== process.getuid())
        throw new StartRefused(1, `${file} belongs to another user`, `chown it, or use another --home`);
      return await readFile(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error instanceof StartRefused ? error : refusal(`${file} cannot be read`, error);
    }
  }

  /** Whole or not at all, and on disk when it resolves, unless it is of the running daemon alone. */
  async writeSecret(name: keyof typeof homeFiles, text: string): Promise<void> {
    const file = this.path(name);
    const aside = `${file}.${randomBytes(6).toString('hex')}.tmp`;
    const handle = await open(aside, 'wx', 0o600);
    try {
      try {
        await handle.writeFile(text);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(aside, file);
    } catch (error) {
      await rm(aside, { force: true });
      throw error;
    }
    if (!transient.has(name)) await this.#sync();
  }

  /** A new name is on the disk only when the folder is. Windows has no such call, and needs none. */
  async #sync(): Promise<void> {
    if (process.platform === 'win32') return;
    const folder = await open(this.dir, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  async remove(name: keyof typeof homeFiles): Promise<void> {
    await rm(this.path(name), { force: true });
  }

  /** A folder that was open to others may hold what they have put there: links that lead elsewhere, files they can still write. */
  async #checkEntries(): Promise<void> {
    for (const name of trusted) {
      const file = join(this.dir, name);
      const stat = await lstat(file).catch(() => null);
      if (stat?.isSymbolicLink())
        throw new StartRefused(1, `${file} is a symbolic link`, 'put the file itself in its place, or move it away');
      if (stat && process.getuid && stat.uid !== process.getuid())
        throw new StartRefused(1, `${file} belongs to another user`, `chown it, or use another --home`);
    }
  }

  /** A folder that takes no file is told now, in words, rather than by whatever is written first. */
  async #probe(): Promise<void> {
    const file = join(this.dir, `.probe-${randomBytes(6).toString('hex')}`);
    try {
      await (await open(file, 'wx', 0o600)).close();
      await rm(file);
    } catch (error) {
      throw refusal(`the home folder ${this.dir} is not writable`, error);
    }
  }
}

async function checkOwned(dir: string): Promise<void> {
  const stat = await lstat(dir);
  if (stat.isSymbolicLink())
    throw new StartRefused(1, `the home folder ${dir} is a symbolic link`, 'name the folder itself with --home');
  if (!stat.isDirectory()) throw new StartRefused(1, `${dir} is not a folder`, 'name another with --home');
  if (process.getuid && stat.uid !== process.getuid())
    throw new StartRefused(1, `the home folder ${dir} belongs to another user`, 'name one of your own with --home');
}

function refusal(what: string, error: unknown): StartRefused {
  const { code } = error as NodeJS.ErrnoException;
  return new StartRefused(1, `${what}${code ? ` (${code})` : ''}`, 'name another with --home or DEVMGR_HOME');
}
