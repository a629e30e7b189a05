/** Tells a person why a request failed. */
import type { Problem } from '../api/problem.ts';
import { settingsForm, text } from '../text/words.ts';
import { Button } from './button.tsx';

interface ProblemNoticeProps {
  /** Null shows nothing. */
  readonly problem: Problem | null;
  readonly retry?: () => void;
}

/** A problem and its fix. */
export function ProblemNotice({ problem, retry }: ProblemNoticeProps) {
  const words = text.problem;
  if (!problem) return null;
  const shown = wordsOf(problem);
  return (
    <div class="problem" role="alert">
      <strong>{words.title}</strong>
      <p>{shown}</p>
      {typeof problem.code === 'number' && problem.code > 0 && !shown.endsWith(problem.message) && (
        <details>
          <summary>{words.original}</summary>
          <span lang="en">{problem.message}</span>
        </details>
      )}
      {problem.requestId && <small>{words.requestId(problem.requestId)}</small>}
      {retry && <Button words={words.retry} onClick={retry} />}
    </div>
  );
}

/** The problem as a sentence. */
export function wordsOf({ code, message }: Problem): string {
  const words = text.problem;
  if (code === 'key') return { known: words.keyKnown, address: words.keyAddress }[message] ?? words.noKey;
  if (code === 'changed') return settingsForm.changed;
  if (code === 0) return words.noAnswer;
  return words.refusal(code, message);
}
