/** The tables as data: each field of a record with the type of its column. Both engines make their statements from it. */
import { fixedTexts, forEachText } from '../../src/contract/device-description.ts';
import type { AppRecord } from '../domain/app.ts';
import type { BackupRecord } from '../domain/backup.ts';
import { type DeviceRecord, justRegistered } from '../domain/device.ts';
import type { DocumentRecord } from '../domain/document.ts';
import type { PasskeyRecord } from '../domain/passkey.ts';
import type { ProofRecord } from '../domain/proof.ts';
import type { ServiceTokenRecord } from '../domain/service-token.ts';
import type { UserRecord } from '../domain/user.ts';
import type { ProgressRecord } from '../domain/webhook.ts';
import type { StoredResponse } from './commit.ts';
import type { ChainedRow } from './journal-end.ts';

/** `json`: a value that is stored as its JSON text, null as null. `tags`: see the engine. */
export type ColumnType = 'integer' | 'text' | 'boolean' | 'json' | 'tags' | 'bytes';

export type Field<R> = keyof R & string;

interface TableOptions<R> {
  /** The field that identifies a row; `number` if absent. */
  readonly key?: Field<R>;
  /** Fields that never change, beside the key. */
  readonly fixed?: readonly Field<R>[];
  /** Values that most new records have. */
  readonly initial?: Partial<R>;
  /** What no two records share beside the key, among those that have the values `among`. */
  readonly unique?: readonly Field<R>[];
  readonly among?: Partial<R>;
}

/** A table of rows with these fields; their columns have the same names in snake case. */
export class StoreTable<R extends object> {
  readonly name: string;
  readonly types: Readonly<Record<Field<R>, ColumnType>>;
  readonly fields: readonly Field<R>[];
  readonly key: Field<R>;
  /** The fields that can change. */
  readonly mutable: readonly Field<R>[];
  readonly initial: Partial<R>;
  /** The row with this key. */
  readonly byKey: Lookup<R>;
  /** See `TableOptions`. Empty if there is nothing unique beside the key. */
  readonly unique: Lookup<R>;

  constructor(name: string, types: Readonly<Record<Field<R>, ColumnType>>, options: TableOptions<R> = {}) {
    const { key = 'number' as Field<R>, fixed = [], initial = {}, unique = [], among } = options;
    this.name = name;
    this.types = types;
    this.fields = Object.keys(types) as Field<R>[];
    this.key = key;
    this.mutable = this.fields.filter(field => field !== key && !fixed.includes(field));
    this.initial = initial;
    this.byKey = { table: this, by: [key] };
    this.unique = { table: this, by: unique, having: among };
  }
}

/** The rows with certain values in the fields `by`, among those that have the constants `having`. */
export interface Lookup<R extends object, S extends Field<R> = Field<R>> {
  readonly table: StoreTable<R>;
  readonly by: readonly Field<R>[];
  readonly having?: Partial<R> | undefined;
  /** The fields that are read; all if absent. */
  readonly select?: readonly S[];
}

/** The values of `by`: one value, or several in one text. Fields that are looked up together contain no line break. */
export type LookupKey = string | number;
const joinKey = (values: readonly unknown[]): string => values.join('\n');
/** The values of `by`, one for each field. */
export const keyValues = ({ by }: Pick<Lookup<never>, 'by'>, key: LookupKey): readonly LookupKey[] =>
  by.length > 1 ? (key as string).split('\n') : by.length === 1 ? [key] : [];

/** What the lookup finds the record by; null if it does not find it. */
export function keyOf<R extends object>({ by, having }: Lookup<R>, record: R): LookupKey | null {
  if (having) for (const field in having) if (record[field] !== having[field]) return null;
  return by.length === 1 ? (record[by[0]!] as LookupKey) : joinKey(by.map(field => record[field]));
}

/** What no other record has; null if the record has nothing unique. */
export const uniqueKey = <R extends object>({ unique }: StoreTable<R>, record: R): LookupKey | null =>
  unique.by.length === 0 ? null : keyOf(unique, record);

const columns = new Map<string, string>();

/** The column of a field. */
export function columnOf(field: string): string {
  const known = columns.get(field);
  if (known !== undefined) return known;
  const column = field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
  columns.set(field, column);
  return column;
}

/** The select list that returns rows with exactly these fields, before they are decoded. */
export const selectList = (fields: readonly string[]): string =>
  fields.map(field => (columnOf(field) === field ? field : `${columnOf(field)} AS "${field}"`)).join(', ');

export const devices = new StoreTable<DeviceRecord>(
  'device',
  {
    number: 'integer',
    deviceType: 'text',
    serialNumber: 'text',
    ...forEachText(() => 'text' as const),
    status: 'text',
    userId: 'text',
    activationCode: 'text',
    activationCodeExpiresAt: 'integer',
    note: 'text',
    createdAt: 'integer',
    activatedAt: 'integer',
    lastUsedAt: 'integer',
    lockReason: 'text',
    lockedAt: 'integer',
    deactivatedAt: 'integer',
    updatedAt: 'integer',
    usageCount: 'integer',
    usageSeconds: 'integer',
    backupCount: 'integer',
    lastBackupAt: 'integer',
    tags: 'tags',
    proof: 'text',
    version: 'integer',
  },
  {
    fixed: ['deviceType', 'serialNumber', ...fixedTexts, 'createdAt'],
    initial: justRegistered,
    unique: ['serialNumber'],
  },
);

