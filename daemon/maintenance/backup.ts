/** Writes a backup of the registry. */
import { createHash, randomBytes } from 'node:crypto';
import { link, readdir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Encrypter } from 'age-encryption';
import { daemonSettings } from '../../src/contract/daemon-settings.ts';
import { homeFiles } from '../../src/contract/local.ts';
import type { BackupOptions, ProgramIo } from '../../src/contract/programs.ts';
import { syncFolder } from '../base/files.ts';
import { StartRefused } from '../base/start-refused.ts';
import { presentImprint } from '../home/belonging.ts';
import type { Home } from '../home/home.ts';
import { journalKeys } from '../home/journal-keys.ts';
import type { StoreTarget } from '../home/store-target.ts';
import { print, reporting } from '../start/program-io.ts';
import { readImprint, sqliteMaintenance } from '../start/store-engine.ts';
import type { Imprint } from '../store/imprint.ts';
import type { CopyProgress } from './copy-rows.ts';
import { backupRows } from './database-backup.ts';
import { encrypterFor, encryptFile } from './encryption.ts';
import { type ExistingRegistry, existingRegistry } from './maintenance.ts';
import { appendManifest, type BackupKey, backupKey } from './manifest.ts';
import { progressOf } from './progress.ts';

/** Copies the registry into a new file, also while a daemon is running. Does not include uploaded files and keys. */
export function backup(options: BackupOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const registry = await existingRegistry(options, io.env);
    const { home, target } = registry;
    if (target !== null) await presentImprint(home, () => readRegistry(target, home));
    const file = resolve(options.file);
    const encrypter = await encrypterFor(options);
    const write = (to: string) => writeBackup(registry, to, progressOf(io, options.json));
    await writeAside(file, aside => (encrypter ? writeEncrypted(home, aside, encrypter, write) : write(aside)));
    const { size } = await stat(file);
    await print(io.stdout, options.json ? `${JSON.stringify({ file, size })}\n` : `${file}\n`);
    if (!options.json)
      io.stderr.write(
        `Also keep ${(await secretsToKeep(home)).join(', ')} of ${home.secretsDir}, and ${uploadedFiles(home, io.env[daemonSettings.files.variable])}\n`,
      );
    return 0;
  });
}

/** The secrets without which a restored registry is not what it was. */
async function secretsToKeep(home: Home): Promise<readonly string[]> {
  const earlier = (await home.has('journalKeysEarlier')) ? [homeFiles.journalKeysEarlier] : [];
  return [homeFiles.journalKey, ...earlier, homeFiles.signingKey, homeFiles.instanceKey];
}

/** The place of the uploaded files, in words. A backup does not open it: a malformed place, or one without keys, is not refused here. */
function uploadedFiles(home: Home, place: string | undefined): string {
  const url = URL.parse(place ?? '');
  return url?.protocol === 's3:'
    ? `the files in s3://${url.host}${url.pathname}`
    : `the folder ${homeFiles.blobs} of ${home.dir}`;
}

/** Refuses a database without a registry. */
async function readRegistry(target: StoreTarget, home: Home): Promise<Imprint> {
  const imprint = await readImprint(target, home);
  if (imprint?.head) return imprint;
  throw new StartRefused(
    1,
    `there is no registry in ${imprint?.name ?? 'the database'}`,
    `compare ${daemonSettings.store.variable}`,
  );
}

async function writeBackup({ home, target }: ExistingRegistry, file: string, progress: CopyProgress): Promise<void> {
  const [key] = await backupKeys(home);
  const complete = (unfinished: string) => appendManifest(unfinished, key, new Date().toISOString());
  if (target === null) await sqliteMaintenance(home).backup(file, complete);
  else await backupRows(target, file, progress, complete);
}

/** Files of a backup that was killed on another machine are removed after six hours: until then that machine may be writing it. */
const ABANDONED_MS = 6 * 3_600_000;

/** The file gets its name when it is complete. Any other backup into the file has another name until then. */
async function writeAside(file: string, write: (aside: string) => Promise<void>): Promise<void> {
  await refuseExisting(file);
  const aside = await ownName(file);
  try {
    await write(aside);
    await nameOnce(aside, file);
    await syncFolder(dirname(file));
  } finally {
    await rm(aside, { force: true });
  }
}

/** A link never replaces a file that another backup has completed; a rename would. */
async function nameOnce(aside: string, file: string): Promise<void> {
  try {
    await link(aside, file);
  } catch {
    await refuseExisting(file);
    // The file system has no links.
    await rename(aside, file);
  }
}

async function refuseExisting(file: string): Promise<void> {
  if (await stat(file).catch(() => null)) throw new StartRefused(1, `${file} already exists: name another file`);
}

/** A name beside a file that no other backup uses. Removes abandoned files with such a name. */
async function ownName(file: string): Promise<string> {
  const folder = dirname(file);
  const machine = createHash('sha256').update(hostname()).digest('hex').slice(0, 6);
  for (const name of await readdir(folder).catch(() => [])) {
    const rest = name.startsWith(basename(file)) ? name.slice(basename(file).length) : '';
    const [, on, pid] = /^\.([0-9a-f]{6})-(\d+)-[0-9a-f]{6}\.new(\.unfinished)?$/.exec(rest) ?? [];
    if (pid === undefined) continue;
    const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: Date.now() }));
    const isAbandoned = (on === machine && !isAlive(Number(pid))) || mtimeMs < Date.now() - ABANDONED_MS;
    if (isAbandoned) await rm(join(folder, name), { force: true });
  }
  return `${file}.${machine}-${process.pid}-${randomBytes(3).toString('hex')}.new`;
}

/** Whether a process has this id. One of another user has it too. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** SQLite copies into files only: the plain copy is in the home, which is as private as the registry, until it is encrypted. */
async function writeEncrypted(
  home: Home,
  file: string,
  encrypter: Encrypter,
  write: (to: string) => Promise<void>,
): Promise<void> {
  const plain = await ownName(home.path('database'));
  try {
    await write(plain);
    await encryptFile(encrypter, plain, file);
  } finally {
    await rm(plain, { force: true });
  }
}

/** The keys that manifests may have, the current one first. Refuses a home without a `journal-key`. */
export async function backupKeys(home: Home): Promise<readonly [BackupKey, ...BackupKey[]]> {
  const { current, earlier, next } = await journalKeys(home);
  return [backupKey(current), ...[...earlier, ...(next ? [next] : [])].map(backupKey)];
}
