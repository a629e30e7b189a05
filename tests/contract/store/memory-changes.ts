import { isDeepStrictEqual } from 'node:util';
import { isOfProvider } from '../../../daemon/accounts/user.ts';
import type { DeviceRecord, DeviceSet } from '../../../daemon/devices/records.ts';
import type { AppRecord } from '../../../daemon/files/app.ts';
import type { BackupRecord } from '../../../daemon/files/backup.ts';
import { type IdentityRecord, identityDigest } from '../../../daemon/identity/records.ts';
import type { CredentialRecord } from '../../../daemon/issuing/credential.ts';
import type { CaseRecord } from '../../../daemon/people/case-records.ts';
import { heldName, holderOf, leave, searchTextOf } from '../../../daemon/people/decisions.ts';
import { ownerFault } from '../../../daemon/people/device-decisions.ts';
import { type BrakeCounts, recentCounts, withCount } from '../../../daemon/people/leaver-brake.ts';
import type { PersonRecord, PersonSet } from '../../../daemon/people/records.ts';
import { type RefusedRow, withRefusals } from '../../../daemon/people/refused-records.ts';
import type { ProofRecord } from '../../../daemon/proofs/records.ts';
import { type ReceiptRecord, receiptDigest } from '../../../daemon/receipts/records.ts';
import type { ServiceTokenRecord, UserRecord } from '../../../daemon/requests/callers.ts';
import type { PasskeyRecord } from '../../../daemon/sign-in/passkey.ts';
import type { SsoSessionsRow } from '../../../daemon/single-sign-on/records.ts';
import {
  CallerRefused,
  type Change,
  type ChangeResult,
  type Commit,
  Conflict,
  type Guard,
  LARGE_RESPONSE,
  ResponseExists,
  type ResponsePart,
  type StoredResponse,
  StoreFailure,
} from '../../../daemon/store/commit.ts';
import { documentDigest } from '../../../daemon/store/digest.ts';
import type { DocumentRecord } from '../../../daemon/store/document.ts';
import type { Entry, EventRecord } from '../../../daemon/store/journal.ts';
import type { ProgressRecord } from '../../../daemon/webhooks/records.ts';
import { personKey } from '../../../src/contract/person-key.ts';

/** Faults of a store; the suite must detect each of them. */
export type Fault =
  | 'skips an entry'
  | 'writes an entry for a duplicate'
  | 'keeps part of a refused commit'
  | 'ignores guards on status'
  | 'ignores guards on codes'
  | 'ignores guards on tokens'
  | 'ignores guards on fields'
  | 'ignores the caller'
  | 'ignores the role of the caller'
  | 'ignores the guard of the last administrator'
  | 'leaves gaps in numbers'
  | 'leaves gaps in the journal'
  | 'a refusal undoes other commits'
  | 'forgets at a restart'
  | 'acknowledges before it writes'
  | 'calls listeners after it acknowledges'
  | 'shows uncommitted changes'
  | 'treats % as a wildcard'
  | 'puts nulls first when descending'
  | 'counts the page instead of the list'
  | 'leaves loans open'
  | 'announces loans twice'
  | 'forgets the actor'
  | 'stores a response without the changes'
  | 'overwrites a stored response'
  | 'keeps expired responses'
  | 'keeps every large response'
  | 'accepts commits after closing'
  | 'ignores guards on documents'
  | 'keeps the PIN of a retired device'
  | 'ignores guards on answers'
  | 'ignores the version of a progress'
  | 'ignores the version of sessions'
  | 'keeps the progress of removed webhooks'
  | 'ignores how a passkey was used'
  | 'ignores guards on passkeys'
  | 'ignores guards on owners'
  | 'ignores the version of a person'
  | 'leaves devices of a leaver active'
  | 'binds no new device'
  | 'stores an answer twice'
  | 'stores an answer beside its device'
  | 'keeps every answer'
  | ClusterFault;

/** Faults of a store with several handles. */
export type ClusterFault =
  | 'commits without a lock'
  | 'writes over other handles'
  | 'guards what it wrote itself'
  | 'reads what it wrote itself'
  | 'shows entries out of order'
  | 'keeps commits from other handles'
  | 'hides users from other handles';

/** A response, with what decides how long it is kept. */
type KeptResponse = StoredResponse & Pick<ResponsePart, 'id' | 'holder' | 'expiresAt'>;

