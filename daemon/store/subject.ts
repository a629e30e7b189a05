/**
 * A subject as the store takes it, as data: their tables, what their changes and guards mean, what the journal proves of them,
 * their reads. A subject states it in its folder, with its types in the interfaces `Subject…` of this folder;
 * `daemon/start/subjects.ts` lists the subjects.
 */

import type { SealedNames } from './chain.ts';
import type { EntryType, SubjectKind } from './journal.ts';
import type { Reads, RecordQueries } from './read/records.ts';
import type { SqliteSubject } from './sqlite/subject.ts';
import type { CommitNotice } from './store.ts';
import type { AnyTable } from './table.ts';
import type { ReplacedKind } from './write/documents.ts';
import type { Draft } from './write/draft.ts';
import type { Fields, Replay, RowComparison } from './write/replay.ts';
import type { CallerRule, ChangeAdditions, ChangeRule, GuardRule } from './write/rule.ts';
import type { AnyLookup } from './write/source.ts';

/** A replay, and the entries that it takes: those of some types, or else those about a device, or about a subject of a kind. */
export interface AssignedReplay {
  readonly takes: readonly EntryType[] | SubjectKind | 'device' | 'document';
  // biome-ignore lint/suspicious/noExplicitAny: replays of all tables are in one list
  readonly replay: Replay<any, any>;
  /** Takes entries of these types, which are about many rows. */
  readonly many?: { readonly [T in EntryType]?: (detail: Fields) => void };
}

/** Statements of subjects for engines that are loaded on demand: each engine adds its own. */
// biome-ignore lint/suspicious/noEmptyInterface: engines add to it
export interface SubjectEngines {}
type OnDemand = { readonly [E in keyof SubjectEngines]?: () => Promise<SubjectEngines[E]> };

export interface Subject extends OnDemand {
  /** Tables whose rows are numbered from 1 without gaps. Rows refer to those of earlier tables only, and to those of earlier subjects. */
  readonly tables?: readonly AnyTable[];
  /** Rows that are replaced as a whole. */
  readonly replaced?: readonly ReplacedKind[];
  // biome-ignore lint/suspicious/noExplicitAny: rules of all kinds are in one list
  readonly changes?: { readonly [kind: string]: ChangeRule<any> };
  /** To changes of other subjects. */
  readonly additions?: ChangeAdditions;
  // biome-ignore lint/suspicious/noExplicitAny: rules of all kinds are in one list
  readonly guards?: { readonly [kind: string]: GuardRule<any> };
  /** Whether the caller of a commit may still make it. */
  readonly caller?: CallerRule;
  /** Documents whose change may end the right of any user. */
  readonly rightsIn?: readonly string[];
  /** Lookups of nearly every commit in rows that few change. */
  readonly kept?: readonly AnyLookup[];
  /** Lookups in tables that most registries leave empty, whatever each commit looks up there. */
  readonly rare?: readonly AnyLookup[];
  /** The subject's part of the notice to listeners of commits. */
  readonly notice?: (draft: Draft) => Partial<CommitNotice>;
  /** The rows as the journal records that they are, for one check. */
  readonly replays?: () => readonly AssignedReplay[];
  // biome-ignore lint/suspicious/noExplicitAny: comparisons of all tables are in one list
  readonly comparisons?: readonly RowComparison<any>[];
  readonly names?: SealedNames;
  /** Queries that return a text for each fault: counters and rows that do not agree. */
  readonly faults?: readonly string[];
  /** Reads, once for both engines. */
  readonly reads?: (queries: RecordQueries) => Partial<Reads>;
  readonly sqlite?: SqliteSubject;
}

/** Checks the type. */
export const subject = <const S extends Subject>(stated: S): S => stated;