export const users = new StoreTable<UserRecord>(
  'user',
  {
    number: 'integer',
    username: 'text',
    passwordHash: 'text',
    role: 'text',
    email: 'text',
    disabled: 'boolean',
    createdAt: 'integer',
    tokenEpoch: 'integer',
  },
  { fixed: ['username', 'createdAt'], unique: ['username'] },
);
export const enabledAdmins: Lookup<UserRecord> = { table: users, by: [], having: { role: 'ADMIN', disabled: false } };

export const apps = new StoreTable<AppRecord>(
  'app',
  {
    number: 'integer',
    platform: 'text',
    version: 'text',
    versionName: 'text',
    changelog: 'text',
    forceUpdate: 'boolean',
    minSupportVersion: 'text',
    fileName: 'text',
    extension: 'text',
    fileSize: 'integer',
    sha256: 'text',
    uploadedBy: 'text',
    createdAt: 'integer',
    blob: 'text',
  },
  { unique: ['platform', 'version', 'extension'] },
);

export const backups = new StoreTable<BackupRecord>('backup', {
  number: 'integer',
  device: 'integer',
  fileName: 'text',
  fileSize: 'integer',
  sha256: 'text',
  note: 'text',
  createdAt: 'integer',
  blob: 'text',
});

export const serviceTokens = new StoreTable<ServiceTokenRecord>(
  'service_token',
  {
    number: 'integer',
    name: 'text',
    role: 'text',
    sha256: 'text',
    createdBy: 'text',
    createdAt: 'integer',
    expiresAt: 'integer',
    lastUsedAt: 'integer',
    revokedAt: 'integer',
    allowedFrom: 'json',
    may: 'json',
  },
  {
    fixed: ['name', 'role', 'sha256', 'createdBy', 'createdAt', 'expiresAt', 'allowedFrom', 'may'],
    unique: ['name'],
    among: { revokedAt: null },
  },
);

export const passkeys = new StoreTable<PasskeyRecord>(
  'passkey',
  {
    number: 'integer',
    owner: 'integer',
    name: 'text',
    credentialId: 'text',
    publicKey: 'text',
    rpId: 'text',
    transports: 'json',
    aaguid: 'text',
    signCount: 'integer',
    createdAt: 'integer',
    lastUsedAt: 'integer',
    removedAt: 'integer',
    version: 'integer',
    used: 'json',
  },
  {
    fixed: ['owner', 'name', 'credentialId', 'publicKey', 'rpId', 'transports', 'aaguid', 'createdAt'],
    unique: ['credentialId'],
  },
);
/** The keys of a user that are not removed. */
export const keysOfUser: Lookup<PasskeyRecord> = { table: passkeys, by: ['owner'], having: { removedAt: null } };

/** The tables whose rows are numbered from 1 without gaps. Rows refer to those of earlier tables only. */
export const numberedTables = [devices, users, apps, backups, serviceTokens, passkeys] as const;

/** An answer to a challenge, as it is stored. */
export interface ProofRow extends ProofRecord {
  /** Whether its serial number was not registered when it was last looked at. */
  readonly isPending: boolean;
}
export const proofs = new StoreTable<ProofRow>(
  'proof',
  {
    proofId: 'text',
    serialNumber: 'text',
    createdAt: 'integer',
    receivedBy: 'text',
    registryId: 'text',
    challenge: 'text',
    ephemeralKey: 'text',
    described: 'text',
    claims: 'text',
    evidence: 'text',
    evidenceDigest: 'text',
    proof: 'text',
    isPending: 'boolean',
  },
  { key: 'proofId' },
);

export const documents = new StoreTable<DocumentRecord>(
  'document',
  { name: 'text', version: 'integer', value: 'text' },
  { key: 'name' },
);
export const documentVersion: Lookup<DocumentRecord, 'version'> = { ...documents.byKey, select: ['version'] };

/** The progress of an endpoint, as it is stored. */
export interface ProgressRow extends ProgressRecord {
  /** That of the endpoint. */
  readonly number: number;
}
export const webhookProgress = new StoreTable<ProgressRow>('webhook_progress', {
  number: 'integer',
  version: 'integer',
  progress: 'json',
});

/** A response to a request with an idempotency key, as it is stored. */
export interface ResponseRow extends StoredResponse {
  readonly id: string;
  readonly holder: string;
  /** Bytes of `body`. */
  readonly size: number;
  readonly expiresAt: number;
}
export const responses = new StoreTable<ResponseRow>(
  'response',
  {
    id: 'text',
    holder: 'text',
    digest: 'text',
    status: 'integer',
    body: 'bytes',
    size: 'integer',
    expiresAt: 'integer',
  },
  { key: 'id' },
);

export const events = new StoreTable<ChainedRow>(
  'event',
  {
    id: 'integer',
    at: 'integer',
    type: 'text',
    device: 'integer',
    subject: 'integer',
    actor: 'text',
    request_id: 'text',
    data: 'text',
    detail: 'text',
    mac: 'text',
  },
  { key: 'id' },
);
