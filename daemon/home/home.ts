/** The home folder: created and kept private; each secret is in its own file. */
import { randomBytes } from 'node:crypto';
import { link, lstat, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { homeFiles } from '../../src/contract/local.ts';
import { makeFolder, syncFolder } from '../base/files.ts';
import { thisPlatform } from '../base/platform.ts';
import { StartRefused } from '../base/start-refused.ts';
import { inHome, inSecrets, openFolder } from './private-folder.ts';

/** The files that the daemon reads and writes; the others in the home belong to the command line. */
const { config: _config, credentials: _credentials, knownServers: _known, ...ofDaemon } = homeFiles;
const trusted: readonly string[] = [
  ...Object.values(ofDaemon),
  ...['-wal', '-shm'].map(suffix => homeFiles.database + suffix),
  `${homeFiles.lock}.pid`,
];

/** Secrets that all nodes of a registry share: its keys, the heads that are signed with them, and their lock. */
const secrets: ReadonlySet<keyof typeof homeFiles> = new Set([
  'signingKey',
  'journalKey',
  'journalKeysEarlier',
  'journalKeyNext',
  'journalHeads',
  'instanceKey',
  'secretsLock',
]);
const secretNames: readonly string[] = Array.from(secrets, name => homeFiles[name]);

/** Only valid while the daemon is running, so they need not survive a power cut. */
const transient: ReadonlySet<keyof typeof homeFiles> = new Set(['localToken', 'daemonInfo']);

/** The home folder of a registry, and the folder of its secrets, both checked: they belong to this user, and no one else can read them. */
export class Home {
  readonly dir: string;
  /** The folder of the keys: `dir`, unless another was named. */
  readonly secretsDir: string;

  private constructor(dir: string, secretsDir: string) {
    this.dir = dir;
    this.secretsDir = secretsDir;
  }

  /**
   * Creates the folders (0700) if they are missing. `secretsDir`: the folder of the keys; null for the home itself. Refuses with
   * `StartRefused` a folder that others own or control.
   */
  static async open(dir: string, secretsDir: string | null = null): Promise<Home> {
    await openFolder(dir, inHome, trusted);
    if (secretsDir !== null) await openFolder(secretsDir, inSecrets, secretNames);
    return new Home(dir, secretsDir ?? dir);
  }

  /** Whether the keys are in a folder of their own. */
  get sharesSecrets(): boolean {
    return this.secretsDir !== this.dir;
  }

  /** Full path of a file in the home, or in the folder of the secrets. */
  path(name: keyof typeof homeFiles): string {
    return join(secrets.has(name) ? this.secretsDir : this.dir, homeFiles[name]);
  }

  /** Whether the file exists. */
  async has(name: keyof typeof homeFiles): Promise<boolean> {
    return (await lstat(this.path(name)).catch(() => null)) !== null;
  }

  /** A random key stored in the home; created by the first call. */
  async secretKey(name: 'journalKey'): Promise<Buffer> {
    const stored = await this.#storedKey(name);
    if (stored) return stored;
    await this.createSecret(name, `${randomBytes(32).toString('base64url')}\n`);
    return this.existingKey(name);
  }

  /** Like `secretKey`, but the key must exist: with a new one, the journal would look forged. */
  async existingKey(name: 'journalKey'): Promise<Buffer> {
    const stored = await this.#storedKey(name);
    if (stored) return stored;
    throw new StartRefused(1, `${this.path(name)} is missing`, this.#restoreHint);
  }

  async #storedKey(name: 'journalKey'): Promise<Buffer | null> {
    const text = await this.readSecret(name);
    if (text === null) return null;
    const key = Buffer.from(text.trim(), 'base64url');
    if (key.length < 32) throw new StartRefused(1, `${this.path(name)} is damaged`, this.#restoreHint);
    return key;
  }

  /** Null if there is none. Refuses a file that others can read or own, or that is not a plain file. */
  async readSecret(name: keyof typeof homeFiles): Promise<string | null> {
    const file = this.path(name);
    try {
      const stat = await lstat(file);
      if (!stat.isFile()) throw new StartRefused(1, `${file} is not a plain file`, 'move it away');
      if (thisPlatform.fileModes && (stat.mode & 0o077) !== 0)
        throw new StartRefused(1, `${file} can be read by others`, `chmod 600 ${file}`);
      if (process.getuid && stat.uid !== process.getuid())
        throw new StartRefused(1, `${file} belongs to another user`, this.#hint(name));
      return await readFile(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      if (error instanceof StartRefused) throw error;
      const { code } = error as NodeJS.ErrnoException;
      throw new StartRefused(1, `${file} cannot be read${code ? ` (${code})` : ''}`, this.#hint(name));
    }
  }

  /** Replaces the file in one step. It is on disk when this resolves, unless it is transient. */
  async writeSecret(name: keyof typeof homeFiles, text: string): Promise<void> {
    await this.#write(name, text, rename);
  }

  /** Writes the file unless it exists: another node may create it at the same time. */
  async createSecret(name: keyof typeof homeFiles, text: string): Promise<void> {
    await this.#write(name, text, async (unfinished, file) => {
      await link(unfinished, file).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
      await rm(unfinished);
    });
  }

  /** Idempotent. */
  async remove(name: keyof typeof homeFiles): Promise<void> {
    await rm(this.path(name), { force: true });
  }

  /**
   * Moves the secrets of a registry into a new folder beside them, and returns it: the next registry gets others. The heads go
   * last, because the registry is known by them: an interrupted move is repeated.
   */
  async setSecretsAside(): Promise<string> {
    const folder = join(this.secretsDir, `before-new-registry-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`);
    await makeFolder(folder);
    const others = [...secrets].filter(name => name !== 'journalHeads' && name !== 'secretsLock');
    for (const name of [...others, 'journalHeads'] as const)
      if (await this.has(name)) await rename(this.path(name), join(folder, homeFiles[name]));
    await syncFolder(this.secretsDir);
    return folder;
  }

  get #restoreHint(): string {
    return this.sharesSecrets
      ? 'put it back from a copy of the folder of the secrets'
      : 'restore it from a backup of the home folder';
  }

  #hint(name: keyof typeof homeFiles): string {
    return this.sharesSecrets && secrets.has(name)
      ? 'chown it, or use another --secrets'
      : 'chown it, or use another --home';
  }

  async #write(
    name: keyof typeof homeFiles,
    text: string,
    place: (unfinished: string, file: string) => Promise<void>,
  ): Promise<void> {
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
      await place(unfinished, file);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    if (!transient.has(name)) await syncFolder(dirname(file));
  }
}