/** The content of an in-memory store. */
export interface Content {
  /** Indexes of serial numbers among the devices. */
  serials: Map<string, number>;
  devices: DeviceRecord[];
  users: UserRecord[];
  apps: AppRecord[];
  backups: BackupRecord[];
  serviceTokens: ServiceTokenRecord[];
  credentials: CredentialRecord[];
  passkeys: PasskeyRecord[];
  people: PersonRecord[];
  receipts: ReceiptRecord[];
  identities: IdentityRecord[];
  leavers: BrakeCounts;
  events: EventRecord[];
  responses: KeptResponse[];
  proofs: KeptProof[];
  documents: DocumentRecord[];
  /** By number of the webhook. */
  progress: Map<number, ProgressRecord>;
  ssoSessions: Map<number, SsoSessionsRow>;
  refused: Map<number, RefusedRow>;
  /** By number of the person. */
  cases: Map<number, CaseRecord>;
}

/** An answer; pending: its serial number was not registered when it was last looked at. */
export interface KeptProof extends ProofRecord {
  isPending: boolean;
}

export const empty = (): Content => ({
  serials: new Map(),
  devices: [],
  users: [],
  apps: [],
  backups: [],
  serviceTokens: [],
  credentials: [],
  passkeys: [],
  people: [],
  receipts: [],
  identities: [],
  leavers: { devices: [], accounts: [], names: [] },
  events: [],
  responses: [],
  proofs: [],
  documents: [],
  progress: new Map(),
  ssoSessions: new Map(),
  refused: new Map(),
  cases: new Map(),
});

/** The response that has not expired. */
export const responseOf = ({ responses }: Content, id: string, at: number, fault?: Fault) =>
  responses.find(kept => kept.id === id && (kept.expiresAt > at || fault === 'keeps expired responses')) ?? null;

/** Throws `ResponseExists` if the key of the commit is taken. */
export function checkResponse(content: Content, { response, at }: Commit, fault: Fault | undefined): void {
  if (response && fault !== 'overwrites a stored response' && responseOf(content, response.id, at))
    throw new ResponseExists();
}

/** Stores the response of the commit, if it has one. */
export function addResponse(
  content: Content,
  { response: part }: Commit,
  results: readonly ChangeResult[],
  fault: Fault | undefined,
): void {
  const made = part?.make(results);
  if (!part || !made) return;
  const others = content.responses.filter(({ id }) => id !== part.id);
  let total = 0;
  const within = ({ holder, body }: KeptResponse) => {
    if (holder !== part.holder || body.length < LARGE_RESPONSE) return true;
    total += body.length;
    return total <= part.maxTotal || fault === 'keeps every large response';
  };
  const { id, holder, digest, expiresAt } = part;
  content.responses = [{ id, holder, digest, expiresAt, ...made }, ...others].filter(within);
}

const versionOf = (documents: readonly DocumentRecord[], name: string) =>
  documents.find(document => document.name === name)?.version ?? 0;

/** Throws `Conflict` if the guard does not hold. */
export function checkGuard(
  { devices, users, documents, proofs, passkeys, people }: Content,
  guard: Guard,
  fault: Fault | undefined,
): void {
  const need = (holds: boolean) => {
    if (!holds) throw new Conflict(guard.kind);
  };
  if (guard.kind === 'user') {
    const user = users[guard.user - 1];
    need(user?.tokenEpoch === guard.tokenEpoch || fault === 'ignores guards on tokens');
    if (fault !== 'ignores guards on fields') need(isDeepStrictEqual({ ...user, ...guard.fields }, user));
    return;
  }
  if (guard.kind === 'another-admin') {
    const other = users.some(user => user.number !== guard.beside && user.role === 'ADMIN' && !user.disabled);
    need(other || fault === 'ignores the guard of the last administrator');
    return;
  }
  if (guard.kind === 'document') {
    need(versionOf(documents, guard.name) === guard.version || fault === 'ignores guards on documents');
    return;
  }
  if (guard.kind === 'passkeys') {
    const present = passkeys.filter(({ owner, removedAt }) => owner === guard.owner && removedAt === null);
    const isSame = isDeepStrictEqual(
      present.map(({ number }) => number),
      guard.numbers,
    );
    need(isSame || fault === 'ignores guards on passkeys');
    return;
  }
  if (guard.kind === 'unanswered') {
    const answer = proofs.find(({ serialNumber }) => serialNumber === guard.serialNumber);
    need(answer === undefined || fault === 'ignores guards on answers');
    return;
  }
  if (guard.kind === 'owner') {
    const person = holderIn(people, personKey(guard.userId));
    need(ownerFault(guard, person) === null || fault === 'ignores guards on owners');
    return;
  }
  if (guard.kind === 'present') {
    const person = guard.person === null ? holderIn(people, personKey(guard.userId)) : people[guard.person - 1];
    need(person?.active !== false || fault === 'ignores guards on owners');
    return;
  }
  const device = devices[guard.device - 1];
  if (fault !== 'ignores guards on status') need(device !== undefined && guard.status.includes(device.status));
  if (fault !== 'ignores guards on codes')
    need(guard.activationCode === undefined || guard.activationCode === device?.activationCode);
  need(guard.version === undefined || guard.version === device?.version);
  if (fault !== 'ignores guards on fields') need(isDeepStrictEqual({ ...device, ...guard.fields }, { ...device }));
}

