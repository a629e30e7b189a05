/** An enrollment that spools keys while the registry is away. */
import type { Key } from '../../../../contract/hardware.ts';
import { KeyEnrollment } from '../../../../enrollment/key-enrollment.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { newKey } from '../../../client/keyed-write.ts';
import type { Context } from '../../../framework/context.ts';
import { enrollmentParts, isAway } from '../enroll/enrollment-parts.ts';
import type { KeyLabel } from '../labels/enrolled.ts';
import { entryOf, type SpoolOptions, waitingRow } from './entries.ts';
import { SpoolOutbox } from './outbox.ts';

/** A person of a roster, to whom a key is to be bound. */
interface Holder {
  readonly userId: string;
  readonly name: string | null;
}

/** Enrolls keys one by one, or spools them. */
export class SpooledKeys {
  readonly #context: Context;
  readonly #options: SpoolOptions;
  readonly outbox: SpoolOutbox;

  private constructor(context: Context, options: SpoolOptions, outbox: SpoolOutbox) {
    this.#context = context;
    this.#options = options;
    this.outbox = outbox;
  }

  /** Opens the file in which keys wait. `label` prints the labels of those that are delivered; null prints none. */
  static async open(
    context: Context,
    options: SpoolOptions & { readonly spool: string },
    label: KeyLabel | null,
  ): Promise<SpooledKeys> {
    return new SpooledKeys(context, options, await SpoolOutbox.open(context, options.spool, label));
  }

  /** The result for the key. Throws if every other key would fail as well. `person` is absent without a roster. */
  async handle(key: Key, person?: Holder): Promise<EnrollmentOutcome> {
    const { serialNumber } = key;
    const options = person === undefined ? this.#options : { ...this.#options, activateFor: person.userId };
    const id = newKey();
    const enrollment = new KeyEnrollment(enrollmentParts(this.#context), options, { id });
    if (serialNumber === null) return enrollment.handle(key);
    const entry = entryOf({ ...key, serialNumber }, id, options, person?.name);
    // A run that was killed has spooled it, and has no row of it.
    if (this.outbox.waitingFor(serialNumber) !== null) return waitingRow(entry, { result: 'spooled' });
    if (this.outbox.isHolding) return await this.outbox.add(entry, false);
    try {
      return await enrollment.handle(key);
    } catch (error) {
      if (!isAway(error)) throw error;
      this.outbox.lost(error);
      return await this.outbox.add(entry, enrollment.isSent);
    }
  }
}
