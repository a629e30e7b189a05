/** Decides how a person, an account or a device is as it was before a batch. Changes nothing. */
import { deviceIds, personIds, userIds } from '../../src/contract/ids.ts';
import { isSameName, personKey } from '../../src/contract/person-key.ts';
import type { UndoStep } from '../../src/contract/undo.ts';
import { edit as editUser, give, isGiven, keepsName } from '../accounts/user.ts';
import { unlock } from '../devices/decisions.ts';
import type { DeviceRecord } from '../devices/records.ts';
import { accept, Service, type ServiceParts } from '../requests/context.ts';
import type { Change, Guard } from '../store/commit.ts';
import { comesBack, edit } from './decisions.ts';
import type { Leavers } from './leavers.ts';
import { nameTakenBy } from './lookups.ts';
import { updateOf } from './person-devices.ts';
import { movedGroups, touchGroups } from './policy.ts';
import type { PersonRecord, PersonSet } from './records.ts';
import type { FormerValues } from './sealed-names.ts';
import type { ChangedAccount, ChangedBatch, ChangedDevice, ChangedPerson } from './undo-batch.ts';
import { formerOf, ownerBefore, shownChanges } from './undo-former.ts';

/** How a part of a batch is undone. */
export interface DecidedUndo {
  readonly steps: readonly UndoStep[];
  /** Commits that free a user name. */
  readonly before: readonly (readonly Change[])[];
  readonly changes: readonly Change[];
  readonly guards: readonly Guard[];
}

/** `isDraft`: persons of the batch count as restored, although they are not. */
interface UndoDecisionParts extends ServiceParts {
  readonly leavers: Pick<Leavers, 'changes' | 'lockedDevices'>;
  readonly batch: ChangedBatch;
  readonly isDraft: boolean;
  readonly mayEnable: boolean;
}

type FieldChanges = UndoStep['changes'];
type Named = Pick<UndoStep, 'kind' | 'id' | 'name'>;

/** Entries after which a lock of the batch is that of someone else. */
const lockTypes = [
  'DEVICE_LOCKED',
  'DEVICE_UNLOCKED',
  'DEVICE_DEACTIVATED',
  'DEVICE_LOST',
  'DEVICE_ACTIVATED',
] as const;

const ERASED = 'the person was erased';

const nothing = { before: [], changes: [], guards: [] } as const;
const left = (named: Named, reason: string): DecidedUndo => ({
  ...nothing,
  steps: [{ ...named, outcome: 'left', changes: [], reason }],
});
const unchanged = (named: Named): DecidedUndo => ({
  ...nothing,
  steps: [{ ...named, outcome: 'unchanged', changes: [], reason: null }],
});

export class UndoDecisions extends Service<UndoDecisionParts> {
  decide(changed: ChangedBatch['changed'][number]): Promise<DecidedUndo> {
    if (changed.kind === 'person') return this.#person(changed);
    return changed.kind === 'account' ? this.#account(changed) : this.#device(changed);
  }

  async #person(changed: ChangedPerson): Promise<DecidedUndo> {
    const person = (await this.store.person(changed.number))!;
    const named = { kind: 'person', id: personIds.format(person.number), name: person.userName } as const;
    if (person.endedBy === 'erasure') return left(named, ERASED);
    // A newcomer whom an undo by the same actor has put aside stays so.
    const isAside = changed.isAdded && person.endedBy === 'admin' && person.removedAt !== null;
    const leave = isAside ? undefined : changed.left.find(({ at }) => at === person.leftAt);
    const isBack = !person.active && leave !== undefined;
    const faults: string[] = [];
    if (changed.left.length > 0 && !person.active && !isBack && !isAside)
      faults.push('the person left at another time');
    const former = await formerOf(this.store, this.parts.batch, person, changed);
    faults.push(...former.faults);
    const waits = person.heldAt !== null && person.pendingName !== null && changed.heldAt.includes(person.heldAt);
    const wasRemoved = isBack && person.removedAt !== null;
    let values = former.set;
    let isFree = await this.#isFree(person, values, wasRemoved);
    if (!isFree.possible && (values.userName ?? values.externalId)) {
      // Everything else is restored.
      faults.push(isFree.reason);
      const { userName: _name, externalId: _id, source: _source, ...others } = values;
      values = others;
      isFree = await this.#isFree(person, values, wasRemoved);
    }
    if (!isFree.possible) return left(named, isFree.reason);
    // The name that waits can be the one that is restored: it waits no longer.
    const set: PersonSet = { ...(waits && { pendingName: null, heldAt: null }), ...values };
    const locked = isBack ? await this.parts.leavers.lockedDevices(person) : [];
    const change = isBack ? comesBack(person, locked, set) : edit(person, set);
    if (!change) return faults.length > 0 ? left(named, faults.join('; ')) : unchanged(named);
    const changes: FieldChanges = [
      ...(isBack ? [{ field: 'active', before: 'false', after: 'true' } as const] : []),
      ...shownChanges(person, values, former.groups),
      ...(waits ? [{ field: 'newUserName', before: person.pendingName, after: null } as const] : []),
    ];
    const reason = faults.join('; ') || null;
    const step: UndoStep = { ...named, outcome: 'restored', changes, reason };
    const moved = movedGroups(person.groups, values.groups ?? person.groups);
    const groups = former.groups ? touchGroups(former.groups, moved, this.now()) : [];
    const later = isBack ? await this.#lockedLater(person, leave) : [];
    const unlocked = later.map(device => this.#unlocked(device, []));
    return {
      steps: [step, ...unlocked.flatMap(({ steps }) => steps)],
      before: isFree.commits,
      changes: [change, ...groups, ...unlocked.flatMap(one => one.changes)],
      guards: unlocked.flatMap(({ guards }) => guards),
    };
  }

