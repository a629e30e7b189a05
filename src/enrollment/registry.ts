/** The registry as an enrollment uses it, and the words for what an enrollment finds. */
import type { DeviceDetail, DeviceListItem } from '../contract/device-shapes.ts';
import type { Key } from '../contract/hardware.ts';
import type { IdentityCandidate } from '../contract/identity-shapes.ts';
import type { IdentityPolicy, RequiredGrade } from '../contract/key-values.ts';
import type { Proof } from '../contract/proof.ts';
import type { CredentialItem } from '../contract/providers.ts';
import type { Body, Data } from '../contract/routes.ts';
import type { DeviceType } from '../contract/values.ts';
import type { IssueStep, StepAnswer } from './issue-step.ts';
import type { EnrollmentResult } from './outcome.ts';
import type { Recognition } from './recognition.ts';
import type { Contradiction } from './same-device.ts';

/** A key with a serial number: only such keys can be registered and proved. */
export type NumberedKey = Key & { readonly serialNumber: string };

/** The result of a proof of a key. */
export interface KeyProof {
  readonly proof: Proof;
  /** The challenge that was answered; null if the key said nothing at all. */
  readonly proofId: string | null;
  /** Why it did not prove more, in one sentence; empty if that is not known. */
  readonly reason: string;
}

/** The meaning of an error of a request for an enrollment. */
interface RequestFailure {
  /** Whether it concerns one key; any other error would stop every key. */
  readonly isOfOneKey: boolean;
  /** Whether the registry cannot be reached or does not work now: the key can be registered later. */
  readonly isAway: boolean;
  /** Whether the serial number is already registered. */
  readonly isDuplicate: boolean;
  /** Whether the answer was lost: the request may have been carried out. */
  readonly isLost: boolean;
}

/** A device that is bound to a person. */
export type PersonKey = Pick<DeviceListItem, 'deviceId' | 'serialNumber' | 'deviceType' | 'activatedAt'>;

/** Questions to registry and key, whose answers show another key. */
export interface DeviceQuestions {
  /** The key with what it claims, which is read a little after it was plugged in; unchanged if it is unplugged or claims nothing. */
  withClaims(key: Key): Promise<Key>;
  credentials(deviceId: string): Promise<readonly CredentialItem[]>;
  /** Keys without a serial number, and the credentials by which they are recognized. */
  readonly recognition: Recognition;
  /** Has the attached key carry out a step, without a touch. */
  step(key: NumberedKey, step: IssueStep): Promise<StepAnswer>;
}

/** Requests of an enrollment. They reject with the errors of their client, which `failureOf` reads. */
export interface EnrollmentRegistry extends DeviceQuestions {
  /** The device of an attached key; null if it is not registered. */
  deviceOf(key: Key): Promise<DeviceDetail | null>;
  /** The device with exactly this serial number; null if there is none. */
  find(serialNumber: string): Promise<DeviceDetail | null>;
  /** `id`: the idempotency key; null for a new one. */
  register(
    body: Body<'registerDevice'>,
    id: string | null,
  ): Promise<Pick<Data<'registerDevice'>, 'deviceId' | 'activationCode' | 'status'>>;
  /** `id`: the idempotency key; null for a new one. */
  activate(body: Body<'activateDevice'>, id: string | null): Promise<Pick<Data<'activateDevice'>, 'status' | 'userId'>>;
  /** Which keys make a credential by which they are recognized. */
  identityPolicy(): Promise<IdentityPolicy>;
  /** Records what the key claims with its device, as `recordClaims`. Nothing waits for it, and it may fail. */
  recordClaims(key: NumberedKey): void;
  /** The ACTIVE devices of a person. */
  keysOf(userId: string): Promise<readonly PersonKey[]>;
  /** Asks the key for evidence, and the registry for the verdict. */
  prove(key: NumberedKey, required: RequiredGrade): Promise<KeyProof>;
  failureOf(error: unknown): RequestFailure;
}

/** For whom a key counts already. */
export interface CountedKey {
  /** Null if it waits in the spool file for no person. */
  readonly userId: string | null;
  /** The registry names a person itself, so the key is looked up unless it is for the same person. */
  readonly where: 'registry' | 'dry run' | 'spool file';
}

/** Why a key is not enrolled, or not for its person. */
export type EnrollmentReason =
  /** `unreadable`: the serial number cannot be read, and the hardware does not say why. */
  | { readonly type: 'unreadable' | 'pulled early' }
  /** The device is neither INACTIVE nor ACTIVE for the user. */
  | { readonly type: 'not activated'; readonly device: DeviceDetail; readonly userId: string; readonly dryRun: boolean }
  /** The key contradicts the device that has its serial number. */
  | { readonly type: 'other key'; readonly device: DeviceDetail; readonly contradiction: Contradiction }
  /** The serial number is not registered, and the key has the credential of a device. */
  | { readonly type: 'other device'; readonly carried: IdentityCandidate }
  /** The printed number is that of a device whose key has a credential, which this key lacks. */
  | { readonly type: 'number taken'; readonly device: DeviceDetail }
  /** The key waited for its registration, and another client registered the device. */
  | { readonly type: 'conflict'; readonly device: DeviceDetail }
  /** `why` null: the activation code is not visible to the caller. */
  | { readonly type: 'activation refused'; readonly result: EnrollmentResult; readonly why: string | null }
  /** The key proves less than is required. */
  | { readonly type: 'unproved'; readonly required: RequiredGrade; readonly found: KeyProof }
  | { readonly type: 'wrong type'; readonly found: DeviceType; readonly wanted: DeviceType }
  | { readonly type: 'counted'; readonly counted: CountedKey }
  /** The person has other keys, and whether to give one more is not decided. */
  | { readonly type: 'has keys'; readonly userId: string; readonly keys: readonly PersonKey[] };

/** The message of an outcome. */
export type EnrollmentWords = (reason: EnrollmentReason) => string;
