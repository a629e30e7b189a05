/** Dependencies of an enrollment of the command line: the registry of the context, and words that name commands. */

import { Code } from '../../../../contract/codes.ts';
import type { DeviceDetail } from '../../../../contract/device-shapes.ts';
import { isSameName } from '../../../../contract/person-key.ts';
import type { EnrollmentParts } from '../../../../enrollment/key-enrollment.ts';
import type { EnrollmentRegistry, EnrollmentWords, PersonKey } from '../../../../enrollment/registry.ts';
import type { Client } from '../../../client/client.ts';
import { isServerRefusal, NotServing, Unreachable } from '../../../client/failures.ts';
import { newKey } from '../../../client/request-retry.ts';
import { isFault } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { findBySerial } from '../../../framework/devices/find-device.ts';
import { otherKeyWords, questionsOf, recordClaimsOf, registrationOf } from '../../../framework/devices/registration.ts';

/** Refusals that every other key would meet as well. */
const fatal = [Code.tokenInvalid, Code.tokenExpired, Code.noPermission, 401, 403, 429];

const isUnplugged = (error: unknown): boolean => isFault(error, 'hardware');

/** Whether an error concerns one key; any other error would stop every key. */
const isOfOneKey = (error: unknown): error is Error =>
  isServerRefusal(error) ? !fatal.includes(error.code) : isUnplugged(error);

/** Whether the registry cannot be reached or does not work now: a key that meets this error can be registered later. */
export const isAway = (error: unknown): error is Error =>
  error instanceof Unreachable ||
  error instanceof NotServing ||
  (isServerRefusal(error) && error.code >= 500 && error.code < 600);

/** Dependencies of enrollments of this context. `registry`: the client of their requests. */
export const enrollmentParts = (context: Context, registry: Client = context.registry): EnrollmentParts => ({
  registry: registryOf(context, registry),
  words,
});

/** Keys of a person that are looked at. */
const mostKeys = 100;

const detailOf = (registry: Client, deviceId: string): Promise<DeviceDetail> =>
  registry.call('getDevice', { params: { deviceId } });

function registryOf(context: Context, registry: Client): EnrollmentRegistry {
  return {
    deviceOf: async key => {
      const device = await registrationOf(context, key);
      return device && detailOf(registry, device.deviceId);
    },
    find: async serialNumber => {
      const { exact } = await findBySerial(registry, serialNumber);
      return exact && detailOf(registry, exact.deviceId);
    },
    ...questionsOf(context),
    recordClaims: key => recordClaimsOf(context, key),
    keysOf: async userId => {
      const query = { userId, status: ['ACTIVE' as const], size: mostKeys };
      return (await registry.call('listDevices', { query })).list;
    },
    register: async (body, id) =>
      (await registry.send({ operation: 'registerDevice', key: id ?? newKey(), input: { body } })).data,
    activate: async (body, id) =>
      (await registry.send({ operation: 'activateDevice', key: id ?? newKey(), input: { body } })).data,
    prove: async (key, required) => {
      const { proveKey, reasonOf } = await import('../../proofs/prove-key.ts');
      // A serial number is proved by the best method; the policy may require a fact that this method does not prove.
      const verdict = await proveKey(context, key, { method: required === 'unit' ? undefined : 'policy' });
      return { proof: verdict.proof, proofId: verdict.proofId, reason: reasonOf(verdict) };
    },
    failureOf: error => ({
      isOfOneKey: isOfOneKey(error),
      isAway: isAway(error),
      isDuplicate: isServerRefusal(error, Code.serialDuplicated),
      isLost: error instanceof Unreachable && error.maybeDone,
    }),
  };
}

const words: EnrollmentWords = {
  unreadable: 'its serial number cannot be read',
  notActivated: ({ deviceId, status, userId, userName }, user, dryRun) => {
    const holder = userId === null ? 'another user' : userName === null ? userId : `${userId} (${userName})`;
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
  },
  otherKey: otherKeyWords,
  conflict: ({ deviceId, status, userId, userName, createdAt }) => {
    const holder = userId === null ? '' : ` for ${userName === null ? userId : `${userId} (${userName})`}`;
    return `already registered as ${deviceId} since ${createdAt}, ${status}${holder}`;
  },
  activationRefused: (result, why) =>
    why === null ? 'not activated: its code is not visible to your role' : `${result}, but not activated: ${why}`,
  unproved: (required, { proof, reason }) =>
    `--require-proof ${required}: the grade of this key is ${proof.grade}${reason ? ` (${reason})` : ''}`,
  pulledEarly: 'it was unplugged too early: nothing is bound. Plug it in again',
  wrongType: (found, wanted) => `it is a ${found}, but the person needs a ${wanted}`,
  counted: ({ userId, where }) =>
    where === 'spool file'
      ? `it is in the spool file${userId === null ? '' : ` for ${userId}`}. Use another key`
      : `it is already counted for ${userId}. Use another key`,
  hasKeys: (userId, keys) => `${userId} already has ${keysIn(keys)}. ${anotherKey}`,
};

/** The first of the keys, and how many there are besides. */
export function keysIn(keys: readonly PersonKey[]): string {
  const few = keys.slice(0, 3).map(({ deviceId, serialNumber }) => `${deviceId} (${serialNumber})`);
  const more = keys.length > few.length ? ` and ${keys.length - few.length} more` : '';
  return `${few.join(', ')}${more}`;
}

/** How a person gets another key. */
export const anotherKey = 'Plug that key in, or press r to give another one; without a terminal: --again';
