/** The report of a lot or a station, live while the line runs. */
import { useRef } from 'preact/hooks';
import { proofGrades } from '../../../src/contract/key-values.ts';
import { DeviceCounts, type FleetFigures } from '../../../src/fleet/figures.ts';
import { exportedDevices } from '../../api/export.ts';
import { settled, useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ColumnChart } from '../../parts/chart.tsx';
import { FactList } from '../../parts/facts.tsx';
import { CountTable, Figures, modelRows, stateFigures } from '../../parts/figures.tsx';
import { Back } from '../../parts/item.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Moment } from '../../parts/time.tsx';
import { place, useTitle } from '../../router.ts';
import { duration, grouped } from '../../text/numbers.ts';
import { text, line as words } from '../../text/words.ts';

/** A tag that has a page. */
export type LineTag = 'lot' | 'station';

/** The report of the lot that the address names. */
export const LotPage = () => <Report tag="lot" value={place.value.path[1] ?? ''} />;
/** The report of the station that the address names. */
export const StationPage = () => <Report tag="station" value={place.value.path[1] ?? ''} />;

/** Counts the devices again if their number in a state has changed: events do not name tags. */
function useReport(tag: LineTag, value: string) {
  const last = useRef<{ readonly states: string; readonly figures: FleetFigures } | null>(null);
  const resource = useResource(async signal => {
    const { byTag } = await call('getStatistics', {}, { signal });
    const states = JSON.stringify(byTag[tag].find(group => group.value === value));
    if (last.current && last.current.states === states) return last.current.figures;
    const counts = new DeviceCounts();
    for await (const device of exportedDevices({ tag: [`${tag}:${value}`] } as never, signal)) counts.take(device);
    last.current = { states, figures: counts.figures };
    return counts.figures;
  });
  useRefresh(resource.reload, events => events.some(({ type }) => type.startsWith('DEVICE_')), settled);
  return resource;
}

type ReportProps = Readonly<{ tag: LineTag; value: string }>;

/** The report of a lot or a station beside the list. */
export const LineStory = ({ record }: { readonly record: ReportProps }) => <Counted {...record} />;

function Report({ tag, value }: ReportProps) {
  useTitle(`${words[tag].name} ${value}`);
  return (
    <>
      <Back to={`${tag}s`} words={text.nav[`${tag}s`]} />
      <h1>
        {words[tag].name} {value}
      </h1>
      <Counted tag={tag} value={value} />
    </>
  );
}

const Counted = ({ tag, value }: ReportProps) => (
  <Loaded from={useReport(tag, value)}>
    {figures =>
      figures.total === 0 ? (
        <p class="hint">{words.none}</p>
      ) : (
        <Shown figures={figures} filter={{ tag: `${tag}:${value}` }} />
      )
    }
  </Loaded>
);

interface ShownProps {
  readonly figures: FleetFigures;
  /** Selects the devices in the list. */
  readonly filter: Readonly<Record<string, string>>;
}

function Shown({ figures, filter }: ShownProps) {
  const { total, byProof, byModel, registrations, secondsBetween, persons } = figures;
  const facts = {
    first: <Moment at={registrations.first} />,
    last: <Moment at={registrations.last} />,
    perHour: registrations.perHour === null ? null : grouped(registrations.perHour),
    median: secondsBetween.median === null ? null : duration(secondsBetween.median),
    p95: secondsBetween.p95 === null ? null : duration(secondsBetween.p95),
    persons: `${grouped(persons.count)}${persons.isMore ? '+' : ''}`,
  };
  return (
    <>
      <Figures of={stateFigures(figures, filter)} />
      <section>
        <FactList
          facts={Object.entries(facts).map(([name, value]) => [
            words.facts[name as keyof typeof facts],
            value ?? text.common.none,
          ])}
        />
      </section>
      <ColumnChart
        title={words.registrations(registrations.binMinutes)}
        columns={registrations.bins.map(({ start, count }) => ({ start, counts: [count] }))}
        format={text.common.hour}
      />
      <div class="charts">
        <CountTable title={text.column.model} total={total} rows={modelRows(byModel, filter)} />
        <CountTable
          title={text.column.proof}
          total={total}
          rows={proofGrades
            .filter(grade => byProof[grade] > 0)
            .map(proof => ({ name: text.grade[proof], count: byProof[proof], to: { ...filter, proof } }))}
        />
      </div>
    </>
  );
}
