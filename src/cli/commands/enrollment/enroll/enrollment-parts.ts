/** Dependencies of an enrollment of the command line: the registry of the context, and words that name commands. */
import { Code } from '../../../../contract/codes.ts';
import type { DeviceDetail } from '../../../../contract/device-shapes.ts';
import { isSameName } from '../../../../contract/person-key.ts';
import type { EnrollmentParts } from '../../../../enrollment/key-enrollment.ts';
import type { EnrollmentReason, EnrollmentWords, PersonKey } from '../../../../enrollment/registry.ts';
import { enrollmentRegistryBy, isAwayCode } from '../../../../enrollment/requests.ts';
import type { Client } from '../../../client/client.ts';
import { Unreachable } from '../../../client/failures.ts';
import type { Context } from '../../../framework/context.ts';
import { findBySerial } from '../../../framework/devices/find-device.ts';
import {
  codeOf,
  otherDeviceWords,
  otherKeyWords,
  questionsOf,
  recordClaimsOf,
  registrationOf,
  sendBy,
} from '../../../framework/devices/registration.ts';

/** Refusals that every other key would meet as well. */
const fatal = [Code.tokenInvalid, Code.tokenExpired, Code.noPermission, 401, 403, 429];

/** Whether the registry cannot be reached or does not work now: a key that meets this error can be registered later. */
export const isAway = (error: unknown): error is Error => isAwayCode(codeOf(error));

/** Dependencies of enrollments of this context. `registry`: the client of their requests. */
export function enrollmentParts(context: Context, registry: Client = context.registry): EnrollmentParts {
  const requests = enrollmentRegistryBy(sendBy(registry), {
    ...questionsOf(context),
    codeOf,
    isLost: error => error instanceof Unreachable && error.maybeDone,
    fatal,
    registrationOf: key => registrationOf(context, key),
    bySerial: async serialNumber => (await findBySerial(registry, serialNumber)).exact,
    recordClaims: key => recordClaimsOf(context, key),
    prove: async (key, required) => {
      const { proveKey, reasonOf } = await import('../../proofs/prove-key.ts');
      // A serial number is proved by the best method; the policy may require a fact that this method does not prove.
      const verdict = await proveKey(context, key, { method: required === 'unit' ? undefined : 'policy' });
      return { proof: verdict.proof, proofId: verdict.proofId, reason: reasonOf(verdict) };
    },
  });
  return { registry: requests, words };
}

type WordsOf = {
  readonly [T in EnrollmentReason['type']]: (reason: Extract<EnrollmentReason, { readonly type: T }>) => string;
};

const wordsOf: WordsOf = {
  unreadable: () => 'its serial number cannot be read',
  'pulled early': () => 'it was unplugged too early: nothing is bound. Plug it in again',
  'not activated': ({ device, userId, dryRun }) => notActivated(device, userId, dryRun),
  'other key': ({ device, contradiction }) => otherKeyWords(device, contradiction),
  'other device': ({ carried }) => otherDeviceWords(carried),
  'number taken': ({ device: { deviceId, serialNumber } }) =>
    `${serialNumber} is the number of ${deviceId}, and this key lacks its credential: read the printed number again. If the key was reset elsewhere, an ADMIN confirms that: devmgr enroll --count 1 --printed ${serialNumber} --was-reset`,
  conflict: ({ device }) => {
    const holder = holderOf(device);
    const { deviceId, createdAt, status } = device;
    return `already registered as ${deviceId} since ${createdAt}, ${status}${holder === null ? '' : ` for ${holder}`}`;
  },
  'activation refused': ({ result, why }) =>
    why === null ? 'not activated: its code is not visible to your role' : `${result}, but not activated: ${why}`,
  unproved: ({ required, found: { proof, reason } }) =>
    `--require-proof ${required}: the grade of this key is ${proof.grade}${reason ? ` (${reason})` : ''}`,
  'wrong type': ({ found, wanted }) => `it is a ${found}, but the person needs a ${wanted}`,
  counted: ({ counted: { userId, where } }) =>
    where === 'spool file'
      ? `it is in the spool file${userId === null ? '' : ` for ${userId}`}. Use another key`
      : `it is already counted for ${userId}. Use another key`,
  'has keys': ({ userId, keys }) => `${userId} already has ${keysIn(keys)}. ${anotherKey}`,
};
const words: EnrollmentWords = reason => wordsOf[reason.type](reason as never);

/** Null if the caller does not see it. */
const holderOf = ({ userId, userName }: DeviceDetail): string | null =>
  userId === null || userName === null ? userId : `${userId} (${userName})`;

function notActivated(device: DeviceDetail, user: string, dryRun: boolean): string {
  const { deviceId, status, userId } = device;
  const holder = holderOf(device) ?? 'another user';
  const not = `${dryRun ? 'would not be' : 'not'} activated for ${user}: it is ${status}`;
  switch (status) {
    case 'LOCKED':
      return isSameName(userId, user)
        ? `${not}. Unlock it: devmgr unlock ${deviceId}`
        : `${not}, and bound to ${holder}. Return it to that user, or use another key`;
    case 'DEACTIVATED':
      return `${not} permanently. Use another key`;
    default:
      return `${not} for ${holder}. Return it to that user, or retire it and use another key: devmgr deactivate ${deviceId} --reason TEXT`;
  }
}

/** The first of the keys, and how many there are besides. */
export function keysIn(keys: readonly PersonKey[]): string {
  const few = keys.slice(0, 3).map(({ deviceId, serialNumber }) => `${deviceId} (${serialNumber})`);
  const more = keys.length > few.length ? ` and ${keys.length - few.length} more` : '';
  return `${few.join(', ')}${more}`;
}

/** How a person gets another key. */
export const anotherKey = 'Plug that key in, or press r to give another one; without a terminal: --again';
