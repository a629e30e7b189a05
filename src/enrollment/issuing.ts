/** Issues a registered key: sets its first PIN, and creates a credential at each provider. The registry holds the state, so another run continues. */
import type { DataOf } from '../contract/define.ts';
import type { CredentialItem, ProviderItem } from '../contract/providers.ts';
import type { Routes } from '../contract/routes.ts';
import { IssueProblem, type IssueStep, type KeyPinState, type StepAnswer, stepDone } from './issue-step.ts';
import { type ResetRequests, settledReset } from './key-reset.ts';
import { columnOf, type EnrollmentOutcome } from './outcome.ts';
import type { NumberedKey } from './registry.ts';

/** The requests that issuing needs. They reject with the errors of their client, which `failureOf` interprets. */
export interface IssueRequests extends ResetRequests {
  credentials(deviceId: string): Promise<readonly CredentialItem[]>;
  start(deviceId: string, providerId: string): Promise<DataOf<Routes['startCredential']>>;
  finish(deviceId: string, credentialId: string, response: NonNullable<StepAnswer['response']>): Promise<unknown>;
  failureOf(error: unknown): {
    /** The provider has refused, so it has no credential. */
    readonly isRefusal: boolean;
    /** The answer was lost: the same request may be sent again. */
    readonly isLost: boolean;
  };
}

/** What to do about the PIN. */
export type PinChoice =
  /** No PIN is set. */
  | { readonly kind: 'none' }
  | { readonly kind: 'ask' }
  /** A first PIN is created and encrypted for the recipients. */
  | {
      readonly kind: 'random';
      readonly make: () => string;
      /** Stores the encrypted PIN. The PIN that was stored before no longer applies. */
      readonly store: (deviceId: string, pin: string) => Promise<unknown>;
    };

/** How keys are issued. */
interface IssueOptions {
  readonly providers: readonly Pick<ProviderItem, 'providerId' | 'name'>[];
  readonly pin: PinChoice;
  /** The person must change the PIN before the first sign-in. */
  readonly changePin: boolean;
  /** Characters that the key demands of a PIN from now on; null: as before. */
  readonly minPinLength: number | null;
}

/** What issuing depends on. */
export interface IssueParts {
  readonly requests: IssueRequests;
  /** The PIN of a key that has one. `retries`: attempts that are left, null if that is not known. */
  readonly askPin: (key: NumberedKey, retries: number | null) => Promise<string>;
  /** The first PIN of a key. `refusesSimple`: the key refuses those that it finds too simple. */
  readonly askNewPin: (key: NumberedKey, check: CheckPin, refusesSimple: boolean) => Promise<string>;
}

/** Why a text cannot be the PIN of a key: it has fewer characters, or more bytes, than `bound`. */
export interface PinFault {
  readonly what: 'short' | 'long';
  readonly bound: number;
}

/** Null if the text can be the PIN of the key. */
export type CheckPin = (pin: string) => PinFault | null;

/** The result for a key. */
interface IssueOutcome {
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

/** Bytes of a PIN at most (FIDO CTAP 2.1, 6.5.1). */
const MAX_BYTES = 63;
/** How often one response of a key is sent to the registry: responses can be lost. */
const ATTEMPTS = 3;

interface UsablePin {
  /** Null: the key has none. */
  readonly pin: string | null;
  /** Whether it was created, and no outcome has had it. */
  readonly isMade: boolean;
  readonly state: KeyPinState;
}

/** Issues keys one by one, with the same options. */
export class KeyIssuing {
  readonly #options: IssueOptions;
  readonly #parts: IssueParts;
  /** First PINs of keys that are not issued yet, by serial number: a key that was pulled continues with its own. */
  readonly #pins = new Map<string, string>();
  /** The PIN of each key that an outcome has had for its letter. A key can have got one although the answer was lost. */
  readonly #lettered = new Map<string, string>();
  /** The wrong PIN of a key, and what it was refused with: it is not entered again. */
  readonly #wrong = new Map<string, { readonly pin: string; readonly error: unknown }>();

