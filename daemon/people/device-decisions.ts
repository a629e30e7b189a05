/** Decisions about the devices of persons. No I/O. */
import { personIds } from '../../src/contract/ids.ts';
import { lock } from '../devices/decisions.ts';
import type { DeviceChange, DeviceGuard, DeviceRecord } from '../devices/records.ts';
import { leaverReason } from './decisions.ts';
import type { OwnerGuard, PersonRecord } from './records.ts';

/**
 * A device that is bound to a name without a person becomes one of this person, and shows the user name. If the person has left
 * and nothing waits for it, an ACTIVE device is locked.
 */
export function matchDevice(device: DeviceRecord, person: PersonRecord, now: number): DeviceMatch {
  const { number, deviceType, userId, status, version } = device;
  const { userName, active, heldAt, dueAt, reason, source } = person;
  const set = { userId: userName, person: person.number, updatedAt: now };
  const before = { userId, personId: null };
  const detail = { before, after: { userId: userName, personId: personIds.format(person.number) } };
  const entry = { type: 'DEVICE_UPDATED', data: { deviceType }, detail } as const;
  const bound = { kind: 'device.set', device: number, set, personVersion: person.version, entry } as const;
  const isLeft = !active && heldAt === null && dueAt === null;
  const decided = isLeft && status === 'ACTIVE' ? lock(device, reason ?? leaverReason(source), null, now) : null;
  return {
    changes: decided && 'change' in decided ? [bound, decided.change] : [bound],
    guards: [{ kind: 'device', device: number, status: [status], version }],
  };
}

/** The changes that give a device to a person, and their conditions. */
interface DeviceMatch {
  readonly changes: readonly DeviceChange[];
  readonly guards: readonly DeviceGuard[];
}

/** What belongs to a person demands of its commit that one with the user name is there, and has not left. */
export const demandPresent = (userId: string): OwnerGuard => ({ kind: 'owner', userId, isRequired: true });

/** Why a device or account may not be bound to a user name; null if it may. `person`: the one whose user name is equal. */
export function ownerFault(
  { userId, isRequired }: Pick<OwnerGuard, 'userId' | 'isRequired'>,
  person: Pick<PersonRecord, 'active'> | null | undefined,
): string | null {
  if (!person)
    return isRequired
      ? `userId ${userId} is not the user name of a person. Add the person, or check the spelling`
      : null;
  return person.active ? null : `userId ${userId}: this person has left`;
}

/** Why only an ADMIN may unlock a device of this person; null if others may. */
export const unlockFault = (person: Pick<PersonRecord, 'active' | 'userName'> | null | undefined): string | null =>
  person && !person.active
    ? `${person.userName}, the person of this device, has left: only an ADMIN can unlock it`
    : null;
