import { personKey } from '../../src/contract/person-key.ts';
import type { Rows, Window } from '../store/queries.ts';
import { type AnswerRecord, type ReadsOf, type RecordQueries, withAnswer, withAnswers } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import type { Lookup, LookupKey } from '../store/table.ts';
import { bindingReads, caseReads } from './bindings.ts';
import type { CaseSet } from './case-records.ts';
import { CaseRows, caseChanges, caseEntries, caseReplay, RefusedRows, refusedChanges } from './case-rules.ts';
import { holderOf } from './decisions.ts';
import { firstPersonAddition, personAddition } from './device-bindings.ts';
import type { PersonErase } from './erasure-records.ts';
import { erasureChanges } from './erasure-rules.ts';
import { LeaverWindow } from './leaver-rules.ts';
import { logReads } from './provisioning-log.ts';
import type { PersonFilter } from './queries.ts';
import type { OwnerGuard, PersonChange, PersonRecord, PresentGuard } from './records.ts';
import type { RefusedAdd, RefusedRow } from './refused-records.ts';
import { ownerGuards, personChanges, personReplay } from './rules.ts';
import { collectPersons, openedNames } from './sealed-names.ts';
import { peopleInSqlite } from './sqlite/index.ts';
import { peopleNamed, personSalts, people as persons, refusedRequests } from './tables.ts';

declare module '../store/document.ts' {
  interface SubjectDocuments {
    people: 'people-policy' | 'groups' | 'directory' | 'directory-run' | 'drift';
  }
}
declare module '../store/commit.ts' {
  interface SubjectChanges {
    people: PersonChange | CaseSet | RefusedAdd | PersonErase;
  }
  interface SubjectGuards {
    people: OwnerGuard | PresentGuard;
  }
  interface SubjectResults {
    people: /**
     * Numbers of the devices of a leaver that were locked or retired, and of those that are held. `dueAt`: when they will be
     * locked. `accounts`: those that were disabled; absent while the person waits, and if nothing was to be done.
     */
      | {
          readonly kind: 'left';
          readonly locked: readonly number[];
          readonly held: readonly number[];
          readonly dueAt: number | null;
          readonly accounts?: readonly number[];
        }
      /** A new user name waits for a release. */
      | { readonly kind: 'held' };
  }
}
declare module '../store/store.ts' {
  interface SubjectReads extends ReadsOf<typeof reads> {
    /** In order of creation. */
    people(query: PersonFilter & Window): Promise<Rows<PersonRecord>>;
  }
}

const allRefused: Lookup<RefusedRow> = { table: refusedRequests, by: [] };

const reads = (queries: RecordQueries) => ({
  ...bindingReads(queries),
  ...caseReads(queries),
  ...logReads(queries),
  person: (number: number) => queries.one(persons.byKey, number),
  /** The person whom the user name means: see `personKey` and `holderOf`. */
  personByName: (userName: string) =>
    withAnswer(queries.all(peopleNamed, personKey(userName)), found => holderOf(found) ?? null),
  /** By `personKey`: the person who has the name, or if none has it, one of those who had it and are removed. */
  personsByKey: (keys: readonly string[]) => {
    const [named, present] = [queries.many(peopleNamed, keys), queries.many(persons.unique, keys)];
    const joined = withAnswers(named, present, (all, found) => new Map([...all, ...found]));
    return joined as AnswerRecord<ReadonlyMap<LookupKey, PersonRecord>>;
  },
  /** All persons with an equal user name, by number: at most one of them is not removed. */
  peopleNamed: (userName: string) => queries.all(peopleNamed, personKey(userName)),
  /** Requests of each source that could not be stored. */
  refusedRequests: () => queries.all(allRefused, ''),
});

/** Persons and their devices, leaves, and requests of sources that were refused. */
export const people = subject({
  tables: [persons],
  replaced: [LeaverWindow, CaseRows, RefusedRows],
  changes: { ...personChanges, ...caseChanges, ...refusedChanges, ...erasureChanges },
  additions: { 'device.add': firstPersonAddition, 'device.set': personAddition },
  guards: ownerGuards,
  replays: () => [
    { takes: 'person', replay: personReplay() },
    { takes: caseEntries, replay: caseReplay() },
  ],
  names: { salts: personSalts, collect: collectPersons, open: openedNames },
  reads,
  sqlite: peopleInSqlite,
  postgres: async () => (await import('./postgres/index.ts')).peopleInPostgres,
});
