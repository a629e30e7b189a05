/** The view of the station page. */
import type { Key } from '../../../src/contract/hardware.ts';
import type { Phase, Remark } from '../../../src/enrollment/line/events.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';
import type { PersonVerdict } from '../../../src/enrollment/line/person-enrollment.ts';
import type { IssueChoice, PinQuestion, StationResult } from './results.ts';

/** The outcome of a check or a commit. */
export interface Outcome {
  readonly verdict: PersonVerdict;
  readonly key: Key;
  readonly person: Person;
  /** Whether it is the result of a commit, not of a check. */
  readonly isCommit: boolean;
}

/** A remark. */
export interface StationRemark {
  readonly what: Remark;
  /** The scan. */
  readonly text: string;
  readonly person: Person | null;
}

/** A question about a PIN, and what takes the answer. */
export interface PinRequest extends PinQuestion {
  readonly answer: (pin: string) => void;
  readonly cancel: () => void;
}

/** The state of the page. */
export interface StationView {
  readonly phase: Phase['type'];
  /** Who gets the next key; null if that is open. */
  readonly person: Person | null;
  /** Whether a badge that names no person has stopped the line. */
  readonly isHeld: boolean;
  /** Keys that the row of this person has. */
  readonly done: number;
  /** The newest result; null after anything else has happened. */
  readonly outcome: Outcome | null;
  readonly said: StationRemark | null;
  /** Keys that are plugged in and not ignored. */
  readonly keys: readonly Key[];
  /** How many are ignored until they are unplugged. */
  readonly ignored: number;
  /** Null without a roster. */
  readonly roster: { readonly rows: number; readonly finished: number; readonly skipped: number } | null;
  /** The first rows that need a key after that of `person`, and how many there are. */
  readonly waiting: { readonly first: readonly Person[]; readonly count: number };
  /** In order; the newest is the last. */
  readonly results: readonly StationResult[];
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** The work with a key after it is bound; null: none. */
  readonly issue: IssueChoice | null;
  /** Whether that is being done. */
  readonly isIssuing: boolean;
  /** Null if no PIN is needed now. */
  readonly asked: PinRequest | null;
}
