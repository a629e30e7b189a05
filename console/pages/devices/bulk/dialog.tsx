/** A bulk operation, from the preview to its results. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Problem, problemOf } from '../../../api/problem.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { ProblemNotice } from '../../../parts/problem.tsx';
import { Waiting } from '../../../parts/status.tsx';
import { dictionary, text } from '../../../text/text.ts';
import type { Selection } from '../selection.ts';
import { BulkForm } from './form.tsx';
import type { BulkName } from './operations.ts';
import { Results } from './results.tsx';
import { BulkRun, type Entries } from './run.ts';
import { type Targets, targetsAmong, targetsMatching } from './targets.ts';

const bulkWords = dictionary('bulk');

interface BulkDialogProps {
  readonly name: BulkName;
  readonly query: URLSearchParams;
  readonly selection: Selection;
  /** Called when the dialog is to go; `hasRun` if devices may have changed. */
  readonly onClose: (hasRun: boolean) => void;
}

/** Counts the devices first, then asks, then runs. Esc leaves the question, or stops the run after the batch under way: what it has done stays on the page. */
export function BulkDialog({ name, query, selection, onClose }: BulkDialogProps) {
  const counted = useSignal(0);
  const problem = useSignal<Problem | null>(null);
  const targets = useSignal<Targets | null>(null);
  const run = useSignal<BulkRun | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const count = selection.all.peek()
      ? targetsMatching(name, query, abort.signal, number => {
          counted.value = number;
        })
      : Promise.resolve(targetsAmong(name, selection.picked()));
    count.then(
      found => {
        targets.value = found;
        run.value = new BulkRun(name, found.ids);
      },
      error => {
        problem.value = problemOf(error);
      },
    );
    return () => abort.abort();
  }, []);
  const state = run.value?.state.value ?? 'ready';
  const hasRun = (run.value?.results.value.length ?? 0) > 0;
  const close = () => {
    if (state === 'running' || (state === 'paused' && hasRun)) run.value?.stop();
    else if (state !== 'stopping') onClose(hasRun || state === 'done');
  };
  return (
    <Dialog title={text.value.action[name]} onClose={close}>
      <ProblemNotice problem={problem.value} />
      {!targets.value && !problem.value && <p role="status">{bulkWords.value.counting(counted.value)}</p>}
      {run.value && targets.value ? (
        <Phase run={run.value} targets={targets.value} isStarted={hasRun || !isAsking(state)} onClose={close} />
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
  readonly run: BulkRun;
  readonly targets: Targets;
  readonly isStarted: boolean;
  readonly onClose: () => void;
}

function Phase({ run, targets, isStarted, onClose }: PhaseProps) {
  const entries = useRef<Entries>({});
  const start = (entered: Entries) => {
    entries.current = entered;
    void run.start(entered);
  };
  if (run.state.value === 'done') return <Done run={run} onClose={onClose} />;
  return (
    <>
      {/* The form stays while the first batch is under way: after a refusal nothing has to be entered again. */}
      <div hidden={isStarted}>
        <ProblemNotice problem={run.problem.value} />
        <BulkForm name={run.name} targets={targets} onStart={start} onCancel={onClose} />
      </div>
      {isStarted && <Progress run={run} retry={() => start(entries.current)} />}
    </>
  );
}

function Progress({ run, retry }: { readonly run: BulkRun; readonly retry: () => void }) {
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
        <Focused disabled={state === 'stopping'} onClick={() => run.stop()}>
          {state === 'stopping' ? words.stopping : words.stop}
        </Focused>
      </p>
    </>
  );
}

function Done({ run, onClose }: { readonly run: BulkRun; readonly onClose: () => void }) {
  return (
    <>
      <ProblemNotice problem={run.problem.value} />
      <Results run={run} />
      <p class="actions">
        <Focused onClick={onClose}>{text.value.common.close}</Focused>
      </p>
    </>
  );
}

interface FocusedProps {
  readonly disabled?: boolean;
  readonly onClick: () => void;
  readonly children: string;
}

/** A button that takes the focus when it appears: the one that had it has gone. */
function Focused({ children, ...rest }: FocusedProps) {
  const ref = useRef<HTMLButtonElement>(null);
  useEffect(() => ref.current?.focus(), []);
  return (
    <button type="button" ref={ref} {...rest}>
      {children}
    </button>
  );
}
