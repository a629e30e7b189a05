/** The questions that devices ask of other subjects before a commit. A question that no subject answers forbids nothing. */
import type { KeyObject } from 'node:crypto';
import type { ActionSignature } from '../../src/contract/assertion.ts';
import { Code } from '../../src/contract/codes.ts';
import type { DeviceDetail, Registration } from '../../src/contract/devices.ts';
import type { IdentityAction, IdentityPolicy } from '../../src/contract/key-values.ts';
import { Refusal } from '../base/decision.ts';
import type { Context } from '../requests/context.ts';
import type { Change, Guard } from '../store/commit.ts';
import type { DeviceRecord } from './records.ts';

/** Whether a device may be bound to a user name, or unlocked. */
export interface OwnerVerdict {
  /** Why not; null if it may. */
  readonly fault: string | null;
  /** Guards that keep the verdict valid until the commit. */
  readonly guards: readonly Guard[];
}

/** Judges the persons of devices. */
export interface OwnerJudge {
  /** Reads once what it needs for these user names, and judges each of them. */
  judgeOwners(userIds: readonly string[]): Promise<(userId: string) => OwnerVerdict>;
  /** Judges whether others than an ADMIN may unlock a LOCKED device. */
  judgeUnlock(device: DeviceRecord): Promise<OwnerVerdict>;
  /** Which of the persons, by number, have left or wait for a release. */
  leftAmong(persons: readonly number[]): Promise<ReadonlySet<number>>;
}

/** The refusal of a binding. */
export const refusedOwner = (fault: string): Refusal =>
  new Refusal(Code.parameterError, fault, [{ field: 'userId', reason: fault }]);

/** The verdict on registrations. The guards keep it valid until the commit. */
export interface Admission {
  readonly guards: readonly Guard[];
  /** `proof`: see `DeviceRecord`. */
  judge(registration: Registration): { readonly proof: string | null } | Refusal;
}

/** Judges the proofs of new devices. */
export interface ProofJudge {
  /** Runs a registration, again if the policy was changed before the commit. */
  admitting<T>(registrations: readonly Registration[], attempt: (admission: Admission) => Promise<T>): Promise<T>;
  /** Which keys make a credential by which they are recognized. */
  identityPolicy(): Promise<IdentityPolicy>;
  /** The present policy for registered devices, by their column `proof`. */
  standing(): Promise<(proof: string | null) => boolean>;
}

/** The identity of a device. */
export type ShownIdentity = Pick<DeviceDetail, 'identity' | 'identityProvedAt'>;

/** The credential by which the key of a device is recognized. */
export interface RecognizingCredential {
  /** Base64url. */
  readonly id: string;
  readonly publicKey: KeyObject;
  readonly relyingParty: string;
  /** When the key made it; milliseconds since 1970 (UTC). */
  readonly createdAt: number;
}

/** Finds devices by credentials of their keys. */
export interface CredentialFinder {
  /** Numbers of devices by credential id, of those that a key has. One id can be of several devices. */
  devicesWith(credentialIds: readonly string[]): Promise<readonly (readonly [credentialId: string, device: number])[]>;
}

/** Finds the devices of keys that sign in to this registry. */
export interface IssuedKeyFinder extends CredentialFinder {
  /** Number of the device for which an ADMIN has issued this key to its owner; null if there is none. */
  deviceOf(key: { readonly number: number; readonly owner: number }): Promise<number | null>;
}

/** An SSH key of a device. */
export interface SshKey {
  /** As `authorized_keys` has it. */
  readonly key: string;
  /** Whether it must ask for its PIN at each use. */
  readonly verifyRequired: boolean;
}

/** Finds devices by their SSH keys (type and key), and SSH keys by their devices. */
export interface SshKeyFinder extends CredentialFinder {
  keysOf(device: number): Promise<readonly SshKey[]>;
}

/** Judges the credentials by which keys are recognized. */
export interface IdentityJudge extends CredentialFinder {
  /** The change that gives a new device the credential of its registration. Refuses with `ApiError`. */
  admit(context: Context, registration: Registration): Promise<Change>;
  shown(device: number): Promise<ShownIdentity>;
  /** Refuses the action with `ApiError` if the key of the device has a credential and has not signed for it. The changes record that. */
  demandSigned(
    context: Context,
    device: DeviceRecord,
    action: IdentityAction,
    signature: ActionSignature | undefined,
  ): Promise<readonly Change[]>;
  /** Null if the key of the device has none. */
  credentialOf(device: number): Promise<RecognizingCredential | null>;
}

/** Without the subject of identities, devices are known by their serial numbers. */
export const knownBySerial: ShownIdentity = { identity: 'serial', identityProvedAt: null };

/** Reads the names of the persons of devices. */
export interface PersonNames {
  hasPersons(): Promise<boolean>;
  /** Names by number of the person. */
  namesOf(persons: readonly number[]): Promise<ReadonlyMap<number, string | null>>;
}
