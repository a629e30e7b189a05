/** Checks keys for the people of a provisioning line, and binds them: for `enroll --roster` and for the console. */
import type { Key } from '../../contract/hardware.ts';
import type { RequiredGrade } from '../../contract/key-values.ts';
import { isSameName } from '../../contract/person-key.ts';
import {
  blockOf,
  type EnrollKeyOptions,
  type EnrollmentParts,
  KeyEnrollment,
  needsIdentity,
  outcomeOf,
  type ProofOutcome,
} from '../key-enrollment.ts';
import type { EnrollmentOutcome, KeyFailure } from '../outcome.ts';
import { isNumbered, withPrinted } from '../own-number.ts';
import type { CountedKey } from '../registry.ts';
import type { Person } from './people.ts';

/** The result of a check or a commit for one key and one person. */
export interface PersonVerdict {
  /** Null if the key has passed, or is bound. */
  readonly failure: KeyFailure | null;
  /** The result as a row. */
  readonly row: EnrollmentOutcome;
  /** The proof of the key; null if it was not asked. */
  readonly proved: ProofOutcome | null;
}

/** How keys are bound to people. */
interface Options extends Omit<EnrollKeyOptions, 'activateFor'> {
  /** The idempotency key of a registration; see `KeyEnrollment`. */
  readonly id?: (() => string) | null;
  /** The grade that a key must prove when it has passed the other checks; null if it is not asked. Absent: the option `proof`. */
  readonly requiredProof?: (checked: EnrollmentOutcome) => Promise<RequiredGrade | null>;
  /** Registers the key and activates it, or spools it. Absent: registers and activates it. */
  readonly enroll?: ((key: Key, person: Person) => Promise<EnrollmentOutcome>) | null;
  /** The requests of a binding with the serial number of its key; absent for those of the check. */
  readonly partsOf?: (key: Key, person: Person) => EnrollmentParts;
}

/** Which keys of a person are no reason to ask before the person gets one more. */
export interface AnotherKey {
  /** It was decided that the person gets one more, whatever the person has. */
  readonly isAllowed: boolean;
  /** Whether the key counts in this run. */
  readonly isCounted: (serialNumber: string) => boolean;
  /** Why another key is refused besides those that the registry has; null if it is not. */
  readonly unfinished: string | null;
}

/** The key, with the printed number that the roster has for it if it reports none. */
export const keyFor = (key: Key, { printedNumber }: Person): Key =>
  key.serialNumber === null && key.deviceType === 'UKEY' && printedNumber !== undefined
    ? withPrinted(key, printedNumber)
    : key;

/** Judges keys with the same options for every person. */
export class PersonEnrollment {
  readonly #parts: EnrollmentParts;
  readonly #options: Options;

  constructor(parts: EnrollmentParts, options: Options) {
    this.#parts = parts;
    this.#options = options;
  }

  /**
   * Whether the key can be bound to the person. Writes no device; a proof leaves its challenge. `counted`: null if the key counts for
   * no person. Throws if every key would fail.
   */
  async check(key: Key, person: Person, counted: CountedKey | null, another: AnotherKey): Promise<PersonVerdict> {
    const refused = this.refused(key, person, counted);
    if (refused !== null) return refused;
    const outcome = await this.#enrollment(person, true).handle(key);
    const failure = failureOf(outcome, person);
    const other = failure === null ? await this.#otherKey(key, person, another, outcome.status) : null;
    if (other !== null) return other;
    if (failure !== null || this.#options.dryRun) return verdict(failure, outcome, person);
    return this.#identified(key, person, outcome);
  }

  /** A key that must make a credential makes it now: it can be unplugged when it is bound. */
  async #identified(key: Key, person: Person, outcome: EnrollmentOutcome): Promise<PersonVerdict> {
    const proved = await this.#proved(key, person, outcome);
    const { registry } = this.#parts;
    const isWanted = isNumbered(key) || (outcome.result === 'new' && (await needsIdentity(registry, key)));
    const problem = proved.failure === null && isWanted ? await registry.recognition.prepare(key) : null;
    return problem === null ? proved : this.failed(key, person, 'refused', problem);
  }

  async #proved(key: Key, person: Person, outcome: EnrollmentOutcome): Promise<PersonVerdict> {
    const { requiredProof, proof: ofAll } = this.#options;
    try {
      const proof = requiredProof === undefined ? ofAll : await requiredProof(outcome);
      const proved = await this.#enrollment(person, false, { proof }).proved(outcome.proof ?? null, key);
      if (proved === null) return verdict(null, outcome, person);
      const row = { ...outcome, proof: proved.proof };
      return proved.refusal === null
        ? verdict(null, row, person, proved)
        : verdict('proof', { ...row, message: proved.refusal }, person, proved);
    } catch (error) {
      if (!this.#parts.registry.failureOf(error).isOfOneKey) throw error;
      return verdict('proof', { ...outcome, message: (error as Error).message }, person);
    }
  }

