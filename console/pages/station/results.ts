/** The results of the station page: each key, the figures, and the rows of the file. */
import type { ProviderItem } from '../../../src/contract/providers.ts';
import type { CheckPin } from '../../../src/enrollment/key-pin.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';
import { Tally, type TallyFigures } from '../../../src/enrollment/line/tally.ts';
import { type EnrollmentOutcome, type KeyFailure, providerColumn } from '../../../src/enrollment/outcome.ts';
import type { NumberedKey } from '../../../src/enrollment/registry.ts';

/** The work with a key after it is bound. */
export interface IssueChoice {
  /** At least one. */
  readonly providers: readonly Pick<ProviderItem, 'providerId' | 'name'>[];
  /** Whether the operator gives a key its first PIN. */
  readonly setsPin: boolean;
}

/** The result of issuing a key. */
interface IssuedKey {
  /** By the names of columns. */
  readonly providers: NonNullable<EnrollmentOutcome['providers']>;
  /** Why it does not sign in at each; null if it does. */
  readonly reason: string | null;
}

/** The question for the PIN of a key. */
export interface PinQuestion {
  readonly keyId: string;
  readonly serialNumber: string;
  /** Attempts that are left; null if that is not known, or if the key has no PIN. */
  readonly retries: number | null;
  /** For the first PIN of the key; null for a key that has one. */
  readonly check: CheckPin | null;
}

/** Resolves with the PIN, which is stored nowhere. Rejects if the operator enters none. */
export type AskPin = (question: PinQuestion) => Promise<string>;

/** The result of issuing a bound key. Never rejects. */
export type IssueKey = (key: NumberedKey, deviceId: string, choice: IssueChoice, ask: AskPin) => Promise<IssuedKey>;

/** A key that was bound or has failed. Has no activation code: it is stored in the tab. */
export interface StationResult
  extends Pick<EnrollmentOutcome, 'deviceType' | 'serialNumber' | 'deviceId' | 'message' | 'providers'>,
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
  /** Absent or null: keys are bound only. */
  readonly issue?: IssueChoice | null;
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
const resultColumns = [
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

/** The providers that the results name, by their columns. */
const providersIn = (results: readonly StationResult[]): string[] => [
  ...new Set(results.flatMap(({ providers = {} }) => Object.keys(providers))),
];

/** The columns, and the cells of a row, with those of providers. */
export const tableOf = (results: readonly StationResult[]) => {
  const providers = providersIn(results);
  return {
    columns: [...resultColumns, ...providers.map(name => providerColumn + name)],
    cells: (result: StationResult) => [
      ...resultCells(result),
      ...providers.map(name => result.providers?.[name] ?? null),
    ],
  };
};

/** Where a key signs in. */
export const issuedAt = ({ providers = {} }: Pick<StationResult, 'providers'>): string =>
  Object.keys(providers)
    .filter(name => providers[name] === 'issued')
    .join(', ');
