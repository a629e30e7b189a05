/** The reads that take one look at a table or an index, from the tables as data. */
import { personKey } from '../../../src/contract/person-key.ts';
import type { AppRecord } from '../../domain/app.ts';
import type { BackupRecord } from '../../domain/backup.ts';
import type { ServiceTokenRecord } from '../../domain/callers.ts';
import type { DeviceIdentity, DeviceRecord } from '../../domain/device.ts';
import type { PasskeyRecord } from '../../domain/passkey.ts';
import { holderOf } from '../../domain/person.ts';
import type { ProofRecord } from '../../domain/proof.ts';
import type { ReceiptRecord } from '../../domain/receipt.ts';
import type { RefusedRow } from '../../domain/refused.ts';
import type { SsoSessionsRow } from '../../domain/sso.ts';
import { personDevices, unmatchedOne } from '../../people/bindings.ts';
import type { ReceiptFilter, Rows, Window } from '../queries.ts';
import type { Reader } from '../store.ts';
import { columnOf, type Field, type Lookup, type LookupKey, type StoreTable } from '../table.ts';
import {
  accountsNamed,
  apps,
  backups,
  credentials,
  credentialsOf,
  credentialsOfAccount,
  devices,
  documents,
  documentVersion,
  enabledAdmins,
  keysOfUser,
  type ProgressRow,
  type ProofRow,
  passkeys,
  people,
  peopleNamed,
  proofs,
  receipts,
  refusedRequests,
  responses,
  serviceTokens,
  ssoSessions,
  tokensOfOwner,
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
  /** A part of the table in order of creation. `only`: of the rows that it names. */
  page<R extends object>(table: StoreTable<R>, window: Window, only?: Only<R> | undefined): AnswerRecord<Rows<R>>;
}

/** The rows of a page: those with this value, or with `upTo` those with at most this value. `also`: SQL of a further condition. */
export interface Only<R> {
  readonly field: Field<R>;
  readonly value: LookupKey;
  readonly upTo?: true;
  readonly also?: string;
}

/** The condition as SQL; `mark` stands for the value. Empty if the page is of all rows. */
export const whereOf = <R>(only: Only<R> | undefined, mark: string): string =>
  only
    ? ['WHERE', columnOf(only.field), only.upTo ? '<=' : '=', mark, ...(only.also ? ['AND', only.also] : [])].join(' ')
    : '';

const then = <T, U>(answer: AnswerRecord<T>, map: (value: T) => U): AnswerRecord<U> =>
  answer instanceof Promise ? answer.then(map) : map(answer);

const identities: Lookup<DeviceRecord, keyof DeviceIdentity> = {
  ...devices.unique,
  select: ['number', 'status', 'proof'],
};
const tokenByDigest: Lookup<ServiceTokenRecord> = { table: serviceTokens, by: ['sha256'] };
const ownedKeys: Lookup<PasskeyRecord, 'removedAt'> = { ...keysOfUser, select: ['removedAt'] };
const formerKeys: Lookup<PasskeyRecord, 'number'> = { table: passkeys, by: ['owner'], select: ['number'] };
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
const allSessions: Lookup<SsoSessionsRow> = { table: ssoSessions, by: [] };
const allRefused: Lookup<RefusedRow> = { table: refusedRequests, by: [] };
const answersBySerial = { ...proofs.byKey, by: ['serialNumber'], select: proofFields } as const;
/** A loan of a device that is out of use stays open, and is not waited for. */
const inUse = `NOT EXISTS (SELECT 1 FROM device WHERE device.number = receipt.device AND device.status = 'DEACTIVATED')`;

function receiptsOnly({ device, overdueAt, unannouncedAt }: ReceiptFilter): Only<ReceiptRecord> | undefined {
  const at = overdueAt ?? unannouncedAt;
  if (at === undefined) return device === undefined ? undefined : { field: 'device', value: device };
  const also = device === undefined ? inUse : `${inUse} AND device = ${Number(device)}`;
  return { field: overdueAt === undefined ? 'announceAt' : 'openUntil', value: at, upTo: true, also };
}

const appBlobs: Lookup<AppRecord, 'blob'> = { table: apps, by: ['blob'], select: ['blob'] };
const backupBlobs: Lookup<BackupRecord, 'blob'> = { table: backups, by: ['blob'], select: ['blob'] };

/** The reads of records. */
export function recordReads(queries: RecordQueries) {
  return {
    device: number => queries.one(devices.byKey, number),
    devicesBySerial: serials => queries.many(identities, serials) as AnswerRecord<ReadonlyMap<string, DeviceIdentity>>,
    user: number => queries.one(users.byKey, number),
    userByName: username => queries.one(users.unique, username),
    usersNamed: userName => queries.all(accountsNamed, personKey(userName)),
    users: window => queries.page(users, window),
    admins: () => queries.all(enabledAdmins, ''),
    serviceToken: number => queries.one(serviceTokens.byKey, number),
    serviceTokenByDigest: sha256 => queries.one(tokenByDigest, sha256),
    serviceTokensOf: owner => queries.all(tokensOfOwner, owner),
    serviceTokens: window => queries.page(serviceTokens, window),
    passkey: number => queries.one(passkeys.byKey, number),
    passkeyByCredential: credentialId => queries.one(passkeys.unique, credentialId),
    passkeysOf: owner => queries.all(keysOfUser, owner),
    hadPasskey: owner => then(queries.many(formerKeys, [owner]), found => found.size > 0),
    credential: number => queries.one(credentials.byKey, number),
    credentialsOf: device => queries.all(credentialsOf, device),
    credentialsOfAccount: (provider, account) => queries.all(credentialsOfAccount, `${provider}\n${account}`),
    person: number => queries.one(people.byKey, number),
    personByName: userName => then(queries.all(peopleNamed, personKey(userName)), persons => holderOf(persons) ?? null),
    peopleNamed: userName => queries.all(peopleNamed, personKey(userName)),
    devicesOf: person => queries.all(personDevices, person),
    isUnmatched: userId => then(queries.one(unmatchedOne, personKey(userId)), found => found !== null),
    keyOwners: owners =>
      then(queries.many(ownedKeys, owners), found => new Set(found.keys())) as AnswerRecord<ReadonlySet<number>>,
    proof: proofId => queries.one(answers, proofId),
    hasEvidence: (digest, besides) =>
      then(queries.all(answersWith, digest), found => found.some(({ proofId }) => proofId !== besides)),
    document: name => queries.one(documents.byKey, name),
    documentVersion: name => then(queries.one(documentVersion, name), found => found?.version ?? 0),
    webhookProgress: webhook => queries.one(progress, webhook),
    ssoSessions: user => queries.one(ssoSessions.byKey, user),
    allSsoSessions: () => queries.all(allSessions, ''),
    refusedRequests: () => queries.all(allRefused, ''),
    app: number => queries.one(apps.byKey, number),
    apps: ({ platform, ...window }) => queries.page(apps, window, platform && { field: 'platform', value: platform }),
    appsOf: platform =>
      then(queries.all(appsOfPlatform, platform), found => found.toSorted((a, b) => a.createdAt - b.createdAt)),
    backup: number => queries.one(backups.byKey, number),
    proofsOf: serial => queries.all(answersBySerial, serial) as AnswerRecord<readonly ProofRecord[]>,
    receipt: receiptId => queries.one(receipts.unique, receiptId),
    receiptNumbered: number => queries.one(receipts.byKey, number),
    receipts: ({ descending, offset, limit, ...filter }) =>
      queries.page(receipts, { descending, offset, limit }, receiptsOnly(filter)),
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
