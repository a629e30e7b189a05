/** Rules for the changes and guards of persons, and their entries. */

import { personIds } from '../../src/contract/ids.ts';
import { personKey } from '../../src/contract/person-key.ts';
import { accountsNamed, enabledAdmins, users } from '../accounts/tables.ts';
import { edit as editUser, isOfProvider, keepsName } from '../accounts/user.ts';
import { userChanges } from '../accounts/user-rules.ts';
import { deactivate, lock } from '../devices/decisions.ts';
import type { DeviceRecord } from '../devices/records.ts';
import { activeDevicesOf, devices, devicesOf, unkeyedNamed, unmatchedNamed } from '../devices/tables.ts';
import type { UserRecord } from '../requests/callers.ts';
import { type Change, Conflict } from '../store/commit.ts';
import type { Entry } from '../store/journal.ts';
import type { EntryContext } from '../store/journal-end.ts';
import type { Field } from '../store/table.ts';
import { ReplacedRows } from '../store/write/documents.ts';
import type { Draft } from '../store/write/draft.ts';
import { digestIn, RowReplay } from '../store/write/replay.ts';
import { type ChangeRules, done, type GuardRules, withFields } from '../store/write/rule.ts';
import type { WantedRows } from '../store/write/source.ts';
import { endCase, openCase } from './case-rules.ts';
import {
  digestSources,
  heldName,
  holderOf,
  leave,
  ownerFault,
  personDigest,
  rowDigest,
  searchTextOf,
  unlockFault,
} from './decisions.ts';
import { bindingRule, setOwned } from './device-bindings.ts';
import { brakeRows, recentCounts, withCount } from './leaver-brake.ts';
import { activeOf, bind, bindToLeaver, holds, updateOf, wantNamed } from './person-devices.ts';
import type {
  OwnerGuard,
  PersonChange,
  PersonLeave,
  PersonRecord,
  PersonSet,
  PersonUpdate,
  PresentGuard,
} from './records.ts';
import { type LeaverRow, leaverCases, leaverCounts, people, peopleNamed, peopleWithId } from './tables.ts';

/** What leavers did within the last minutes: one row. */
export class LeaverWindow extends ReplacedRows<number, LeaverRow, Field<LeaverRow>> {
  protected readonly lookup = leaverCounts.byKey;
}

type Adding = Extract<PersonChange, { kind: 'person.add' }>;

