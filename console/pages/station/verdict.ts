/** Whether a key can be bound to a person, decided from what is known of the key. The rules are those of `devmgr enroll --roster`. */
import type { Key } from '../../../src/contract/hardware.ts';
import type { DeviceStatus } from '../../../src/contract/values.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';

/** Why a key is not bound. */
export type Failure =
  /** Its serial number cannot be read. */
  | 'unreadable'
  | 'wrong type'
  /** It was bound in this run before. */
  | 'counted before'
  | 'bound to another person'
  | 'LOCKED'
  | 'DEACTIVATED'
  | 'pulled too early'
  /** The registry refuses it. */
  | 'refused'
  /** It does not prove what the policy of the registry requires. */
  | 'unproved'
  /** The daemon did not answer the check. */
  | 'no answer';

/** What is checked, in this order. A check that is not reached is absent. */
export type CheckName = 'serial' | 'type' | 'free' | 'proof';

/** The registration of a key. */
export interface Registered {
  readonly deviceId: string;
  readonly status: DeviceStatus;
  /** The person whom it is bound to; null if it is not bound. */
  readonly userId: string | null;
}

/** The result of a check or a commit for one key and one person. */
export interface Verdict {
  /** Null if the key has passed, or is bound. */
  readonly failure: Failure | null;
  readonly checks: readonly { readonly name: CheckName; readonly passed: boolean }[];
  /** Null if the key is not registered, or was not looked up. */
  readonly device: Registered | null;
  /** What the driver or the registry reports; null if it reports nothing. */
  readonly detail: string | null;
  /** The code with which a registered device can be activated by hand, if the page could not do it; else null. */
  readonly activationCode: string | null;
}

/** What is known of a key besides itself. */
export interface Known {
  /** Null if it is not registered. */
  readonly device: Registered | null;
  /** The person whom the key was bound to in this run; undefined if it was not. */
  readonly countedFor: string | undefined;
}

const passes = { failure: null, device: null, detail: null, activationCode: null } as const;

/** The verdict without the registry: null if that has to be asked. */
export function judgeAlone(key: Key, person: Person, countedFor: string | undefined): Verdict | null {
  if (key.serialNumber === null)
    return { ...passes, failure: 'unreadable', checks: [{ name: 'serial', passed: false }], detail: key.problem };
  const serial = { name: 'serial', passed: true } as const;
  if (person.type !== null && key.deviceType !== person.type)
    return { ...passes, failure: 'wrong type', checks: [serial, { name: 'type', passed: false }] };
  if (countedFor !== person.userId) return null;
  const checks = [serial, { name: 'type', passed: true }, { name: 'free', passed: false }] as const;
  return { ...passes, failure: 'counted before', checks };
}

/** The verdict on a key. A registered key passes if it is INACTIVE, or ACTIVE for the same person. */
export function judge(key: Key, person: Person, { device, countedFor }: Known): Verdict {
  const alone = judgeAlone(key, person, countedFor);
  if (alone !== null) return alone;
  const failure = device === null ? null : failureOf(device, person);
  const checks = [
    { name: 'serial', passed: true },
    { name: 'type', passed: true },
    { name: 'free', passed: failure === null },
  ] as const;
  return { ...passes, failure, checks, device };
}

function failureOf({ status, userId }: Registered, person: Person): Failure | null {
  switch (status) {
    case 'INACTIVE':
      return null;
    case 'ACTIVE':
      return userId === person.userId ? null : 'bound to another person';
    default:
      return status;
  }
}

/** The verdict on a new key that the policy concerns. `fault`: why its proof is not sufficient; null if it is. */
export function judgeProof(verdict: Verdict, fault: string | null): Verdict {
  const checks = [...verdict.checks, { name: 'proof', passed: fault === null } as const];
  return fault === null ? { ...verdict, checks } : { ...verdict, failure: 'unproved', checks, detail: fault };
}

/** A key that fails for a reason that no check has found. */
export function failed(failure: Failure, detail: string | null = null, device: Registered | null = null): Verdict {
  return { ...passes, failure, checks: [], detail, device };
}
