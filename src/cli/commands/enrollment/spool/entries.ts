/** Keys as they wait in a spool file, and their results. */
import { undescribed } from '../../../../contract/device-description.ts';
import type { Key } from '../../../../contract/hardware.ts';
import { type EnrollKeyOptions, outcomeOf, registrationFor } from '../../../../enrollment/key-enrollment.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import type { NumberedKey } from '../../../../enrollment/registry.ts';
import type { KeyLabel } from '../labels/enrolled.ts';
import type { SpoolEntry } from './lines.ts';

/** How a run spools. */
export interface SpoolOptions extends EnrollKeyOptions {
  /** Null if the run prints no labels. */
  readonly label: KeyLabel | null;
}

/** The entry of a key. `name`: that of the person in a roster; undefined without a roster. */
export const entryOf = (
  key: NumberedKey,
  id: string,
  options: SpoolOptions,
  name: string | null | undefined,
): SpoolEntry => ({
  id,
  at: new Date().toISOString(),
  registration: registrationFor(key, options),
  userId: options.activateFor,
  ...(name === undefined ? {} : { name }),
  serialSource: key.serialSource,
  simulated: key.simulated,
  label: options.label !== null,
});

/** The key of an entry, as far as an enrollment reads it: `registrationFor` makes the body of the entry from it again. */
export const keyOf = ({ registration, serialSource, simulated }: SpoolEntry): Key =>
  ({
    ...undescribed,
    ...registration,
    serialSource,
    simulated,
    problem: null,
  }) as unknown as Key;

/** How the key of an entry is enrolled. */
export const optionsOf = ({ registration, userId }: SpoolEntry): EnrollKeyOptions => ({
  manufacturer: null,
  model: null,
  activateFor: userId,
  dryRun: false,
  proof: null,
  tags: registration.tags ?? null,
});

/** The row of an entry. That of a roster has its person, whatever has become of the key. */
export const rowOf = ({ name, userId }: SpoolEntry, outcome: EnrollmentOutcome): EnrollmentOutcome =>
  name === undefined ? outcome : { ...outcome, userId, name };

/** The row of an entry that waits, or that could not be spooled. */
export const waitingRow = (
  entry: SpoolEntry,
  what: Pick<EnrollmentOutcome, 'result'> & Partial<EnrollmentOutcome>,
): EnrollmentOutcome => rowOf(entry, outcomeOf(keyOf(entry), optionsOf(entry), what));
