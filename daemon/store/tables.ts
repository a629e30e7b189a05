/** The tables as data: each field of a record with the type of its column. */
import { fixedTexts, forEachText } from '../../src/contract/device-description.ts';
import type { AppRecord } from '../domain/app.ts';
import type { BackupRecord } from '../domain/backup.ts';
import type { ServiceTokenRecord, UserRecord } from '../domain/callers.ts';
import type { CredentialRecord } from '../domain/credential.ts';
import { type DeviceRecord, justRegistered } from '../domain/device.ts';
import type { DocumentRecord } from '../domain/document.ts';
import type { LeaverCounts } from '../domain/leaver-brake.ts';
import type { PasskeyRecord } from '../domain/passkey.ts';
import type { PersonRecord } from '../domain/person.ts';
import type { ProofRecord } from '../domain/proof.ts';
import { type ReceiptRecord, signedFields } from '../domain/receipt.ts';
import type { RefusedRow } from '../domain/refused.ts';
import type { SsoSessionsRow } from '../domain/sso.ts';
import type { ProgressRecord } from '../domain/webhook.ts';
import type { StoredResponse } from './commit.ts';
import type { ChainedRow } from './journal-end.ts';
import { type Lookup, StoreTable } from './table.ts';

export const devices = new StoreTable<DeviceRecord>(
  'device',
  {
    number: 'integer',
    deviceType: 'text',
    serialNumber: 'text',
    ...forEachText(() => 'text' as const),
    status: 'text',
    userId: 'text',
    userKey: 'text',
    person: 'integer',
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
    userKey: 'text',
    passwordHash: 'text',
    role: 'text',
    email: 'text',
    disabled: 'boolean',
    createdAt: 'integer',
    tokenEpoch: 'integer',
  },
  { fixed: ['username', 'userKey', 'createdAt'], unique: ['username'] },
);
/** The accounts whose name is equal to that of a person: by `personKey`. */
export const accountsNamed: Lookup<UserRecord> = { table: users, by: ['userKey'] };
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
    owner: 'integer',
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

/** Service tokens of an owner that are not revoked. */
export const tokensOfOwner: Lookup<ServiceTokenRecord> = {
  table: serviceTokens,
  by: ['owner'],
  having: { revokedAt: null },
};

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

export const people = new StoreTable<PersonRecord>(
  'person',
  {
    number: 'integer',
    userName: 'text',
    userKey: 'text',
    name: 'text',
    names: 'json',
    email: 'text',
    externalId: 'text',
    active: 'boolean',
    groups: 'json',
    source: 'text',
    createdAt: 'integer',
    updatedAt: 'integer',
    leftAt: 'integer',
    heldAt: 'integer',
    pendingName: 'text',
    dueAt: 'integer',
    reason: 'text',
    removedAt: 'integer',
    version: 'integer',
    salt: 'text',
    search: 'text',
  },
  { fixed: ['createdAt'], unique: ['userKey'], among: { removedAt: null } },
);
/** What opens the user names in the journal. */
export const personSalts: Lookup<PersonRecord, 'number' | 'salt'> = { ...people.byKey, select: ['number', 'salt'] };
/** All persons with a user name, by `personKey`: at most one of them is not removed. */
export const peopleNamed: Lookup<PersonRecord> = { table: people, by: ['userKey'] };
/** The devices of a person, by number. */
export const devicesOf: Lookup<DeviceRecord> = { table: devices, by: ['person'] };
/** The devices that are bound to a name that is not that of a person, by `personKey`. */
export const unmatchedNamed: Lookup<DeviceRecord> = { table: devices, by: ['userKey'], having: { person: null } };
/** The devices that a daemon of an earlier version has bound to exactly this name. */
export const unkeyedNamed: Lookup<DeviceRecord> = { table: devices, by: ['userId'], having: { userKey: null } };
export const activeDevicesOf: Lookup<DeviceRecord> = { ...devicesOf, having: { status: 'ACTIVE' } };

export const receipts = new StoreTable<ReceiptRecord>(
  'receipt',
  {
    number: 'integer',
    receiptId: 'text',
    device: 'integer',
    kind: 'text',
    text: 'text',
    credentialId: 'text',
    authenticatorData: 'text',
    signature: 'text',
    publicKey: 'text',
    proof: 'json',
    createdAt: 'integer',
    openUntil: 'integer',
    announceAt: 'integer',
    closedBy: 'integer',
  },
  { fixed: [...signedFields], unique: ['receiptId'] },
);
export const openLoans: Lookup<ReceiptRecord> = {
  table: receipts,
  by: ['device'],
  having: { kind: 'loan', closedBy: null },
};

/** What leavers did within the last minutes: one row. */
export interface LeaverRow {
  readonly number: number;
  readonly counts: LeaverCounts;
}
export const leaverCounts = new StoreTable<LeaverRow>('leaver_count', { number: 'integer', counts: 'json' });

/** What each source sent and the registry could not store: one row for each. */
export const refusedRequests = new StoreTable<RefusedRow>('refused_request', {
  number: 'integer',
  requests: 'json',
  announcedAt: 'integer',
});

export const credentials = new StoreTable<CredentialRecord>(
  'credential',
  {
    number: 'integer',
    device: 'integer',
    provider: 'integer',
    account: 'text',
    label: 'text',
    begun: 'json',
    credentialId: 'text',
    remoteId: 'text',
    createdAt: 'integer',
    issuedAt: 'integer',
    uncertainAt: 'integer',
    removedAt: 'integer',
    salt: 'text',
    version: 'integer',
  },
  {
    fixed: ['device', 'provider', 'createdAt'],
    unique: ['device', 'provider'],
    among: { uncertainAt: null, removedAt: null },
  },
);
export const credentialsOf: Lookup<CredentialRecord> = { table: credentials, by: ['device'] };
export const credentialsOfAccount: Lookup<CredentialRecord> = { table: credentials, by: ['provider', 'account'] };

/** The tables whose rows are numbered from 1 without gaps. Rows refer to those of earlier tables only. */
export const numberedTables = [
  devices,
  users,
  apps,
  backups,
  serviceTokens,
  passkeys,
  people,
  credentials,
  receipts,
] as const;

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

/** The sessions of users that came from the provider of single sign-on. */
export const ssoSessions = new StoreTable<SsoSessionsRow>('sso_session', {
  number: 'integer',
  version: 'integer',
  sessions: 'json',
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
