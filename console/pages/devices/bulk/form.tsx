/** What a bulk operation will do, and what it needs to know before it does. */
import { operationStates } from '../../../../src/contract/operation-states.ts';
import { deviceStatuses } from '../../../../src/contract/values.ts';
import { ApprovedForm } from '../../../parts/action-dialog.tsx';
import { Table } from '../../../parts/table.tsx';
import { grouped } from '../../../text/numbers.ts';
import { dictionary, text } from '../../../text/text.ts';
import { type EnteredFields, enteredFor, isConfirmed, OperationFields, useOperationEntries } from '../operations.tsx';
import type { BulkName } from '../selection.ts';
import type { BatchRun } from './run.ts';
import type { BulkTargets } from './targets.ts';

const listWords = dictionary('devices');
const bulkWords = dictionary('bulk');

interface BulkFormProps {
  readonly run: BatchRun;
  readonly targets: BulkTargets;
  readonly onStart: (entered: EnteredFields) => void;
  readonly onClose: () => void;
}

/** The preview with its form. Retiring devices cannot be undone: it needs their number and a password. */
export function BulkForm({ run: { name, problem }, targets, onStart, onClose }: BulkFormProps) {
  const words = bulkWords.value;
  const entries = useOperationEntries();
  const count = targets.ids.length;
  return (
    <ApprovedForm
      submit={words.start[name](count)}
      isDangerous={name === 'DEACTIVATE'}
      isReady={count > 0 && isConfirmed(name, entries, `${count}`)}
      problem={problem.value}
      onSubmit={() => onStart(enteredFor(name, entries))}
      onClose={onClose}
    >
      <Preview name={name} targets={targets} />
      {count > 0 && <OperationFields name={name} entries={entries} confirmation={words.typeCount(count)} />}
    </ApprovedForm>
  );
}

/** How many devices of which state are changed, and how many are left out. */
function Preview({ name, targets: { ids, byStatus } }: { readonly name: BulkName; readonly targets: BulkTargets }) {
  const words = bulkWords.value;
  const states: readonly string[] = operationStates[name];
  return (
    <>
      <p>{words.preview[name](ids.length)}</p>
      <Table
        heads={{ state: listWords.value.column.state, count: words.count, what: words.what }}
        columns={{
          state: status => text.value.status[status],
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
