import type { Platform } from '../../src/contract/values.ts';
import type { AppChange, AppRecord } from '../domain/app.ts';
import type { BackupChange, BackupRecord } from '../domain/backup.ts';
import type { Rows, Window } from '../store/queries.ts';
import { type AnswerRecord, withAnswer } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import type { Lookup } from '../store/table.ts';
import { fileChanges } from './rules.ts';
import { apps, backups } from './tables.ts';

declare module '../store/commit.ts' {
  interface SubjectChanges {
    files: AppChange | BackupChange;
  }
}
declare module '../store/store.ts' {
  interface SubjectReads {
    app(number: number): Promise<AppRecord | null>;
    /** In order of creation. */
    apps(window: Window & { readonly platform?: Platform | undefined }): Promise<Rows<AppRecord>>;
    /** All versions for a platform, the latest upload last. */
    appsOf(platform: Platform): Promise<readonly AppRecord[]>;
    backup(number: number): Promise<BackupRecord | null>;
    /** In order of creation. */
    backups(device: number, window: Window): Promise<Rows<BackupRecord>>;
    /** The ones among `names` that records refer to. */
    knownBlobs(names: readonly string[]): Promise<ReadonlySet<string>>;
  }
}

const appsOfPlatform: Lookup<AppRecord> = { table: apps, by: ['platform'] };
const appBlobs: Lookup<AppRecord, 'blob'> = { table: apps, by: ['blob'], select: ['blob'] };
const backupBlobs: Lookup<BackupRecord, 'blob'> = { table: backups, by: ['blob'], select: ['blob'] };

/** Versions of the application and backups of devices. Versions are not compared with the journal. */
export const files = subject({
  tables: [apps, backups],
  changes: fileChanges,
  reads: queries => ({
    app: number => queries.one(apps.byKey, number),
    apps: ({ platform, ...window }) => queries.page(apps, window, platform && { field: 'platform', value: platform }),
    appsOf: platform =>
      withAnswer(queries.all(appsOfPlatform, platform), found => found.toSorted((a, b) => a.createdAt - b.createdAt)),
    backup: number => queries.one(backups.byKey, number),
    backups: (device, window) => queries.page(backups, window, { field: 'device', value: device }),
    knownBlobs: names =>
      withAnswer(queries.many(appBlobs, names), ofApps =>
        withAnswer(
          queries.many(backupBlobs, names),
          ofBackups => new Set([...ofApps.keys(), ...ofBackups.keys()] as string[]),
        ),
      ) as AnswerRecord<ReadonlySet<string>>,
  }),
});
