/** Rules for requests of sources that the registry could not store. */

import type { Field } from '../store/table.ts';
import { ReplacedRows } from '../store/write/documents.ts';
import { type ChangeRules, done } from '../store/write/rule.ts';
import { numberOfSource, type RefusedAdd, type RefusedRow, withRefusals } from './refused-records.ts';
import { refusedRequests } from './tables.ts';

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
