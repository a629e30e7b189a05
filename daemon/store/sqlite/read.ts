import type { BackupRecord, DeviceRecord, DeviceRow, Reader, Rows, Window } from '../store.ts';
import { type AppColumns, select, toApp, toUser, type UserColumns } from './columns.ts';
import type { NumberPage } from './lists-sql.ts';
import { lastEventId, readEvents } from './read-journal.ts';
import type { Statements } from './statements.ts';

/** The reads that are one look at a table or an index; they take microseconds, so that they are done where they are asked for. */
export function tableReader(statements: Statements): Omit<Reader, 'devices'> {
  const record = <C, R>(columns: C | undefined, make: (columns: C) => R) => (columns ? make(columns) : null);
  return {
    device: async number =>
      statements.get<DeviceRecord>(`SELECT ${select.device} FROM device WHERE number = ?`, number) ?? null,
    devicesBySerial: async serials => bySerial(statements, serials),
    user: async number =>
      record(statements.get<UserColumns>(`SELECT ${select.user} FROM user WHERE number = ?`, number), toUser),
    userByName: async username =>
      record(statements.get<UserColumns>(`SELECT ${select.user} FROM user WHERE username = ?`, username), toUser),
    users: async window => mapRows(pageOf<UserColumns>(statements, 'user', select.user, window), toUser),
    admins: async () =>
      statements
        .all<UserColumns>(`SELECT ${select.user} FROM user WHERE role = 'ADMIN' AND disabled = 0 ORDER BY number`)
        .map(toUser),
    app: async number =>
      record(statements.get<AppColumns>(`SELECT ${select.app} FROM app WHERE number = ?`, number), toApp),
    apps: async ({ platform, ...window }) =>
      mapRows(
        pageOf<AppColumns>(statements, 'app', select.app, window, platform && { column: 'platform', value: platform }),
        toApp,
      ),
    appsOf: async platform =>
      statements
        .all<AppColumns>(`SELECT ${select.app} FROM app WHERE platform = ? ORDER BY created_at, number`, platform)
        .map(toApp),
    backup: async number =>
      statements.get<BackupRecord>(`SELECT ${select.backup} FROM backup WHERE number = ?`, number) ?? null,
    backups: async (device, window) =>
      pageOf<BackupRecord>(statements, 'backup', select.backup, window, { column: 'device', value: device }),
    events: filter => readEvents(statements, filter),
    lastEventId: async () => lastEventId(statements),
    knownBlobs: async names =>
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
