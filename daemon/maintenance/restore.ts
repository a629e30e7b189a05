/** Replaces the registry by a backup. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ProgramIo, RestoreOptions } from '../../src/contract/programs.ts';
import { escapedLine } from '../base/escaped.ts';
import { StartRefused } from '../base/start-refused.ts';
import { beforeRestoreName } from '../files/blob-folder.ts';
import { checkSecrets } from '../home/belonging.ts';
import { secretsFrom } from '../home/given-settings.ts';
import { HeadFile, noEntry } from '../home/head-file.ts';
import { Home } from '../home/home.ts';
import { Instance } from '../home/instance.ts';
import { journalKeys } from '../home/journal-keys.ts';
import { lockHome } from '../home/lock.ts';
import { filesTarget } from '../home/object-store-target.ts';
import { withSecrets } from '../home/secrets-lock.ts';
import { type StoreTarget, storeTarget } from '../home/store-target.ts';
import { print, reporting } from '../start/program-io.ts';
import { fileImprint, readImprint } from '../start/store-engine.ts';
import type { CheckReport, StagedRestore } from '../store/maintenance.ts';
import type { JournalHead } from '../store/queries.ts';
import type { BlobReport } from './check-blobs.ts';
import type { CopyProgress } from './copy-rows.ts';
import { databaseRestore, HeldDatabase } from './database-backup.ts';
import type { RestoreFiles } from './folder-files.ts';
import { counted, type ExistingRegistry, existingRegistry } from './maintenance.ts';
import { progressOf } from './progress.ts';
import { filesOf } from './registry-files.ts';
import { type Origin, type RestoreSource, type StagedBackup, stageBackup, unverifiedMeans } from './stage-backup.ts';

/** Replaces the registry by a backup; the present registry stays beside it. Refuses while a daemon is running. */
export function restore(options: RestoreOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const { home, target } = await restoredRegistry(options, io.env);
    const lock = await lockHome(home);
    const progress = progressOf(io, options.json);
    let database: HeldDatabase | null = null;
    let stored: RestoreFiles | null = null;
    try {
      const { file, acceptUnverified = false, identityFile, passphraseFile } = options;
      stored = await filesOf(home, filesTarget(options.files ?? null, io.env, true));
      const restoring = { home, file: resolve(file), acceptUnverified, identityFile, passphraseFile };
      database = target && (await takeDatabase(target, home));
      const { staged, origin, instance } = await stageFor(restoring, database, progress);
      const restored = await replace({ ...restoring, staged, origin, stored, target });
      for (const warning of [...restored.warnings, ...(await secretWarnings(home, instance))])
        io.stderr.write(`${escapedLine(warning)}\n`);
      await print(io.stdout, options.json ? `${JSON.stringify(documentOf(restored))}\n` : textOf(restored));
      return 0;
    } finally {
      await database?.replacement.close();
      stored?.close();
      await lock.release();
    }
  });
}

/** For a registry in SQLite, the home may be an empty folder, as on a new machine. */
async function restoredRegistry(options: RestoreOptions, env: ProgramIo['env']): Promise<ExistingRegistry> {
  if (storeTarget(options.store ?? null, env) !== null) return existingRegistry(options, env);
  const { home: dir } = options;
  await stat(dir).catch(() => {
    throw new StartRefused(1, `the folder ${dir} does not exist`, 'name the home of the daemon with --home');
  });
  return { home: await Home.open(dir, secretsFrom(options.secrets ?? null, env)), target: null };
}

/** Refuses the registry of other secrets, and one that a daemon uses. An unfinished copy is replaced. */
async function takeDatabase(target: StoreTarget, home: Home): Promise<HeldDatabase> {
  const imprint = await readImprint(target, home);
  if (imprint?.head) await checkSecrets(home, imprint);
  return HeldDatabase.take(target, home);
}

/** A daemon refuses a database whose journal has another key. `instance`: identity for clients; null if the backup has none. */
async function stageFor(
  restoring: RestoreSource,
  database: HeldDatabase | null,
  progress: CopyProgress,
): Promise<StagedBackup & { readonly instance: string | null }> {
  const { staged, origin } = await stageBackup(restoring);
  try {
    const imprint = await fileImprint(staged.file);
    const instance = imprint?.instance ?? null;
    if (database === null) return { staged, origin, instance };
    if (imprint) await checkSecrets(restoring.home, { ...imprint, name: restoring.file, instance: null });
    return { staged: databaseRestore(staged, database, progress), origin, instance };
  } catch (error) {
    await staged.discard();
    throw error;
  }
}

interface Report extends Pick<CheckReport, 'devices' | 'entries'> {
  /** Path of the previous registry; null if there was none. */
  readonly kept: string | null;
  readonly origin: Origin;
  readonly warnings: readonly string[];
}

