/** What a roster run asks of the registry for one key: a check that changes nothing, then the binding. */
import type { Key } from '../../../contract/hardware.ts';
import type { Context } from '../../context.ts';
import {
  type EnrolledKey,
  type EnrollKeyOptions,
  isOfOneKey,
  KeyEnrollment,
  type Proved,
} from '../enroll/enroll-key.ts';
import type { Person } from './people.ts';

/** The result of a check or a commit for one key and one person. */
export interface Verdict {
  /** Why the key failed, in few words, as the run counts it; null if it passed. */
  readonly failure: string | null;
  readonly row: EnrolledKey;
  /** What the key has proved; null if it was not asked. */
  readonly proved: Proved | null;
}

/** Checks keys and binds them, with the same options for every person. */
export class Station {
  readonly #context: Context;
  readonly #options: EnrollKeyOptions;
  /** The person that each key counts for, by serial number. */
  readonly #counted: Map<string, string>;

  /** `counted`: the keys of earlier runs, with the userId of each. */
  constructor(context: Context, options: EnrollKeyOptions, counted: Iterable<readonly [string, string]>) {
    this.#context = context;
    this.#options = options;
    this.#counted = new Map(counted);
  }

  /** Whether the key can be bound to the person. Writes no device; a proof leaves its challenge. Throws if every key would fail. */
  async check(key: Key, person: Person): Promise<Verdict> {
    const enrollment = this.#enrollment(person, true);
    if (person.type !== null && key.deviceType !== person.type)
      return verdict(
        'wrong type',
        enrollment.failed(key, `it is a ${key.deviceType}, and the person gets a ${person.type}`),
        person,
      );
    const counted = this.#whyCounted(key, person);
    if (counted !== null) return verdict('counted before', enrollment.failed(key, counted), person);
    const outcome = await enrollment.handle(key);
    const failure = failureOf(key, outcome);
    if (failure !== null || this.#options.dryRun) return verdict(failure, outcome, person);
    try {
      const proved = await this.#enrollment(person, false).proved(outcome.proof ?? null, key);
      const proof = proved === null ? {} : { proof: proved.proof };
      if (!proved?.refusal) return verdict(null, { ...outcome, ...proof }, person, proved);
      return verdict('proof', { ...outcome, ...proof, message: proved.refusal }, person, proved);
    } catch (error) {
      if (!isOfOneKey(error)) throw error;
      return verdict('proof', { ...outcome, message: error.message }, person);
    }
  }

  /** The result of a key that was unplugged before its check had ended. */
  pulledEarly(key: Key, person: Person): Verdict {
    const message = 'it was unplugged before its check had ended: nothing is bound. Plug it in again';
    return verdict('pulled too early', this.#enrollment(person, true).failed(key, message), person);
  }

  /** Registers the key if it is new, and activates it for the person. The key may be unplugged already. */
  async bind(key: Key, person: Person, proved: Proved | null): Promise<Verdict> {
    const outcome = await this.#enrollment(person, this.#options.dryRun, proved).handle(key);
    const isBound = this.#options.dryRun || (outcome.status === 'ACTIVE' && outcome.userId === person.userId);
    const failure = failureOf(key, outcome) ?? (isBound ? null : 'refused');
    if (failure === null && key.serialNumber !== null) this.#counted.set(key.serialNumber, person.userId);
    return verdict(failure, outcome, person, proved);
  }

  /** A key counts once; in a dry run the registry does not know for whom. */
  #whyCounted({ serialNumber }: Key, { userId }: Person): string | null {
    const counted = serialNumber === null ? undefined : this.#counted.get(serialNumber);
    if (counted === undefined || (counted !== userId && !this.#options.dryRun)) return null;
    return `it already counts for ${counted}. Use another key`;
  }

  #enrollment(person: Person, dryRun: boolean, proved: Proved | null = null): KeyEnrollment {
    return new KeyEnrollment(this.#context, { ...this.#options, activateFor: person.userId, dryRun }, proved);
  }
}

function verdict(failure: string | null, outcome: EnrolledKey, person: Person, proved: Proved | null = null): Verdict {
  const { userId, name } = person;
  const result = failure === null ? outcome.result : 'failed';
  return { failure, row: { ...outcome, result, userId, name, failure }, proved };
}

function failureOf({ serialNumber }: Key, { result, status, message }: EnrolledKey): string | null {
  if (result !== 'failed' && message === null) return null;
  if (serialNumber === null) return 'serial number unreadable';
  if (status === 'LOCKED' || status === 'DEACTIVATED') return status;
  return status === 'ACTIVE' ? 'bound to another person' : 'refused';
}
