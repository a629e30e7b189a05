/** Rules for persons who leave, and for user names that the brake holds. */
import { personKey } from '../../src/contract/person-key.ts';
import { accountsNamed, enabledAdmins, users } from '../accounts/tables.ts';
import { edit as editUser, isGiven, isOfProvider } from '../accounts/user.ts';
import { userChanges } from '../accounts/user-rules.ts';
import { deactivate, lock } from '../devices/decisions.ts';
import type { DeviceRecord } from '../devices/records.ts';
import { devices, devicesOf } from '../devices/tables.ts';
import type { UserRecord } from '../requests/callers.ts';
import type { EntryContext } from '../store/journal-end.ts';
import type { Field } from '../store/table.ts';
import { ReplacedRows } from '../store/write/documents.ts';
import type { Draft } from '../store/write/draft.ts';
import { openCase } from './case-rules.ts';
import { heldName, leave } from './decisions.ts';
import { brakeRows, recentCounts, withCount } from './leaver-brake.ts';
import { activeOf, bindToLeaver } from './person-devices.ts';
import { apply, change, enter } from './person-writes.ts';
import type { PersonLeave, PersonRecord, PersonSet, PersonUpdate } from './records.ts';
import { type LeaverRow, leaverCounts, people } from './tables.ts';

/** Leaves within the last minutes, counted in one row. */
export class LeaverWindow extends ReplacedRows<number, LeaverRow, Field<LeaverRow>> {
  protected readonly lookup = leaverCounts.byKey;
}

/** Applies a step of a person who leaves: the person, the ACTIVE devices, the accounts and the case. */
export function applyLeave(draft: Draft, step: PersonLeave, context: EntryContext) {
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
export function hold(draft: Draft, person: PersonRecord, update: PersonUpdate, context: EntryContext) {
  const { renamed, brake } = update;
  if (!renamed || !brake || personKey(renamed.from) === personKey(renamed.to)) return null;
  const active = draft
    .of(devices)
    .all(devicesOf, person.number)
    .filter(({ status }) => status === 'ACTIVE').length;
  const affected = active + enabledOf(draft, person.userKey).filter(one => !isOfProvider(one) && !isGiven(one)).length;
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
export function disable(draft: Draft, account: UserRecord, context: EntryContext): boolean {
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
