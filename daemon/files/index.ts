import type { Platform } from '../../src/contract/values.ts';
import type { Window } from '../store/queries.ts';
import { type AnswerRecord, type ReadsOf, type RecordQueries, withAnswer } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import type { Lookup } from '../store/table.ts';
import type { AppChange, AppRecord } from './app.ts';
import type { BackupChange, BackupRecord } from './backup.ts';
import { fileChanges } from './rules.ts';
import { apps, backups } from './tables.ts';

declare module '../store/commit.ts' {
  interface SubjectChanges {
    files: AppChange | BackupChange;
  }
}
declare module '../store/store.ts' {
  interface SubjectReads extends ReadsOf<typeof reads> {}
}

const appsOfPlatform: Lookup<AppRecord> = { table: apps, by: ['platform'] };
const appBlobs: Lookup<AppRecord, 'blob'> = { table: apps, by: ['blob'], select: ['blob'] };
const backupBlobs: Lookup<BackupRecord, 'blob'> = { table: backups, by: ['blob'], select: ['blob'] };

const reads = (queries: RecordQueries) => ({
  app: (number: number) => queries.one(apps.byKey, number),
  /** In order of creation. */
  apps: ({ platform, ...window }: Window & { readonly platform?: Platform | undefined }) =>
    queries.page(apps, window, platform && { field: 'platform', value: platform }),
  /** All versions for a platform, the latest upload last. */
  appsOf: (platform: Platform) =>
    withAnswer(queries.all(appsOfPlatform, platform), found => found.toSorted((a, b) => a.createdAt - b.createdAt)),
  backup: (number: number) => queries.one(backups.byKey, number),
  /** In order of creation. */
  backups: (device: number, window: Window) => queries.page(backups, window, { field: 'device', value: device }),
  /** The ones among `names` that records refer to. */
  knownBlobs: (names: readonly string[]) =>
    withAnswer(queries.many(appBlobs, names), ofApps =>
      withAnswer(
        queries.many(backupBlobs, names),
        ofBackups => new Set([...ofApps.keys(), ...ofBackups.keys()] as string[]),
      ),
    ) as AnswerRecord<ReadonlySet<string>>,
});

const backupFault = `SELECT 'device ' || d.number || ' has the count ' || d.backup_count || ' of backups, there are ' || count(b.number)
   FROM device d LEFT JOIN backup b ON b.device = d.number WHERE d.backup_count > 0 OR b.number IS NOT NULL
   GROUP BY d.number HAVING d.backup_count <> count(b.number)`;

/** Versions of the application and backups of devices. Versions are not compared with the journal. */
export const files = subject({
  tables: [apps, backups],
  changes: fileChanges,
  reads,
  faults: [backupFault],
});
