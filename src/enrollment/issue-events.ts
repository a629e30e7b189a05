/** The inputs and outputs of the state machine that issues a key. */
import { Code } from '../contract/codes.ts';
import type { CredentialItem, ProviderItem } from '../contract/providers.ts';
import type { Body, Data } from '../contract/routes.ts';
import type { IssueStep, StepAnswer } from './issue-step.ts';
import type { EnrollmentOutcome } from './outcome.ts';

/** Where a key is issued. */
export type IssueProvider = Pick<ProviderItem, 'providerId' | 'name'>;
/** The request of a provider to the key. */
export type StartedCredential = Data<'startCredential'>;
/** The answer of a key that has made a credential, and whether it reports that without its PIN. */
export type MadeCredential = Body<'finishCredential'>;

/** How keys are issued. */
export interface IssueOptions {
  readonly providers: readonly IssueProvider[];
  /** `none`: no PIN is set. `random`: a first PIN is created and encrypted for the recipients. */
  readonly pin: { readonly kind: 'none' | 'ask' | 'random' };
  /** The person must change the PIN before the first sign-in. */
  readonly changePin: boolean;
  /** Characters that the key demands of a PIN from now on; null: as before. */
  readonly minPinLength: number | null;
}

/** The result for a key. */
export interface IssueOutcome {
  /** Where the key signs in now; all missing if `isRead` is false. */
  readonly providers: NonNullable<EnrollmentOutcome['providers']>;
  /** Whether its credentials could be read. */
  readonly isRead: boolean;
  /** Whether all of them had the key before. */
  readonly wasIssued: boolean;
  /** The first PIN if this run created it, for its letter. */
  readonly madePin: string | null;
  /** The key cannot keep the rules for its PIN that it was asked to. */
  readonly lacksRules: boolean;
  /** Rules for the PIN that it was asked to keep are not set, because it is not issued everywhere: they are the last step. */
  readonly leavesRules: boolean;
  /** `set`: by this run; `present`: the key had it before; null: not known. */
  readonly pin: 'set' | 'present' | 'none' | null;
  /** The first error; null if the key is issued. */
  readonly error: unknown;
  /** Why it is missing at a provider, by its column; of those after an error that ended the run there is none. */
  readonly errors: Readonly<Record<string, unknown>>;
}

/** Something to do. */
export type IssueAction =
  /** `settle reset`: one that was interrupted, before they are read. */
  | { readonly type: 'read credentials' | 'settle reset' }
  | { readonly type: 'step'; readonly step: IssueStep }
  /** `retries`: attempts that are left, null if that is not known. */
  | { readonly type: 'ask PIN'; readonly retries: number | null }
  /** Its first PIN, which is stored before the key gets it if it is random. */
  | { readonly type: 'new PIN'; readonly minLength: number; readonly refusesSimple: boolean }
  | { readonly type: 'start'; readonly providerId: string }
  | { readonly type: 'finish'; readonly credentialId: string; readonly made: MadeCredential };

/** The meaning of an error of a request. */
export interface IssueFailure {
  /** The registry or the provider has refused, so the provider has no credential. */
  readonly isRefusal: boolean;
  /** The answer was lost: the same request may be sent again. */
  readonly isLost: boolean;
}

/**
 * The meaning of an error of a request to the registry. 1001 is an error of the registry as well: then it has sent nothing to the provider.
 * `code`: 0 without an answer, null if the request was not sent.
 */
export const issueFailure = (code: number | string | null): IssueFailure => ({
  isRefusal: code === Code.parameterError,
  isLost: code === 0 || code === 500,
});

/** The answer to an action. */
export type IssueEvent =
  | { readonly type: 'credentials'; readonly credentials: readonly CredentialItem[] }
  | { readonly type: 'step'; readonly answer: StepAnswer }
  | { readonly type: 'PIN'; readonly pin: string }
  | { readonly type: 'started'; readonly started: StartedCredential }
  | { readonly type: 'finished' }
  | Failed;

/** An action that has failed. */
export type Failed = IssueFailure & { readonly type: 'failed'; readonly error: unknown };
