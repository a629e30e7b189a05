/** The tables: their columns, and the statements that read and write whole records. */

import type { Tags } from '../../../src/contract/tags.ts';
import type { AppRecord } from '../../domain/app.ts';
import type { BackupRecord } from '../../domain/backup.ts';
import type { DeviceRecord } from '../../domain/device.ts';
import type { PasskeyRecord } from '../../domain/passkey.ts';
import type { ServiceTokenRecord } from '../../domain/service-token.ts';
import type { UserRecord } from '../../domain/user.ts';
import type { ChainedRow } from '../journal-end.ts';
import { tagLines, tagsOf } from './tags.ts';

/** `json`: a value that is stored as its JSON text, null as null. `tags`: see `tagLines`. */
type ColumnType = 'int8' | 'text' | 'bool' | 'json' | 'tags';
type Columns<R> = Readonly<Record<keyof R, ColumnType>>;

/** A statement and its values. */
export type Statement = readonly [sql: string, values: unknown[]];

/** A table of records that have a number. */
export interface Table<R> {
  /** Quoted. */
  readonly name: string;
  /** The select list that returns records, before `toRecord`. */
  readonly columns: string;
  readonly update: string;
  /** Adds the records: an array for each column, and none for columns that have the `initial` value in all of them. */
  insert(records: readonly R[]): Statement;
  /** The values of `update`. */
  changed(records: readonly R[]): unknown[][];
  toRecord(row: Readonly<Record<string, unknown>>): R;
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

/** The select list that returns rows with exactly these fields. */
export const selectList = (fields: readonly string[]): string =>
  fields.map(field => (snakeCase(field) === field ? field : `${snakeCase(field)} AS "${field}"`)).join(', ');

const arrayType = (type: ColumnType) => `${type === 'json' || type === 'tags' ? 'text' : type}[]`;
const unnest = (types: readonly ColumnType[]) =>
  `unnest(${types.map((type, i) => `$${i + 1}::${arrayType(type)}`).join(', ')})`;

interface TableOptions<R> {
  /** Columns that never change. */
  readonly fixed?: readonly (keyof R)[];
  /** Values that most new records have. An array costs time for each row and for each statement: these have none. */
  readonly initial?: Partial<R>;
}

/** A constant of the program in SQL. */
const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));

function table<R extends object>(
  name: string,
  columns: Columns<R>,
  key: keyof R & string,
  { fixed = [], initial }: TableOptions<R> = {},
): Table<R> {
  const fields = Object.keys(columns) as (keyof R & string)[];
  const coded = fields.filter(field => columns[field] === 'json' || columns[field] === 'tags');
  const mutable = [key, ...fields.filter(field => field !== key && !fixed.includes(field))];
  const names = (of: readonly string[]) => of.map(snakeCase).join(', ');
  const typesOf = (of: readonly (keyof R)[]) => of.map(field => columns[field]);
  const valuesOf = (of: readonly (keyof R & string)[], records: readonly R[]) =>
    of.map(field => records.map(record => encoded(columns[field], record[field])));
  const constants = Object.entries(initial ?? {}) as [keyof R & string, unknown][];
  const varying = fields.filter(field => !(initial && field in initial));
  const isInitial = (record: R) => constants.every(([field, value]) => record[field] === value);
  const inserting = (of: readonly (keyof R & string)[], others: typeof constants) => {
    const columnNames = names([...of, ...others.map(([field]) => field)]);
    const values = ['*', ...others.map(([, value]) => literal(value))].join(', ');
    return `INSERT INTO ${name} (${columnNames}) SELECT ${values} FROM ${unnest(typesOf(of))}`;
  };
  const insertAll = inserting(fields, []);
  const insertInitial = inserting(varying, constants);
  const assigned = mutable.slice(1).map(snakeCase);
  return {
    name,
    columns: selectList(fields),
    update: `UPDATE ${name} AS t SET ${assigned.map(column => `${column} = n.${column}`).join(', ')}
      FROM ${unnest(typesOf(mutable))} AS n (${names(mutable)}) WHERE t.${key} = n.${key}`,
    insert: records =>
      constants.length > 0 && records.every(isInitial)
        ? [insertInitial, valuesOf(varying, records)]
        : [insertAll, valuesOf(fields, records)],
    changed: records => valuesOf(mutable, records),
    toRecord(row) {
      if (coded.length === 0) return row as R;
      const decode = (field: keyof R & string) => [field, decoded(columns[field], row[field] as string | null)];
      return { ...row, ...Object.fromEntries(coded.map(decode)) } as R;
    },
  };
}

