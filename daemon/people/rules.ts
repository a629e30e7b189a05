/** Rules for the changes and guards of persons, and their entries. */

import { personIds } from '../../src/contract/ids.ts';
import { personKey } from '../../src/contract/person-key.ts';
import { accountsNamed, enabledAdmins, users } from '../accounts/tables.ts';
import { give, isGiven, isOfProvider, keepsName } from '../accounts/user.ts';
import { userChanges } from '../accounts/user-rules.ts';
import { activeDevicesOf, devices, devicesOf, unkeyedNamed, unmatchedNamed } from '../devices/tables.ts';
import type { UserRecord } from '../requests/callers.ts';
import { Conflict } from '../store/commit.ts';
import type { EntryContext } from '../store/journal-end.ts';
import type { Draft } from '../store/write/draft.ts';
import { digestIn, RowReplay } from '../store/write/replay.ts';
import { type ChangeRules, done, type GuardRules } from '../store/write/rule.ts';
import type { WantedRows } from '../store/write/source.ts';
import { endCase } from './case-rules.ts';
import { holderOf, searchTextOf } from './decisions.ts';
import { bindingRule } from './device-bindings.ts';
import { ownerFault, unlockFault } from './device-decisions.ts';
import { brakeRows } from './leaver-brake.ts';
import { applyLeave, disable, hold } from './leaver-rules.ts';
import { bind, holds, updateOf, wantNamed } from './person-devices.ts';
import { digestSources, rowDigest } from './person-digest.ts';
import { apply, change, enter } from './person-writes.ts';
import type { OwnerGuard, PersonChange, PersonRecord, PresentGuard } from './records.ts';
import { withFormer } from './sealed-names.ts';
import { leaverCases, leaverCounts, people, peopleNamed, peopleWithId } from './tables.ts';

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
      enter(draft, record, withFormer(entry, person, record), context);
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

/**
 * The devices of a person show a new user name. A local account with the former one keeps it, so a leave would not find it: it is
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
    if (isGiven(account)) giveAgain(draft, account, person, context);
    else if (!account.disabled && !isOfProvider(account)) disable(draft, account, context);
}

/** An account that was given to a person follows the key of the person. */
export function giveAgain(draft: Draft, account: UserRecord, person: PersonRecord, context: EntryContext): void {
  const personId = personIds.format(person.number);
  const { change } = give(account, person.userKey, { before: personId, after: personId });
  userChanges['user.set'].apply(draft, change, context);
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
