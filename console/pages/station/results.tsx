/** The checks of a key, the progress of the roster, and the results of a run in figures and as a list. */
import { checksOf } from '../../../src/enrollment/line/checks.ts';
import type { KeyFailure } from '../../../src/enrollment/outcome.ts';
import { Button } from '../../parts/button.tsx';
import { DeviceLink } from '../../parts/item.tsx';
import { saveCsv } from '../../parts/save.ts';
import { Table } from '../../parts/table.tsx';
import { grouped, moment } from '../../text/numbers.ts';
import { station as stationWords } from '../../text/words.ts';
import { figuresOf, issuedAt, type StationResult, tableOf } from './results.ts';
import type { StationRun } from './run.ts';
import type { Outcome } from './station-view.ts';

const SHOWN = 20;

/** The figures of the run, its newest results, and all of them as a file. */
export function Results({ run }: { readonly run: StationRun }) {
  const words = stationWords.results;
  const { results } = run.view.value;
  const download = () => {
    const { columns, cells } = tableOf(results);
    void saveCsv('station-results.csv', columns, results, cells);
  };
  return (
    <section>
      <h2>{words.title}</h2>
      <Figures run={run} />
      <Newest results={results.slice(-SHOWN).reverse()} />
      <div class="actions">
        <Button words={words.clear} onClick={() => run.clear()} />
        <Button words={words.download} onClick={download} />
      </div>
    </section>
  );
}

function Figures({ run }: { readonly run: StationRun }) {
  const figures = figuresOf(run.view.value, Date.now());
  return (
    <>
      <p>
        <strong>{grouped(figures.passed)}</strong> {stationWords.results.passed},{' '}
        <strong>{grouped(figures.failed)}</strong> {stationWords.results.failed}, {stationWords.results.yield}{' '}
        <strong>{grouped(figures.yield ?? 0)} %</strong>
        {figures.perHour !== null && (
          <>
            , <strong>{grouped(figures.perHour)}</strong> {stationWords.results.perHour}
          </>
        )}
      </p>
      {figures.failed > 0 && (
        <ul class="chips">
          {[...figures.reasons].map(([reason, count]) => (
            <li key={reason}>
              {stationWords.failure[reason as KeyFailure]} <strong>{grouped(count)}</strong>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Newest({ results }: { readonly results: readonly StationResult[] }) {
  return (
    <Table
      title={stationWords.results.newest}
      columns={{
        time: ({ at }) => <time dateTime={at}>{moment(at)}</time>,
        person: ({ userId, name }) => (name === null ? userId : `${name} (${userId})`),
        serial: ({ serialNumber }) => serialNumber ?? '–',
        device: ({ deviceId: id }) => id && <DeviceLink id={id} />,
        result: ({ failure, message, providers }) => (
          <>
            <span class={`badge ${failure === null ? 'good' : 'bad'}`}>
              {failure === null ? stationWords.results.bound : stationWords.failed}
            </span>{' '}
            {failure !== null && [stationWords.failure[failure], message].filter(Boolean).join(' ')}{' '}
            {providers && issuedAt({ providers }) && (
              <small>{stationWords.results.signsIn(issuedAt({ providers }))}</small>
            )}
          </>
        ),
      }}
      rows={results}
      keyOf={({ at, keyId }) => `${at} ${keyId}`}
    />
  );
}

/** The checks in their order. */
export function Checks({ outcome }: { readonly outcome: Outcome }) {
  const { verdict, isCommit } = outcome;
  const checks = checksOf(verdict);
  const activationCode = isCommit && verdict.failure !== null ? verdict.row.activationCode : null;
  return (
    <>
      {checks.length > 0 && (
        <ul class="chips">
          {checks.map(({ name, passed }) => (
            <li key={name}>
              <span class={`badge ${passed ? 'good' : 'bad'}`}>
                {passed ? stationWords.passed : stationWords.failed}
              </span>{' '}
              {stationWords.check[name]}
            </li>
          ))}
        </ul>
      )}
      {activationCode && (
        <p>
          {stationWords.code} <strong class="code">{activationCode}</strong>
        </p>
      )}
    </>
  );
}

/** The rows that are done, and the people who are next. */
export function RosterProgress({ run }: { readonly run: StationRun }) {
  const words = stationWords.roster;
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
      <progress max={roster.rows} value={roster.finished} aria-label={stationWords.roster.title} />
      {waiting.count > 0 && (
        <p>
          {words.waiting}: {waiting.first.map(({ userId, name }) => name ?? userId).join(', ')}
          {more > 0 && ` ${words.more(more)}`}
        </p>
      )}
    </>
  );
}