  /** Whether a person can have these values after these commits: persons of the batch give them up. `isRemoved`: at its source. */
  async #isFree(
    person: PersonRecord,
    { userName: name = person.userName, source = person.source, ...former }: FormerValues,
    isRemoved: boolean,
  ): Promise<
    | { readonly possible: true; readonly commits: readonly (readonly Change[])[] }
    | { readonly possible: false; readonly reason: string }
  > {
    const isNew = !isSameName(name, person.userName);
    const isAdded = this.parts.batch.persons.get(person.number)?.isAdded === true;
    const named = isNew || isRemoved ? await this.store.peopleNamed(name) : [];
    const externalId = former.externalId ?? (isRemoved ? person.externalId : null);
    const withId =
      externalId === null || source !== 'scim'
        ? []
        : (await this.store.people({ externalId, source, isPresent: true, descending: false, offset: 0, limit: 100 }))
            .rows;
    const commits: (readonly Change[])[] = [];
    for (const other of new Map([...named, ...withId].map(one => [one.number, one])).values()) {
      if (other.number === person.number) continue;
      const [hasName, hasId] = [
        named.some(({ number }) => number === other.number) && (isNew || other.removedAt === null),
        withId.some(({ number }) => number === other.number),
      ];
      const changed = this.parts.batch.persons.get(other.number);
      const hasDevices = (await this.store.devicesOf(other.number)).length > 0;
      const isNewcomer = changed?.isAdded === true && !hasDevices;
      // Someone whom the batch has added takes nothing from those who were there before.
      const mayGive = (field: 'userName' | 'externalId') =>
        isNewcomer || (!isAdded && changed?.fields.has(field) === true);
      if (hasName && !mayGive('userName'))
        return { possible: false, reason: `${personIds.format(other.number)} has the user name ${name}` };
      if (hasId && !mayGive('externalId'))
        return { possible: false, reason: `${personIds.format(other.number)} has the external id ${externalId}` };
      const given = {
        ...(hasName && { userName: personIds.format(other.number) }),
        ...(hasId && { externalId: null }),
      };
      if (hasName || hasId) commits.push(...(await this.#aside(other, given, isNewcomer)));
    }
    const isBlocked =
      isNew && ((await this.store.isUnmatched(name)) || (await this.store.usersNamed(name)).some(keepsName))
        ? await nameTakenBy(this.store, { ...person, number: 0 }, name)
        : null;
    return isBlocked === null ? { possible: true, commits } : { possible: false, reason: `${name}: ${isBlocked}` };
  }

  /** A person of the batch gets the id as user name, or has no external id; one whom the batch has added leaves then. */
  async #aside(other: PersonRecord, given: PersonSet, leaves: boolean): Promise<readonly (readonly Change[])[]> {
    const change = edit(other, given);
    const { userName = other.userName } = given;
    const step = { step: 'leave', reason: 'taken back', endedBy: 'admin', isRemoved: true } as const;
    const leave = leaves ? await this.parts.leavers.changes([{ number: other.number, userName }], step) : [];
    return [change ? [change] : [], leave].filter(commit => commit.length > 0);
  }

  /** Devices that the daemon has locked after a delay that began with this leave. */
  async #lockedLater(
    person: PersonRecord,
    { id, at }: ChangedPerson['left'][number],
  ): Promise<readonly DeviceRecord[]> {
    const found: DeviceRecord[] = [];
    for (const { number, status } of await this.store.devicesOf(person.number)) {
      if (status !== 'LOCKED' || this.parts.batch.devices.has(number)) continue;
      const device = (await this.store.device(number))!;
      if ((device.lockedAt ?? 0) <= at) continue;
      const last = { after: id, before: Number.POSITIVE_INFINITY, limit: 1 };
      const [entry] = await this.store.events({ device: number, types: lockTypes, ...last });
      if (entry?.type === 'DEVICE_LOCKED' && entry.actor === null) found.push(device);
    }
    return found;
  }

  async #account({ number, last, isDisabled, isGiven: wasGiven }: ChangedAccount): Promise<DecidedUndo> {
    const user = (await this.store.user(number))!;
    const named = { kind: 'account', id: userIds.format(number), name: user.username } as const;
    const isTaken = wasGiven && isGiven(user);
    const isEnded = isDisabled && user.disabled;
    if (!isEnded && !isTaken) return unchanged(named);
    const isBack = isEnded && (await this.store.laterUpdates(number, last)).length === 0;
    if (!isBack && !isTaken) return left(named, 'the account was changed since');
    if (!this.parts.mayEnable) return left(named, 'a service token cannot change accounts');
    const owner = isTaken ? await this.store.personByName(user.userKey) : null;
    if (owner?.endedBy === 'erasure') return left(named, ERASED);
    const person = await this.store.personByName(isTaken ? user.username : user.userKey);
    if (isBack && person && !(await this.#isPresent(person)))
      return left(named, `${personIds.format(person.number)} has the user name and has left`);
    const personId = owner && personIds.format(owner.number);
    const decided = [
      ...(isTaken ? [give(user, personKey(user.username), { before: personId, after: null })] : []),
      ...(isBack ? [accept(editUser(user, { disabled: false }, true))] : []),
    ];
    const changes: FieldChanges = [
      ...(isTaken ? [{ field: 'personId', before: personId, after: null } as const] : []),
      ...(isBack ? [{ field: 'disabled', before: 'true', after: 'false' } as const] : []),
    ];
    return {
      steps: [restored(named, changes)],
      ...{ before: [], changes: decided.map(({ change }) => change), guards: decided[0]!.guards },
    };
  }

  async #device({ number, last, ended, holder }: ChangedDevice): Promise<DecidedUndo> {
    const device = (await this.store.device(number))!;
    const named = namedDevice(device);
    if (device.person !== null && (await this.store.person(device.person))?.endedBy === 'erasure')
      return left(named, ERASED);
    const isEnded = ended !== null && device.status !== 'ACTIVE';
    const [owner, person] = await ownerBefore(this.store, this.parts.batch, device, holder);
    const isMoved = holder !== null && device.person !== owner;
    if (!isEnded && !isMoved) return unchanged(named);
    if (isEnded && ended.isRetired) return left(named, 'the device was retired: that is permanent');
    const [later] = await this.store.events({ device: number, types: lockTypes, after: last, limit: 1 });
    if (later) return left(named, `the device was changed since: ${later.type}`);
    if (isMoved && device.person !== holder.after) return left(named, 'the device was given to someone else since');
    if (isEnded && device.status !== 'LOCKED') return left(named, 'the device was changed since');
    if (person && !(await this.#isPresent(person)))
      return left(named, `${personIds.format(person.number)}, the person of the device, has left`);
    const moved = isMoved ? this.#moved(device, { ...holder.before, person: owner }) : null;
    if (!isEnded) return { ...this.#guarded(device, moved!.changes), steps: [restored(named, moved!.shown)] };
    const { steps, changes, guards } = this.#unlocked(device, moved?.shown ?? []);
    return { ...nothing, steps, changes: [...(moved?.changes ?? []), ...changes], guards };
  }

  #moved(device: DeviceRecord, { person, userId = device.userId! }: NonNullable<ChangedDevice['holder']>['before']) {
    const set = { userId, person, updatedAt: this.now() };
    const idOf = (number: number | null) => (number === null ? null : personIds.format(number));
    const [before, after] = [
      { userId: device.userId, personId: idOf(device.person) },
      { userId, personId: idOf(person) },
    ];
    const shown: FieldChanges = (['userId', 'personId'] as const)
      .map(field => ({ field, before: before[field], after: after[field] }))
      .filter(one => one.before !== one.after);
    return { changes: [updateOf(device, set, before, after)], shown };
  }

  #unlocked(device: DeviceRecord, moved: FieldChanges): DecidedUndo {
    const decided = unlock(device, 'a batch was taken back');
    if (!('change' in decided)) return left(namedDevice(device), decided.message);
    const changes: FieldChanges = [...moved, { field: 'status', before: device.status, after: 'ACTIVE' }];
    return { ...this.#guarded(device, [decided.change]), steps: [restored(namedDevice(device), changes)] };
  }

  #guarded({ number, status, version }: DeviceRecord, changes: readonly Change[]): Omit<DecidedUndo, 'steps'> {
    return { before: [], changes, guards: [{ kind: 'device', device: number, status: [status], version }] };
  }

  /** Whether a person is active, or would be by a draft. */
  async #isPresent(person: PersonRecord): Promise<boolean> {
    const { batch, isDraft } = this.parts;
    if (person.active) return true;
    const changed = isDraft ? batch.persons.get(person.number) : undefined;
    if (!changed) return false;
    const { steps } = await this.#person(changed);
    return steps[0]!.changes.some(({ field }) => field === 'active');
  }
}

const restored = (named: Named, changes: FieldChanges): UndoStep => ({
  ...named,
  outcome: 'restored',
  changes,
  reason: null,
});

const namedDevice = ({ number, userId }: DeviceRecord): Named => ({
  kind: 'device',
  id: deviceIds.format(number),
  name: userId,
});
