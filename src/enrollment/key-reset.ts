/** The reset of a key: recorded before the key is asked, and ended by what the key reports. A program that finds one open continues it. */
import type { ActionSignature } from '../contract/assertion.ts';
import type { KeyReset } from '../contract/key-resets.ts';
import type { IdentityAction } from '../contract/key-values.ts';
import type { Body } from '../contract/routes.ts';
import { IssueProblem, type IssueStep, type StepAnswer, stepDone } from './issue-step.ts';
import type { NumberedKey } from './registry.ts';

/** The requests that a reset needs. */
export interface ResetRequests {
  step(key: NumberedKey, step: IssueStep): Promise<StepAnswer>;
  /** Has a key with a credential of the registry sign for an action; null if it has none. Rejects with `IssueProblem`. */
  prove(key: NumberedKey, action: IdentityAction): Promise<ActionSignature | null>;
  /** The reset of the key whose outcome is not recorded. */
  reset(deviceId: string): Promise<KeyReset>;
  recordReset(deviceId: string, body: Body<'recordKeyReset'>): Promise<KeyReset>;
}

/**
 * Erases a key that the operator has confirmed. Rejects with what the key refuses: then it has kept everything, and so have the providers.
 * `isOpen`: an earlier reset is open, because the key does not report whether it was erased; this one decides it.
 */
export async function eraseKey(
  requests: ResetRequests,
  key: NumberedKey,
  deviceId: string,
  isOpen = false,
): Promise<KeyReset> {
  // A key that was erased before has nothing to prove it with.
  const identity = isOpen ? null : await requests.prove(key, 'reset');
  const signed = identity && { identity };
  const { state } = await stepDone(requests.step(key, { step: 'state' }));
  if (!isOpen) await requests.recordReset(deviceId, { stage: 'begun', hadPin: state?.isSet === true, ...signed });
  try {
    await stepDone(requests.step(key, { step: 'reset' }));
  } catch (error) {
    // An answer that was lost, or a touch at the last moment, is not a refusal: the key knows.
    const after = await settledReset(requests, key, deviceId).catch(() => null);
    if (after?.isErased) return after.reset;
    if (after || !(error instanceof IssueProblem)) throw error;
    throw new IssueProblem(error.code, `${error.message}; whether it was erased shows when it is issued again`);
  }
  return requests.recordReset(deviceId, { stage: 'done', ...signed });
}

/** The end of a reset that was open. */
interface Settled {
  readonly isErased: boolean;
  readonly reset: KeyReset;
}

/** Asks the key whether an open reset has erased it, and records that. Null if none is open. */
export async function settledReset(
  requests: ResetRequests,
  key: NumberedKey,
  deviceId: string,
): Promise<Settled | null> {
  const settled = await askedReset(requests, key, deviceId);
  if (settled !== 'not known') return settled;
  throw new IssueProblem('protocol', 'the key does not report whether it was erased: reset it again');
}

/** Settles an open reset by asking the key. The reset stays open if the key does not report whether it was erased. */
export async function askedReset(
  requests: ResetRequests,
  key: NumberedKey,
  deviceId: string,
): Promise<Settled | 'not known' | null> {
  const { begunAt, hadPin, credentials } = await requests.reset(deviceId);
  if (begunAt === null) return null;
  const { state, hasAny } = await stepDone(requests.step(key, { step: 'state', credentials }));
  const isErased = wasErased({ hadPin: hadPin === true, hasPin: state?.isSet === true, hasAny: hasAny ?? null });
  if (isErased === null) return 'not known';
  return { isErased, reset: await requests.recordReset(deviceId, { stage: isErased ? 'done' : 'canceled' }) };
}

/**
 * Whether a key was erased by a reset whose answer is not known; null if its state leaves that open. A key with a PIN does not report
 * credentials that need it, so that only a PIN that is gone proves the reset of a key that had one.
 */
export function wasErased({
  hadPin,
  hasPin,
  hasAny,
}: {
  readonly hadPin: boolean;
  readonly hasPin: boolean;
  /** Of its credentials; null if it reports none. */
  readonly hasAny: boolean | null;
}): boolean | null {
  if (hasAny === true) return false;
  if (hadPin) return !hasPin;
  return hasAny === false ? true : null;
}
