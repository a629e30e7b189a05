/** Who is next, the key in the reader, and what has become of it: large, in words and in colors. */
import { useEffect, useRef } from 'preact/hooks';
import { lazy } from '../../parts/lazy.tsx';
import { dictionary } from '../../text/text.ts';
import type { Bench } from './bench.ts';
import { Keys } from './keys.tsx';
import type { BenchView } from './run.ts';

const benchWords = dictionary('bench');

const Checks = lazy(async () => (await import('./checks.tsx')).Checks);

let focus = () => {};

/** Puts the focus where Enter commits. */
export const focusStage = (): void => focus();

/** The middle of the page. */
export function Stage({ run }: { readonly run: Bench }) {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    focus = () => ref.current?.focus();
    return () => {
      focus = () => {};
    };
  }, []);
  const view = run.view.value;
  const shown = run.shown.value;
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

function Actions({ run }: { readonly run: Bench }) {
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
