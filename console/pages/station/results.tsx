/** What was bound and what has failed, in figures and as a list. */
import type { KeyFailure } from '../../../src/enrollment/outcome.ts';
import { csvFile } from '../../parts/csv.ts';
import { save } from '../../parts/save.ts';
import { linkTo } from '../../router.ts';
import { grouped, moment } from '../../text/numbers.ts';
import { dictionary } from '../../text/text.ts';
import type { Bench } from './bench.ts';
import { figuresOf, resultCells, resultColumns, type StationResult } from './results.ts';

const runWords = dictionary('benchRun');

/** Results that the page lists. */
const SHOWN = 20;

/** The figures of the run, its newest results, and all of them as a file. */
export function Results({ run }: { readonly run: Bench }) {
  const words = runWords.value.results;
  const { results } = run.view.value;
  return (
    <section>
      <h2>{words.title}</h2>
      <Figures run={run} />
      <Newest results={results.slice(-SHOWN).reverse()} />
      <div class="actions">
        <button type="button" onClick={() => run.clear()}>
          {words.clear}
        </button>
        <button
          type="button"
          onClick={() => save('bench-results.csv', csvFile(resultColumns, results.map(resultCells)))}
        >
          {words.download}
        </button>
      </div>
    </section>
  );
}

function Figures({ run }: { readonly run: Bench }) {
  const words = runWords.value;
  const figures = figuresOf(run.view.value, Date.now());
  return (
    <>
      <p>
        <strong>{grouped(figures.passed)}</strong> {words.results.passed}, <strong>{grouped(figures.failed)}</strong>{' '}
        {words.results.failed}, {words.results.yield} <strong>{grouped(figures.yield ?? 0)} %</strong>
        {figures.perHour !== null && (
          <>
            , <strong>{grouped(figures.perHour)}</strong> {words.results.perHour}
          </>
        )}
      </p>
      {figures.failed > 0 && (
        <ul class="chips">
          {[...figures.reasons].map(([reason, count]) => (
            <li key={reason}>
              {words.failure[reason as KeyFailure]} <strong>{grouped(count)}</strong>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Newest({ results }: { readonly results: readonly StationResult[] }) {
  const words = runWords.value;
  return (
    <div class="scroll">
      <table class="dense">
        <caption class="hidden">{words.results.newest}</caption>
        <thead>
          <tr>
            <th scope="col">{words.results.time}</th>
            <th scope="col">{words.results.person}</th>
            <th scope="col">{words.results.serial}</th>
            <th scope="col">{words.results.device}</th>
            <th scope="col">{words.results.result}</th>
          </tr>
        </thead>
        <tbody>
          {results.map(({ at, userId, name, serialNumber, deviceId, failure, message }, index) => (
            <tr key={results.length - index}>
              <td>
                <time dateTime={at}>{moment(at)}</time>
              </td>
              <td>{name === null ? userId : `${name} (${userId})`}</td>
              <td>{serialNumber ?? '–'}</td>
              <td>{deviceId && <a href={linkTo(`devices/${encodeURIComponent(deviceId)}`)}>{deviceId}</a>}</td>
              <td>
                <span class={`badge ${failure === null ? 'good' : 'bad'}`}>
                  {failure === null ? words.results.bound : words.failed}
                </span>{' '}
                {failure !== null && [words.failure[failure], message].filter(Boolean).join(' ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
