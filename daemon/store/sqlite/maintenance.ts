import type { Anchors, CheckReport, FileMaintenance, RegistryReader, StagedRestore } from '../maintenance.ts';
import type { Store } from '../store.ts';
import { checkDatabase } from './check.ts';
import { openSqliteReader } from './reader.ts';
import { type SqliteRegistry, stageRestore } from './restore.ts';
import { backupDatabase } from './snapshot.ts';
import { openSqliteStore } from './sqlite-store.ts';

/** The maintenance of a registry in an SQLite file. */
export class SqliteMaintenance implements FileMaintenance {
  readonly #registry: SqliteRegistry;

  constructor(registry: SqliteRegistry) {
    this.#registry = registry;
  }

  async openStore(): Promise<Store> {
    const [journalKey, ...otherJournalKeys] = (await this.#registry.journalKeys()).toReversed();
    return openSqliteStore({ file: this.#registry.file, journalKey: journalKey!, otherJournalKeys });
  }

  async openReader(): Promise<RegistryReader> {
    return openSqliteReader(this.#registry.file, await this.#registry.journalKeys());
  }

  backup(to: string, complete: (unfinished: string) => Promise<void>): Promise<void> {
    return backupDatabase(this.#registry.file, to, complete);
  }

  async check(anchors?: Anchors): Promise<CheckReport> {
    return checkDatabase(this.#registry.file, await this.#registry.journalKeys(), anchors);
  }

  copyDatabase(from: string, to: string): Promise<void> {
    return backupDatabase(from, to);
  }

  stageRestore(copy: (to: string) => Promise<void>): Promise<StagedRestore> {
    return stageRestore(this.#registry, copy);
  }
}