  constructor(parts: IssueParts, options: IssueOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** The device must be ACTIVE: the person that it is bound to is the one who can sign in. Never rejects. */
  async issue(key: NumberedKey, deviceId: string): Promise<IssueOutcome> {
    const providers = { ...this.nowhere };
    const run = {
      providers,
      isRead: false,
      wasIssued: false,
      madePin: null as string | null,
      lacksRules: false,
      leavesRules: this.#options.changePin || this.#options.minPinLength !== null,
      pin: null as IssueOutcome['pin'],
      error: null as unknown,
      errors: {} as Record<string, unknown>,
    };
    let entered: string | null = null;
    try {
      const isMissing = isMissingIn(await this.#credentials(key, deviceId));
      run.isRead = true;
      const open = this.#options.providers.filter(isMissing);
      for (const one of this.#options.providers) if (!open.includes(one)) providers[columnOf(one)] = 'issued';
      run.wasIssued = open.length === 0;
      if (run.wasIssued && !(await this.#lacksRules(key))) return { ...run, leavesRules: false };
      const opened = await this.#open(key, deviceId);
      entered = opened.pin;
      run.pin = entered === null ? 'none' : opened.state.isSet ? 'present' : 'set';
      run.leavesRules &&= this.#missingRules(opened.state) !== null;
      if (opened.isMade) run.madePin = entered;
      const wrong = this.#wrong.get(key.serialNumber);
      if (wrong !== undefined && wrong.pin === entered) throw wrong.error;
      for (const provider of open)
        try {
          await this.#issueAt(key, deviceId, provider.providerId, opened.pin);
          providers[columnOf(provider)] = 'issued';
        } catch (error) {
          const { isRefusal, isLost } = this.#failureOf(error);
          run.errors[columnOf(provider)] = error;
          if (!isRefusal && !isLost) throw error;
          run.error ??= error;
        }
      if (run.error === null) run.lacksRules = !(await this.#setRules(key, opened));
    } catch (error) {
      run.error ??= error;
    }
    const isWrong = run.error instanceof IssueProblem && run.error.code === 'pin-invalid';
    if (run.error === null) run.leavesRules = false;
    if (isWrong) run.madePin = null;
    if (run.error === null || isWrong) for (const pins of [this.#pins, this.#lettered]) pins.delete(key.serialNumber);
    else if (run.madePin !== null) this.#lettered.set(key.serialNumber, run.madePin);
    if (isWrong && entered !== null) this.#wrong.set(key.serialNumber, { pin: entered, error: run.error });
    return run;
  }

  /** What the registry has, after a reset that was interrupted is settled. */
  async #credentials(key: NumberedKey, deviceId: string): Promise<readonly CredentialItem[]> {
    const { requests } = this.#parts;
    const credentials = await requests.credentials(deviceId);
    if (!credentials.some(one => one.reset === true)) return credentials;
    await settledReset(requests, key, deviceId);
    return requests.credentials(deviceId);
  }

  /** The state of a key that is issued at no provider. */
  get nowhere(): NonNullable<EnrollmentOutcome['providers']> {
    return Object.fromEntries(this.#options.providers.map(one => [columnOf(one), 'missing']));
  }

  #failureOf(error: unknown) {
    return error instanceof IssueProblem ? { isRefusal: false, isLost: false } : this.#parts.requests.failureOf(error);
  }

  #step(key: NumberedKey, step: IssueStep): Promise<StepAnswer> {
    return stepDone(this.#parts.requests.step(key, step));
  }

  /** The PIN of the key; a first PIN is set. If the key already has a PIN, it is not entered yet. */
  async #open(key: NumberedKey, deviceId: string): Promise<UsablePin> {
    const { askPin, askNewPin } = this.#parts;
    const { state } = await this.#step(key, { step: 'state' });
    if (state === null) throw new IssueProblem('protocol', 'the key does not report its PIN');
    const { isSet, retries } = state;
    const choice = this.#options.pin;
    if (isSet) {
      checkUsable(state);
      const known = this.#pins.get(key.serialNumber);
      if (known === undefined && choice.kind === 'random')
        throw new IssueProblem(
          'pin-present',
          `${key.serialNumber} already has a PIN, and only a first PIN can be created`,
        );
      const isMade = choice.kind === 'random' && known !== this.#lettered.get(key.serialNumber);
      return { pin: known ?? (await askPin(key, retries)), isMade, state };
    }
    if (choice.kind === 'none') return { pin: null, isMade: false, state };
    const check = checkFor(Math.max(state.minLength, this.#options.minPinLength ?? 0));
    const pin = choice.kind === 'random' ? choice.make() : await askNewPin(key, check, state.refusesSimple);
    const fault = check(pin);
    if (fault !== null) throw new IssueProblem('pin-unfit', pinFaultText(fault));
    // The registry stores it before the key gets it, so that an interruption never leaves a PIN that cannot be recovered.
    if (choice.kind === 'random') await choice.store(deviceId, pin);
    this.#pins.set(key.serialNumber, pin);
    await this.#step(key, { step: 'pin', pin });
    return { pin, isMade: choice.kind === 'random', state };
  }

  /** Options of the provider, the answer of the key, and the registration of it. */
  async #issueAt(key: NumberedKey, deviceId: string, providerId: string, pin: string | null): Promise<void> {
    const started = await this.#startUnlessDone(deviceId, providerId);
    if (started === null) return;
    const { credentialId, origin, options } = started;
    const step = {
      step: 'credential',
      ...(pin === null ? {} : { pin }),
      origin,
      options: JSON.stringify(options),
    } as const;
    const { response } = await this.#step(key, step);
    if (response === null) throw new IssueProblem('protocol', 'the key has made no credential');
    try {
      await this.#finish(deviceId, credentialId, response);
    } catch (error) {
      // A credential that the provider refuses must not stay on the key. If its response is lost, it may have accepted the credential.
      if (pin !== null && this.#failureOf(error).isRefusal)
        await this.#step(key, { step: 'forget', pin, credentialId: response.id }).catch(() => undefined);
      throw error;
    }
  }

  /** Null if a lost answer turns out to have been an acceptance. */
  async #startUnlessDone(deviceId: string, providerId: string) {
    const { requests } = this.#parts;
    try {
      return await requests.start(deviceId, providerId);
    } catch (error) {
      if (!isMissingIn(await requests.credentials(deviceId))({ providerId })) return null;
      throw error;
    }
  }

  /** The same answer may be sent again: the registry looks up what the provider has. */
  async #finish(...[deviceId, credentialId, response]: Parameters<IssueRequests['finish']>): Promise<void> {
    for (let attempt = 1; ; attempt++)
      try {
        await this.#parts.requests.finish(deviceId, credentialId, response);
        return;
      } catch (error) {
        if (!this.#failureOf(error).isLost || attempt === ATTEMPTS) throw error;
      }
  }

  /** Whether an earlier run was interrupted before it set the rules, which is the last step. */
  async #lacksRules(key: NumberedKey): Promise<boolean> {
    const { changePin, minPinLength } = this.#options;
    if (!changePin && minPinLength === null) return false;
    const { state } = await this.#step(key, { step: 'state' });
    // A PIN that has to be changed opens nothing, also not for a rule.
    return state?.isSet === true && state.canKeepRules && !state.mustChange && this.#missingRules(state) !== null;
  }

  /** Null if the key keeps all of them. It refuses a length below its own. */
  #missingRules({ minLength, mustChange }: KeyPinState): Pick<IssueStep, 'changePin' | 'minPinLength'> | null {
    const { changePin, minPinLength } = this.#options;
    const isLonger = minPinLength !== null && minPinLength > minLength;
    const rules = { ...(isLonger ? { minPinLength } : {}), ...(changePin && !mustChange ? { changePin } : {}) };
    return Object.keys(rules).length === 0 ? null : rules;
  }

  /** False if they are asked for and the key cannot keep them. Afterwards the PIN may open nothing. */
  async #setRules(key: NumberedKey, { pin, state }: UsablePin): Promise<boolean> {
    const rules = this.#missingRules(state);
    if (rules === null || pin === null) return true;
    if (state.canKeepRules) await this.#step(key, { step: 'rules', pin, ...rules });
    return state.canKeepRules;
  }
}

const isMissingIn =
  (credentials: readonly CredentialItem[]) =>
  ({ providerId }: Pick<ProviderItem, 'providerId'>): boolean =>
    !credentials.some(one => one.providerId === providerId && one.removedAt === null && !one.pending);

function checkUsable({ needsReplug, retries, mustChange }: KeyPinState): void {
  if (needsReplug) throw new IssueProblem('pin-replug', 'the key must be plugged in again before it accepts a PIN');
  if (retries === 0) throw new IssueProblem('pin-blocked', 'the PIN of the key is blocked: only a reset unblocks it');
  if (mustChange) throw new IssueProblem('pin-change', 'the PIN of the key must be changed first');
}

/** Checks a PIN for a key that demands this length. */
export const checkFor =
  (minLength: number): CheckPin =>
  pin => {
    const text = pin.normalize('NFC');
    if ([...text].length < minLength) return { what: 'short', bound: minLength };
    return new TextEncoder().encode(text).length > MAX_BYTES ? { what: 'long', bound: MAX_BYTES } : null;
  };

/** The problem as a sentence without a period. */
export const pinFaultText = ({ what, bound }: PinFault): string =>
  what === 'short' ? `the PIN of this key has at least ${bound} characters` : `a PIN has at most ${bound} bytes`;
