/** Writes a backup of the registry. */
import { rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Encrypter } from 'age-encryption';
import { homeFiles } from '../../src/contract/local.ts';
import type { BackupOptions, ProgramIo } from '../../src/contract/programs.ts';
import { syncFolder } from '../files.ts';
import type { Home } from '../home/home.ts';
import { journalKeys } from '../home/journal-keys.ts';
import { StartRefused } from '../home/settings.ts';
import { print, reporting } from '../program-io.ts';
import { sqliteMaintenance } from '../store-engine.ts';
import { encrypterFor, encryptFile } from './encryption.ts';
import { existingHome } from './maintenance.ts';
import { appendManifest, type BackupKey, backupKey } from './manifest.ts';

/** Copies the registry into a new file, also while a daemon is running. Does not include uploaded files and keys. */
export function backup(options: BackupOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home, io.env);
    const file = resolve(options.file);
    const encrypter = await encrypterFor(options);
    if (encrypter) await writeEncrypted(home, file, encrypter);
    else await writeBackup(home, file);
    const { size } = await stat(file);
    await print(io.stdout, options.json ? `${JSON.stringify({ file, size })}\n` : `${file}\n`);
    io.stderr.write(
      options.json
        ? ''
        : `Also keep ${homeFiles.journalKey}, ${homeFiles.signingKey} ${
            home.sharesSecrets ? `of ${home.secretsDir} ` : ''
          }and the folder ${homeFiles.blobs} of ${home.dir}\n`,
    );
    return 0;
  });
}

async function writeBackup(home: Home, file: string): Promise<void> {
  const [key] = await backupKeys(home);
  await sqliteMaintenance(home).backup(file, unfinished => appendManifest(unfinished, key, new Date().toISOString()));
}

/** SQLite copies into files only: the plain copy is in the home, which is as private as the registry, until it is encrypted. */
async function writeEncrypted(home: Home, file: string, encrypter: Encrypter): Promise<void> {
  if (await stat(file).catch(() => null)) throw new StartRefused(1, `${file} already exists: name another file`);
  const plain = `${home.path('database')}.encrypting`;
  const unfinished = `${file}.unfinished`;
  try {
    await rm(plain, { force: true });
    await writeBackup(home, plain);
    await rm(unfinished, { force: true });
    await encryptFile(encrypter, plain, unfinished);
    await rename(unfinished, file);
    await syncFolder(dirname(file));
  } finally {
    await rm(plain, { force: true });
    await rm(unfinished, { force: true });
  }
}

/** The keys that manifests may have, the current one first. Refuses a home without a `journal-key`. */
export async function backupKeys(home: Home): Promise<readonly [BackupKey, ...BackupKey[]]> {
  const { current, earlier, next } = await journalKeys(home);
  return [backupKey(current), ...[...earlier, ...(next ? [next] : [])].map(backupKey)];
}
