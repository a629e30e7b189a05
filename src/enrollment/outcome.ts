/** The outcome for a key: one name for it from the registry to the screen. */
import type { Proof } from '../contract/proof.ts';
import type { ProviderItem } from '../contract/providers.ts';
import type { Tags } from '../contract/tags.ts';
import type { DeviceStatus, DeviceType } from '../contract/values.ts';

/**
 * `known`: it was already registered. `new`: it would be registered (in a dry run). `spooled`: it is in the spool file. `conflict`: a
 * key of the spool file that was already registered.
 */
export type EnrollmentResult = 'registered' | 'known' | 'new' | 'failed' | 'spooled' | 'conflict';

/** Why a device cannot be activated for a user. */
export type DeviceBlock = 'bound to another person' | 'LOCKED' | 'DEACTIVATED';

/** Why a key is not bound to a person. */
export type KeyFailure =
  | 'serial number unreadable'
  | 'wrong type'
  /** It was bound, or is in the spool file. */
  | 'counted before'
  | DeviceBlock
  | 'pulled too early'
  /** The registry refuses it. */
  | 'refused'
  /** It proves less than is required. */
  | 'proof'
  /** It is bound, and does not sign in at each provider. */
  | 'not issued'
  /** It is bound, and has not signed its receipt. */
  | 'not signed'
  /** The registry did not answer. */
  | 'no answer'
  /** The person has another key, or one whose binding is unfinished. */
  | 'has another key';

/** Start of the name of a column: each provider at which keys are issued has one. */
export const providerColumn = 'provider:';

/** The name of a provider in results: its id if a column cannot have the name. */
export const columnOf = ({ providerId, name }: Pick<ProviderItem, 'providerId' | 'name'>): string =>
  /^[\w.@-]+$/.test(name) ? name : providerId;

/** The outcome with another remark. */
export const remarked = (row: EnrollmentOutcome, text: string): EnrollmentOutcome => ({
  ...row,
  message: row.message === null ? text : `${row.message}; ${text}`,
});

/** The outcome for one key: a row of the results, and a line on the screen. */
export interface EnrollmentOutcome {
  readonly result: EnrollmentResult;
  readonly deviceId: string | null;
  readonly serialNumber: string | null;
  readonly deviceType: DeviceType;
  readonly activationCode: string | null;
  readonly status: DeviceStatus | null;
  readonly userId: string | null;
  readonly manufacturer: string;
  readonly model: string;
  readonly firmwareVersion: string | null;
  readonly serialSource: string | null;
  readonly simulated: boolean;
  /** Why it failed, or a remark; null if there is none. */
  readonly message: string | null;
  /** Present if keys are proved; null if this one was not asked. */
  readonly proof?: Proof | null;
  /** Present if the run has tags: those of the device. */
  readonly tags?: Tags;
  /** Present if the key is for a person of a roster: the name in the roster, null if that has none. */
  readonly name?: string | null;
  /** Present if the key is for a person of a roster: why it failed; null if it passed. */
  readonly failure?: KeyFailure | null;
  /** Present if the key was to be issued: whether it signs in at each provider. */
  readonly providers?: Readonly<Record<string, 'issued' | 'missing'>>;
  /** Present if the key was to sign a receipt: its id, null if it has not signed. */
  readonly receiptId?: string | null;
  /** Present if the label of the key was to be printed; if that failed, `message` has the reason. */
  readonly label?: 'printed' | 'failed';
}
