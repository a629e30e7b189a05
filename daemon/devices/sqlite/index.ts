/** Devices in SQLite. */
import type { SqliteSubject } from '../../store/sqlite/subject.ts';
import { keyedFilter } from '../filters.ts';
import { devices as table } from '../tables.ts';
import { BesideDevices } from './beside.ts';
import { derived, faults } from './derived.ts';
import { listedDevices, plainLists } from './lists/index.ts';
import { sqlPage } from './lists-sql.ts';
import { deviceRows } from './rows.ts';
import { scanDevices } from './scan.ts';
import { sqlStatistics } from './statistics.ts';

export const devicesInSqlite: SqliteSubject = {
  reads: statements => ({
    devices: query => deviceRows(statements, sqlPage(statements, keyedFilter(query))),
    statistics: query => sqlStatistics(statements, query),
  }),
  derived,
  faults,
  beside: tables => new BesideDevices(tables),
  open({ readable, file, ...options }) {
    const lists = options.plainLists ? plainLists(readable) : listedDevices(readable, options);
    return {
      reads: {
        devices: query => lists.list(keyedFilter(query)),
        statistics: query => lists.statistics(query),
      },
      streams: { scanDevices: (filter, scanning) => scanDevices(file, keyedFilter(filter), scanning) },
      committed: draft => lists.apply(draft.of(table)),
      ready: lists.ready,
      close: () => lists.close(),
    };
  },
};
