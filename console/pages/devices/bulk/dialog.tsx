/** A bulk operation, from the preview to its results. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Problem, problemOf } from '../../../api/problem.ts';
import { Dialog, FocusedButton } from '../../../parts/dialog.tsx';
import { ProblemNotice } from '../../../parts/problem.tsx';
import { Waiting } from '../../../parts/status.tsx';
import { dictionary, text } from '../../../text/text.ts';
import type { EnteredFields } from '../operations.tsx';
import type { BulkName, DeviceSelection } from '../selection.ts';
import { BulkForm } from './form.tsx';
import { Results } from './results.tsx';
import { BatchRun } from './run.ts';
import { type BulkTargets, targetsAmong, targetsMatching } from './targets.ts';

const bulkWords = dictionary('bulk');

interface BulkDialogProps {
  readonly name: BulkName;
  readonly query: URLSearchParams;
  readonly selection: DeviceSelection;
  /** Called when the dialog is to go; `hasRun` if devices may have changed. */
  readonly onClose: (hasRun: boolean) => void;
}

/** The operation and its devices, which are counted first. */
function useBulk({ name, query, selection }: Omit<BulkDialogProps, 'onClose'>) {
  const counted = useSignal(0);
  const problem = useSignal<Problem | null>(null);
  const bulk = useSignal<{ readonly run: BatchRun; readonly targets: BulkTargets } | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const count = selection.all.peek()
      ? targetsMatching(name, query, abort.signal, number => {
          counted.value = number;
        })
      : Promise.resolve(targetsAmong(name, selection.picked()));
    count.then(
      targets => {
        bulk.value = { run: new BatchRun(name, targets.ids), targets };
      },
      error => {
        problem.value = problemOf(error);
      },
    );
    return () => abort.abort();
  }, []);
  return { counted, problem, bulk: bulk.value };
}

/** Counts the devices first, then asks, then runs. Esc leaves the question, or stops the run after the batch under way: what it has done stays on the page. */
export function BulkDialog({ onClose, ...about }: BulkDialogProps) {
  const { counted, problem, bulk } = useBulk(about);
  const state = bulk?.run.state.value ?? 'ready';
  const hasRun = (bulk?.run.results.value.length ?? 0) > 0;
  const close = () => {
    if (state === 'running' || (state === 'paused' && hasRun)) bulk?.run.stop();
    else if (state !== 'stopping') onClose(hasRun || state === 'done');
  };
  return (
    <Dialog title={text.value.action[about.name]} onClose={close}>
      <ProblemNotice problem={problem.value} />
      {!bulk && !problem.value && <p role="status">{bulkWords.value.counting(counted.value)}</p>}
      {bulk ? (
        <Phase {...bulk} isStarted={hasRun || !isAsking(state)} onClose={close} />
      ) : (
        <p class="actions">
          <button type="button" onClick={close}>
            {text.value.common.cancel}
          </button>
        </p>
      )}
    </Dialog>
  );
}

/** A first batch that was refused, for a wrong password as an example, leads back to the form. */
const isAsking = (state: string): boolean => state === 'ready' || state === 'paused';

interface PhaseProps {
  readonly run: BatchRun;
  readonly targets: BulkTargets;
  readonly isStarted: boolean;
  readonly onClose: () => void;
}

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
      {isStarted && <Progress run={run} retry={() => start(entries.current)} />}
    </>
  );
}

function Progress({ run, retry }: { readonly run: BatchRun; readonly retry: () => void }) {
  const words = bulkWords.value;
  const state = run.state.value;
  const done = run.results.value.length;
  return (
    <>
      <p role="status">{words.progress(done, run.ids.length)}</p>
      <progress max={run.ids.length} value={done} aria-label={words.progress(done, run.ids.length)} />
      <Waiting />
      <ProblemNotice problem={run.problem.value} retry={retry} />
      <p class="actions">
        <FocusedButton disabled={state === 'stopping'} onClick={() => run.stop()}>
          {state === 'stopping' ? words.stopping : words.stop}
        </FocusedButton>
      </p>
    </>
  );
}

function Done({ run, onClose }: { readonly run: BatchRun; readonly onClose: () => void }) {
  return (
    <>
      <ProblemNotice problem={run.problem.value} />
      <Results run={run} />
      <p class="actions">
        <FocusedButton onClick={onClose}>{text.value.common.close}</FocusedButton>
      </p>
    </>
  );
}
