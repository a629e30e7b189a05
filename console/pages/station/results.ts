/** What the bench has done: each key, the figures, and the rows of the file. */
import type { Person } from '../../../src/enrollment/line/people.ts';
import { Tally, type TallyFigures } from '../../../src/enrollment/line/tally.ts';
import type { EnrollmentOutcome, KeyFailure } from '../../../src/enrollment/outcome.ts';

/** A key that was bound or has failed. Has no activation code: it is stored in the tab. */
export interface StationResult
  extends Pick<EnrollmentOutcome, 'deviceType' | 'serialNumber' | 'deviceId' | 'message'>,
    Pick<Person, 'userId' | 'name'> {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly keyId: string;
  /** Null if the key was bound. */
  readonly failure: KeyFailure | null;
}

/** A run as it is stored. */
export interface StoredRun {
  /** Null without a roster. */
  readonly people: readonly Person[] | null;
  /** Keys that each row has. */
  readonly done: readonly number[];
  readonly results: readonly StationResult[];
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** The figures of the results at the time `now` (milliseconds since 1970). */
export function figuresOf({ results, startedAt }: Pick<StoredRun, 'results' | 'startedAt'>, now: number): TallyFigures {
  const tally = new Tally(startedAt);
  for (const { serialNumber, keyId, failure } of results) tally.take(serialNumber ?? keyId, failure);
  return tally.figures(now);
}

/** The columns of the results as CSV. */
export const resultColumns = [
  'at',
  'result',
  'userId',
  'name',
  'serialNumber',
  'deviceType',
  'deviceId',
  'failure',
  'message',
] as const;

/** A row of the CSV. */
export const resultCells = (result: StationResult): readonly (string | null)[] =>
  resultColumns.map(column => (column === 'result' ? (result.failure === null ? 'bound' : 'failed') : result[column]));
