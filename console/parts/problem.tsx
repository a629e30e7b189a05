/** A request that failed, said to a person. */
import type { Problem } from '../api/problem.ts';
import { text } from '../text/text.ts';

interface ProblemNoticeProps {
  /** Null shows nothing. */
  readonly problem: Problem | null;
  /** Offers to try again. */
  readonly retry?: () => void;
}

/** What went wrong, and what to do next. */
export function ProblemNotice({ problem, retry }: ProblemNoticeProps) {
  const words = text.value.problem;
  if (!problem) return null;
  return (
    <div class="problem" role="alert">
      <strong>{words.title}</strong>
      <p>
        {problem.code === 0
          ? words.noAnswer
          : problem.code === 2007
            ? `${words.forbidden} ${problem.message}`
            : problem.message}
      </p>
      {problem.requestId && <small>{words.requestId(problem.requestId)}</small>}
      {retry && (
        <button type="button" onClick={retry}>
          {words.retry}
        </button>
      )}
    </div>
  );
}
