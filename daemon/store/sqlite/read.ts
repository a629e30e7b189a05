import type { BackupRecord, DeviceRecord, DeviceRow, Reader, Rows, Window } from '../store.ts';
import { type AppColumns, select, toApp, toUser, type UserColumns } from './columns.ts';
import type { NumberPage } from './lists-sql.ts';
import { lastEventId, readEvents } from './read-journal.ts';
import type { Statements } from './statements.ts';

/** The reads of a store, done at once where they take microseconds. */
export type Reads = {
  readonly [K in keyof Reader]: Reader[K] extends (...input: infer I) => Promise<infer T>
    ? (...input: I) => T | Promise<T>
    : never;
};

/** Reads as the interface has them, each done by `run`. */
export function readerOf(reads: Reads, run: <T>(read: () => T | Promise<T>) => Promise<T>): Reader {
  const wrapped = Object.entries(reads).map(([name, read]) => [
    name,
    (...input: unknown[]) => run(() => (read as (...input: unknown[]) => unknown)(...input)),
  ]);
  return Object.fromEntries(wrapped) as Reader;
}

/** The reads that are one look at a table or an index. */
export function tableReads(statements: Statements): Omit<Reads, 'devices'> {
  const record = <C, R>(columns: C | undefined, make: (columns: C) => R) => (columns ? make(columns) : null);
  return {
    device: number =>
      statements.get<DeviceRecord>(`SELECT ${select.device} FROM device WHERE number = ?`, number) ?? null,
    devicesBySerial: serials => bySerial(statements, serials),
    user: number =>
      record(statements.get<UserColumns>(`SELECT ${select.user} FROM user WHERE number = ?`, number), toUser),
    userByName: username =>
      record(statements.get<UserColumns>(`SELECT ${select.user} FROM user WHERE username = ?`, username), toUser),
    users: window => mapRows(pageOf<UserColumns>(statements, 'user', select.user, window), toUser),
    admins: () =>
      statements
        .all<UserColumns>(`SELECT ${select.user} FROM user WHERE role = 'ADMIN' AND disabled = 0 ORDER BY number`)
        .map(toUser),
    app: number => record(statements.get<AppColumns>(`SELECT ${select.app} FROM app WHERE number = ?`, number), toApp),
    apps: ({ platform, ...window }) =>
      mapRows(
        pageOf<AppColumns>(statements, 'app', select.app, window, platform && { column: 'platform', value: platform }),
        toApp,
      ),
    appsOf: platform =>
      statements
        .all<AppColumns>(`SELECT ${select.app} FROM app WHERE platform = ? ORDER BY created_at, number`, platform)
        .map(toApp),
    backup: number =>
      statements.get<BackupRecord>(`SELECT ${select.backup} FROM backup WHERE number = ?`, number) ?? null,
    backups: (device, window) =>
      pageOf<BackupRecord>(statements, 'backup', select.backup, window, { column: 'device', value: device }),
    events: filter => readEvents(statements, filter),
    lastEventId: () => lastEventId(statements),
    knownBlobs: names =>
      new Set(
        statements.values<string>(
          `WITH asked AS (SELECT value FROM json_each(?))
           SELECT blob FROM app WHERE blob IN asked UNION SELECT blob FROM backup WHERE blob IN asked`,
          JSON.stringify(names),
        ),
      ),
  };
}

/** The rows of a page of devices, in its order. */
export function deviceRows(statements: Statements, { numbers, total }: NumberPage): Rows<DeviceRow> {
  const one = statements.of(`SELECT ${select.deviceRow} FROM device WHERE number = ?`);
  return { rows: numbers.map(number => one.get(number) as DeviceRow), total };
}

function bySerial(statements: Statements, serials: readonly string[]) {
  const one = statements.of('SELECT number, status FROM device WHERE serial_number = ?');
  const found = new Map<string, Pick<DeviceRecord, 'number' | 'status'>>();
  for (const serial of serials) {
    const device = one.get(serial) as Pick<DeviceRecord, 'number' | 'status'> | undefined;
    if (device) found.set(serial, device);
  }
  return found;
}

function pageOf<C>(
  statements: Statements,
  table: 'user' | 'app' | 'backup',
  columns: string,
  { descending, offset, limit }: Window,
  only?: { column: string; value: string | number },
): Rows<C> {
  const where = only ? `WHERE ${only.column} = ?` : '';
  const values = only ? [only.value] : [];
  const direction = descending ? 'DESC' : 'ASC';
  return {
    rows: statements.all<C>(
      `SELECT ${columns} FROM ${table} ${where} ORDER BY created_at ${direction}, number ${direction} LIMIT ? OFFSET ?`,
      ...values,
      limit,
      offset,
    ),
    total: statements.value<number>(`SELECT count(*) FROM ${table} ${where}`, ...values)!,
  };
}

const mapRows = <C, R>({ rows, total }: Rows<C>, make: (columns: C) => R): Rows<R> => ({ rows: rows.map(make), total });
