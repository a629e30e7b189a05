/** A bulk operation, from the preview to its results. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { sizes } from '../../../../src/contract/limits.ts';
import { operationStates } from '../../../../src/contract/operation-states.ts';
import { deviceStatuses } from '../../../../src/contract/values.ts';
import { call, newKey } from '../../../api/request.ts';
import { useResource } from '../../../api/resource.ts';
import { ApprovedForm } from '../../../parts/action-dialog.tsx';
import { BatchProgress } from '../../../parts/batch-progress.tsx';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import {
  type EnteredFields,
  enteredFor,
  isComplete,
  OperationFields,
  useOperationEntries,
} from '../../../parts/operations.tsx';
import { ProblemNotice } from '../../../parts/problem.tsx';
import { Waiting } from '../../../parts/status.tsx';
import { Table } from '../../../parts/table.tsx';
import { toast } from '../../../parts/toast.ts';
import { grouped } from '../../../text/numbers.ts';
import { text, bulk as words } from '../../../text/words.ts';
import type { BulkName } from '../selection.ts';
import { Results } from './results.tsx';
import { BulkRun, type BulkTargets } from './targets.ts';

interface BulkDialogProps {
  readonly name: BulkName;
  /** Finds the devices. `onCount` is called with the number of those that were found until then. */
  readonly find: (name: BulkName, signal: AbortSignal, onCount: (count: number) => void) => Promise<BulkTargets>;
  /** Called when the dialog is to go; `hasRun` if devices may have changed. */
  readonly onClose: (hasRun: boolean) => void;
}

/** Counts the devices, asks, then runs. Esc leaves the question, or stops the run after the present batch and keeps its results. */
export function BulkDialog({ name, find, onClose }: BulkDialogProps) {
  const counted = useSignal(0);
  const { data, problem } = useResource(async signal => {
    const targets = await find(name, signal, number => (counted.value = number));
    return { run: new BulkRun(name, targets), targets };
  });
  const bulk = data.value;
  const state = bulk?.run.state.value ?? 'ready';
  const hasRun = (bulk?.run.results.value.length ?? 0) > 0;
  const close = () => {
    if (state === 'running' || (state === 'paused' && hasRun)) bulk?.run.stop();
    else if (state !== 'stopping') {
      if (bulk) offerUndo(bulk.run);
      onClose(hasRun || state === 'done');
    }
  };
  return (
    <Dialog title={text.action[name]} onClose={close}>
      <ProblemNotice problem={problem.value} />
      {!bulk && !problem.value && <p role="status">{words.counting(counted.value)}</p>}
      {bulk ? (
        <Phase {...bulk} isStarted={hasRun || !isAsking(state)} onClose={close} />
      ) : (
        <p class="actions">
          <Button words={text.common.cancel} onClick={close} />
        </p>
      )}
    </Dialog>
  );
}

/** Offers to unlock what was locked, if one request can do that. */
function offerUndo({ name, results }: BulkRun): void {
  const locked = results.value.flatMap(({ status, deviceId }) => (status === 'success' ? { deviceId } : []));
  if (name !== 'LOCK' || locked.length === 0 || locked.length > sizes.batchUpdateItems) return;
  const { done } = words;
  toast(done.LOCK(locked.length), async () => {
    const body = { operation: 'UNLOCK', items: locked } as const;
    const { success } = await call('batchUpdateDevices', { body }, { key: newKey() });
    return done.UNLOCK(success);
  });
}

/** A first batch that was refused, for a wrong password as an example, leads back to the form. */
const isAsking = (state: string): boolean => state === 'ready' || state === 'paused';

type PhaseProps = Readonly<{ run: BulkRun; targets: BulkTargets; isStarted: boolean; onClose: () => void }>;

function Phase({ run, targets, isStarted, onClose }: PhaseProps) {
  const entries = useRef<EnteredFields>({});
  const start = (entered: EnteredFields) => {
    entries.current = entered;
    void run.start(entered);
  };
  if (run.state.value === 'done') return <Done run={run} onClose={onClose} />;
  return (
    <>
      {/* The form stays while the first batch is under way: after a refusal nothing has to be entered again. */}
      <div hidden={isStarted}>
        <BulkForm run={run} targets={targets} onStart={start} onClose={onClose} />
      </div>
      {isStarted && (
        <>
          <Waiting />
          <BatchProgress run={run} retry={() => start(entries.current)} />
        </>
      )}
    </>
  );
}

const Done = ({ run, onClose }: { readonly run: BulkRun; readonly onClose: () => void }) => (
  <>
    <ProblemNotice problem={run.problem.value} />
    <Results run={run} />
    <p class="actions">
      <Button isFocused words={text.common.close} onClick={onClose} />
    </p>
  </>
);

interface BulkFormProps {
  readonly run: BulkRun;
  readonly targets: BulkTargets;
  readonly onStart: (entered: EnteredFields) => void;
  readonly onClose: () => void;
}

/** The preview with its form. Retiring devices cannot be undone: it needs their number and a password. */
function BulkForm({ run: { name, problem }, targets, onStart, onClose }: BulkFormProps) {
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
        heads={{ count: text.nav.devices, what: words.what }}
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