export const personChanges: ChangeRules<PersonChange['kind']> = {
  'devices.bind': bindingRule,
  'person.add': {
    needs({ person: { userKey, externalId } }, wanted) {
      wanted.add(people.unique, userKey);
      wanted.add(peopleNamed, userKey);
      wanted.add(unmatchedNamed, userKey);
      if (externalId !== null) wanted.add(peopleWithId, externalId);
    },
    check(draft, { person }) {
      checkId(draft, null, person);
    },
    apply(draft, { person }: Adding, context) {
      const make = (number: number) => {
        const record = { ...person, number, createdAt: context.at, updatedAt: context.at, search: '' };
        return { ...record, search: searchTextOf(record) };
      };
      const { record, isNew } = draft.add(people, make);
      if (!isNew) return { kind: 'duplicate', number: record.number, status: null };
      enter(draft, record, { type: 'PERSON_ADDED', detail: { source: record.source } }, context);
      const isOnly = draft.of(people).all(peopleNamed, record.userKey).length === 1;
      for (const device of isOnly ? draft.of(devices).all(unmatchedNamed, record.userKey) : [])
        apply(draft, bind(device, record), context);
      return { kind: 'added', number: record.number };
    },
  },
  'person.set': {
    needs({ person, renamed, restored, set }, wanted) {
      wanted.add(people.byKey, person);
      if (set.active) wanted.add(leaverCases.byKey, person);
      if (typeof set.externalId === 'string') wanted.add(peopleWithId, set.externalId);
      if (restored !== undefined) wanted.add(people.unique, personKey(restored));
      if (!renamed) return;
      wanted.add(devicesOf, person);
      wantNamed(wanted, renamed.from);
      wanted.add(peopleNamed, personKey(renamed.to));
      wanted.add(unmatchedNamed, personKey(renamed.to));
      wanted.add(accountsNamed, personKey(renamed.to));
      wantAccounts(wanted, renamed.from);
      wanted.add(leaverCounts.byKey, brakeRows.names);
    },
    check(draft, { person, before, renamed, restored, set }) {
      const known = draft.of(people).get(person);
      if (known?.version !== before) throw new Conflict(`person ${person} has another version now`);
      if (typeof set.externalId === 'string') checkId(draft, known, { ...known, ...set });
      const present = restored === undefined ? undefined : draft.of(people).withKey(personKey(restored));
      if (present && present.number !== person) throw new Conflict(`person ${present.number} has the user name now`);
      if (renamed && personKey(renamed.to) !== personKey(renamed.from)) checkName(draft, person, personKey(renamed.to));
    },
    apply(draft, update, context) {
      const person = draft.of(people).get(update.person)!;
      const held = hold(draft, person, update, context);
      const { set, entry } = held ?? update;
      const record = change(draft, person, set, context);
      if (update.renamed && !held) rename(draft, record, update.renamed, context);
      enter(draft, record, entry, context);
      if (set.active) endCase(draft, record, context);
      return held ? { kind: 'held' } : done;
    },
  },
  'person.leave': {
    needs({ person, userName, accountIds = [] }, wanted) {
      wanted.add(people.byKey, person);
      wanted.add(leaverCases.byKey, person);
      wanted.add(activeDevicesOf, person);
      for (const id of accountIds) wanted.add(unmatchedNamed, personKey(id));
      wantNamed(wanted, userName);
      wanted.add(unmatchedNamed, personKey(userName));
      wantAccounts(wanted, userName);
      wanted.add(leaverCounts.byKey, brakeRows.devices);
      wanted.add(leaverCounts.byKey, brakeRows.accounts);
    },
    check(draft, { person, userName }) {
      if (draft.of(people).get(person)?.userName !== userName)
        throw new Conflict(`person ${person} has another user name now`);
    },
    apply: applyLeave,
  },
};

function wantAccounts(wanted: WantedRows, userName: string): void {
  wanted.add(accountsNamed, personKey(userName));
  wanted.add(enabledAdmins, '');
}

/** Throws `Conflict` if another present person of SCIM has the id of the provider that is new to a person. */
function checkId(
  draft: Draft,
  known: PersonRecord | null,
  { externalId, source }: Pick<PersonRecord, 'externalId' | 'source'>,
): void {
  if (source !== 'scim' || externalId === null || externalId === known?.externalId) return;
  const other = draft
    .of(people)
    .all(peopleWithId, externalId)
    .find(one => one.number !== known?.number && one.source === 'scim' && one.removedAt === null);
  if (other) throw new Conflict(`person ${other.number} has the id of the provider`);
}

/** Throws `Conflict` if another person, also a removed one, devices without a person, or a local account have the name. */
function checkName(draft: Draft, person: number, key: string): void {
  const other = draft
    .of(people)
    .all(peopleNamed, key)
    .find(({ number }) => number !== person);
  if (other) throw new Conflict(`person ${other.number} has the user name`);
  const [device] = draft.of(devices).all(unmatchedNamed, key);
  if (device) throw new Conflict(`device ${device.number} has the user name and no person`);
  if (draft.of(users).all(accountsNamed, key).some(keepsName)) throw new Conflict('a local account has the user name');
}

