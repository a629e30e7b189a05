/** Writes a backup of the registry. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { homeFiles } from '../../src/contract/local.ts';
import type { BackupOptions, ProgramIo } from '../../src/contract/programs.ts';
import type { Home } from '../home/home.ts';
import { print, reporting } from '../program-io.ts';
import { storeMaintenance } from '../store-engine.ts';
import { existingHome } from './maintenance.ts';
import { appendManifest, type BackupKey, backupKey } from './manifest.ts';

/** Copies the registry into a new file, also while a daemon is running. Does not include uploaded files and keys. */
export function backup(options: BackupOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home);
    const file = resolve(options.file);
    const [key] = await backupKeys(home);
    await storeMaintenance(home).backup(file, unfinished => appendManifest(unfinished, key, new Date().toISOString()));
    const { size } = await stat(file);
    await print(io.stdout, options.json ? `${JSON.stringify({ file, size })}\n` : `${file}\n`);
    io.stderr.write(
      options.json
        ? ''
        : `Also keep ${homeFiles.journalKey}, ${homeFiles.signingKey} and the folder ${homeFiles.blobs} of ${home.dir}\n`,
    );
    return 0;
  });
}

/** The keys that manifests may have, the current one first. Refuses a home without a `journal-key`. */
export async function backupKeys(home: Home): Promise<readonly [BackupKey, ...BackupKey[]]> {
  return [backupKey(await home.existingKey('journalKey'))];
}
