/** Issues a registered key: its first PIN, and a credential at each provider. The registry holds the state, so another run continues. */
import type { CredentialItem } from '../contract/providers.ts';
import type { Body, Data } from '../contract/routes.ts';
import type {
  IssueAction,
  IssueEvent,
  IssueFailure,
  IssueOptions,
  IssueOutcome,
  MadeCredential,
} from './issue-events.ts';
import { begun, failureOf, nowhere, type PinMemory, taken } from './issue-run.ts';
import { IssueProblem, stepDone } from './issue-step.ts';
import { type CheckPin, checkFor, pinFaultText } from './key-pin.ts';
import { type ResetRequests, settledReset } from './key-reset.ts';
import type { NumberedKey } from './registry.ts';

/** The requests that issuing needs. They reject with the errors of their client, which `failureOf` interprets. */
export interface IssueRequests extends ResetRequests {
  credentials(deviceId: string): Promise<readonly CredentialItem[]>;
  start(deviceId: string, body: Body<'startCredential'>): Promise<Data<'startCredential'>>;
  finish(deviceId: string, credentialId: string, made: MadeCredential): Promise<unknown>;
  failureOf(error: unknown): IssueFailure;
}

/** How a key gets its PIN. */
export type PinChoice =
  | { readonly kind: 'none' | 'ask' }
  | {
      readonly kind: 'random';
      readonly make: () => string;
      /** Stores the encrypted PIN. The PIN that was stored before no longer applies. */
      readonly store: (deviceId: string, pin: string) => Promise<unknown>;
    };

/** Dependencies of issuing. */
export interface IssueParts {
  readonly requests: IssueRequests;
  /** The PIN of a key that has one. `retries`: attempts that are left, null if that is not known. */
  readonly askPin: (key: NumberedKey, retries: number | null) => Promise<string>;
  /** The first PIN of a key. `refusesSimple`: the key refuses those that it finds too simple. */
  readonly askNewPin: (key: NumberedKey, check: CheckPin, refusesSimple: boolean) => Promise<string>;
}

/** Issues keys one by one, with the same options. */
export class KeyIssuing {
  readonly #options: IssueOptions & { readonly pin: PinChoice };
  readonly #parts: IssueParts;
  /** By serial number. */
  readonly #memories = new Map<string, PinMemory>();

  constructor(parts: IssueParts, options: IssueOptions & { readonly pin: PinChoice }) {
    this.#parts = parts;
    this.#options = options;
  }

  /** The state of a key that is issued at no provider. */
  get nowhere(): IssueOutcome['providers'] {
    return nowhere(this.#options);
  }

  /** The device must be ACTIVE: the person that it is bound to is the one who can sign in. Never rejects. */
  async issue(key: NumberedKey, deviceId: string): Promise<IssueOutcome> {
    const { serialNumber } = key;
    let [run, action] = begun(this.#options, serialNumber, this.#memories.get(serialNumber));
    while (action !== null) [run, action] = taken(run, await this.#tried(action, key, deviceId));
    this.#memories.set(serialNumber, run.memory);
    return run.outcome;
  }

  async #tried(action: IssueAction, key: NumberedKey, deviceId: string): Promise<IssueEvent> {
    try {
      return await this.#done(action, key, deviceId);
    } catch (error) {
      if (error instanceof IssueProblem) return failureOf(error);
      return { type: 'failed', error, ...this.#parts.requests.failureOf(error) };
    }
  }

  async #done(action: IssueAction, key: NumberedKey, deviceId: string): Promise<IssueEvent> {
    const { requests, askPin, askNewPin } = this.#parts;
    const choice = this.#options.pin;
    const identity = changesKey(action) ? await requests.prove(key, 'issue') : null;
    switch (action.type) {
      case 'read credentials':
        return { type: 'credentials', credentials: await requests.credentials(deviceId) };
      case 'settle reset':
        await settledReset(requests, key, deviceId);
        return { type: 'credentials', credentials: await requests.credentials(deviceId) };
      case 'step':
        return { type: 'step', answer: await stepDone(requests.step(key, action.step)) };
      case 'ask PIN':
        return { type: 'PIN', pin: await askPin(key, action.retries) };
      case 'new PIN': {
        const check = checkFor(action.minLength);
        const pin = choice.kind === 'random' ? choice.make() : await askNewPin(key, check, action.refusesSimple);
        const fault = check(pin);
        if (fault !== null) throw new IssueProblem('pin-unfit', pinFaultText(fault));
        // An interruption never leaves a PIN that cannot be recovered.
        if (choice.kind === 'random') await choice.store(deviceId, pin);
        return { type: 'PIN', pin };
      }
      case 'start':
        return {
          type: 'started',
          started: await requests.start(deviceId, { providerId: action.providerId, ...(identity && { identity }) }),
        };
      case 'finish':
        await requests.finish(deviceId, action.credentialId, action.made);
        return { type: 'finished' };
    }
  }
}

/** Whether the key, or what providers have of it, may be changed by the action or right after it. */
const changesKey = (action: IssueAction): boolean =>
  action.type !== 'read credentials' &&
  action.type !== 'settle reset' &&
  (action.type !== 'step' || action.step.step !== 'state');