/** Throws `CallerRefused` if the caller has lost the right to write. */
export function checkCaller(
  { users, serviceTokens, documents }: Content,
  { caller }: Commit,
  fault: Fault | undefined,
): void {
  if (!caller || fault === 'ignores the caller') return;
  if (caller.kind === 'service-token') {
    const token = serviceTokens[caller.token - 1];
    if (token?.revokedAt !== null || (token.owner !== null && users[token.owner - 1]?.disabled))
      throw new CallerRefused('revoked');
    return;
  }
  const user = users[caller.user - 1];
  if (user?.disabled !== false || user.tokenEpoch !== caller.tokenEpoch) throw new CallerRefused('revoked');
  if (caller.ssoSessions !== undefined && caller.ssoSessions !== versionOf(documents, 'sso-sessions'))
    throw new CallerRefused('revoked');
  if (user.role !== caller.role && fault !== 'ignores the role of the caller') throw new CallerRefused('role');
}

/** Writes a change and its entry. */
export function applyChange(content: Content, change: Change, commit: Commit, fault: Fault | undefined): ChangeResult {
  const { at } = commit;
  const write = (entry: Entry, device: number | null, subject: number | null) => {
    if (fault === 'skips an entry' && entry.type === 'DEVICE_USED') return;
    const id = content.events.length + 1 + (fault === 'leaves gaps in the journal' ? 1 : 0);
    const actor = fault === 'forgets the actor' ? null : commit.actor;
    const { type, data = {}, detail = {} } = entry;
    content.events.push({ id, at, type, device, subject, actor, requestId: commit.requestId, data, detail });
  };
  const next = (records: readonly unknown[]) => records.length + 1;
  const duplicate = (number: number, status: DeviceRecord['status'] | null): ChangeResult => {
    if (fault === 'writes an entry for a duplicate' && 'entry' in change && change.entry)
      write(change.entry, null, null);
    return { kind: 'duplicate', number, status };
  };
  const deviceOf = (number: number) => {
    const device = content.devices[number - 1];
    if (!device) throw new Conflict(`device ${number}`);
    return (values: Partial<DeviceRecord>) => (content.devices[number - 1] = { ...device, ...values });
  };
  const raised = (number: number) => (content.devices[number - 1]?.version ?? 0) + 1;
  const removePin = (number: number) => {
    const pin = content.documents.find(({ name }) => name === `pin:${number}`);
    if (pin === undefined || fault === 'keeps the PIN of a retired device') return;
    content.documents = content.documents.filter(document => document !== pin);
    content.documents.push({ ...pin, version: pin.version + 1, value: 'null' });
    const detail = {
      deviceId: `DEV-${number}`,
      reason: 'deactivated',
      document: pin.name,
      documentDigest: documentDigest('null'),
    };
    write({ type: 'PIN_REMOVED', detail }, null, null);
  };
  switch (change.kind) {
    case 'device.add': {
      if (change.device.manufacturer === null) throw new StoreFailure('no manufacturer');
      const twin = content.devices[content.serials.get(change.device.serialNumber) ?? -1];
      if (twin) return duplicate(twin.number, twin.status);
      const number = next(content.devices) + (fault === 'leaves gaps in numbers' ? 1 : 0);
      content.serials.set(change.device.serialNumber, content.devices.length);
      content.devices.push({ ...blank, ...change.device, number, createdAt: at });
      write(change.entry, number, null);
      if (!change.owner || fault === 'binds no new device') return { kind: 'added', number };
      setDevice(content, number, { status: 'ACTIVE', userId: change.owner.userId, activatedAt: at });
      write(change.owner.entry, number, null);
      return { kind: 'added', number };
    }
    case 'device.set':
      if (
        change.personVersion !== undefined &&
        content.people[change.set.person! - 1]?.version !== change.personVersion
      )
        throw new Conflict('person');
      setDevice(content, change.device, change.set);
      write(change.entry, change.device, null);
      if (change.set.status === 'DEACTIVATED') removePin(change.device);
      return { kind: 'set', version: raised(change.device) - 1 };
    case 'devices.bind': {
      const wrong = change.bound.some(
        ({ person, userKey }) => person !== null && content.people[person - 1]?.userKey !== userKey,
      );
      if (wrong) throw new Conflict('person');
      const bound = change.bound.filter(({ device }) => content.devices[device - 1]?.userKey === null);
      for (const { device, ...owner } of bound)
        deviceOf(device)({ ...owner, version: raised(device) - Number(owner.person === null) });
      const persons = bound.flatMap(({ device, person }) => (person === null ? [] : [[device, person]]));
      if (persons.length > 0) write({ type: 'DEVICES_BOUND', detail: { bound: persons } }, null, null);
      return { kind: 'done' };
    }
    case 'device.use': {
      const device = content.devices[change.device - 1];
      const usageCount = (device?.usageCount ?? 0) + 1;
      const usageSeconds = (device?.usageSeconds ?? 0) + change.seconds;
      deviceOf(change.device)({ usageCount, usageSeconds, lastUsedAt: at });
      write(change.entry, change.device, null);
      return { kind: 'used', usageCount, usageSeconds, version: raised(change.device) - 1 };
    }
    case 'user.add': {
      const userKey = personKey(change.user.username);
      const twin = content.users.find(user => user.userKey === userKey);
      if (twin) return duplicate(twin.number, null);
      const number = next(content.users);
      content.users.push({ ...change.user, userKey, number, createdAt: at, tokenEpoch: 0 });
      write(change.entry, null, number);
      return { kind: 'added', number };
    }
    case 'user.set': {
      const user = content.users[change.user - 1];
      if (!user) throw new Conflict(`user ${change.user}`);
      const tokenEpoch = user.tokenEpoch + Number(change.revoke);
      content.users[change.user - 1] = { ...user, ...change.set, tokenEpoch };
      write(change.entry, null, change.user);
      return { kind: 'done' };
    }
    case 'app.add': {
      const key = (app: Omit<AppRecord, 'number' | 'createdAt'>) => `${app.platform} ${app.version} ${app.extension}`;
      const twin = content.apps.find(app => key(app) === key(change.app));
      if (twin) return duplicate(twin.number, null);
      const number = next(content.apps);
      content.apps.push({ ...change.app, number, createdAt: at });
      write(change.entry, null, number);
      return { kind: 'added', number };
    }
    case 'backup.add': {
      const number = next(content.backups);
      const backupCount = (content.devices[change.backup.device - 1]?.backupCount ?? 0) + 1;
      deviceOf(change.backup.device)({ backupCount, lastBackupAt: at, version: raised(change.backup.device) });
      content.backups.push({ ...change.backup, number, createdAt: at });
      write(change.entry, change.backup.device, number);
      return { kind: 'added', number, version: raised(change.backup.device) - 1 };
    }
    case 'receipt.add': {
      const { receipt, entry } = change;
      const twin = content.receipts.find(({ receiptId }) => receiptId === receipt.receiptId);
      if (twin) return duplicate(twin.number, null);
      const number = next(content.receipts);
      const open = content.receipts.filter(
        one => one.device === receipt.device && one.kind === 'loan' && !one.closedBy,
      );
      for (const loan of fault === 'leaves loans open' ? [] : open)
        content.receipts[loan.number - 1] = { ...loan, openUntil: null, announceAt: null, closedBy: number };
      const record = { ...receipt, number, createdAt: at, announceAt: receipt.openUntil, closedBy: null };
      content.receipts.push(record);
      const closes = open.map(loan => loan.number);
      const proved = { openUntil: receipt.openUntil, closes, receiptDigest: receiptDigest(record) };
      write({ ...entry, detail: { ...entry.detail, ...proved } }, receipt.device, number);
      const { shippedAt, receivedAt } = content.devices[receipt.device - 1]!;
      if (receipt.kind !== 'return' && shippedAt !== null && receivedAt === null)
        setDevice(content, receipt.device, { receivedAt: at });
      return { kind: 'added', number };
    }
    case 'loan.announce': {
      const loan = content.receipts[change.receipt - 1];
      if (!loan || (loan.announceAt === null && fault !== 'announces loans twice')) throw new Conflict('announced');
      content.receipts[loan.number - 1] = { ...loan, announceAt: null };
      write(change.entry, loan.device, loan.number);
      return { kind: 'done' };
    }
    case 'identity.add': {
      const { identity, device: of, replaces, entry } = change;
      const device = typeof of === 'object' ? content.devices.length : of;
      const number = next(content.identities);
      const isOpen = (one: IdentityRecord) => one.device === device && one.lostAt === null && one.number !== replaces;
      if (content.identities.some(one => isOpen(one) || one.credentialId === identity.credentialId))
        throw new Conflict('bound');
      const record = {
        ...identity,
        device,
        number,
        createdAt: at,
        seenAt: at,
        lostAt: null,
        provedAt: null,
        version: 1,
      };
      content.identities.push(record);
      if (typeof of === 'number') deviceOf(device)({ version: raised(device) });
      write({ ...entry, detail: { ...entry.detail, identityDigest: identityDigest(record) } }, device, number);
      return { kind: 'added', number };
    }
    case 'identity.set': {
      const one = content.identities[change.identity - 1];
      if (one?.version !== change.before) throw new Conflict(`identity ${change.identity}`);
      const times = { ...(change.set.lostAt && { lostAt: at }), ...(change.set.provedAt && { provedAt: at }) };
      content.identities[change.identity - 1] = { ...one, ...change.set, ...times, version: one.version + 1 };
      if (change.entry) {
        deviceOf(change.device)({ version: raised(change.device) });
        write(change.entry, change.device, change.identity);
      }
      return { kind: 'done' };
    }
    case 'journal.rotate':
      return { kind: 'done' };
    case 'journal.add':
      write(change.entry, change.device, change.subject);
      return { kind: 'done' };
    case 'backup.restore':
      if (content.backups[change.backup - 1]?.device !== change.device) throw new Conflict('backup');
      write(change.entry, change.device, change.backup);
      return { kind: 'done' };
    case 'credential.add': {
      const { credential } = change;
      const isTwin = (one: CredentialRecord) =>
        one.device === credential.device &&
        one.provider === credential.provider &&
        one.uncertainAt === null &&
        one.removedAt === null;
      const twin = content.credentials.find(isTwin);
      if (twin) return duplicate(twin.number, null);
      const number = next(content.credentials);
      const fresh = {
        credentialId: null,
        remoteId: null,
        issuedAt: null,
        uncertainAt: null,
        removedAt: null,
        version: 1,
      };
      content.credentials.push({ ...credential, ...fresh, number, createdAt: at });
      write(change.entry, null, number);
      return { kind: 'added', number };
    }
    case 'credential.set': {
      const credential = content.credentials[change.credential - 1];
      if (credential?.version !== change.before) throw new Conflict(`credential ${change.credential}`);
      const after = { ...credential, ...change.set, version: change.before + 1 };
      content.credentials[change.credential - 1] = after.removedAt === null ? after : { ...after, removedAt: at };
      if (change.entry) write(change.entry, null, change.credential);
      return { kind: 'done' };
    }
    case 'token.add': {
      const { token } = change;
      const twin = content.serviceTokens.find(({ name, revokedAt }) => name === token.name && revokedAt === null);
      if (twin) return duplicate(twin.number, null);
      const number = next(content.serviceTokens);
      content.serviceTokens.push({ ...token, number, createdAt: at, lastUsedAt: null, revokedAt: null });
      write(change.entry, null, number);
      return { kind: 'added', number };
    }
    case 'token.adopt': {
      const token = content.serviceTokens[change.token - 1];
      if (token?.revokedAt !== null || token.owner !== change.before) throw new Conflict('the token has another owner');
      content.serviceTokens[change.token - 1] = { ...token, owner: change.owner };
      write(change.entry, null, change.token);
      return { kind: 'done' };
    }
    case 'token.revoke': {
      const token = content.serviceTokens[change.token - 1];
      if (!token || token.revokedAt !== null) throw new Conflict(`service token ${change.token}`);
      content.serviceTokens[change.token - 1] = { ...token, revokedAt: at };
      write(change.entry, null, change.token);
      return { kind: 'done' };
    }
    case 'passkey.add': {
      const { passkey } = change;
      const twin = content.passkeys.find(({ credentialId }) => credentialId === passkey.credentialId);
      if (twin) return duplicate(twin.number, null);
      const number = next(content.passkeys);
      const fresh = { lastUsedAt: null, removedAt: null, version: 0, used: [] };
      content.passkeys.push({ ...passkey, number, createdAt: at, ...fresh });
      write(change.entry, null, number);
      return { kind: 'added', number };
    }
    case 'passkey.remove':
    case 'passkey.use':
      setPasskey(content, change, at, fault);
      if (change.kind === 'passkey.remove') write(change.entry, null, change.passkey);
      return { kind: 'done' };
    case 'person.add': {
      const { person } = change;
      const named = content.people.filter(({ userKey }) => userKey === person.userKey);
      const twin = named.find(({ removedAt }) => removedAt === null);
      if (twin) return duplicate(twin.number, null);
      const number = next(content.people);
      const record = { ...person, number, createdAt: at, updatedAt: at, search: '' };
      content.people.push({ ...record, search: searchTextOf(record) });
      write({ type: 'PERSON_ADDED' }, null, number);
      for (const device of named.length > 0 ? [] : content.devices)
        if (device.userKey === person.userKey && device.person === null) {
          setDevice(content, device.number, { person: number });
          write({ type: 'DEVICE_UPDATED' }, device.number, null);
        }
      return { kind: 'added', number };
    }
    case 'person.set': {
      const person = content.people[change.person - 1];
      if (person?.version !== change.before && fault !== 'ignores the version of a person')
        throw new Conflict('person');
      const { renamed, restored } = change;
      const isOther = renamed && personKey(renamed.to) !== personKey(renamed.from);
      if (isOther) checkName(content, person!, personKey(renamed.to));
      const isTaken = (other: PersonRecord) =>
        other !== person && other.removedAt === null && other.userKey === personKey(restored!);
      if (restored !== undefined && content.people.some(isTaken)) throw new Conflict('restored');
      const active = content.devices.filter(device => device.person === change.person && device.status === 'ACTIVE');
      const lost = isOther ? enabledNamed(content, personKey(renamed.from)).filter(one => !isOfProvider(one)) : [];
      const affected = active.length + lost.length;
      const names = recentBrake(content, at).names;
      const state = { devices: active.length, affected, recent: names, now: at };
      const held = isOther ? heldName(person!, change, state) : null;
      if (isOther && change.brake && affected > 0)
        content.leavers = { ...content.leavers, names: withCount(names, at, affected, held !== null) };
      setPerson(content, person!, held?.set ?? change.set, at);
      if (held) {
        write(held.entry, null, change.person);
        return { kind: 'held' };
      }
      for (const device of renamed ? content.devices : [])
        if (device.person === change.person) {
          setDevice(content, device.number, { userId: renamed!.to, person: change.person, updatedAt: at });
          write({ type: 'DEVICE_UPDATED' }, device.number, null);
        }
      if (isOther) disableAccounts(content, personKey(renamed.from), account => !isOfProvider(account));
      write(change.entry, null, change.person);
      const open = content.cases.get(change.person);
      if (change.set.active && open?.closedAt === null) {
        content.cases.set(change.person, { ...open, closedAt: at, version: open.version + 1 });
        write({ type: 'CASE_CLOSED' }, null, change.person);
      }
      return { kind: 'done' };
    }
    case 'person.leave': {
      const person = content.people[change.person - 1];
      if (person?.userName !== change.userName) throw new Conflict('person');
      const named = content.people.filter(({ userKey }) => userKey === person.userKey);
      const key = holderOf(named) === person ? person.userKey : null;
      const isOwn = ({ person: owner, userKey }: (typeof content.devices)[number]) =>
        owner === person.number || (owner === null && userKey !== null && userKey === key);
      const own = content.devices.filter(device => isOwn(device) && device.status === 'ACTIVE');
      const numbers = own.map(({ number }) => number);
      const recent = recentBrake(content, at);
      const accounts = enabledNamed(content, person.userKey).length;
      const outcome = leave(change, { person, devices: own.length, accounts, recent, now: at });
      if (!outcome) return { kind: 'left', locked: [], held: [], dueAt: null };
      const { result, set, entry } = outcome;
      const isLocked = result === 'locked';
      const status = change.rule.action === 'lock' ? 'LOCKED' : 'DEACTIVATED';
      const times = status === 'LOCKED' ? { lockedAt: at, lockReason: set.reason! } : { deactivatedAt: at };
      if (isLocked && fault !== 'leaves devices of a leaver active')
        for (const { number, person: owner } of own) {
          if (owner === null) {
            const bound = { userId: person.userName, person: person.number, updatedAt: at };
            deviceOf(number)({ ...bound, version: raised(number) });
            write({ type: 'DEVICE_UPDATED' }, number, null);
          }
          deviceOf(number)({ status, ...times, version: raised(number) });
          write({ type: status === 'LOCKED' ? 'DEVICE_LOCKED' : 'DEVICE_DEACTIVATED' }, number, null);
        }
      const counts = isLocked ? change.step !== 'release' : result === 'held' && entry !== null;
      if (counts && own.length > 0)
        content.leavers = { ...content.leavers, devices: withCount(recent.devices, at, own.length, !isLocked) };
      if (counts && accounts > 0)
        content.leavers = { ...content.leavers, accounts: withCount(recent.accounts, at, accounts, !isLocked) };
      if (isLocked) disableAccounts(content, person.userKey);
      setPerson(content, person, set, at);
      if (entry) write(entry, null, person.number);
      const opened = content.cases.get(person.number);
      const openedAt = content.people[person.number - 1]!.leftAt!;
      if (person.active || !opened || opened.openedAt < openedAt) {
        const version = (opened?.version ?? 0) + 1;
        const blankCase = { closedAt: null, kept: [], overdue: [], items: null, salt: '' };
        content.cases.set(person.number, { number: person.number, openedAt, ...blankCase, version });
        write(
          { type: 'CASE_OPENED', data: { personId: `PER-${person.number}`, source: person.source } },
          null,
          person.number,
        );
      }
      return {
        kind: 'left',
        locked: isLocked ? numbers : [],
        held: result === 'held' ? numbers : [],
        dueAt: set.dueAt ?? null,
      };
    }
    case 'proof.add': {
      const { proof, isRegistered, entry } = change;
      if (content.proofs.some(({ proofId }) => proofId === proof.proofId) && fault !== 'stores an answer twice')
        throw new Conflict('proof');
      if (!isRegistered && content.serials.has(proof.serialNumber) && fault !== 'stores an answer beside its device')
        throw new Conflict('device');
      content.proofs.push({ ...proof, isPending: !isRegistered });
      const own = strongest(content.proofs.filter(({ serialNumber }) => serialNumber === proof.serialNumber));
      const old = own.slice(4).filter(({ createdAt }) => createdAt < at - 600_000);
      if (fault !== 'keeps every answer') content.proofs = content.proofs.filter(one => !old.includes(one));
      if (entry) write(entry, null, null);
      return { kind: 'done' };
    }
    case 'proof.expire': {
      for (const one of content.proofs) one.isPending &&= !content.serials.has(one.serialNumber);
      const pending = content.proofs.filter(({ isPending }) => isPending);
      const surplus = pending.slice(0, Math.max(0, pending.length - change.total));
      const gone = pending.filter(one => one.createdAt < change.until || surplus.includes(one));
      content.proofs = content.proofs.filter(one => !gone.includes(one));
      return { kind: 'removed', count: gone.length };
    }
    case 'document.set': {
      const { name, before, value } = change;
      if (versionOf(content.documents, name) !== before) throw new Conflict('document');
      content.documents = content.documents.filter(document => document.name !== name);
      content.documents.push({ name, version: before + 1, value });
      write(change.entry, null, null);
      return { kind: 'done' };
    }
    case 'sso.sessions': {
      const { user: number, before, sessions } = change;
      if ((content.ssoSessions.get(number)?.version ?? 0) !== before && fault !== 'ignores the version of sessions')
        throw new Conflict('sessions');
      content.ssoSessions.set(number, { number, version: before + 1, sessions });
      return { kind: 'done' };
    }
    case 'person.erase':
      // tests/faults/erasure.test.ts compares every byte.
      throw new Error('the store in memory erases no person');
    case 'case.set': {
      const { person, before, set, closes, entries } = change;
      const known = content.cases.get(person);
      if (known?.version !== before || known.closedAt !== null) throw new Conflict('case');
      content.cases.set(person, { ...known, ...set, closedAt: closes ? at : null, version: before + 1 });
      for (const entry of entries) write(entry, null, person);
      return { kind: 'done' };
    }
    case 'refused.add': {
      const number = { scim: 1, directory: 2, import: 3 }[change.source];
      const { row, entry } = withRefusals(content.refused.get(number), change, at);
      content.refused.set(number, row);
      if (entry) write(entry, null, null);
      return { kind: 'done' };
    }
    case 'webhook.progress': {
      const { webhook, before, progress } = change;
      if ((content.progress.get(webhook)?.version ?? 0) !== before && fault !== 'ignores the version of a progress')
        throw new Conflict('progress');
      content.progress.set(webhook, { version: before + 1, progress });
      return { kind: 'done' };
    }
    case 'webhook.forget':
      if (fault !== 'keeps the progress of removed webhooks') content.progress.delete(change.webhook);
      return { kind: 'done' };
    case 'response.expire': {
      const expired = content.responses
        .filter(({ expiresAt }) => expiresAt <= change.until || expiresAt > change.beyond)
        .slice(0, change.most);
      content.responses = content.responses.filter(kept => !expired.includes(kept));
      return { kind: 'removed', count: expired.length };
    }
    case 'token.use': {
      const token = content.serviceTokens[change.token - 1];
      const lastUsedAt = Math.max(token?.lastUsedAt ?? 0, change.usedAt);
      if (token) content.serviceTokens[change.token - 1] = { ...token, lastUsedAt };
      return { kind: 'done' };
    }
  }
}

