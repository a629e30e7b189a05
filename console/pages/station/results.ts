/** What the bench has done: each key, the figures, and the rows of the file. */
import type { DeviceType } from '../../../src/contract/values.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';
import { Tally, type TallyFigures } from '../../../src/enrollment/line/tally.ts';
import type { Failure } from './verdict.ts';

/** A key that was bound or has failed. */
export interface Result {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly userId: string;
  /** As in the roster; null if that has none. */
  readonly name: string | null;
  readonly keyId: string;
  readonly deviceType: DeviceType;
  /** Null if it cannot be read. */
  readonly serialNumber: string | null;
  /** Null if the key is not registered. */
  readonly deviceId: string | null;
  /** Null if the key was bound. */
  readonly failure: Failure | null;
  readonly detail: string | null;
}

/** A run as it is stored. Contains no activation code. */
export interface StoredRun {
  /** Null without a roster. */
  readonly people: readonly Person[] | null;
  /** Keys that each row has. */
  readonly done: readonly number[];
  readonly results: readonly Result[];
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** The figures of the results at the time `now` (milliseconds since 1970). */
export function figuresOf({ results, startedAt }: Pick<StoredRun, 'results' | 'startedAt'>, now: number): TallyFigures {
  const tally = new Tally(startedAt);
  const bound = new Set<string>();
  for (const { serialNumber, keyId, failure } of results) {
    const key = serialNumber ?? keyId;
    if (failure === null) bound.add(key);
    // A key that was bound has passed, whatever is tried with it afterwards.
    if (failure === null || !bound.has(key)) tally.take(key, failure);
  }
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
export function resultCells(result: Result): readonly (string | null)[] {
  const { at, failure, userId, name, serialNumber, deviceType, deviceId, detail } = result;
  return [at, failure === null ? 'bound' : 'failed', userId, name, serialNumber, deviceType, deviceId, failure, detail];
}
