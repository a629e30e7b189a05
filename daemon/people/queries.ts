/** Queries about persons. */
import type { PersonSource } from '../../src/contract/person-values.ts';

/** Persons match if they match every field that is given. */
export interface PersonFilter {
  /** A part of what `searchTextOf` has, in upper or lower case; `withEmail: false`: but not of the e-mail address. */
  readonly keyword?: string | undefined;
  readonly withEmail?: boolean | undefined;
  /** One of these `personKey`s. */
  readonly userKeys?: readonly string[] | undefined;
  /** One of these numbers. */
  readonly numbers?: readonly number[] | undefined;
  readonly source?: PersonSource | undefined;
  readonly active?: boolean | undefined;
  /** Number of a group. */
  readonly group?: number | undefined;
  readonly externalId?: string | undefined;
  /** Exactly this many ACTIVE devices. */
  readonly activeDevices?: number | undefined;
  readonly isHeld?: true | undefined;
  /** Whose delay is over at this time. */
  readonly dueBy?: number | undefined;
  /** Not removed by its source. */
  readonly isPresent?: true | undefined;
  /** Only higher numbers; the total is then that of the page. */
  readonly after?: number | undefined;
}
