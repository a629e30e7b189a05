/** What a bulk operation will do, and what it needs to know before it does. */
import { operationStates } from '../../../../src/contract/operation-states.ts';
import { deviceStatuses } from '../../../../src/contract/values.ts';
import { ApprovedForm } from '../../../parts/action-dialog.tsx';
import {
  type EnteredFields,
  enteredFor,
  isComplete,
  OperationFields,
  useOperationEntries,
} from '../../../parts/operations.tsx';
import { Table } from '../../../parts/table.tsx';
import { grouped } from '../../../text/numbers.ts';
import { text, bulk as words } from '../../../text/words.ts';
import type { BulkName } from '../selection.ts';
import type { BulkRun, BulkTargets } from './targets.ts';

interface BulkFormProps {
  readonly run: BulkRun;
  readonly targets: BulkTargets;
  readonly onStart: (entered: EnteredFields) => void;
  readonly onClose: () => void;
}

/** The preview with its form. Retiring devices cannot be undone: it needs their number and a password. */
export function BulkForm({ run: { name, problem }, targets, onStart, onClose }: BulkFormProps) {
  const entries = useOperationEntries();
  const count = targets.ids.length;
  return (
    <ApprovedForm
      submit={words.start[name](count)}
      isDangerous={name === 'DEACTIVATE'}
      isReady={count > 0 && isComplete(name, entries, `${count}`)}
      problem={problem.value}
      onSubmit={() => onStart(enteredFor(name, entries))}
      onClose={onClose}
    >
      <Preview name={name} targets={targets} />
      {targets.note}
      {count > 0 && <OperationFields name={name} entries={entries} confirmation={words.typeCount(count)} />}
    </ApprovedForm>
  );
}

function Preview({ name, targets: { ids, byStatus } }: { readonly name: BulkName; readonly targets: BulkTargets }) {
  const states: readonly string[] = operationStates[name];
  return (
    <>
      <p>{words.preview[name](ids.length)}</p>
      <Table
        heads={{ count: words.count, what: words.what }}
        columns={{
          state: status => text.status[status],
          count: status => grouped(byStatus[status]),
          what: status => (states.includes(status) ? words.changed : words.skipped),
        }}
        rowHead="state"
        classes={{ count: 'number' }}
        rows={deviceStatuses.filter(status => byStatus[status] > 0)}
        keyOf={status => status}
      />
    </>
  );
}
