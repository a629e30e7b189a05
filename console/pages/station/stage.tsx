/** The next person, the key in the reader and its outcome: large, in words and in colors. */
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { station as stationWords } from '../../text/words.ts';
import { Keys } from './keys.tsx';
import { recognition } from './registry.ts';
import { Checks } from './results.tsx';
import type { StationRun } from './run.ts';
import { shownOf } from './shown.ts';
import type { StationView } from './station-view.ts';

let focus = () => {};

/** Puts the focus where Enter commits. */
export const focusStage = (): void => focus();

/** The middle of the page. */
export function Stage({ run }: { readonly run: StationRun }) {
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
    <section class={`stage ${shown.tone}`} ref={ref} tabIndex={-1} aria-label={stationWords.stage.label}>
      <Who view={view} />
      <div role="status">
        {shown.word && <p class="verdict">{shown.word}</p>}
        {shown.lines.map(line => (
          <p key={line}>{line}</p>
        ))}
      </div>
      {view.outcome && <Checks outcome={view.outcome} />}
      <Keys run={run} number={async (key, printed) => run.plugged(await recognition.numbered(key, printed), true)} />
      <Actions run={run} />
    </section>
  );
}

function Who({ view }: { readonly view: StationView }) {
  const words = stationWords.stage;
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

function Actions({ run }: { readonly run: StationRun }) {
  const words = stationWords.stage;
  const { phase, roster, person } = run.view.value;
  const act = (type: 'enter' | 'undo' | 'skip' | 'redo') => () => {
    run.take({ type });
    // A button that keeps the focus would be pressed by the Enter that is meant for the next key.
    focusStage();
  };
  const isOpen = phase === 'committing';
  return (
    <div class="actions">
      <Button words={words.bind} class="main" onClick={act('enter')} disabled={phase !== 'ready'} />
      <Button words={words.undo} onClick={act('undo')} disabled={isOpen} />
      {roster && (
        <>
          <Button words={words.skip} onClick={act('skip')} disabled={isOpen || !person} />
          <Button words={words.redo} onClick={act('redo')} disabled={isOpen} />
        </>
      )}
    </div>
  );
}