function applyLeave(draft: Draft, step: PersonLeave, context: EntryContext) {
  const person = draft.of(people).get(step.person)!;
  const active = activeOf(draft, person, step.accountIds);
  const numbers = active.map(({ number }) => number);
  const accounts = enabledOf(draft, person.userKey).length;
  const recent = {
    devices: counted(draft, 'devices', context),
    accounts: counted(draft, 'accounts', context),
  };
  const outcome = leave(step, { person, devices: active.length, accounts, recent, now: context.at });
  if (!outcome) return { kind: 'left', locked: [], held: [], dueAt: null } as const;
  const { result, set, entry } = outcome;
  let disabled: readonly number[] | undefined;
  if (result === 'locked') {
    for (const device of active) {
      if (device.person === null) bindToLeaver(draft, device, person, context);
      end(draft, device, step.rule.action, set.reason!, context);
    }
    disabled = disableAccounts(draft, person.userKey, context);
  }
  const counts = result === 'locked' ? step.step !== 'release' : result === 'held' && entry !== null;
  if (counts) {
    count(draft, 'devices', active.length, result === 'held', context);
    count(draft, 'accounts', accounts, result === 'held', context);
  }
  const left = { ...person, ...set };
  const isChanged = Object.entries(set).some(([field, value]) => person[field as keyof PersonSet] !== value);
  if (isChanged || entry) {
    const record = change(draft, person, set, context);
    enter(draft, record, entry ?? { type: 'PERSON_UPDATED', detail: { fields: Object.keys(set) } }, context);
  }
  openCase(draft, left, person.active, context);
  const locked = result === 'locked' ? numbers : [];
  const held = result === 'held' ? numbers : [];
  return { kind: 'left', locked, held, dueAt: set.dueAt ?? null, ...(disabled && { accounts: disabled }) } as const;
}

const counted = (draft: Draft, what: keyof typeof brakeRows, { at }: EntryContext) =>
  recentCounts(draft.part(LeaverWindow).row(brakeRows[what])?.counts ?? [], at);

function count(draft: Draft, what: keyof typeof brakeRows, more: number, isHeld: boolean, context: EntryContext): void {
  if (more === 0) return;
  const number = brakeRows[what];
  const counts = withCount(counted(draft, what, context), context.at, more, isHeld);
  draft.part(LeaverWindow).changed.set(number, { number, counts });
}

const enabledOf = (draft: Draft, userKey: string): UserRecord[] =>
  draft
    .of(users)
    .all(accountsNamed, userKey)
    .filter(({ disabled }) => !disabled);

/** Update without the new user name, which must wait; the brake counts it. */
function hold(draft: Draft, person: PersonRecord, update: PersonUpdate, context: EntryContext) {
  const { renamed, brake } = update;
  if (!renamed || !brake || personKey(renamed.from) === personKey(renamed.to)) return null;
  const active = draft
    .of(devices)
    .all(devicesOf, person.number)
    .filter(({ status }) => status === 'ACTIVE').length;
  const affected = active + enabledOf(draft, person.userKey).filter(account => !isOfProvider(account)).length;
  const recent = counted(draft, 'names', context);
  const held = heldName(person, update, { devices: active, affected, recent, now: context.at });
  count(draft, 'names', affected, held !== null, context);
  return held;
}

/** Locks or retires a device, which is ACTIVE. */
function end(
  draft: Draft,
  device: DeviceRecord,
  action: PersonLeave['rule']['action'],
  reason: string,
  context: EntryContext,
): void {
  const decided =
    action === 'lock' ? lock(device, reason, null, context.at) : deactivate(device, reason, null, context.at);
  if ('change' in decided) apply(draft, decided.change, context);
}

/** Disables the accounts with this name. The last enabled ADMIN stays enabled: then no one could release what is held. */
function disableAccounts(draft: Draft, userKey: string, context: EntryContext): number[] {
  const disabled = enabledOf(draft, userKey).filter(account => disable(draft, account, context));
  return disabled.map(({ number }) => number);
}

