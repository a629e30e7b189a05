/** Which signatures of keys count, and for what; and the refusals of those that do not. Decisions only, no I/O. */
import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import type { IdentityAction } from '../../src/contract/key-values.ts';
import { proofBounds } from '../../src/contract/limits.ts';
import type { DeviceRecord } from '../devices/records.ts';
import type { Challenge } from '../proofs/challenges.ts';
import { type Context, holderOf } from '../requests/context.ts';
import type { IdentityRecord } from './records.ts';

/** How long a signature counts after its challenge was made, and a credential after the key has made it with a touch. */
export const VALID_MS = 1000 * proofBounds.challengeSeconds;
/** How much longer a signature for a reset counts: the key waits for its operator, and the same signature records that it was erased. */
export const RESET_MS = 600_000;

/** The action that a signature allows. */
export interface Purpose {
  readonly action: IdentityAction;
  readonly device: DeviceRecord;
}

/** A signature for one action counts for no other one. */
export const holderFor = (caller: Context['caller'], purpose: Purpose | undefined): string =>
  purpose ? `${holderOf(caller)}\0${purpose.action}\0${purpose.device.number}` : holderOf(caller);

/** As people know it. */
export const nameOf = ({ number }: DeviceRecord): string => deviceIds.format(number);

/** A key is the device of its credential, whatever its number is. */
export function otherKey(device: DeviceRecord, expected: DeviceRecord | null): ApiError {
  const named = (one: DeviceRecord) => ({ deviceId: nameOf(one), serialNumber: one.serialNumber });
  const words = (one: DeviceRecord) => `${nameOf(one)} (serial number ${one.serialNumber})`;
  const message = `the key is ${words(device)} by its credential${expected ? `, not ${words(expected)}` : ''}`;
  return new ApiError(Code.serialDuplicated, message, {
    credential: named(device),
    expected: expected && named(expected),
  });
}

/** Another credential in place of one that was not reset here. */
export function demandReplacement({ caller }: Context, device: DeviceRecord, isConfirmed: boolean): void {
  const id = nameOf(device);
  if (!isConfirmed)
    throw inputError(
      'deviceId',
      `: the key of ${id} has a credential, which this key lacks: it is another key, or was reset elsewhere (replace)`,
    );
  if (caller.role !== 'ADMIN')
    throw new ApiError(Code.noPermission, `only an ADMIN confirms that the key of ${id} was reset elsewhere`);
}

/** The refusal of an action without a signature. */
export const unsigned = (device: DeviceRecord, action: IdentityAction): ApiError =>
  inputError(
    'identity',
    `is required: the key of ${nameOf(device)} has a credential of the registry, and must sign with it for this ${action}`,
  );

/** Whether the last signature that counted is presented again. */
export const isCounted = ({ provedAt, counter: last }: IdentityRecord, challenge: Challenge, counter: number) =>
  provedAt !== null && madeAt(challenge) <= provedAt && counter === last;

/** Milliseconds since 1970. */
const madeAt = ({ expiresAt }: Challenge): number => expiresAt - VALID_MS;

/** A signature counts once: its challenge must be newer than the last one that counted, and the counter of a key only rises. */
export function demandNext(credential: IdentityRecord, challenge: Challenge, counter: number): void {
  if (credential.provedAt !== null && madeAt(challenge) <= credential.provedAt)
    throw inputError('identityId', ': the key was proved after this challenge was made; request another one');
  if (counter <= credential.counter && (counter > 0 || credential.counter > 0))
    throw inputError('signature', ': the counter of the key went back: it may be a copy');
}
