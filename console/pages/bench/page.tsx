/** Live enrollment: a person, a key, unplug. */
import { useEffect, useMemo } from 'preact/hooks';
import { mayChange, session } from '../../api/session.ts';
import { lazy } from '../../parts/lazy.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { prefer, preferences } from '../../preferences.ts';
import { text } from '../../text/text.ts';
import { CallForm } from './call.tsx';
import { runOf } from './current.ts';
import { Reader } from './reader.ts';
import { RosterSection } from './roster.tsx';
import type { BenchRun } from './run.ts';
import { listen } from './scanner.ts';
import { focusStage, Stage } from './stage.tsx';
import { benchWords } from './words.ts';

const Elsewhere = lazy(async () => (await import('./elsewhere.tsx')).Elsewhere);
const Results = lazy(async () => (await import('./results.tsx')).Results);

/** Binds keys to people, where the daemon has hardware. */
export function BenchPage() {
  const words = benchWords.value;
  return (
    <>
      <div class="bar">
        <h1>{words.title}</h1>
        {mayChange.value && <Sound />}
      </div>
      {mayChange.value && session.value ? (
        <Station run={runOf(session.value.user.id)} />
      ) : (
        <p role="status">{words.notAllowed}</p>
      )}
    </>
  );
}

function Sound() {
  return (
    <label class="sound">
      <input
        type="checkbox"
        checked={!preferences.value.isSilent}
        onChange={event => prefer({ isSilent: !event.currentTarget.checked })}
      />
      {benchWords.value.sound}
    </label>
  );
}

function Station({ run }: { readonly run: BenchRun }) {
  const reader = useMemo(() => new Reader(run), [run]);
  useEffect(() => reader.start(), [reader]);
  const hardware = reader.hardware.value;
  const finds = hardware && (hardware.hasKeys || hardware.drivers.some(({ state }) => state === 'ready'));
  return (
    <>
      <ProblemNotice problem={reader.problem.value} retry={reader.reload} />
      {!hardware && !reader.problem.value && <p role="status">{text.value.common.loading}</p>}
      {finds && <Line run={run} />}
      {hardware && !finds && <Elsewhere drivers={hardware.drivers} again={reader.reload} />}
    </>
  );
}

function Line({ run }: { readonly run: BenchRun }) {
  useEffect(
    () =>
      listen(what => {
        run.take(what);
        if (what.type === 'badge') focusStage();
      }),
    [run],
  );
  return (
    <>
      <p class="hint">{benchWords.value.intro}</p>
      <CallForm run={run} />
      <Stage run={run} />
      <RosterSection run={run} />
      {run.view.value.results.length > 0 && <Results run={run} />}
    </>
  );
}
