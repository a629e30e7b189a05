/** The roster: a file that is read in the browser, and the people who still need keys. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { loadWithWords } from '../../text/text.ts';
import type { Bench } from './bench.ts';
import type { Encoding, FileFault } from './roster-file.ts';
import { focusStage } from './stage.tsx';
import { benchWords } from './words.ts';

/** Takes a roster, and shows how far it is. */
export function RosterSection({ run }: { readonly run: Bench }) {
  const words = benchWords.value.roster;
  const { roster, phase } = run.view.value;
  const isBusy = phase === 'committing';
  return (
    <section>
      <h2>{words.title}</h2>
      {roster ? (
        <>
          <Progress run={run} />
          <button type="button" disabled={isBusy} onClick={() => run.begin(null)}>
            {words.remove}
          </button>
        </>
      ) : (
        <Upload run={run} isBusy={isBusy} />
      )}
    </section>
  );
}

function Upload({ run, isBusy }: { readonly run: Bench; readonly isBusy: boolean }) {
  const words = benchWords.value;
  /** A function: the words may be loaded after the file. */
  const fault = useSignal<(() => string) | null>(null);
  const id = useId();
  const unread = useSignal<Unread | null>(null);
  const take = async (file: File, encoding: Encoding | null) => {
    const { readRosterFile, encodings } = await import('./roster-file.ts');
    const outcome = await readRosterFile(file, encoding);
    fault.value = 'fault' in outcome ? await wordsOf(outcome.fault) : null;
    const isOther = 'fault' in outcome && outcome.fault.fault.what === 'encoding';
    unread.value = isOther ? { file, encodings, chosen: encoding ?? encodings[0] } : null;
    if ('fault' in outcome) return;
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
      <label for={id}>{words.roster.file}</label>
      <input
        id={id}
        type="file"
        accept=".csv,text/csv,text/plain"
        disabled={isBusy}
        aria-describedby={`${id}-hint`}
        onChange={event => choose(event.currentTarget)}
      />
      <small id={`${id}-hint`}>{words.roster.hint}</small>
      {fault.value && (
        <span class="fault" role="alert">
          {fault.value()}
        </span>
      )}
      {unread.value && (
        <EncodingChoice
          unread={unread.value}
          onChoose={chosen => {
            if (unread.value) unread.value = { ...unread.value, chosen };
          }}
          onRead={({ file, chosen }) => void take(file, chosen)}
        />
      )}
    </p>
  );
}

/** A file in another encoding, which the person can name. */
interface Unread {
  readonly file: File;
  readonly encodings: readonly Encoding[];
  readonly chosen: Encoding;
}

interface EncodingChoiceProps {
  readonly unread: Unread;
  readonly onChoose: (encoding: Encoding) => void;
  readonly onRead: (unread: Unread) => void;
}

function EncodingChoice({ unread, onChoose, onRead }: EncodingChoiceProps) {
  const words = benchWords.value.roster;
  return (
    <>
      <label>
        {words.encoding}{' '}
        <select value={unread.chosen} onChange={event => onChoose(event.currentTarget.value as Encoding)}>
          {unread.encodings.map(encoding => (
            <option key={encoding} value={encoding}>
              {encoding}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={() => onRead(unread)}>
        {words.readAgain}
      </button>
    </>
  );
}

/** What is wrong with a file, in the language of the person. */
async function wordsOf(fault: FileFault): Promise<() => string> {
  const { faultWords } = await loadWithWords(() => import('./faults.ts'));
  return () => {
    const problem = faultWords.value.of(fault);
    return fault.line === null ? problem : benchWords.value.roster.line(fault.line, problem);
  };
}

function Progress({ run }: { readonly run: Bench }) {
  const words = benchWords.value.roster;
  const { roster, waiting } = run.view.value;
  if (!roster) return null;
  const more = waiting.count - waiting.first.length;
  const parts = [
    words.progress(roster.finished, roster.rows),
    roster.skipped ? words.skipped(roster.skipped) : '',
  ].filter(Boolean);
  return (
    <>
      <p>{parts.join(', ')}</p>
      <progress max={roster.rows} value={roster.finished} aria-label={words.title} />
      {waiting.count > 0 && (
        <p>
          {words.waiting}: {waiting.first.map(({ userId, name }) => name ?? userId).join(', ')}
          {more > 0 && ` ${words.more(more)}`}
        </p>
      )}
    </>
  );
}
