/** The roster: a file that is read in the browser, and the people who still need keys. */
import { type Signal, useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { lazy } from '../../parts/lazy.tsx';
import { dictionary } from '../../text/text.ts';
import type { Bench } from './bench.ts';
import type { Encoding } from './roster-file.ts';
import type { RefusedFile } from './roster-refused.tsx';
import { focusStage } from './stage.tsx';

const benchWords = dictionary('bench');

const Progress = lazy(async () => (await import('./roster-progress.tsx')).RosterProgress);
const Refused = lazy(async () => (await import('./roster-refused.tsx')).RosterRefused);

/** Takes a roster, and shows how far it is. */
export function RosterSection({ run }: { readonly run: Bench }) {
  const words = benchWords.value.roster;
  const { roster, phase } = run.view.value;
  const isBusy = phase === 'committing';
  const unused = useSignal<readonly string[]>([]);
  return (
    <section>
      <h2>{words.title}</h2>
      {roster && unused.value.length > 0 && <p role="status">{words.unused(unused.value)}</p>}
      {roster ? (
        <>
          <Progress run={run} />
          <button type="button" disabled={isBusy} onClick={() => run.begin(null)}>
            {words.remove}
          </button>
        </>
      ) : (
        <Upload run={run} isBusy={isBusy} unused={unused} />
      )}
    </section>
  );
}

interface UploadProps {
  readonly run: Bench;
  readonly isBusy: boolean;
  /** Columns of the file that are not used. */
  readonly unused: Signal<readonly string[]>;
}

function Upload({ run, isBusy, unused }: UploadProps) {
  const words = benchWords.value.roster;
  const id = useId();
  const refused = useSignal<RefusedFile | null>(null);
  const take = async (file: File, encoding: Encoding | null) => {
    const { readRosterFile } = await import('./roster-file.ts');
    const outcome = await readRosterFile(file, encoding);
    refused.value = 'fault' in outcome ? { file, encoding, fault: outcome.fault } : null;
    if ('fault' in outcome) return;
    unused.value = outcome.unused;
    run.begin(outcome.people);
    focusStage();
  };
  const choose = (input: HTMLInputElement) => {
    const [file] = input.files ?? [];
    // The same file can be chosen again after it was corrected.
    input.value = '';
    if (file) void take(file, null);
  };
  return (
    <p class="field">
      <label for={id}>{words.file}</label>
      <input
        id={id}
        type="file"
        accept=".csv,text/csv,text/plain"
        disabled={isBusy}
        aria-describedby={`${id}-hint`}
        onChange={event => choose(event.currentTarget)}
      />
      <small id={`${id}-hint`}>{words.hint}</small>
      {refused.value && <Refused refused={refused.value} read={take} />}
    </p>
  );
}
