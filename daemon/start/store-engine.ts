/** The only place that chooses the engine of the store: SQLite in the home folder, or a database. */

import { StartRefused } from '../base/start-refused.ts';
import { checkBelonging, checkComplete, checkUnused, presentImprint } from '../home/belonging.ts';
import type { Home } from '../home/home.ts';
import { Instance } from '../home/instance.ts';
import { allKeys, journalKeys } from '../home/journal-keys.ts';
import type { RegistryPlace, StoreTarget } from '../home/store-target.ts';
import { StoreFailure } from '../store/commit.ts';
import type { CopySource, CopyTarget, Replacement } from '../store/copy.ts';
import { type DatabaseEngine, StoreMisconfigured, StoreUnreachable } from '../store/database.ts';
import type { Imprint } from '../store/imprint.ts';
import type { FileMaintenance, StoreMaintenance } from '../store/maintenance.ts';
import * as sqlite from '../store/sqlite/index.ts';
import type { Store } from '../store/store.ts';
import { databases, engineFor } from './engines.ts';
import { subjects } from './subjects.ts';

/**
 * Opens the registry of a home, or the one in a database whose journal has the key of the home; creates it, and the key of its journal,
 * if there is none. `notice` receives lines for the log. Rejects with `StartRefused` if a database cannot be used, if the secrets
 * of the home are not those of the registry (those in a folder of their own, or for a database), or if it is empty and they belong
 * to another one.
 */
export async function openStore(
  target: StoreTarget | null,
  home: Home,
  notice: (message: string) => void,
): Promise<Store> {
  const isShared = target !== null || home.sharesSecrets;
  const imprint =
    target === null ? await readImprint(null, home) : await presentImprint(home, () => readImprint(target, home));
  if (isShared) await checkBelonging(home, imprint);
  else if (imprint) checkComplete(imprint);
  if (!imprint?.head) await checkUnused(home, imprint?.name ?? (await databaseName(target, home)));
  await home.secretKey('journalKey');
  const instance = isShared ? (await Instance.open(home)).id : undefined;
  const [journalKey, ...otherJournalKeys] = allKeys(await journalKeys(home)).toReversed();
  const keys = { subjects, journalKey: journalKey!, otherJournalKeys, notice, instance };
  if (target === null) return sqlite.openSqliteStore({ file: home.path('database'), ...keys });
  const readJournalKeys = async () => allKeys(await journalKeys(home));
  return inDatabase(target, engine => engine.openStore({ ...target, ...keys, readJournalKeys }));
}

/** Facts about the secrets of a registry; null if there is none. */
export async function readImprint(target: StoreTarget | null, home: Home): Promise<Imprint | null> {
  return target === null
    ? sqlite.readImprint(home.path('database'))
    : inDatabase(target, engine => engine.readImprint(target));
}

/** The database in messages, without a password. */
async function databaseName(target: StoreTarget | null, home: Home): Promise<string> {
  if (target === null) return home.path('database');
  return inDatabase(target, engine => engine.databaseName(target));
}

/** As `lockCreation` if the database has no registry yet, or one that was never used; null if it has one, or for SQLite. */
export async function lockIfNew(target: StoreTarget | null): Promise<(() => Promise<void>) | null> {
  if (target === null || (await inDatabase(target, engine => engine.readImprint(target)))?.head) return null;
  return lockCreation(target);
}

/** Keeps other nodes from creating a registry in the same database at the same time. Resolves with the function that ends this. */
export async function lockCreation(target: StoreTarget | null): Promise<() => Promise<void>> {
  if (target === null) return async () => {};
  return inDatabase(target, engine => engine.lockCreation(target));
}

/** Turns the refusal of a database, or a missing server, into the end of a start. */
async function inDatabase<T>({ url }: StoreTarget, use: (engine: DatabaseEngine) => T | Promise<T>): Promise<T> {
  const engine = await engineFor(url, databases);
  try {
    return await use(engine);
  } catch (error) {
    if (error instanceof StoreMisconfigured) throw new StartRefused(2, error.message, error.hint);
    if (error instanceof StoreUnreachable) throw new StartRefused(9, error.message, error.hint);
    throw error;
  }
}

/** A registry that `daemon copy` reads or writes. Methods reject with `StartRefused` where `openStore` does. */
export interface CopiedRegistry {
  readonly maintenance: StoreMaintenance;
  imprint(): Promise<Imprint | null>;
  openSource(): Promise<CopySource>;
  openTarget(): Promise<CopyTarget>;
}

/** The registry in a place, with the keys of a home. */
export function copiedRegistry(place: RegistryPlace, home: Home): CopiedRegistry {
  if ('file' in place) {
    const { file } = place;
    return {
      maintenance: sqliteMaintenance(home, file),
      imprint: () => refusingFile(async () => sqlite.readImprint(file)),
      openSource: () => refusingFile(() => sqlite.openCopySource(file)),
      openTarget: () => refusingFile(() => sqlite.openCopyTarget(subjects, file)),
    };
  }
  return {
    maintenance: storeMaintenance(place, home),
    imprint: () => inDatabase(place, engine => engine.readImprint(place)),
    openSource: () => inDatabase(place, engine => engine.openCopySource(place)),
    openTarget: () => inDatabase(place, engine => engine.openCopyTarget({ ...place, subjects })),
  };
}

/** Facts about the secrets of the registry in a file; null if the file has no registry. */
export const fileImprint = sqlite.readImprint;

/** A new file of SQLite, and one that only this process uses. */
export const createDatabase = sqlite.createDatabase.bind(null, subjects);
export const { openDisposable } = sqlite;

/** The registry in a database at this moment; daemons may be writing. Rejects with `StartRefused` if `openStore` does. */
export async function openSnapshot(target: StoreTarget): Promise<CopySource> {
  return inDatabase(target, engine => engine.openSnapshot(target));
}

/** Takes a database from all daemons, to replace its registry. Rejects with `StartRefused` where `openStore` does. */
export async function openReplacement(target: StoreTarget): Promise<Replacement> {
  return inDatabase(target, engine => engine.openReplacement({ ...target, subjects }));
}

/** A file that a flag names and that cannot be used. */
async function refusingFile<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof StoreFailure) throw new StartRefused(2, error.message);
    throw error;
  }
}

/**
 * Work on an existing SQLite registry: the one of a home, unless a file is named. The key of its journal must exist: a new one would
 * make the journal look forged.
 */
export function sqliteMaintenance(home: Home, file: string = home.path('database')): FileMaintenance {
  return sqlite.fileMaintenance({
    subjects,
    file,
    journalKeys: async () => allKeys(await journalKeys(home)),
  });
}

/** Work on an existing registry, wherever it is. Rejects with `StartRefused` where `openStore` does. */
export function storeMaintenance(target: StoreTarget | null, home: Home): StoreMaintenance {
  if (target === null) return sqliteMaintenance(home);
  const registry = { ...target, subjects, journalKeys: async () => allKeys(await journalKeys(home)) };
  return {
    openStore: () => inDatabase(target, engine => engine.maintenance(registry).openStore()),
    openReader: () => inDatabase(target, engine => engine.maintenance(registry).openReader()),
    check: anchors => inDatabase(target, engine => engine.maintenance(registry).check(anchors)),
  };
}
