import type { Rows } from '../store/queries.ts';
import type { AnswerRecord, ReadsOf, RecordQueries } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import type { Lookup } from '../store/table.ts';
import type { DeviceFilter, DeviceQuery, DeviceStatistics, ScanOptions, StatisticsQuery } from './queries.ts';
import type { DeviceChange, DeviceGuard, DeviceIdentity, DeviceRecord, DeviceRow } from './records.ts';
import { DeviceReplay } from './replay.ts';
import { deviceChanges, deviceGuards } from './rules.ts';
import { devicesInSqlite } from './sqlite/index.ts';
import { devices as table } from './tables.ts';

declare module '../store/commit.ts' {
  interface SubjectChanges {
    devices: DeviceChange;
  }
  interface SubjectGuards {
    devices: DeviceGuard;
  }
  interface SubjectResults {
    /** `at`: that of `added`. */
    devices:
      | {
          readonly kind: 'used';
          readonly usageCount: number;
          readonly usageSeconds: number;
          readonly version: number;
          readonly at?: number;
        }
      | { readonly kind: 'set'; readonly version: number };
  }
}
declare module '../store/store.ts' {
  interface SubjectReads extends ReadsOf<typeof reads> {
    devices(query: DeviceQuery): Promise<Rows<DeviceRow>>;
    statistics(query: StatisticsQuery): Promise<DeviceStatistics>;
  }
  interface SubjectStreams {
    /**
     * The devices that match, by ascending number, as of the moment of the first batch. The generator holds a connection to the
     * store until it ends or is returned. Rejects with `StoreFailure`.
     */
    scanDevices(filter: DeviceFilter, options?: ScanOptions): AsyncGenerator<readonly DeviceRow[], void>;
  }
}

const identities: Lookup<DeviceRecord, keyof DeviceIdentity> = {
  ...table.unique,
  select: ['number', 'status', 'proof'],
};

const reads = (queries: RecordQueries) => ({
  device: (number: number) => queries.one(table.byKey, number),
  devicesNumbered: (numbers: readonly number[]) =>
    queries.many(table.byKey, numbers) as AnswerRecord<ReadonlyMap<number, DeviceRecord>>,
  devicesWithSerial: (serials: readonly string[]) =>
    queries.many(table.unique, serials) as AnswerRecord<ReadonlyMap<string, DeviceRecord>>,
  /** The registered ones among the serial numbers. */
  devicesBySerial: (serials: readonly string[]) =>
    queries.many(identities, serials) as AnswerRecord<ReadonlyMap<string, DeviceIdentity>>,
});

const faults = [
  `SELECT 'the counter of ' || device_type || ' ' || status || ' of ' || manufacturer || ' is ' || sum(kept) || ', there are ' || sum(found)
   FROM (SELECT device_type, status, manufacturer, count AS kept, 0 AS found FROM device_count
         UNION ALL SELECT device_type, status, manufacturer, 0, count(*) FROM device GROUP BY 1, 2, 3) AS counts
   GROUP BY device_type, status, manufacturer HAVING sum(kept) <> sum(found)`,
  `SELECT 'device ' || number || ' has no journal entry for its registration' FROM (
     SELECT number FROM device EXCEPT SELECT device FROM event WHERE type = 'DEVICE_REGISTERED') AS missing`,
];

/** Security keys. */
export const devices = subject({
  tables: [table],
  changes: deviceChanges,
  guards: deviceGuards,
  replays() {
    const replay = new DeviceReplay();
    return [{ takes: 'device', replay, many: { DEVICES_BOUND: detail => replay.bound(detail) } }];
  },
  reads,
  faults,
  sqlite: devicesInSqlite,
  postgres: async () => (await import('./postgres/index.ts')).devicesInPostgres,
});