/** The last enabled ADMIN stays enabled. */
function disableAccounts(content: Content, key: string, which = (_: UserRecord) => true): void {
  for (const user of content.users) {
    if (user.userKey !== key || user.disabled || !which(user)) continue;
    const isLast = !content.users.some(other => other !== user && other.role === 'ADMIN' && !other.disabled);
    if (user.role !== 'ADMIN' || !isLast)
      content.users[user.number - 1] = { ...user, disabled: true, tokenEpoch: user.tokenEpoch + 1 };
  }
}

/** Whom a name means. */
export function holderIn(people: readonly PersonRecord[], key: string): PersonRecord | undefined {
  const named = people.filter(({ userKey }) => userKey === key);
  return named.find(({ removedAt }) => removedAt === null) ?? named.at(-1);
}

function checkName({ people, devices, users }: Content, person: PersonRecord, key: string): void {
  if (people.some(other => other !== person && other.userKey === key)) throw new Conflict('person');
  if (devices.some(device => device.userKey === key && device.person === null)) throw new Conflict('device');
  const isKept = (user: UserRecord) => user.userKey === key && !user.disabled && !isOfProvider(user);
  if (users.some(isKept)) throw new Conflict('account');
}

function setDevice(content: Content, number: number, set: DeviceSet): void {
  const device = content.devices[number - 1];
  if (!device) throw new Conflict(`device ${number}`);
  const named = { ...device, ...set, version: device.version + 1 };
  const userKey = named.userId && personKey(named.userId);
  const isNamed = set.userId !== undefined && set.person === undefined;
  const person = isNamed && userKey ? (holderIn(content.people, userKey)?.number ?? null) : named.person;
  content.devices[number - 1] = { ...named, userKey, person };
}

