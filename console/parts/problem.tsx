/** Tells a person why a request failed. */
import { Code } from '../../src/contract/codes.ts';
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
      <p>{wordsOf(problem)}</p>
      {problem.requestId && <small>{words.requestId(problem.requestId)}</small>}
      {retry && (
        <button type="button" onClick={retry}>
          {words.retry}
        </button>
      )}
    </div>
  );
}

function wordsOf({ code, message }: Problem): string {
  const words = text.value.problem;
  if (code === 'key') return { known: words.keyKnown, address: words.keyAddress }[message] ?? words.noKey;
  if (code === 0) return words.noAnswer;
  const refusal = words.refusal(code, message);
  return code === Code.noPermission ? `${words.forbidden} ${refusal}` : refusal;
}
