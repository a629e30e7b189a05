/** The reads that take one look at a table or an index, from the tables as data. */
import type { AppRecord } from '../../domain/app.ts';
import type { BackupRecord } from '../../domain/backup.ts';
import type { DeviceIdentity, DeviceRecord } from '../../domain/device.ts';
import type { ServiceTokenRecord } from '../../domain/service-token.ts';
import type { Rows, Window } from '../queries.ts';
import type { Reader } from '../store.ts';
import {
  apps,
  backups,
  devices,
  documents,
  documentVersion,
  enabledAdmins,
  type Field,
  keysOfUser,
  type Lookup,
  type LookupKey,
  type ProgressRow,
  type ProofRow,
  passkeys,
  proofs,
  responses,
  type StoreTable,
  serviceTokens,
  users,
  webhookProgress,
} from '../tables.ts';

/** What an engine reads at once or after a round trip. */
type AnswerRecord<T> = T | Promise<T>;

/** The reads of a store as an engine has them. */
export type Reads = {
  readonly [K in keyof Reader]: Reader[K] extends (...input: infer I) => Promise<infer T>
    ? (...input: I) => AnswerRecord<T>
    : never;
};

/** How an engine reads rows. */
export interface RecordQueries {
  /** The row that the lookup finds; null if it finds none. */
  one<R extends object, S extends Field<R>>(lookup: Lookup<R, S>, key: LookupKey): AnswerRecord<Pick<R, S> | null>;
  /** All rows that the lookup finds, ascending by the key of the table. */
  all<R extends object, S extends Field<R>>(lookup: Lookup<R, S>, key: LookupKey): AnswerRecord<readonly Pick<R, S>[]>;
  /** One row for each of the keys that the lookup finds something by. */
  many<R extends object, S extends Field<R>>(
    lookup: Lookup<R, S>,
    keys: readonly LookupKey[],
  ): AnswerRecord<ReadonlyMap<LookupKey, Pick<R, S>>>;
  /** A part of the table in order of creation. `only`: of the rows with this value. */
  page<R extends object>(
    table: StoreTable<R>,
    window: Window,
    only?: { readonly field: Field<R>; readonly value: LookupKey } | undefined,
  ): AnswerRecord<Rows<R>>;
}

const then = <T, U>(answer: AnswerRecord<T>, map: (value: T) => U): AnswerRecord<U> =>
  answer instanceof Promise ? answer.then(map) : map(answer);

const identities: Lookup<DeviceRecord, keyof DeviceIdentity> = {
  ...devices.unique,
  select: ['number', 'status', 'proof'],
};
const tokenByDigest: Lookup<ServiceTokenRecord> = { table: serviceTokens, by: ['sha256'] };
const appsOfPlatform: Lookup<AppRecord> = { table: apps, by: ['platform'] };
const proofFields = proofs.fields.filter(field => field !== 'isPending');
const answers = { ...proofs.byKey, select: proofFields };
const answersWith: Lookup<ProofRow, 'proofId'> = {
  table: proofs,
  by: ['evidenceDigest'],
  select: ['proofId'],
};
const progress: Lookup<ProgressRow, 'version' | 'progress'> = {
  ...webhookProgress.byKey,
  select: ['version', 'progress'],
};
const appBlobs: Lookup<AppRecord, 'blob'> = { table: apps, by: ['blob'], select: ['blob'] };
const backupBlobs: Lookup<BackupRecord, 'blob'> = { table: backups, by: ['blob'], select: ['blob'] };

/** The reads of records. */
export function recordReads(queries: RecordQueries) {
  return {
    device: number => queries.one(devices.byKey, number),
    devicesBySerial: serials => queries.many(identities, serials) as AnswerRecord<ReadonlyMap<string, DeviceIdentity>>,
    user: number => queries.one(users.byKey, number),
    userByName: username => queries.one(users.unique, username),
    users: window => queries.page(users, window),
    admins: () => queries.all(enabledAdmins, ''),
    serviceToken: number => queries.one(serviceTokens.byKey, number),
    serviceTokenByDigest: sha256 => queries.one(tokenByDigest, sha256),
    serviceTokens: window => queries.page(serviceTokens, window),
    passkey: number => queries.one(passkeys.byKey, number),
    passkeyByCredential: credentialId => queries.one(passkeys.unique, credentialId),
    passkeysOf: owner => queries.all(keysOfUser, owner),
    proof: proofId => queries.one(answers, proofId),
    hasEvidence: (digest, besides) =>
      then(queries.all(answersWith, digest), found => found.some(({ proofId }) => proofId !== besides)),
    document: name => queries.one(documents.byKey, name),
    documentVersion: name => then(queries.one(documentVersion, name), found => found?.version ?? 0),
    webhookProgress: webhook => queries.one(progress, webhook),
    app: number => queries.one(apps.byKey, number),
    apps: ({ platform, ...window }) => queries.page(apps, window, platform && { field: 'platform', value: platform }),
    appsOf: platform =>
      then(queries.all(appsOfPlatform, platform), found => found.toSorted((a, b) => a.createdAt - b.createdAt)),
    backup: number => queries.one(backups.byKey, number),
    backups: (device, window) => queries.page(backups, window, { field: 'device', value: device }),
    response: (id, at) =>
      then(queries.one(responses.byKey, id), found => {
        if (found === null || found.expiresAt <= at) return null;
        const { digest, status, body } = found;
        return { digest, status, body };
      }),
    knownBlobs: names =>
      then(queries.many(appBlobs, names), ofApps =>
        then(
          queries.many(backupBlobs, names),
          ofBackups => new Set([...ofApps.keys(), ...ofBackups.keys()] as string[]),
        ),
      ) as AnswerRecord<ReadonlySet<string>>,
  } satisfies Partial<Reads>;
}
