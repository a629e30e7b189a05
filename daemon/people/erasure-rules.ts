/** The rule of erasures. Other subjects add their rows to the change: `additions`. */

import { personIds } from '../../src/contract/ids.ts';
import { provisioningSources } from '../../src/contract/person-values.ts';
import { accountsNamed, users } from '../accounts/tables.ts';
import { edit as editUser, isGiven } from '../accounts/user.ts';
import { userChanges } from '../accounts/user-rules.ts';
import { devices, devicesOf, unmatchedNamed } from '../devices/tables.ts';
import type { BackupRecord } from '../files/backup.ts';
import { backups } from '../files/tables.ts';
import { Conflict } from '../store/commit.ts';
import { newSalt } from '../store/digest.ts';
import type { EntryContext } from '../store/journal-end.ts';
import type { Lookup } from '../store/table.ts';
import type { Draft } from '../store/write/draft.ts';
import { type ChangeRules, done } from '../store/write/rule.ts';
import { CaseRows, RefusedRows, writeCase } from './case-rules.ts';
import { setOwned } from './device-bindings.ts';
import { erasedPerson, type PersonErase, withoutNames } from './erasure-records.ts';
import { updateOf } from './person-devices.ts';
import { personDigest } from './person-digest.ts';
import type { PersonRecord } from './records.ts';
import { numberOfSource } from './refused-records.ts';
import { giveAgain } from './rules.ts';
import { leaverCases, people, peopleNamed, refusedRequests } from './tables.ts';

const backupsOf: Lookup<BackupRecord> = { table: backups, by: ['device'] };

/** The devices of the person, and those without one that have the user name, unless it is another person's now. */
function devicesIn(draft: Draft, person: PersonRecord): readonly number[] {
  const isTaken = draft
    .of(people)
    .all(peopleNamed, person.userKey)
    .some(({ number, removedAt }) => number !== person.number && removedAt === null);
  const named = isTaken ? [] : draft.of(devices).all(unmatchedNamed, person.userKey);
  const all = [...draft.of(devices).all(devicesOf, person.number), ...named];
  return all.map(({ number }) => number).sort((a, b) => a - b);
}

export const erasureChanges: ChangeRules<PersonErase['kind']> = {
  'person.erase': {
    needs({ person, userKey, devices: numbers }, wanted) {
      wanted.add(people.byKey, person);
      wanted.add(peopleNamed, userKey);
      wanted.add(leaverCases.byKey, person);
      wanted.add(devicesOf, person);
      wanted.add(unmatchedNamed, userKey);
      wanted.add(accountsNamed, userKey);
      for (const source of provisioningSources) wanted.add(refusedRequests.byKey, numberOfSource(source));
      for (const number of numbers) {
        wanted.add(devices.byKey, number);
        wanted.add(backupsOf, number);
      }
    },
    check(draft, { person, before, devices: numbers }) {
      const record = draft.of(people).get(person);
      if (record?.version !== before) throw new Conflict(`person ${person} has another version now`);
      if (String(devicesIn(draft, record)) !== String(numbers))
        throw new Conflict(`person ${person} has other devices`);
    },
    apply(draft, change, context) {
      const before = draft.of(people).get(change.person)!;
      const person = erasedPerson(before, context.at);
      eraseAccounts(draft, before, person, context);
      // First: the entries that follow are sealed with the new salt.
      draft.of(people).change(person);
      const detail = { personId: person.userName, personDigest: personDigest(person) };
      draft.enter(context, { type: 'PERSON_ERASED', detail }, null, person.number);
      for (const number of change.devices) eraseDevice(draft, number, change, context);
      eraseCase(draft, change, context);
      eraseRefused(draft, change);
      return done;
    },
  },
};

function eraseDevice(draft: Draft, number: number, change: PersonErase, context: EntryContext): void {
  const device = draft.of(devices).get(number)!;
  const userId = personIds.format(change.person);
  const tags = Object.fromEntries(
    Object.entries(device.tags).map(([name, text]) => [name, withoutNames(text, change)]),
  );
  const hasTags = JSON.stringify(tags) !== JSON.stringify(device.tags);
  const set = {
    userId,
    person: change.person,
    note: withoutNames(device.note, change),
    lockReason: withoutNames(device.lockReason, change),
    ...(hasTags && { tags }),
    updatedAt: context.at,
  };
  setOwned(draft, updateOf(device, set, {}, { userId, ...(hasTags && { tags }) }), context);
  const records = draft.of(backups);
  for (const backup of records.all(backupsOf, number)) {
    const fileName = withoutNames(backup.fileName, change);
    records.change({ ...backup, fileName, note: withoutNames(backup.note, change) });
  }
}

function eraseCase(draft: Draft, change: PersonErase, context: EntryContext): void {
  const record = draft.part(CaseRows).row(change.person);
  if (!record) return;
  const items = record.items?.map(item => ({ ...item, reason: withoutNames(item.reason, change) })) ?? null;
  const kept = record.kept.map(item => ({ ...item, reason: withoutNames(item.reason, change) }));
  const after = { ...record, items, kept, salt: newSalt(), version: record.version + 1 };
  writeCase(draft, after, [{ type: 'CASE_ERASED' }], context);
}

/** Refused requests are not in the journal. */
function eraseRefused(draft: Draft, change: PersonErase): void {
  const rows = draft.part(RefusedRows);
  for (const source of provisioningSources) {
    const row = rows.row(numberOfSource(source));
    const requests = row?.requests.filter(one => {
      const texts = [one.userName, one.reason];
      return texts.every(
        text => withoutNames(text?.normalize('NFC') ?? null, change) === (text?.normalize('NFC') ?? null),
      );
    });
    if (row && requests && requests.length < row.requests.length) rows.changed.set(row.number, { ...row, requests });
  }
}

/** The name of an account stays: entries of the journal name who made a change. */
function eraseAccounts(draft: Draft, { userKey }: PersonRecord, erased: PersonRecord, context: EntryContext): void {
  for (const account of draft.of(users).all(accountsNamed, userKey)) {
    if (isGiven(account)) giveAgain(draft, account, erased, context);
    if (account.email === null) continue;
    const decided = editUser(account, { email: null }, true);
    if ('change' in decided) userChanges['user.set'].apply(draft, decided.change, context);
  }
}
