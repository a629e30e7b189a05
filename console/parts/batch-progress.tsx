/** How far a run over many items is. */
import type { BatchRun } from '../api/batch-run.ts';
import { bulk as words } from '../text/words.ts';
import { Button } from './button.tsx';
import { ProblemNotice } from './problem.tsx';

interface BatchProgressProps {
  readonly run: Pick<BatchRun<unknown, unknown>, 'state' | 'results' | 'problem' | 'total' | 'stop'>;
  readonly retry: () => void;
}

/** The number of items that are done, and a button that stops the run. */
export function BatchProgress({ run, retry }: BatchProgressProps) {
  const state = run.state.value;
  const done = run.results.value.length;
  return (
    <>
      <p role="status">{words.progress(done, run.total)}</p>
      <progress max={run.total} value={done} aria-label={words.progress(done, run.total)} />
      <ProblemNotice problem={run.problem.value} retry={retry} />
      <p class="actions">
        <Button
          isFocused
          words={state === 'stopping' ? words.stopping : words.stop}
          disabled={state === 'stopping'}
          onClick={() => run.stop()}
        />
      </p>
    </>
  );
}
