/** The keys of a roster run: each is checked, then bound or spooled, and counts once. */
import type { Key } from '../../../../contract/hardware.ts';
import { isSameName } from '../../../../contract/person-key.ts';
import type { ProofOutcome } from '../../../../enrollment/key-enrollment.ts';
import type { Person } from '../../../../enrollment/line/people.ts';
import {
  type AnotherKey,
  keyFor,
  PersonEnrollment,
  type PersonVerdict,
} from '../../../../enrollment/line/person-enrollment.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import type { CountedKey } from '../../../../enrollment/registry.ts';
import { newKey } from '../../../client/request-retry.ts';
import type { Context } from '../../../framework/context.ts';
import type { WhileAsked } from '../../issuing/issuing.ts';
import { beginHandover, type EnrollRunOptions, KeyHandover, type OpenedRun } from '../enroll/enroll-run.ts';
import { enrollmentParts, isAway } from '../enroll/enrollment-parts.ts';
import type { Bindings } from '../spool/bindings.ts';
import type { SpoolOutbox } from '../spool/outbox.ts';

/** The outcome for a key. */
interface BoundVerdict extends PersonVerdict {
  /** The PIN that was made for its letter; null if none was. */
  readonly madePin: string | null;
}

/** Checks keys and binds them, with the same options for every person. */
export class Station {
  readonly #enrollment: PersonEnrollment;
  readonly #handover: KeyHandover;
  readonly #dryRun: boolean;
  /** The person that each key counts for, by serial number. */
  readonly #counted: Map<string, string>;
  readonly #outbox: SpoolOutbox | null;
  readonly #bindings: Bindings | null;
  /** People who get another key although they have one. */
  readonly #allowed = new Set<string>();
  readonly #options: EnrollRunOptions;

  /** `counted`: the keys of earlier runs, with the userId of each. `outbox`: null ends the run if the registry is away. */
  constructor(
    context: Context,
    options: EnrollRunOptions,
    counted: Iterable<readonly [string, string]>,
    { outbox, bindings }: Pick<OpenedRun, 'outbox' | 'bindings'>,
    whileAsked: WhileAsked,
  ) {
    // Ctrl-C lets the request under way end: a key that it binds has its row.
    const registry = context.registry.with({ finish: true });
    const parts = enrollmentParts(context, registry);
    this.#enrollment = new PersonEnrollment(parts, {
      ...options,
      id: outbox && newKey,
      enroll: outbox && ((key, person) => outbox.handle(key, person)),
      partsOf: (key, person) => bindings?.partsOf(parts, key, person) ?? parts,
    });
    this.#bindings = bindings;
    this.#options = options;
    this.#handover = new KeyHandover(context, options, whileAsked);
    this.#dryRun = options.dryRun;
    this.#counted = new Map(counted);
    this.#outbox = outbox;
  }

  /**
   * Whether the key can be bound to the person. A key that is to be spooled is not looked up: its row is `spooled`. Throws if every key
   * would fail.
   */
  async check(attached: Key, person: Person): Promise<PersonVerdict> {
    const key = keyFor(attached, person);
    const counted = this.#countedFor(key, person);
    try {
      if (!this.#outbox?.isHolding)
        return await this.#enrollment.check(key, person, counted, this.#anotherKey(key, person));
    } catch (error) {
      if (this.#outbox === null || !isAway(error)) throw error;
      this.#outbox.lost(error);
    }
    return this.#enrollment.refused(key, person, counted) ?? this.#enrollment.unchecked(key, person);
  }

  /** The result of a key that was unplugged before its check had ended. */
  pulledEarly(key: Key, person: Person): PersonVerdict {
    return this.#enrollment.pulledEarly(key, person);
  }

  /**
   * Registers the key if it is new, and activates it for the person; or spools it. The key may be unplugged already, unless it is issued or
   * signs.
   */
  async bind(attached: Key, person: Person, proved: ProofOutcome | null): Promise<BoundVerdict> {
    const key = keyFor(attached, person);
    const verdict = await this.#enrollment.bind(key, person, proved, this.#anotherKey(key, person));
    if (verdict.failure !== null) return { ...verdict, madePin: null };
    this.#allowed.delete(person.userId);
    // Another key was allowed: what is unfinished stays as it is.
    await this.#bindings?.leave(person.userId, key.serialNumber);
    await beginHandover(this.#bindings, this.#options, key, verdict.row, person);
    const { row: issued, madePin } = await this.#handover.issued(key, verdict.row);
    const isIssued = issued.result !== 'failed';
    const row = isIssued ? await this.#handover.signed(key, issued, person.userId) : issued;
    const failure = !isIssued ? 'not issued' : row.result === 'failed' ? 'not signed' : null;
    if (failure === null && key.serialNumber !== null) this.#counted.set(key.serialNumber, person.userId);
    return { ...verdict, failure, row: { ...row, failure }, madePin };
  }

  /** The operator gives the person another key. */
  allowAnother(person: Person): void {
    this.#allowed.add(person.userId);
  }

  /** The row of a key is on the disk. */
  async written(row: EnrollmentOutcome): Promise<void> {
    await this.#bindings?.written(row);
  }

  /** A key that was spooled is not bound to its person. */
  notBound(serialNumber: string): void {
    this.#counted.delete(serialNumber);
  }

  #anotherKey({ serialNumber }: Key, { userId }: Person): AnotherKey {
    return {
      isAllowed: this.#options.again || this.#allowed.has(userId),
      isCounted: serial => isSameName(this.#counted.get(serial) ?? null, userId),
      unfinished: this.#bindings?.unfinished(userId, serialNumber ?? '') ?? null,
    };
  }

  /** In a dry run the registry does not know for whom a key counts. */
  #countedFor({ serialNumber }: Key, person: Person): CountedKey | null {
    if (serialNumber === null) return null;
    const waiting = this.#outbox?.waitingFor(serialNumber) ?? null;
    if (waiting !== null && !isSameName(waiting.userId, person.userId))
      return { userId: waiting.userId, where: 'spool file' };
    const userId = this.#counted.get(serialNumber);
    return userId === undefined ? null : { userId, where: this.#dryRun ? 'dry run' : 'registry' };
  }
}