/** Returns whether the account is disabled. */
function disable(draft: Draft, account: UserRecord, context: EntryContext): boolean {
  const others = draft
    .of(users)
    .all(enabledAdmins, '')
    .some(({ number }) => number !== account.number);
  const decided = editUser(account, { disabled: true }, others);
  const isDecided = 'change' in decided;
  // The entry of one that stays enabled has all daemons look at the tokens that it owns.
  const kept = { username: account.username, after: {}, kept: 'the last enabled ADMIN' };
  const stays = { kind: 'user.set', user: account.number, set: {}, revoke: false } as const;
  const change = isDecided ? decided.change : { ...stays, entry: { type: 'USER_UPDATED', detail: kept } as const };
  userChanges['user.set'].apply(draft, change, context);
  return isDecided;
}

/**
 * The devices of a person show a new user name. A local account keeps the former one, so a leave would not find it: it is
 * disabled. Accounts of the provider end there.
 */
function rename(
  draft: Draft,
  person: PersonRecord,
  { from, to }: { readonly from: string; readonly to: string },
  context: EntryContext,
): void {
  const records = draft.of(devices);
  // A daemon of an earlier version may just have bound a device to the former name.
  const unkeyed = holds(draft, person, to) ? records.all(unkeyedNamed, from) : [];
  for (const device of [...records.all(devicesOf, person.number), ...unkeyed]) {
    const set = { userId: to, person: person.number, updatedAt: context.at };
    apply(draft, updateOf(device, set, { userId: device.userId }, { userId: to }), context);
  }
  if (personKey(from) === person.userKey) return;
  for (const account of draft.of(users).all(accountsNamed, personKey(from)))
    if (!account.disabled && !isOfProvider(account)) disable(draft, account, context);
}

function apply(draft: Draft, deviceChange: Change, context: EntryContext): void {
  // PINs of devices that a leave retires are removed later: which devices these are is not known before the reads.
  if (deviceChange.kind === 'device.set') setOwned(draft, deviceChange, context);
}

function change(draft: Draft, before: PersonRecord, set: PersonSet, context: EntryContext): PersonRecord {
  const after = { ...withFields(before, set), version: before.version + 1, updatedAt: context.at };
  const record = { ...after, userKey: personKey(after.userName), search: searchTextOf(after) };
  draft.of(people).change(record);
  return record;
}

/** An entry about a person proves the record without showing it. */
function enter(draft: Draft, person: PersonRecord, { type, data, detail }: Entry, context: EntryContext): void {
  const proved = { ...detail, personId: personIds.format(person.number), personDigest: personDigest(person) };
  draft.enter(context, { type, ...(data && { data }), detail: proved }, null, person.number);
}

export const ownerGuards: GuardRules<(OwnerGuard | PresentGuard)['kind']> = {
  present: {
    needs({ person, userId }, wanted) {
      if (person === null) wanted.add(peopleNamed, personKey(userId));
      else wanted.add(people.byKey, person);
    },
    broken(draft, { person, userId }) {
      const records = draft.of(people);
      return unlockFault(person === null ? holderOf(records.all(peopleNamed, personKey(userId))) : records.get(person));
    },
  },
  owner: {
    needs: ({ userId }, wanted) => wanted.add(peopleNamed, personKey(userId)),
    broken: (draft, guard) => ownerFault(guard, holderOf(draft.of(people).all(peopleNamed, personKey(guard.userId)))),
  },
};

/** A person as engines exchange it. */
type ComparedPerson = { readonly [K in (typeof digestSources)[number]]: unknown } & {
  readonly number: number;
  readonly salt: string;
  readonly userName: string;
  readonly userKey: string;
};

/** Compares the persons with the journal. A row whose user key is not that of its user name differs from every entry. */
export const personReplay = () =>
  new RowReplay<number, ComparedPerson, string>({
    table: 'person',
    fields: ['number', 'userKey', 'salt', ...digestSources],
    key: ({ number }) => number,
    said: digestIn('personDigest'),
    found: row => (row.userKey === personKey(row.userName) ? rowDigest(row) : ''),
    nameOf: personIds.format,
  });
