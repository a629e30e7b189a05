/** The requests of enrollment and issuing, over the clients of the command line or of the console. */
import { Code } from '../contract/codes.ts';
import type { Key } from '../contract/hardware.ts';
import type { IdentityPolicy } from '../contract/key-values.ts';
import { issueFailure } from './issue-events.ts';
import type { IssueRequests } from './issuing.ts';
import { Recognition } from './recognition.ts';
import type { DeviceQuestions, EnrollmentRegistry } from './registry.ts';
import { claimedIn, claimsPoll } from './same-device.ts';
import type { Poll, Send } from './send.ts';

/** The meaning of errors of these clients. */
export interface RequestErrors {
  /** The code of a refusal; 0 if there was no answer, 404 if the key was unplugged, null for any other error. */
  codeOf(error: unknown): number | null;
  /** Whether the answer was lost, so that the request may have been carried out. */
  isLost(error: unknown): boolean;
  /** Codes of refusals that every other key would meet as well. */
  readonly fatal: readonly number[];
}

/** The questions of a comparison. `hardware`: the service with the keys. */
export const questionsBy = (
  registry: Send,
  hardware: Send,
  poll: Poll,
  recognition = new Recognition(registry, hardware, poll),
): DeviceQuestions => ({
  recognition,
  withClaims: async key =>
    (await poll(async () => claimedIn((await hardware('listKeys', {})).list, key), claimsPoll)) ?? key,
  ...keyRequests(registry, hardware),
});

const keyRequests = (registry: Send, hardware: Send): Pick<DeviceQuestions, 'credentials' | 'step'> => ({
  credentials: deviceId => registry('listCredentials', { params: { deviceId } }),
  step: ({ keyId, serialNumber }, step) => hardware('issueKey', { params: { keyId }, body: { ...step, serialNumber } }),
});

/** The requests of issuing. */
export const issueRequestsBy = (
  registry: Send,
  hardware: Send,
  codeOf: RequestErrors['codeOf'],
  recognition: Recognition,
): IssueRequests => ({
  ...keyRequests(registry, hardware),
  start: (deviceId, body) => registry('startCredential', { params: { deviceId }, body }),
  finish: (deviceId, credentialId, body) => registry('finishCredential', { params: { deviceId, credentialId }, body }),
  prove: (key, action) => recognition.prove(key, action),
  reset: deviceId => registry('showKeyReset', { params: { deviceId } }),
  recordReset: (deviceId, body) => registry('recordKeyReset', { params: { deviceId }, body }),
  failureOf: error => issueFailure(codeOf(error)),
});

/** The parts of an enrollment that differ between the programs. */
interface OwnRequests extends DeviceQuestions, RequestErrors, Pick<EnrollmentRegistry, 'prove' | 'recordClaims'> {
  /** The registration of an attached key; null if it has none. */
  registrationOf(key: Key): Promise<{ readonly deviceId: string } | null>;
  /** The registration with exactly this serial number; null if there is none. */
  bySerial(serialNumber: string): Promise<{ readonly deviceId: string } | null>;
}

/** Keys of a person that are looked at. */
const mostKeys = 100;

/** Whether the registry cannot be reached or does not work now, by the code of an error. */
export const isAwayCode = (code: number | null): boolean => code === 0 || (code !== null && code >= 500 && code < 600);

/** The requests of an enrollment. */
export function enrollmentRegistryBy(registry: Send, own: OwnRequests): EnrollmentRegistry {
  const detailOf = (device: { readonly deviceId: string } | null) =>
    device && registry('getDevice', { params: { deviceId: device.deviceId } });
  let policy: Promise<IdentityPolicy> | null = null;
  return {
    ...own,
    identityPolicy() {
      // Stations may not read the policy of proofs. A registry of an earlier version has no identities.
      policy ??= registry('createIdentityChallenge', { body: {} }).then(
        challenge => challenge.policy,
        error => {
          if (own.codeOf(error) !== 404) throw error;
          return 'never';
        },
      );
      return policy;
    },
    deviceOf: async key => detailOf(await own.registrationOf(key)),
    find: async serialNumber => detailOf(await own.bySerial(serialNumber)),
    keysOf: async userId => {
      const query = { userId, status: ['ACTIVE' as const], size: mostKeys };
      return (await registry('listDevices', { query })).list;
    },
    register: (body, id) => registry('registerDevice', { body }, id),
    activate: (body, id) => registry('activateDevice', { body }, id),
    failureOf: error => {
      const code = own.codeOf(error);
      return {
        isOfOneKey: code !== null && code !== 0 && !own.fatal.includes(code),
        isAway: isAwayCode(code),
        isDuplicate: code === Code.serialDuplicated,
        isLost: own.isLost(error),
      };
    },
  };
}
