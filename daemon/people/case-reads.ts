/** The reads of cases, once for all engines. */
import type { Window } from '../store/queries.ts';
import { type RecordQueries, withAnswer } from '../store/read/records.ts';
import { selectList } from '../store/table.ts';
import type { CaseRecord } from './case-records.ts';
import { leaverCases } from './tables.ts';

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
  leaverCaseCount: (isOpen: boolean) =>
    withAnswer(
      queries.rows<{ readonly total: number }>(`SELECT count(*) AS total FROM leaver_case WHERE ${state(isOpen)}`, []),
      ([found]) => Number(found!.total),
    ),
});