  /**
   * The verdict on a key for a person who has another one that this run does not count: a run that was interrupted, or another station,
   * may just have bound it. Null if the person has none, or gets one more.
   */
  async #otherKey(
    key: Key,
    person: Person,
    { isAllowed, isCounted, unfinished }: AnotherKey,
    status: EnrollmentOutcome['status'],
  ): Promise<PersonVerdict | null> {
    const { registry, words } = this.#parts;
    const { userId, type } = person;
    if (isAllowed) return null;
    if (unfinished !== null) return this.failed(key, person, 'has another key', unfinished);
    if (status === 'ACTIVE') return null;
    const all = await registry.keysOf(userId);
    // The key itself is among them if another program has bound it since.
    if (all.some(({ serialNumber }) => serialNumber === key.serialNumber)) return null;
    const keys = all.filter(one => (type === null || one.deviceType === type) && !isCounted(one.serialNumber));
    return keys.length === 0
      ? null
      : this.failed(key, person, 'has another key', words({ type: 'has keys', userId, keys }));
  }

  /** Why the key cannot be for the person, as far as the registry is not needed; null if it can. */
  refused(key: Key, person: Person, counted: CountedKey | null): PersonVerdict | null {
    const { words } = this.#parts;
    if (key.serialNumber === null)
      return this.failed(key, person, 'serial number unreadable', key.problem ?? words({ type: 'unreadable' }));
    if (person.type !== null && key.deviceType !== person.type)
      return this.failed(
        key,
        person,
        'wrong type',
        words({ type: 'wrong type', found: key.deviceType, wanted: person.type }),
      );
    if (counted === null || (counted.where === 'registry' && !isSameName(counted.userId, person.userId))) return null;
    return this.failed(key, person, 'counted before', words({ type: 'counted', counted }));
  }

  /** The verdict on a key that was unplugged before its check had ended. */
  pulledEarly(key: Key, person: Person): PersonVerdict {
    return this.failed(key, person, 'pulled too early', this.#parts.words({ type: 'pulled early' }));
  }

  /** The verdict on a key that is spooled without a look at the registry. */
  unchecked(key: Key, person: Person): PersonVerdict {
    return verdict(
      null,
      outcomeOf(key, { ...this.#options, activateFor: person.userId }, { result: 'spooled' }),
      person,
    );
  }

  /** A key that fails for a reason that was found elsewhere. */
  failed(key: Key, person: Person, failure: KeyFailure, message: string): PersonVerdict {
    return verdict(
      failure,
      outcomeOf(key, { ...this.#options, activateFor: person.userId }, { result: 'failed', message }),
      person,
    );
  }

  /** Registers the key if it is new, and activates it for the person; or spools it. The key may be unplugged already. */
  async bind(key: Key, person: Person, proved: ProofOutcome | null, another: AnotherKey): Promise<PersonVerdict> {
    const { dryRun, enroll, partsOf } = this.#options;
    // Another station may have bound a key to the person since the check.
    const other = dryRun || enroll ? null : await this.#otherKey(key, person, another, null);
    if (other !== null) return other;
    const parts = partsOf?.(key, person);
    const outcome = await (enroll?.(key, person) ?? this.#enrollment(person, dryRun, { proved }, parts).handle(key));
    const isBound = dryRun || (outcome.status === 'ACTIVE' && isSameName(outcome.userId, person.userId));
    const isDone = isBound || outcome.result === 'spooled';
    return verdict(failureOf(outcome, person) ?? (isDone ? null : 'refused'), outcome, person, proved);
  }

  #enrollment(
    { userId }: Person,
    dryRun: boolean,
    { proved = null, proof = this.#options.proof }: Partial<Pick<PersonVerdict, 'proved'> & EnrollKeyOptions> = {},
    parts: EnrollmentParts = this.#parts,
  ): KeyEnrollment {
    const id = this.#options.id?.() ?? null;
    return new KeyEnrollment(parts, { ...this.#options, activateFor: userId, dryRun, proof }, { proved, id });
  }
}

function verdict(
  failure: KeyFailure | null,
  outcome: EnrollmentOutcome,
  { userId, name }: Person,
  proved: ProofOutcome | null = null,
): PersonVerdict {
  const result = failure === null ? outcome.result : 'failed';
  return { failure, row: { ...outcome, result, userId, name, failure }, proved };
}

function failureOf(outcome: EnrollmentOutcome, { userId: wanted }: Person): KeyFailure | null {
  const { result, message, status, userId } = outcome;
  if (result !== 'failed' && message === null) return null;
  return (status === null ? null : blockOf({ status, userId }, wanted)) ?? 'refused';
}
