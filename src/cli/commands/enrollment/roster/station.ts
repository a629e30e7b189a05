/** What a roster run asks of the registry for one key: a check that changes nothing, then the binding. */
import type { Key } from '../../../../contract/hardware.ts';
import {
  type EnrollKeyOptions,
  type EnrollmentParts,
  KeyEnrollment,
  type Proved,
} from '../../../../enrollment/key-enrollment.ts';
import type { Person } from '../../../../enrollment/line/people.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { newKey } from '../../../client/keyed-write.ts';
import type { Context } from '../../../framework/context.ts';
import { enrollmentParts, isAway, isOfOneKey } from '../enroll/enrollment-parts.ts';
import type { Outbox } from '../spool/outbox.ts';
import type { SpooledKeys } from '../spool/spooled-keys.ts';

/** The result of a check or a commit for one key and one person. */
export interface Verdict {
  /** Why the key failed, in a few words, as the run counts it; null if it passed. */
  readonly failure: string | null;
  readonly row: EnrollmentOutcome;
  /** What the key has proved; null if it was not asked. */
  readonly proved: Proved | null;
}

/** Where keys go while the registry is away. */
export interface Spooling {
  readonly keys: SpooledKeys;
  readonly outbox: Outbox;
}

/** Checks keys and binds them, with the same options for every person. */
export class Station {
  readonly #parts: EnrollmentParts;
  readonly #options: EnrollKeyOptions;
  /** The person that each key counts for, by serial number. */
  readonly #counted: Map<string, string>;
  readonly #spooling: Spooling | null;

  /** `counted`: the keys of earlier runs, with the userId of each. `spooling`: null ends the run if the registry is away. */
  constructor(
    context: Context,
    options: EnrollKeyOptions,
    counted: Iterable<readonly [string, string]>,
    spooling: Spooling | null,
  ) {
    this.#parts = enrollmentParts(context);
    this.#options = options;
    this.#counted = new Map(counted);
    this.#spooling = spooling;
  }

  /**
   * Whether the key can be bound to the person. Writes no device; a proof leaves its challenge. A key that is to be spooled is not looked up:
   * its row is `spooled`. Throws if every key would fail.
   */
  async check(key: Key, person: Person): Promise<Verdict> {
    if (this.#spooling === null) return this.#check(key, person);
    const spooled = () => verdict(null, { ...this.#enrollment(person, true).failed(key, ''), ...unchecked }, person);
    const { outbox } = this.#spooling;
    try {
      if (!outbox.isHolding) return await this.#check(key, person);
    } catch (error) {
      if (!isAway(error)) throw error;
      outbox.lost(error);
    }
    return this.#refused(key, person) ?? spooled();
  }

  async #check(key: Key, person: Person): Promise<Verdict> {
    const refused = this.#refused(key, person);
    if (refused !== null) return refused;
    const outcome = await this.#enrollment(person, true).handle(key);
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

  /** Why the key cannot be for the person, as far as the registry is not needed; null if it can. */
  #refused(key: Key, person: Person): Verdict | null {
    const failed = (why: string, message: string) =>
      verdict(why, this.#enrollment(person, true).failed(key, message), person);
    if (person.type !== null && key.deviceType !== person.type)
      return failed('wrong type', `it is a ${key.deviceType}, and the person gets a ${person.type}`);
    const counted = this.#whyCounted(key, person);
    if (counted !== null) return failed('counted before', counted);
    if (key.serialNumber !== null || this.#spooling === null) return null;
    return failed('serial number unreadable', key.problem ?? 'its serial number cannot be read');
  }

  /** The result of a key that was unplugged before its check had ended. */
  pulledEarly(key: Key, person: Person): Verdict {
    const message = 'it was unplugged before its check had ended: nothing is bound. Plug it in again';
    return verdict('pulled too early', this.#enrollment(person, true).failed(key, message), person);
  }

  /** Registers the key if it is new, and activates it for the person; or spools it. The key may be unplugged already. */
  async bind(key: Key, person: Person, proved: Proved | null): Promise<Verdict> {
    const { dryRun } = this.#options;
    const outcome = await (this.#spooling?.keys.handle(key, person) ??
      this.#enrollment(person, dryRun, proved).handle(key));
    const isBound = dryRun || (outcome.status === 'ACTIVE' && outcome.userId === person.userId);
    const isDone = isBound || outcome.result === 'spooled';
    const failure = failureOf(key, outcome) ?? (isDone ? null : 'refused');
    if (failure === null && key.serialNumber !== null) this.#counted.set(key.serialNumber, person.userId);
    return verdict(failure, outcome, person, proved);
  }

  /** A key that was spooled is not bound to its person. */
  notBound(serialNumber: string): void {
    this.#counted.delete(serialNumber);
  }

  /** A key counts once; in a dry run the registry does not know for whom. */
  #whyCounted({ serialNumber }: Key, { userId }: Person): string | null {
    const waiting = this.#spooling?.outbox.waitingFor(serialNumber) ?? null;
    if (waiting !== null && waiting.userId !== userId)
      return `it is in the spool file${waiting.userId === null ? '' : ` for ${waiting.userId}`}. Use another key`;
    const counted = serialNumber === null ? undefined : this.#counted.get(serialNumber);
    if (counted === undefined || (counted !== userId && !this.#options.dryRun)) return null;
    return `it already counts for ${counted}. Use another key`;
  }

  #enrollment(person: Person, dryRun: boolean, proved: Proved | null = null): KeyEnrollment {
    const options = { ...this.#options, activateFor: person.userId, dryRun };
    return new KeyEnrollment(this.#parts, options, { proved, id: this.#spooling === null ? null : newKey() });
  }
}

/** What differs in the row of a key that was not looked up. */
const unchecked = { result: 'spooled', message: null } as const;

function verdict(
  failure: string | null,
  outcome: EnrollmentOutcome,
  person: Person,
  proved: Proved | null = null,
): Verdict {
  const { userId, name } = person;
  const result = failure === null ? outcome.result : 'failed';
  return { failure, row: { ...outcome, result, userId, name, failure }, proved };
}

function failureOf({ serialNumber }: Key, { result, status, message }: EnrollmentOutcome): string | null {
  if (result !== 'failed' && message === null) return null;
  if (serialNumber === null) return 'serial number unreadable';
  if (status === 'LOCKED' || status === 'DEACTIVATED') return status;
  return status === 'ACTIVE' ? 'bound to another person' : 'refused';
}