const documentOf = ({ devices, entries, kept, origin }: Report) => ({
  devices,
  entries,
  kept,
  verified: origin.kind !== 'unverified',
  createdAt: origin.kind === 'verified' ? origin.createdAt : null,
});

/** A time as a person reads it: `2026-11-29 06:13:10 UTC`. */
const inUtc = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;

function textOf({ devices, kept, origin }: Report): string {
  const made = origin.kind === 'verified' ? ` from the backup of ${inUtc(origin.createdAt)}` : '';
  return `restored ${counted(devices, 'device', 'devices')}${made}; ${kept ? `the previous registry is in ${kept}` : 'there was no registry before'}\n`;
}

interface Plan extends RestoreSource, StagedBackup {
  readonly stored: RestoreFiles;
  readonly target: StoreTarget | null;
}

/** If the disk is full or the backup damaged, the registry stays as it is. */
async function replace(staging: Plan): Promise<Report> {
  const { home, file, acceptUnverified, staged, origin, stored, target } = staging;
  try {
    const accepted = origin.kind === 'unverified' ? staged.report.unproven : [];
    const problem = staged.report.problems.find(text => !accepted.includes(text));
    if (problem) throw new StartRefused(1, `${file} is damaged: ${problem}`, 'nothing was changed; try another backup');
    const files = await stored.check(staged.reader);
    const [damaged] = files.damaged;
    if (damaged && !acceptUnverified) throw damagedFile(damaged);
    const label = beforeRestoreName('');
    const kept = await staged.keepPresent(label);
    await stored.bringBack(staged.reader);
    const removeUnknown = await stored.keepUnknown(staged.reader, label);
    // A registry that is damaged can be replaced, too.
    await install(home, staged, async () => (await readImprint(target, home).catch(() => null))?.head ?? null);
    await removeUnknown();
    const { devices, entries } = staged.report;
    return { devices, entries, kept, origin, warnings: warningsOf(origin, accepted, files) };
  } finally {
    await staged.discard();
  }
}

function damagedFile(id: string): StartRefused {
  return new StartRefused(
    1,
    `the stored file of ${id} is not the one that the backup refers to`,
    'nothing was changed. Put the copy of blobs that belongs to the backup into the home; with --accept-unverified the file is kept, but never served',
  );
}

function warningsOf(origin: Origin, accepted: readonly string[], files: BlobReport): string[] {
  const unverified =
    origin.kind === 'unverified'
      ? [
          `Warning: the backup is not verified: ${origin.why}. That means: ${unverifiedMeans}. Compare the users and their roles (devmgr users list), and set new passwords.`,
        ]
      : [];
  const missing = files.missing.length
    ? [
        `Warning: ${files.missing.length} stored ${files.missing.length === 1 ? 'file is' : 'files are'} missing (${files.missing[0]} is the first): copy blobs into the home, then run devmgr daemon check`,
      ]
    : [];
  return [...unverified, ...accepted.slice(0, 1).map(text => `Warning: ${text}`), ...missing];
}

/** Consequences for clients if secrets are missing. Without `journal-key` nothing is restored. */
async function secretWarnings(home: Home, instance: string | null): Promise<string[]> {
  const own = await Instance.existing(home);
  const file = (name: 'instanceKey' | 'signingKey') => home.path(name);
  const copy = 'copy it from the machine of the backup before the next start';
  const known =
    own === null
      ? [`Warning: ${file('instanceKey')} is missing: ${copy}, else clients that know the registry refuse it`]
      : instance !== null && own.id !== instance
        ? [`Warning: ${file('instanceKey')} is not that of the restored registry: ${copy}, else clients refuse it`]
        : [];
  if (await home.has('signingKey')) return known;
  return [...known, `Warning: ${file('signingKey')} is missing: ${copy}, else all users have to log in again`];
}

/**
 * Puts the restored registry in place, and signs that the journal goes back. A line that reports this before is settled
 * afterwards, or at the next start: whichever registry is in place then, its journal is compared with heads of its own.
 */
async function install(home: Home, staged: StagedRestore, present: () => Promise<JournalHead | null>): Promise<void> {
  const head = (await staged.reader.journalHead()) ?? noEntry;
  await useHeads(home, async heads => {
    await heads.settleRestore(await present());
    await heads.append('restoring', head, Date.now());
  });
  // A registry and its files are in place at every moment: an interruption leaves the previous one or the restored one.
  await staged.install();
  await useHeads(home, heads => heads.settleRestore(head));
}

async function useHeads(home: Home, use: (heads: HeadFile) => Promise<void>): Promise<void> {
  await withSecrets(home, async () => {
    const heads = await HeadFile.open(home, await journalKeys(home));
    if (heads.problem)
      throw new StartRefused(
        1,
        heads.problem,
        `keep ${home.path('journalHeads')} as evidence, move it away, and restore again`,
      );
    await use(heads);
  });
}
