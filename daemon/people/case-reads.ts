/** The reads of cases, once for all engines. */
import type { Window } from '../store/queries.ts';
import { type RecordQueries, withAnswer } from '../store/read/records.ts';
import { selectList } from '../store/table.ts';
import type { CaseRecord } from './case-records.ts';
import { leaverCases } from './tables.ts';

/** `?`: the time before which the case was closed, the number after which they begin, and how many at most. */
const erasable = `SELECT leaver_case.number FROM leaver_case JOIN person ON person.number = leaver_case.number
  WHERE closed_at < ? AND leaver_case.number > ? AND active = false AND (ended_by IS NULL OR ended_by <> 'erasure')
  ORDER BY leaver_case.number LIMIT ?`;

/** `?`: a time. */
const erasedByPolicy = `SELECT subject AS number FROM event
  WHERE device IS NULL AND subject IS NOT NULL AND type = 'PERSON_ERASED' AND actor IS NULL AND at >= ?`;

const state = (isOpen: boolean) => (isOpen ? 'closed_at IS NULL' : 'closed_at IS NOT NULL');

export const caseReads = (queries: RecordQueries) => ({
  /** The last case of a person. */
  leaverCase: (person: number) => queries.one(leaverCases.byKey, person),
  /** Cases by the time of their opening. */
  leaverCases: (isOpen: boolean, { descending, limit, offset }: Window) =>
    queries.rows<CaseRecord>(
      `SELECT ${selectList(leaverCases.fields)} FROM leaver_case WHERE ${state(isOpen)}
        ORDER BY opened_at ${descending ? 'DESC' : 'ASC'}, number LIMIT ? OFFSET ?`,
      [limit, offset],
      leaverCases,
    ),
  /** Persons who have left, are not erased, and whose case was closed before this time; after this number. */
  erasablePersons: (closedBefore: number, after: number, limit: number) =>
    withAnswer(queries.rows<{ readonly number: number }>(erasable, [closedBefore, after, limit]), found =>
      found.map(({ number }) => Number(number)),
    ),
  /** Numbers of the persons whom the policy has erased since this time. */
  erasedByPolicy: (since: number) =>
    withAnswer(queries.rows<{ readonly number: number }>(erasedByPolicy, [since]), found =>
      found.map(({ number }) => Number(number)),
    ),
  leaverCaseCount: (isOpen: boolean) =>
    withAnswer(
      queries.rows<{ readonly total: number }>(`SELECT count(*) AS total FROM leaver_case WHERE ${state(isOpen)}`, []),
      ([found]) => Number(found!.total),
    ),
});
