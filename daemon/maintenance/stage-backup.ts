/** Copies a backup into the home and verifies it, before a database engine opens it. */
import { createReadStream, createWriteStream } from 'node:fs';
import { realpath, rm, stat, truncate } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { homeFiles } from '../../src/contract/local.ts';
import { StartRefused } from '../base/start-refused.ts';
import { BEFORE_RESTORE } from '../files/blob-folder.ts';
import type { Home } from '../home/home.ts';
import { sqliteMaintenance } from '../start/store-engine.ts';
import { StoreFailure } from '../store/commit.ts';
import type { StagedRestore } from '../store/maintenance.ts';
import { backupKeys } from './backup.ts';
import { type DecryptionOptions, decryptFile, isEncrypted } from './encryption.ts';
import { type ManifestVerdict, verifyManifest } from './manifest.ts';

/** Origin of a backup. */
export type Origin =
  | { readonly kind: 'verified'; readonly createdAt: string }
  /** A copy that an upgrade or an earlier restore kept in this home, which is as private as the registry. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'unverified'; readonly why: string };

/** A backup that was copied beside the registry and checked, and where it comes from. */
export interface StagedBackup {
  readonly staged: StagedRestore;
  readonly origin: Origin;
}

const fromBefore =
  'it has no manifest: it was made by a devmgr that did not write manifests yet, or the end of the file is missing';

/** The meaning of `--accept-unverified`, for its hint and for the warning after its use. */
export const unverifiedMeans =
  'anyone who could write this file may have changed passwords, roles, owners and activation codes in it';

/** A backup to be restored. */
export interface RestoreSource extends DecryptionOptions {
  readonly home: Home;
  readonly file: string;
  readonly acceptUnverified: boolean;
}

/** Refuses a backup whose origin is not proven, unless `acceptUnverified`. Changes nothing of the registry. */
export async function stageBackup(restoring: RestoreSource): Promise<StagedBackup> {
  const { home, file, acceptUnverified } = restoring;
  // Without the key of the backup, its journal cannot be verified either: any key will do.
  if (acceptUnverified) await home.secretKey('journalKey');
  let origin: Origin | undefined;
  try {
    const staged = await sqliteMaintenance(home).stageRestore(async to => {
      origin = await copyVerified(restoring, to);
    });
    return { staged, origin: origin! };
  } catch (error) {
    if (error instanceof StartRefused) throw error;
    throw unreadable(file, error);
  }
}

/** Rejects before SQLite has read a byte of a backup that is neither verified nor accepted. */
async function copyVerified(
  { home, file, acceptUnverified, ...unlocking }: RestoreSource,
  to: string,
): Promise<Origin> {
  const kept = await keptCopy(home, file);
  if (kept !== null) {
    await sqliteMaintenance(home).copyDatabase(kept, to);
    return { kind: 'kept' };
  }
  const keys = await backupKeys(home);
  const encrypted = await isEncrypted(file);
  if (encrypted) await decryptFile(file, to, unlocking);
  else if (unlocking.identityFile || unlocking.passphraseFile)
    throw new StartRefused(2, `${file} is not encrypted`, 'omit --identity-file and --passphrase-file');
  // Not copyFile: the copy becomes the registry, and must not have the mode of the backup.
  else await pipeline(createReadStream(file), createWriteStream(to, { flags: 'wx', mode: 0o600 }));
  const verdict = await verifyManifest(to, keys);
  const origin = originOf(verdict);
  if (origin.kind === 'unverified' && !acceptUnverified) throw notVerified(file, origin.why);
  if (verdict.kind !== 'none') await truncate(to, verdict.size);
  else if (!encrypted) {
    await rm(to);
    // SQLite makes the copy: what a crash has left beside a copied database belongs to it.
    await sqliteMaintenance(home).copyDatabase(file, to);
  }
  return origin;
}

function originOf(verdict: ManifestVerdict): Origin {
  if (verdict.kind === 'verified') return { kind: 'verified', createdAt: verdict.manifest.createdAt };
  return { kind: 'unverified', why: verdict.kind === 'none' ? fromBefore : verdict.why };
}

/** Names that a restore and a migration give to the registries that they replace. */
const keptNames = [BEFORE_RESTORE, '.v'].map(suffix => homeFiles.database + suffix);

/**
 * The path of the file, without links, if a restore or a migration has kept it in the home; else null. The caller must use this
 * path: a link in a folder of another user may point to another file by then.
 */
async function keptCopy(home: Home, file: string): Promise<string | null> {
  const path = await realpath(file);
  if (!(await stat(path)).isFile()) throw new StartRefused(1, `${file} is not a file`, 'name a backup');
  const isKept =
    dirname(path) === (await realpath(home.dir)) && keptNames.some(name => basename(path).startsWith(name));
  return isKept ? path : null;
}

function notVerified(file: string, why: string): StartRefused {
  return new StartRefused(
    1,
    `${file} is not verified: ${why}`,
    `nothing was changed. To restore it anyway, add --accept-unverified: ${unverifiedMeans}`,
  );
}

function unreadable(file: string, error: unknown): unknown {
  if (!(error instanceof StoreFailure) && !(error as NodeJS.ErrnoException).code) return error;
  const { message } = ((error as Error).cause ?? error) as Error;
  return new StartRefused(1, `${file} cannot be read: ${message}`, 'nothing was changed; try another backup');
}
