/** The roster: a file that is read in the browser, and the people who still need keys. */
import { type Signal, useSignal } from '@preact/signals';
import { Button } from '../../parts/button.tsx';
import { FileField } from '../../parts/field.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { station as stationWords } from '../../text/words.ts';
import { RosterProgress } from './results.tsx';
import type { Encoding } from './roster-file.ts';
import type { RefusedFile } from './roster-refused.tsx';
import type { StationRun } from './run.ts';
import { focusStage } from './stage.tsx';

const Refused = lazy(async () => (await import('./roster-refused.tsx')).RosterRefused);

const fileTypes = ['.csv', '.tsv', '.txt', '.xlsx', '.json', '.jsonl', '.ldif', 'text/csv', 'text/plain'];
/** Persons that are named. */
const mostNamed = 20;

/** Takes a roster, and shows how far it is. */
export function RosterSection({ run }: { readonly run: StationRun }) {
  const words = stationWords.roster;
  const { roster, phase } = run.view.value;
  const isBusy = phase === 'committing';
  const notes = useSignal<readonly string[]>([]);
  return (
    <section>
      <h2>{words.title}</h2>
      {roster &&
        notes.value.map(note => (
          <p key={note} role="status">
            {note}
          </p>
        ))}
      {roster ? (
        <>
          <RosterProgress run={run} />
          <Button words={words.remove} disabled={isBusy} onClick={() => run.begin(null)} />
        </>
      ) : (
        <Upload run={run} isBusy={isBusy} notes={notes} />
      )}
    </section>
  );
}

type UploadProps = Readonly<{ run: StationRun; isBusy: boolean; notes: Signal<readonly string[]> }>;

function Upload({ run, isBusy, notes }: UploadProps) {
  const words = stationWords.roster;
  const refused = useSignal<RefusedFile | null>(null);
  const take = async (file: File, encoding: Encoding | null) => {
    const { readRosterFile } = await import('./roster-file.ts');
    const outcome = await readRosterFile(file, encoding);
    refused.value = 'fault' in outcome ? { file, encoding, fault: outcome.fault } : null;
    if ('fault' in outcome) return;
    const { unused, gone, repeated } = outcome;
    notes.value = [
      ...(unused.length > 0 ? [words.unused(unused)] : []),
      ...(gone.length > 0 ? [words.gone(gone.slice(0, mostNamed).map(({ userId }) => userId))] : []),
      ...(repeated.length > 0 ? [words.repeated(repeated.slice(0, mostNamed).map(({ line }) => line))] : []),
    ];
    run.begin(outcome.people);
    focusStage();
  };
  const choose = (file: File | null, input: HTMLInputElement) => {
    // A file that was corrected can be chosen again.
    input.value = '';
    if (file) void take(file, null);
  };
  return (
    <>
      <FileField label={words.file} accept={fileTypes} disabled={isBusy} hint={words.hint} onChoose={choose} />
      {refused.value && (
        <div class="field">
          <Refused refused={refused.value} read={take} />
        </div>
      )}
    </>
  );
}
