/**
 * Backups of a registry in a database. The file is the one that a registry in SQLite would have, so that each engine can restore
 * the backups of the other.
 */
import { rename, rm } from 'node:fs/promises';
import { StartRefused } from '../base/start-refused.ts';
import type { Home } from '../home/home.ts';
import type { StoreTarget } from '../home/store-target.ts';
import { createDatabase, openDisposable, openReplacement, openSnapshot, readImprint } from '../start/store-engine.ts';
import { StoreFailure } from '../store/commit.ts';
import type { CopySource, CopyTarget, Replacement } from '../store/copy.ts';
import type { StagedRestore } from '../store/maintenance.ts';
import { type CopyProgress, transferRows } from './copy-rows.ts';

/**
 * Writes the registry as it is at one moment into the new file `to` (0600), while daemons write. `complete` can add to the file before it
 * gets its name. Rejects with `StoreFailure` if `to` exists, or with `StartRefused` if the database cannot be used.
 */
export async function backupRows(
  target: StoreTarget,
  to: string,
  progress: CopyProgress,
  complete?: (unfinished: string) => Promise<void>,
): Promise<void> {
  const source = await openSnapshot(target);
  try {
    await createDatabase(to, file => transfer(source, file, progress), complete);
  } finally {
    await source.close();
  }
}

/** Rejects with `StoreFailure` if the rows that arrived differ. */
async function transfer(source: CopySource, target: CopyTarget, progress: CopyProgress): Promise<void> {
  const [differing] = await transferRows(source, target, progress);
  if (differing) throw new StoreFailure(`the rows of ${differing} are not those of the source; nothing was changed`);
}

/** A backup that is to replace the registry in a database, which it holds. */
export const databaseRestore = (
  staged: StagedRestore,
  database: HeldDatabase,
  progress: CopyProgress,
): StagedRestore => ({
  file: staged.file,
  report: staged.report,
  reader: staged.reader,
  // Into the home, as a restore in SQLite does: a later restore finds it there.
  keepPresent: label => database.keep(label, progress),
  async install() {
    const { replacement } = database;
    const source = await openDisposable(staged.file);
    try {
      await replacement.begin('restore');
      await transfer(source, replacement, progress);
      await replacement.finish();
    } finally {
      await source.close();
    }
  },
  discard: () => staged.discard(),
});

/** A database that no daemon can use. The caller closes `replacement`. */
export class HeldDatabase {
  readonly replacement: Replacement;
  readonly #target: StoreTarget;
  readonly #home: Home;

  private constructor(replacement: Replacement, target: StoreTarget, home: Home) {
    this.replacement = replacement;
    this.#target = target;
    this.#home = home;
  }

  /** Rejects with `StartRefused` if a daemon uses the database. */
  static async take(target: StoreTarget, home: Home): Promise<HeldDatabase> {
    return new HeldDatabase(await openReplacement(target), target, home);
  }

  /** Writes the present registry into a file of the home and returns its path; null for an empty database or an unfinished copy. */
  async keep(label: string, progress: CopyProgress): Promise<string | null> {
    await this.replacement.prepare();
    const imprint = await readImprint(this.#target, this.#home);
    if (!imprint?.head || imprint.copying !== null) return null;
    const kept = this.#home.path('database') + label;
    // One name at every attempt, so that an interruption leaves one file at most.
    const unnamed = `${this.#home.path('database')}.keeping`;
    try {
      await rm(unnamed, { force: true });
      await backupRows(this.#target, unnamed, progress);
      await rename(unnamed, kept);
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
      throw new StartRefused(
        1,
        `the current registry cannot be kept as a copy: ${error.message}`,
        'nothing was changed. To discard it, empty the database, then restore again',
      );
    }
    return kept;
  }
}
