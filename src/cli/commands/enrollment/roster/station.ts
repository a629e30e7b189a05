/** The keys of a roster run: each is checked, then bound or spooled, and counts once. */
import type { Key } from '../../../../contract/hardware.ts';
import type { EnrollKeyOptions, Proved } from '../../../../enrollment/key-enrollment.ts';
import type { Person } from '../../../../enrollment/line/people.ts';
import { PersonEnrollment, type PersonVerdict } from '../../../../enrollment/line/person-enrollment.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import type { CountedKey, NumberedKey } from '../../../../enrollment/registry.ts';
import { newKey } from '../../../client/keyed-write.ts';
import type { Context } from '../../../framework/context.ts';
import type { EnrollRunOptions } from '../enroll/enroll-run.ts';
import { enrollmentParts, isAway } from '../enroll/enrollment-parts.ts';
import type { IssuedRow, IssuePlan, WhileAsked } from '../issuing/issuing.ts';
import type { SpooledKeys } from '../spool/spooled-keys.ts';

/** Issues a key that is bound. */
type IssueBound = (key: NumberedKey, row: EnrollmentOutcome) => Promise<IssuedRow>;

/** The outcome for a key. */
interface BoundVerdict extends PersonVerdict {
  /** The PIN that was made for its letter; null if none was. */
  readonly madePin: string | null;
}

/** Checks keys and binds them, with the same options for every person. */
export class Station {
  readonly #context: Context;
  readonly #enrollment: PersonEnrollment;
  /** Of the receipts that keys sign; null for none. */
  readonly #terms: string | null;
  readonly #dryRun: boolean;
  /** The person that each key counts for, by serial number. */
  readonly #counted: Map<string, string>;
  readonly #spooled: SpooledKeys | null;
  readonly #issue: IssueBound | null;

  /** `counted`: the keys of earlier runs, with the userId of each. `spooled`: null ends the run if the registry is away. `issue`: null issues none. */
  constructor(
    context: Context,
    options: EnrollKeyOptions & Pick<EnrollRunOptions, 'receipt'>,
    counted: Iterable<readonly [string, string]>,
    spooled: SpooledKeys | null,
    issue: IssueBound | null = null,
  ) {
    // Ctrl-C lets the request under way end: a key that it binds has its row.
    const registry = context.registry.with({ finish: true });
    this.#enrollment = new PersonEnrollment(enrollmentParts(context, registry), {
      ...options,
      id: spooled && newKey,
      enroll: spooled && ((key, person) => spooled.handle(key, person)),
    });
    this.#context = context;
    this.#terms = options.receipt;
    this.#dryRun = options.dryRun;
    this.#counted = new Map(counted);
    this.#spooled = spooled;
    this.#issue = issue;
  }

  /**
   * Whether the key can be bound to the person. A key that is to be spooled is not looked up: its row is `spooled`. Throws if every key
   * would fail.
   */
  async check(key: Key, person: Person): Promise<PersonVerdict> {
    const counted = this.#countedFor(key, person);
    try {
      if (!this.#spooled?.outbox.isHolding) return await this.#enrollment.check(key, person, counted);
    } catch (error) {
      if (this.#spooled === null || !isAway(error)) throw error;
      this.#spooled.outbox.lost(error);
    }
    return this.#enrollment.refused(key, person, counted) ?? this.#enrollment.unchecked(key, person);
  }

  /** The result of a key that was unplugged before its check had ended. */
  pulledEarly(key: Key, person: Person): PersonVerdict {
    return this.#enrollment.pulledEarly(key, person);
  }

  /** Registers the key if it is new, and activates it for the person; or spools it. The key may be unplugged already, unless it is issued or signs. */
  async bind(key: Key, person: Person, proved: Proved | null): Promise<BoundVerdict> {
    const verdict = await this.#signed(key, await this.#issued(key, await this.#enrollment.bind(key, person, proved)));
    if (verdict.failure === null && key.serialNumber !== null) this.#counted.set(key.serialNumber, person.userId);
    return verdict;
  }

  async #issued(key: Key, verdict: PersonVerdict): Promise<BoundVerdict> {
    const { serialNumber } = key;
    if (this.#issue === null || verdict.failure !== null || serialNumber === null) return { ...verdict, madePin: null };
    const { row, madePin } = await this.#issue({ ...key, serialNumber }, verdict.row);
    const failure = row.result === 'failed' ? 'not issued' : null;
    return { ...verdict, failure, row: { ...row, failure }, madePin };
  }

  async #signed(key: Key, verdict: BoundVerdict): Promise<BoundVerdict> {
    const { serialNumber } = key;
    if (this.#terms === null || verdict.failure !== null || serialNumber === null) return verdict;
    const { receiptRow } = await import('../../proofs/receipts/signing.ts');
    const handover = { terms: this.#terms, person: verdict.row.userId };
    const row = await receiptRow(this.#context, handover, { ...key, serialNumber }, verdict.row);
    const failure = row.result === 'failed' ? 'not signed' : null;
    return { ...verdict, failure, row: { ...row, failure } };
  }

  /** A key that was spooled is not bound to its person. */
  notBound(serialNumber: string): void {
    this.#counted.delete(serialNumber);
  }

  /** In a dry run the registry does not know for whom a key counts. */
  #countedFor({ serialNumber }: Key, person: Person): CountedKey | null {
    if (serialNumber === null) return null;
    const waiting = this.#spooled?.outbox.waitingFor(serialNumber) ?? null;
    if (waiting !== null && waiting.userId !== person.userId) return { userId: waiting.userId, where: 'spool file' };
    const userId = this.#counted.get(serialNumber);
    return userId === undefined ? null : { userId, where: this.#dryRun ? 'dry run' : 'registry' };
  }
}

/** What issues keys as planned. */
export function issuerOf(context: Context, plan: IssuePlan, whileAsked: WhileAsked): IssueBound {
  const issuing = plan.open(whileAsked);
  return async (key, row) => {
    const { issuedRow } = await import('../issuing/issuing.ts');
    return issuedRow(context, { plan, issuing }, key, row);
  };
}
