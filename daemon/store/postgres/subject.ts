/** Statements of a subject for PostgreSQL alone. */
import type { Reader, SubjectStreams } from '../store.ts';
import type { AnyTable } from '../table.ts';
import type { Draft } from '../write/draft.ts';
import type { Readers } from './readers.ts';
import type { DatabaseSession } from './session.ts';
import type { Statement } from './tables.ts';

declare module '../subject.ts' {
  interface SubjectEngines {
    /** Loaded only by a daemon with PostgreSQL. */
    readonly postgres: PostgresSubject;
  }
}

export interface PostgresSubject {
  /** Make what follows from the rows, after a copy of them. */
  readonly derived?: readonly string[];
  /** Queries that return a text for each fault, beside those for both engines. */
  readonly faults?: readonly string[];
  readonly reads?: (readers: Readers) => Partial<Reader>;
  readonly streams?: (open: () => Promise<DatabaseSession>) => Partial<SubjectStreams>;
  /** Writes what a draft has beside records and replaced rows. */
  readonly writes?: (draft: Draft) => Iterable<Statement>;
  /** Plans that were made for a nearly empty table take three times as long for a large one: what to run when it has grown. */
  readonly grows?: { readonly table: AnyTable; readonly analyze: string };
}