function setPerson(content: Content, person: PersonRecord, set: PersonSet, at: number): void {
  const after = { ...person, ...set, version: person.version + 1, updatedAt: at };
  content.people[person.number - 1] = { ...after, userKey: personKey(after.userName), search: searchTextOf(after) };
}

function setPasskey(
  content: Content,
  change: Extract<Change, { kind: 'passkey.remove' | 'passkey.use' }>,
  at: number,
  fault: Fault | undefined,
): void {
  const passkey = content.passkeys[change.passkey - 1];
  if (!passkey || passkey.removedAt !== null) throw new Conflict('passkey');
  if (change.kind === 'passkey.remove') {
    content.passkeys[change.passkey - 1] = { ...passkey, removedAt: at };
    return;
  }
  const { before, signCount, usedAt, used } = change;
  if (passkey.version !== before && fault !== 'ignores how a passkey was used') throw new Conflict('passkey');
  content.passkeys[change.passkey - 1] = { ...passkey, version: before + 1, signCount, lastUsedAt: usedAt, used };
}

/** Evidence before claims, and of equal ones the last first. */
export function strongest(proofs: readonly KeptProof[]): KeptProof[] {
  return proofs.toReversed().sort((a, b) => Number(b.evidence !== null) - Number(a.evidence !== null));
}

const blank = {
  status: 'INACTIVE',
  userId: null,
  userKey: null,
  person: null,
  note: null,
  activatedAt: null,
  lastUsedAt: null,
  lockReason: null,
  lockedAt: null,
  deactivatedAt: null,
  shippedAt: null,
  receivedAt: null,
  updatedAt: null,
  usageCount: 0,
  usageSeconds: 0,
  backupCount: 0,
  version: 1,
  lastBackupAt: null,
} as const;

const enabledNamed = ({ users }: Content, key: string) =>
  users.filter(({ userKey, disabled }) => userKey === key && !disabled);

const recentBrake = ({ leavers: { devices, accounts, names } }: Content, at: number): BrakeCounts => ({
  devices: recentCounts(devices, at),
  accounts: recentCounts(accounts, at),
  names: recentCounts(names, at),
});
