/** Registers the devices of a file: choose it, assign its columns, look at what would happen, register. */
import { useEffect, useMemo } from 'preact/hooks';
import type { InputFault } from '../../../src/tables/fault.ts';
import { BatchProgress } from '../../parts/batch-progress.tsx';
import { Button } from '../../parts/button.tsx';
import { FileField } from '../../parts/field.tsx';
import { Choice } from '../../parts/inputs.tsx';
import { Back } from '../../parts/item.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import {
  bulk as bulkWords,
  device as deviceWords,
  rosterFaults as faultWords,
  text,
  importing as words,
} from '../../text/words.ts';
import { type Encoding, encodings } from '../station/roster-file.ts';
import { encodingNames, faultText } from '../station/roster-refused.tsx';
import { Columns } from './columns.tsx';
import { Lines } from './lines.tsx';
import { InvalidEncoding } from './plan.ts';
import { FileImport } from './state.ts';
import { storedRun } from './stored.ts';

/** The import of a file. What was entered goes with the page; a run continues when its file is chosen again. */
export function ImportPage() {
  const state = useMemo(() => new FileImport(), []);
  useEffect(() => () => state.leave(), []);
  const run = state.run.value;
  const isRunning = run !== null && run.state.value !== 'done';
  return (
    <>
      <Back to="devices" words={deviceWords.back} />
      <h1>{text.nav.import}</h1>
      <p class="hint">{words.hint}</p>
      <fieldset class="steps" disabled={isRunning}>
        <ImportFile state={state} />
        <Fault state={state} />
        {state.head.value && <Columns state={state} />}
        {state.head.value && (
          <p class="bar">
            <Button
              words={words.check}
              class={state.checked.value ? '' : 'main'}
              disabled={state.reading.value !== null}
              onClick={() => void state.check()}
            />
            <span role="status">{state.reading.value !== null && words.reading(state.reading.value)}</span>
          </p>
        )}
      </fieldset>
      {run ? <Run state={state} isRunning={isRunning} /> : <Plan state={state} />}
    </>
  );
}

const extensions = ['.csv', '.tsv', '.txt', '.json', '.jsonl', '.ndjson', '.xml', '.pskc'];

function ImportFile({ state }: { readonly state: FileImport }) {
  const stored = storedRun();
  const hint =
    stored && !state.run.value ? words.interrupted((JSON.parse(stored.file) as [string])[0]) : words.fileHint;
  const choose = (file: File | null) => void (file && state.choose(file));
  return <FileField label={text.column.file} accept={extensions} hint={hint} onChoose={choose} />;
}

/** Why the file cannot be read. One in another encoding can be read again. */
function Fault({ state }: { readonly state: FileImport }) {
  const fault = state.fault.value;
  if (!fault) return <ProblemNotice problem={state.problem.value} />;
  if (!(fault instanceof InvalidEncoding))
    return (
      <p class="problem" role="alert">
        {words.fault[fault.what]} <span class="code">{detailOf(fault)}</span>
      </p>
    );
  const { line, encoding } = fault;
  return (
    <div class="problem" role="alert">
      <p>{faultWords.line(line, faultText({ what: 'encoding', encoding }))}</p>
      <Choice<Encoding | ''>
        label={faultWords.encoding}
        value={state.settings.value.encoding ?? ''}
        values={['', ...encodings]}
        words={{ '': 'utf-8', ...encodingNames }}
        onChange={chosen => void state.set({ ...state.settings.value, encoding: chosen || null }, true)}
      />
    </div>
  );
}

function detailOf(fault: InputFault): string {
  const names = deviceWords.facts as Readonly<Record<string, string>>;
  if ('fields' in fault) return fault.fields.map(field => names[field] ?? field).join(', ');
  if ('columns' in fault) return fault.columns.join(', ');
  if ('column' in fault) return fault.column;
  if ('kind' in fault) return words.foreign[fault.kind];
  return 'line' in fault ? faultWords.line(fault.line, fault.problem) : '';
}

function Plan({ state }: { readonly state: FileImport }) {
  const checked = state.checked.value;
  if (!checked) return null;
  const count = checked.lines.filter(({ status }) => status === 'new').length;
  return (
    <section>
      <h2>{words.plan}</h2>
      <p role="status">{words.planned(count)}</p>
      <Lines checked={checked} lines={checked.lines} fileName="plan.csv" />
      {(count > 0 || storedRun()) && (
        <p class="actions">
          <Button isFocused words={words.start(count)} class="main" onClick={() => void state.start()} />
        </p>
      )}
    </section>
  );
}

function Run({ state, isRunning }: { readonly state: FileImport; readonly isRunning: boolean }) {
  const [run, checked] = [state.run.value, state.checked.value];
  if (!run || !checked) return null;
  const results = run.results.value;
  return (
    <section>
      <h2>{text.column.result}</h2>
      {isRunning ? (
        <BatchProgress run={run} retry={() => void state.continue()} />
      ) : (
        <>
          <ProblemNotice problem={run.problem.value} />
          <p role="status">
            {words.done(results.filter(({ status }) => status === 'success').length)}{' '}
            {run.total > results.length && bulkWords.left(run.total - results.length)}
          </p>
          <p class="hint">{words.codes}</p>
          <Lines checked={checked} lines={results} fileName="results.csv" />
        </>
      )}
    </section>
  );
}
