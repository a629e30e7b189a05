/** Rules for the changes of cases, and their entries. A case is opened and ended by the changes of its person. */
import { personIds } from '../../src/contract/ids.ts';
import { Conflict } from '../store/commit.ts';
import type { Entry } from '../store/journal.ts';
import type { EntryContext } from '../store/journal-end.ts';
import type { Field } from '../store/table.ts';
import { ReplacedRows } from '../store/write/documents.ts';
import type { Draft } from '../store/write/draft.ts';
import { digestIn, RowReplay } from '../store/write/replay.ts';
import { type ChangeRules, done } from '../store/write/rule.ts';
import { type CaseRecord, type CaseSet, caseDigest, caseFields, ended, opened } from './case-records.ts';
import { subject } from './decisions.ts';
import type { PersonRecord } from './records.ts';
import { numberOfSource, type RefusedAdd, type RefusedRow, withRefusals } from './refused-records.ts';
import { leaverCases, refusedRequests } from './tables.ts';

/** The case of each person. */
export class CaseRows extends ReplacedRows<number, CaseRecord, Field<CaseRecord>> {
  protected readonly lookup = leaverCases.byKey;
}

export function writeCase(draft: Draft, record: CaseRecord, entries: readonly Entry[], context: EntryContext): void {
  draft.part(CaseRows).changed.set(record.number, record);
  const proof = { personId: personIds.format(record.number), caseDigest: caseDigest(record) };
  for (const { type, data, detail } of entries)
    draft.enter(context, { type, ...(data && { data }), detail: { ...detail, ...proof } }, null, record.number);
}

/** Opens the case of a person who has left, unless this leave has one. */
export function openCase(draft: Draft, person: PersonRecord, isLeaving: boolean, context: EntryContext): void {
  const record = opened(person, { isLeaving, before: draft.part(CaseRows).row(person.number) });
  if (record) writeCase(draft, record, [{ type: 'CASE_OPENED', data: subject(person) }], context);
}

/** Ends the open case of a person who is back. */
export function endCase(draft: Draft, person: PersonRecord, context: EntryContext): void {
  const before = draft.part(CaseRows).row(person.number);
  if (before?.closedAt !== null) return;
  const record = { ...before, closedAt: context.at, version: before.version + 1 };
  writeCase(draft, record, [ended(person, 'returned')], context);
}

export const caseChanges: ChangeRules<CaseSet['kind']> = {
  'case.set': {
    needs: ({ person }, wanted) => wanted.add(leaverCases.byKey, person),
    check(draft, { person, before }) {
      const row = draft.part(CaseRows).row(person);
      if (row?.version !== before || row.closedAt !== null)
        throw new Conflict(`the case of person ${person} has another version now`);
    },
    apply(draft, { person, set, closes, entries }, context) {
      const before = draft.part(CaseRows).row(person)!;
      const closedAt = closes ? context.at : null;
      writeCase(draft, { ...before, ...set, closedAt, version: before.version + 1 }, entries, context);
      return done;
    },
  },
};

/** Entries about cases, in place of the replay of persons. */
export const caseEntries = ['CASE_OPENED', 'CASE_ITEM_KEPT', 'CASE_ERASED', 'CASE_OVERDUE', 'CASE_CLOSED'] as const;

/** Compares the cases with the journal. */
export const caseReplay = () =>
  new RowReplay<number, CaseRecord, string>({
    table: 'leaver_case',
    fields: ['number', ...caseFields, 'salt'],
    key: ({ number }) => number,
    said: digestIn('caseDigest'),
    found: caseDigest,
    nameOf: number => `the case of ${personIds.format(number)}`,
  });

/** The row of each source. */
export class RefusedRows extends ReplacedRows<number, RefusedRow, Field<RefusedRow>> {
  protected readonly lookup = refusedRequests.byKey;
}

export const refusedChanges: ChangeRules<RefusedAdd['kind']> = {
  'refused.add': {
    needs: ({ source }, wanted) => wanted.add(refusedRequests.byKey, numberOfSource(source)),
    apply(draft, change, context) {
      const kept = draft.part(RefusedRows);
      const { row, entry } = withRefusals(kept.row(numberOfSource(change.source)), change, context.at);
      kept.changed.set(row.number, row);
      if (entry) draft.enter(context, entry, null, null);
      return done;
    },
  },
};
