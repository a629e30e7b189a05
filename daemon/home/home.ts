/** The home folder: created and kept private; each secret is in its own file. */
import { randomBytes } from 'node:crypto';
import { chmod, lstat, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { homeFiles } from '../../src/contract/local.ts';
import { makeFolder, syncFolder } from '../files.ts';
import { StartRefused } from './settings.ts';

/** The files that the daemon reads and writes; the others in the home belong to the command line. */
const { config: _config, credentials: _credentials, knownServers: _known, ...ofDaemon } = homeFiles;
const trusted: readonly string[] = [
  ...Object.values(ofDaemon),
  ...['-wal', '-shm'].map(suffix => homeFiles.database + suffix),
  `${homeFiles.lock}.pid`,
];

/** Only valid while the daemon is running, so they need not survive a power cut. */
const transient: ReadonlySet<keyof typeof homeFiles> = new Set(['localToken', 'daemonInfo']);

/** The home folder of a registry, checked: it belongs to this user, and no one else can read it. */
export class Home {
  readonly dir: string;

  private constructor(dir: string) {
    this.dir = dir;
  }

  /** Creates the folder (0700) if it is missing. Refuses with `StartRefused` a folder that others own or control. */
  static async open(dir: string): Promise<Home> {
    try {
      await makeFolder(dir);
    } catch (error) {
      throw refusal(`the home folder ${dir} cannot be created`, error);
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

  /** Full path of a file in the home. */
  path(name: keyof typeof homeFiles): string {
    return join(this.dir, homeFiles[name]);
  }

  /** Whether the file exists. */
  async has(name: keyof typeof homeFiles): Promise<boolean> {
    return (await lstat(this.path(name)).catch(() => null)) !== null;
  }

  /** A random key stored in the home; created by the first call. */
  async secretKey(name: 'journalKey'): Promise<Buffer> {
    const stored = await this.#storedKey(name);
    if (stored) return stored;
    const key = randomBytes(32);
    await this.writeSecret(name, `${key.toString('base64url')}\n`);
    return key;
  }

  /** Like `secretKey`, but the key must exist: with a new one, the journal would look forged. */
  async existingKey(name: 'journalKey'): Promise<Buffer> {
    const stored = await this.#storedKey(name);
    if (stored) return stored;
    throw new StartRefused(1, `${this.path(name)} is missing`, 'restore it from a backup of the home folder');
  }

  async #storedKey(name: 'journalKey'): Promise<Buffer | null> {
    const text = await this.readSecret(name);
    if (text === null) return null;
    const key = Buffer.from(text.trim(), 'base64url');
    if (key.length < 32)
      throw new StartRefused(1, `${this.path(name)} is damaged`, 'restore it from a backup of the home folder');
    return key;
  }

  /** Null if there is none. Refuses a file that others can read or own, or that is not a plain file. */
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

  /** Replaces the file in one step. It is on disk when this resolves, unless it is transient. */
  async writeSecret(name: keyof typeof homeFiles, text: string): Promise<void> {
    const file = this.path(name);
    const unfinished = `${file}.${randomBytes(6).toString('hex')}.tmp`;
    const handle = await open(unfinished, 'wx', 0o600);
    try {
      try {
        await handle.writeFile(text);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(unfinished, file);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    if (!transient.has(name)) await syncFolder(this.dir);
  }

  /** Idempotent. */
  async remove(name: keyof typeof homeFiles): Promise<void> {
    await rm(this.path(name), { force: true });
  }

  /** A folder that was open to others may contain what they have put there: links to other places, files that they can still write. */
  async #checkEntries(): Promise<void> {
    for (const name of trusted) {
      const file = join(this.dir, name);
      const stat = await lstat(file).catch(() => null);
      if (stat?.isSymbolicLink())
        throw new StartRefused(1, `${file} is a symbolic link`, 'replace it by the file itself, or move it away');
      if (stat && process.getuid && stat.uid !== process.getuid())
        throw new StartRefused(1, `${file} belongs to another user`, `chown it, or use another --home`);
    }
  }

  /** Reports a read-only folder now, with a clear message, instead of at the first write. */
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
