/** The report of all data about one person, without secrets. */
import {
  backupIds,
  credentialIds,
  deviceIds,
  passkeyIds,
  personIds,
  providerIds,
  tokenIds,
  userIds,
} from '../../src/contract/ids.ts';
import { reportBounds } from '../../src/contract/limits.ts';
import { personKey } from '../../src/contract/person-key.ts';
import type { Data } from '../../src/contract/routes.ts';
import { iso, isoOrNull } from '../base/time.ts';
import type { UserRecord } from '../requests/callers.ts';
import type { Window } from '../store/queries.ts';
import type { Store } from '../store/store.ts';
import { accountsOf, type CaseStore } from './case-items.ts';
import { readGroups } from './lookups.ts';
import { namesOf } from './policy.ts';
import type { PersonRecord } from './records.ts';

type Report = Data<'reportPerson'>;
type Shown = Readonly<Record<string, unknown>>;
interface Stored {
  readonly number: number;
  readonly createdAt: number;
}
type Page<R> = Promise<{ readonly rows: readonly R[] }>;

/** Reads of subjects that a registry may lack. */
interface ReportReads {
  readonly backups?: (
    device: number,
    window: Window,
  ) => Page<Stored & { readonly fileName: string; readonly note: string | null }>;
  readonly receipts?: (
    filter: { readonly device: number } & Window,
  ) => Page<Stored & { readonly receiptId: string; readonly kind: string; readonly text: string }>;
}
/** Sources of a report. */
export type ReportStore = Omit<Store, 'credentialsOf' | 'receipts' | 'backups'> & CaseStore & ReportReads;

/** Rows of a device that are read. */
const all: Window = { descending: false, offset: 0, limit: 1000 };
/** Entries that are read at a time. */
const PORTION = 1000;

/** The report about a person at `now`. */
export async function reportOn(store: ReportStore, person: PersonRecord, now: number): Promise<Report> {
  const owned = await store.devicesOf(person.number);
  const numbers = owned.slice(0, reportBounds.devices).map(({ number }) => number);
  const [groups, accounts, leave, sources] = await Promise.all([
    readGroups(store),
    accountsOf(store, person),
    store.leaverCase(person.number),
    store.refusedRequests(),
  ]);
  const found: Record<'devices' | 'credentials' | 'receipts' | 'events', Shown[]> = {
    devices: [],
    credentials: [],
    receipts: [],
    events: [],
  };
  let complete = owned.length === numbers.length;
  for (const number of numbers) {
    found.devices.push(await deviceIn(store, number));
    found.credentials.push(...(await credentialsIn(store, number)));
    found.receipts.push(...(await receiptsIn(store, number)));
    const room = reportBounds.events - found.events.length;
    const events = await eventsIn(store, number, room + 1);
    if (events.length > room) complete = false;
    found.events.push(...events.slice(0, room));
  }
  return {
    personId: personIds.format(person.number),
    generatedAt: iso(now),
    complete,
    person: personIn(person, namesOf(groups, person.groups)),
    ...found,
    accounts: await Promise.all(accounts.map(account => accountIn(store, account))),
    refused: sources
      .flatMap(({ requests }) => requests)
      .filter(({ userName }) => userName !== null && personKey(userName) === person.userKey)
      .map(({ at, ...request }) => ({ at: iso(at), ...request })),
    case: leave && {
      opened: iso(leave.openedAt),
      closed: isoOrNull(leave.closedAt),
      kept: leave.kept.map(item => ({ ...item, at: iso(item.at) })),
      items: leave.items,
    },
  };
}

function personIn({ number, userKey, salt, search, version, ...person }: PersonRecord, groups: string[]): Shown {
  const times = ['createdAt', 'updatedAt', 'leftAt', 'heldAt', 'dueAt', 'removedAt'] as const;
  const shown = Object.fromEntries(times.map(name => [name, isoOrNull(person[name])]));
  return { ...person, personId: personIds.format(number), groups, ...shown };
}

async function deviceIn(store: ReportStore, number: number): Promise<Shown> {
  const device = (await store.device(number))!;
  const { rows: backups } = (await store.backups?.(number, all)) ?? { rows: [] };
  const { serialNumber, manufacturer, model, status, userId, note, lockReason, tags } = device;
  return {
    deviceId: deviceIds.format(number),
    ...{ serialNumber, manufacturer, model, status, userId, note, lockReason, tags },
    activatedAt: isoOrNull(device.activatedAt),
    lastUsedAt: isoOrNull(device.lastUsedAt),
    backups: backups.map(one => ({
      backupId: backupIds.format(one.number),
      fileName: one.fileName,
      note: one.note,
      createdAt: iso(one.createdAt),
    })),
  };
}

async function credentialsIn(store: ReportStore, device: number): Promise<Shown[]> {
  return ((await store.credentialsOf?.(device)) ?? []).map(one => ({
    credentialId: credentialIds.format(one.number),
    deviceId: deviceIds.format(device),
    providerId: providerIds.format(one.provider),
    account: one.account,
    label: one.label,
    createdAt: iso(one.createdAt),
    issuedAt: isoOrNull(one.issuedAt),
    removedAt: isoOrNull(one.removedAt),
  }));
}

async function receiptsIn(store: ReportStore, device: number): Promise<Shown[]> {
  const { rows } = (await store.receipts?.({ device, ...all })) ?? { rows: [] };
  return rows.map(({ receiptId, kind, text, createdAt }) => ({
    receiptId,
    deviceId: deviceIds.format(device),
    kind,
    text,
    createdAt: iso(createdAt),
  }));
}

/** The first entries about a device. */
async function eventsIn(store: ReportStore, device: number, most: number): Promise<Shown[]> {
  const found: Shown[] = [];
  for (let after = 0; found.length < most; ) {
    const limit = Math.min(PORTION, most - found.length);
    const entries = await store.events({ device, after, limit });
    for (const { id, at, type, actor, data } of entries)
      found.push({ id, timestamp: iso(at), type, deviceId: deviceIds.format(device), actor, data });
    if (entries.length < limit) break;
    after = entries.at(-1)!.id;
  }
  return found;
}

async function accountIn(store: ReportStore, { number, ...account }: UserRecord): Promise<Shown> {
  const { username, role, email, disabled, createdAt } = account;
  const [tokens, keys] = await Promise.all([store.tokensOwnedBy(number), store.passkeysOf(number)]);
  return {
    userId: userIds.format(number),
    ...{ username, role, email, disabled },
    createdAt: iso(createdAt),
    tokens: tokens.map(token => ({ tokenId: tokenIds.format(token.number), name: token.name })),
    passkeys: keys.map(key => ({ passkeyId: passkeyIds.format(key.number), name: key.name })),
  };
}
