import type { LeaverAction, PersonSource } from '../../src/contract/person-values.ts';
import type { Entry } from '../store/journal.ts';
import type { BrakeTotals } from './leaver-brake.ts';

/** An e-mail address as an identity provider sends it. */
export interface PersonEmail {
  readonly value: string;
  readonly type?: string;
  readonly primary?: boolean;
}

/** The parts of a name that an identity provider sends, and its addresses. What it has not sent is absent. */
export interface PersonNames {
  readonly displayName?: string;
  readonly formatted?: string;
  readonly givenName?: string;
  readonly familyName?: string;
  /** Absent if the only address is the primary one of work: `email` of the person has it. */
  readonly emails?: readonly PersonEmail[];
}

/** Who ends a person: an ADMIN here, or the source of the person. `erasure`: the person was erased and cannot return. */
export type PersonEnder = 'admin' | 'source' | 'erasure';

/** A person as it is stored. The journal has no name: see `personDigest`. */
export interface PersonRecord {
  /** The number in the id PER-n: from 1, without gaps. */
  readonly number: number;
  readonly userName: string;
  /** `personKey` of `userName`. Unique among the persons that are not removed. */
  readonly userKey: string;
  readonly name: string | null;
  /** Null if no identity provider has sent a name. */
  readonly names: PersonNames | null;
  readonly email: string | null;
  readonly externalId: string | null;
  /** False once the person has left. */
  readonly active: boolean;
  /** Numbers of groups, ascending. */
  readonly groups: readonly number[];
  readonly source: PersonSource;
  readonly createdAt: number;
  /** When the person last changed; this and the other times: milliseconds since 1970 (UTC). */
  readonly updatedAt: number;
  readonly leftAt: number | null;
  /** Since when the devices or the new user name wait for a release; null if they do not. */
  readonly heldAt: number | null;
  /** A new user name that waits for a release; null if none does, and always of a person who has left. */
  readonly pendingName: string | null;
  /** When the devices are locked; null if no delay runs. */
  readonly dueAt: number | null;
  /** The reason of the locks; null if the person is active. */
  readonly reason: string | null;
  /** Null if the person is active, or was ended by a daemon of an earlier version: see `isEndedHere`. */
  readonly endedBy: PersonEnder | null;
  /** When the identity provider or directory has removed the person; it is invisible there from then on. */
  readonly removedAt: number | null;
  /** Ascends with each change, from 1. */
  readonly version: number;
  /** Random; without it the digests in the journal show nothing. */
  readonly salt: string;
  /** Made by `searchTextOf`. */
  readonly search: string;
}

/** Stored fields of a person, without derived ones. */
export type PersonDetails = Pick<
  PersonRecord,
  'userName' | 'name' | 'names' | 'email' | 'externalId' | 'groups' | 'source'
>;

/** The state of a person. */
export type PersonState = Pick<
  PersonRecord,
  'active' | 'leftAt' | 'heldAt' | 'pendingName' | 'dueAt' | 'reason' | 'endedBy' | 'removedAt'
>;

/** The fields that a change may set. Absent fields keep their values. */
export type PersonSet = Partial<PersonDetails & PersonState>;

/** Fields of a new person. */
export type NewPerson = Omit<PersonRecord, 'number' | 'createdAt' | 'updatedAt' | 'search'>;

/**
 * The result is `duplicate` if a person who is not removed has the user name. Devices that are bound to the name without a person
 * become those of the person, unless a removed person has had the name.
 */
export interface PersonAdd {
  readonly kind: 'person.add';
  readonly person: NewPerson;
}

/**
 * A `Conflict` if the version is not `before`, or another person (a removed one too), devices without a person or a local account
 * have the new user name. It shows at the devices of the person.
 */
export interface PersonUpdate {
  readonly kind: 'person.set';
  readonly person: number;
  readonly before: number;
  readonly set: PersonSet;
  /** Both user names, if the name changes. */
  readonly renamed?: { readonly from: string; readonly to: string };
  /** The user name afterwards, if a removed person is back: no one else may have it. */
  readonly restored?: string;
  /** Present if a new user name can be held. The result is then `held`. */
  readonly brake?: BrakeTotals;
  readonly entry: Entry;
}

/** The effect of leaving on devices, and its time. */
export interface LeaverRule {
  readonly action: LeaverAction;
  readonly delayMs: number;
}

/** `leave`: the person leaves. `due`: the delay is over. `release`: what is held is let go. The last two do nothing for others. */
type LeaverStep = 'leave' | 'due' | 'release';

/**
 * Locks the devices of a person who leaves. What is ACTIVE is found within the commit, so that nothing that is activated at the
 * same time is missed. The result is `left`. A `Conflict` if the person has another user name.
 */
export interface PersonLeave {
  readonly kind: 'person.leave';
  readonly step: LeaverStep;
  readonly person: number;
  readonly userName: string;
  /** Of the locks. */
  readonly reason: string;
  /** Null for a person who has left before this step. */
  readonly endedBy: PersonEnder | null;
  readonly rule: LeaverRule;
  /** ACTIVE devices of the registry, which the brake compares with. */
  readonly activeDevices: number;
  /** Accounts of the registry, disabled ones included; absent: accounts are not held. */
  readonly accounts?: number;
  /** Ids of the accounts with the user name: a device can be bound to one of them in place of the name. Absent: none. */
  readonly accountIds?: readonly string[];
  /** Whether its source has removed the person. */
  readonly isRemoved: boolean;
}

/**
 * Gives devices of an earlier version the key of their `userId`, and the person who has the name. A `Conflict` if the person has
 * another name now, or one who has the name of a device without a person was added.
 */
export interface DevicesBind {
  readonly kind: 'devices.bind';
  readonly bound: readonly { readonly device: number; readonly userKey: string; readonly person: number | null }[];
}

/** Every change of a person. */
export type PersonChange = PersonAdd | PersonUpdate | PersonLeave | DevicesBind;

/** A device may be bound to this user name: see `ownerFault`. */
export interface OwnerGuard {
  readonly kind: 'owner';
  readonly userId: string;
  readonly isRequired: boolean;
}

/** The person of a device has not left: see `unlockFault`. */
export interface PresentGuard {
  readonly kind: 'present';
  /** Null for the one with the name `userId`. */
  readonly person: number | null;
  readonly userId: string;
}