function encoded(type: ColumnType, value: unknown): unknown {
  if (type === 'tags') return tagLines(value as Tags);
  return type === 'json' && value !== null ? JSON.stringify(value) : value;
}

function decoded(type: ColumnType, text: string | null): unknown {
  if (type === 'tags') return tagsOf(text);
  return text === null ? null : JSON.parse(text);
}

/** What a device has that was just registered. */
export const registered = {
  status: 'INACTIVE',
  userId: null,
  note: null,
  activatedAt: null,
  lastUsedAt: null,
  lockReason: null,
  lockedAt: null,
  deactivatedAt: null,
  updatedAt: null,
  usageCount: 0,
  usageSeconds: 0,
  backupCount: 0,
  lastBackupAt: null,
} as const;

export const devices = table<DeviceRecord>(
  'device',
  {
    number: 'int8',
    deviceType: 'text',
    serialNumber: 'text',
    manufacturer: 'text',
    model: 'text',
    hardwareVersion: 'text',
    firmwareVersion: 'text',
    status: 'text',
    userId: 'text',
    activationCode: 'text',
    activationCodeExpiresAt: 'int8',
    note: 'text',
    createdAt: 'int8',
    activatedAt: 'int8',
    lastUsedAt: 'int8',
    lockReason: 'text',
    lockedAt: 'int8',
    deactivatedAt: 'int8',
    updatedAt: 'int8',
    usageCount: 'int8',
    usageSeconds: 'int8',
    backupCount: 'int8',
    lastBackupAt: 'int8',
    tags: 'tags',
    proof: 'text',
  },
  'number',
  {
    fixed: ['deviceType', 'serialNumber', 'manufacturer', 'model', 'hardwareVersion', 'createdAt'],
    initial: registered,
  },
);

export const users = table<UserRecord>(
  '"user"',
  {
    number: 'int8',
    username: 'text',
    passwordHash: 'text',
    role: 'text',
    email: 'text',
    disabled: 'bool',
    createdAt: 'int8',
    tokenEpoch: 'int8',
  },
  'number',
  { fixed: ['username', 'createdAt'] },
);

export const apps = table<AppRecord>(
  'app',
  {
    number: 'int8',
    platform: 'text',
    version: 'text',
    versionName: 'text',
    changelog: 'text',
    forceUpdate: 'bool',
    minSupportVersion: 'text',
    fileName: 'text',
    extension: 'text',
    fileSize: 'int8',
    sha256: 'text',
    uploadedBy: 'text',
    createdAt: 'int8',
    blob: 'text',
  },
  'number',
);

export const backups = table<BackupRecord>(
  'backup',
  {
    number: 'int8',
    device: 'int8',
    fileName: 'text',
    fileSize: 'int8',
    sha256: 'text',
    note: 'text',
    createdAt: 'int8',
    blob: 'text',
  },
  'number',
);

export const serviceTokens = table<ServiceTokenRecord>(
  'service_token',
  {
    number: 'int8',
    name: 'text',
    role: 'text',
    sha256: 'text',
    createdBy: 'text',
    createdAt: 'int8',
    expiresAt: 'int8',
    lastUsedAt: 'int8',
    revokedAt: 'int8',
    allowedFrom: 'json',
    may: 'json',
  },
  'number',
  { fixed: ['name', 'role', 'sha256', 'createdBy', 'createdAt', 'expiresAt', 'allowedFrom', 'may'] },
);

export const passkeys = table<PasskeyRecord>(
  'passkey',
  {
    number: 'int8',
    owner: 'int8',
    name: 'text',
    credentialId: 'text',
    publicKey: 'text',
    rpId: 'text',
    transports: 'json',
    aaguid: 'text',
    signCount: 'int8',
    createdAt: 'int8',
    lastUsedAt: 'int8',
    removedAt: 'int8',
    version: 'int8',
    used: 'json',
  },
  'number',
  { fixed: ['owner', 'name', 'credentialId', 'publicKey', 'rpId', 'transports', 'aaguid', 'createdAt'] },
);

export const events = table<ChainedRow>(
  'event',
  {
    id: 'int8',
    at: 'int8',
    type: 'text',
    device: 'int8',
    subject: 'int8',
    actor: 'text',
    request_id: 'text',
    data: 'text',
    detail: 'text',
    mac: 'text',
  },
  'id',
);
