/** Who is next, the key in the reader, and what has become of it: large, in words and in colors. */
import { useEffect, useRef } from 'preact/hooks';
import { streamState } from '../../api/stream.ts';
import { Keys } from './keys.tsx';
import type { BenchRun, BenchView, Outcome } from './run.ts';
import { benchWords } from './words.ts';

let focus = () => {};

/** Puts the focus where Enter commits. */
export const focusStage = (): void => focus();

/** The middle of the page. */
export function Stage({ run }: { readonly run: BenchRun }) {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    focus = () => ref.current?.focus();
    return () => {
      focus = () => {};
    };
  }, []);
  const view = run.view.value;
  const shown = shownOf(view);
  return (
    <section class={`stage ${shown.tone}`} ref={ref} tabIndex={-1} aria-label={benchWords.value.stage.label}>
      <Who view={view} />
      <div role="status">
        {shown.word && <p class="verdict">{shown.word}</p>}
        {shown.lines.map(line => (
          <p key={line}>{line}</p>
        ))}
      </div>
      {view.outcome && <Checks outcome={view.outcome} />}
      {view.outcome?.verdict.activationCode && (
        <p>
          {benchWords.value.stage.code} <strong class="code">{view.outcome.verdict.activationCode}</strong>
        </p>
      )}
      <Keys run={run} />
      <Actions run={run} />
    </section>
  );
}

function Who({ view }: { readonly view: BenchView }) {
  const words = benchWords.value.stage;
  const { person, roster, done } = view;
  if (!person) return <p class="who">{roster && !view.isHeld && !view.waiting.count ? words.all : words.unnamed}</p>;
  return (
    <p class="who">
      {person.name ?? person.userId}{' '}
      <small>
        {[person.name === null ? '' : person.userId, person.wanted > 1 ? words.keyOf(done + 1, person.wanted) : '']
          .filter(Boolean)
          .join(' · ')}
      </small>
    </p>
  );
}

interface Shown {
  readonly tone: 'good' | 'bad' | 'warn' | 'idle';
  /** Null if nothing has been decided. */
  readonly word: string | null;
  readonly lines: readonly string[];
}

const nameOf = ({ person }: Outcome) => person.name ?? person.userId;

function shownOf(view: BenchView): Shown {
  const words = benchWords.value;
  const { stage } = words;
  const { said, person } = view;
  const remark = said ? [said.text === '' ? words.said[said.what] : `${said.text}: ${words.said[said.what]}`] : [];
  const next = person ? stage.empty(person.name ?? person.userId) : view.roster ? '' : stage.emptyOpen;
  switch (view.phase) {
    case 'checking':
      return { tone: 'idle', word: null, lines: [...remark, stage.checking] };
    case 'committing':
      return { tone: 'idle', word: null, lines: [streamState.value === 'lost' ? stage.away : stage.committing] };
    case 'crowded':
      return { tone: 'bad', word: stage.stop, lines: [stage.crowded] };
    case 'ready':
      return {
        tone: 'good',
        word: stage.pass,
        lines: [...remark, stage.ready(person?.name ?? person?.userId ?? '')],
      };
    case 'aside':
      return asideOf(view, remark);
    case 'failed':
    case 'empty':
      return ended(view, remark, next);
  }
}

function asideOf(view: BenchView, remark: readonly string[]): Shown {
  const { stage } = benchWords.value;
  if (view.outcome) return ended(view, remark, '');
  const why = view.isHeld ? stage.held : view.roster ? stage.aside : stage.asideOpen;
  return { tone: 'warn', word: stage.wait, lines: remark.length && view.person ? remark : [...remark, why] };
}

function ended({ outcome, isHeld }: BenchView, remark: readonly string[], next: string): Shown {
  const { stage, failure } = benchWords.value;
  if (outcome?.verdict.failure) {
    const { failure: why, detail } = outcome.verdict;
    const lines = [...remark, [failure[why], detail].filter(Boolean).join(' '), stage.still(nameOf(outcome))];
    return { tone: 'bad', word: stage.fail, lines };
  }
  if (outcome?.isCommit) {
    const bound = stage.boundTo(outcome.key.serialNumber ?? '', nameOf(outcome));
    return { tone: 'good', word: stage.bound, lines: [bound, ...remark, next].filter(Boolean) };
  }
  return {
    tone: isHeld ? 'warn' : 'idle',
    word: isHeld ? stage.wait : null,
    lines: [...remark, isHeld ? stage.held : next].filter(Boolean),
  };
}

function Checks({ outcome }: { readonly outcome: Outcome }) {
  const words = benchWords.value;
  const { checks } = outcome.verdict;
  if (!checks.length) return null;
  return (
    <ul class="chips">
      {checks.map(({ name, passed }) => (
        <li key={name}>
          <span class={`badge ${passed ? 'good' : 'bad'}`}>{passed ? words.passed : words.failed}</span>{' '}
          {words.check[name]}
        </li>
      ))}
    </ul>
  );
}

function Actions({ run }: { readonly run: BenchRun }) {
  const words = benchWords.value.stage;
  const { phase, roster, person } = run.view.value;
  const act = (type: 'enter' | 'undo' | 'skip' | 'redo') => () => {
    run.take({ type });
    // A button that keeps the focus would be pressed by the Enter that is meant for the next key.
    focusStage();
  };
  const isOpen = phase === 'committing';
  return (
    <div class="actions">
      <button type="button" class="main" onClick={act('enter')} disabled={phase !== 'ready'}>
        {words.bind}
      </button>
      <button type="button" onClick={act('undo')} disabled={isOpen}>
        {words.undo}
      </button>
      {roster && (
        <>
          <button type="button" onClick={act('skip')} disabled={isOpen || !person}>
            {words.skip}
          </button>
          <button type="button" onClick={act('redo')} disabled={isOpen}>
            {words.redo}
          </button>
        </>
      )}
    </div>
  );
}
