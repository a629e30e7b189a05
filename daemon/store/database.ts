/** A database outside of the home that keeps a registry, as the composition knows it: `daemon/start/engines.ts` lists the engines. */
import { StoreFailure, StoreUnavailable } from './commit.ts';
import type { CopySource, CopyTarget, Replacement } from './copy.ts';
import type { Imprint } from './imprint.ts';
import type { StoreMaintenance } from './maintenance.ts';
import type { Store } from './store.ts';
import type { Subjects } from './subjects.ts';

/** Which database, as a program is given it. */
export interface DatabaseAddress {
  /** postgres://user@host:port/database */
  readonly url: string;
  /** Variables that say how to connect: PGSSLMODE, the file with the password and others. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface SubjectsAt extends DatabaseAddress {
  readonly subjects: Subjects;
}

/** A registry, and the keys of its journal in the order of their use, the last one the current one. */
export interface KeyedRegistry extends SubjectsAt {
  readonly journalKeys: () => Promise<readonly Uint8Array[]>;
}

/** How to open the store. */
export interface DatabaseOptions extends SubjectsAt {
  /** Secret that chains the entries of the journal; stored apart from the database. */
  readonly journalKey: Uint8Array;
  /** Other keys that the journal may end with. */
  readonly otherJournalKeys?: readonly Uint8Array[] | undefined;
  /** Reads the keys again: another node may have replaced the one of the journal. */
  readonly readJournalKeys?: (() => Promise<readonly Uint8Array[]>) | undefined;
  /** Id of the instance, which is noted in the database; not noted if absent. */
  readonly instance?: string | undefined;
  /** Receives lines for the log. */
  readonly notice?: ((message: string) => void) | undefined;
}

/** The store cannot be opened as it is configured, or the database must not be used by this program. `hint` explains what to do. */
export class StoreMisconfigured extends StoreFailure {
  override name = 'StoreMisconfigured';
  readonly hint: string;
  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}

/** The server cannot be reached, or cannot be written to. */
export class StoreUnreachable extends StoreUnavailable {
  override name = 'StoreUnreachable';
  readonly hint: string;
  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}

/** Methods reject with `StoreMisconfigured` or `StoreUnreachable` if the database cannot be used as it is; then nothing was changed. */
export interface DatabaseEngine {
  /** The database in messages, without a password. */
  databaseName(address: DatabaseAddress): string;
  /** Null if the database is empty. Changes nothing. */
  readImprint(address: DatabaseAddress): Promise<Imprint | null>;
  /** Waits until no other node creates a registry in the database. Resolves with the function that lets others continue. */
  lockCreation(address: DatabaseAddress): Promise<() => Promise<void>>;
  /** Creates or upgrades the schema. */
  openStore(options: DatabaseOptions): Promise<Store>;
  /** The registry at this moment; daemons may be writing. */
  openSnapshot(address: DatabaseAddress): Promise<CopySource>;
  openCopySource(address: DatabaseAddress): Promise<CopySource>;
  openCopyTarget(place: SubjectsAt): Promise<CopyTarget>;
  /** Takes the database from all daemons, to replace its registry. */
  openReplacement(place: SubjectsAt): Promise<Replacement>;
  maintenance(registry: KeyedRegistry): StoreMaintenance;
}
