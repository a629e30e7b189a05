/** The outcome for a key and the next step, in words and in colors. */
import { streamState } from '../../api/stream.ts';
import { station as words } from '../../text/words.ts';
import { issuedAt } from './results.ts';
import type { Outcome, StationView } from './station-view.ts';

/** The message in the middle of the page. */
interface Stage {
  readonly tone: 'good' | 'bad' | 'warn' | 'idle';
  /** Null if nothing has been decided. */
  readonly word: string | null;
  readonly lines: readonly string[];
}

const nameOf = ({ person }: Outcome) => person.name ?? person.userId;

/** The stage of the page for a run. */
export function shownOf(view: StationView): Stage {
  const { stage } = words;
  const { said, person } = view;
  const remark = said ? [said.text === '' ? words.said[said.what] : `${said.text}: ${words.said[said.what]}`] : [];
  const next = person ? stage.empty(person.name ?? person.userId) : view.roster ? '' : stage.emptyOpen;
  switch (view.phase) {
    case 'checking':
      return { tone: 'idle', word: null, lines: [...remark, stage.checking] };
    case 'committing':
      return {
        tone: 'idle',
        word: null,
        lines: [streamState.value === 'lost' ? stage.away : view.isIssuing ? stage.issuing : stage.committing],
      };
    case 'crowded':
      return { tone: 'bad', word: stage.stop, lines: [stage.crowded] };
    case 'ready': {
      const ready = view.issue ? stage.readyToIssue : stage.ready;
      return { tone: 'good', word: stage.pass, lines: [...remark, ready(person?.name ?? person?.userId ?? '')] };
    }
    case 'aside':
      return asideOf(view, remark);
    case 'failed':
    case 'empty':
      return ended(view, remark, next);
  }
}

function asideOf(view: StationView, remark: readonly string[]): Stage {
  const { stage } = words;
  if (view.outcome) return ended(view, remark, '');
  const why = view.isHeld ? stage.held : view.roster ? stage.aside : stage.asideOpen;
  return { tone: 'warn', word: stage.wait, lines: remark.length && view.person ? remark : [...remark, why] };
}

function ended({ outcome, isHeld }: StationView, remark: readonly string[], next: string): Stage {
  const { stage, failure } = words;
  if (outcome?.verdict.failure) {
    const { failure: why, row } = outcome.verdict;
    const still = why === 'not issued' ? [] : [stage.still(nameOf(outcome))];
    const lines = [...remark, [failure[why], row.message].filter(Boolean).join(' '), ...still];
    return { tone: 'bad', word: stage.fail, lines };
  }
  if (outcome?.isCommit) {
    const bound = stage.boundTo(outcome.key.serialNumber ?? '', nameOf(outcome));
    const names = issuedAt(outcome.verdict.row);
    const signsIn = names ? words.results.signsIn(names) : '';
    return { tone: 'good', word: stage.bound, lines: [bound, signsIn, ...remark, next].filter(Boolean) };
  }
  return {
    tone: isHeld ? 'warn' : 'idle',
    word: isHeld ? stage.wait : null,
    lines: [...remark, isHeld ? stage.held : next].filter(Boolean),
  };
}
