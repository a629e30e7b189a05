/** Counts over time as SVG columns, and the same counts as a table. */
import { useSignal } from '@preact/signals';
import { grouped } from '../text/numbers.ts';
import { overview as overviewWords } from '../text/words.ts';
import { Details } from './details.tsx';
import { Table } from './table.tsx';

interface ColumnChartProps {
  readonly title: string;
  /** Intervals in ascending order, each with a count for each series. */
  readonly columns: readonly { readonly start: string; readonly counts: readonly number[] }[];
  /** Counted parts from the bottom of a column to its top. Absent: registrations. */
  readonly series?: readonly { readonly name: string; readonly class: string }[];
  readonly format: (start: string) => string;
}

/** Units of the drawing: width of a column with its gap, the gap, and the height. */
const unit = { column: 10, gap: 2, height: 100 };
/** Few columns do not become as wide as the page. */
const LEAST = 12;

const sumOf = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** The counts of intervals as columns, and as a table. */
export function ColumnChart(props: ColumnChartProps) {
  const { title, columns, series, format } = props;
  const words = overviewWords.chart;
  const first = columns[0];
  const last = columns.at(-1);
  const counted = series ?? [{ name: words.count, class: 'count' }];
  const bySeries = <T,>(cell: (series: (typeof counted)[number], index: number) => T): Record<string, T> =>
    Object.fromEntries(counted.map((each, i) => [each.class, cell(each, i)]));
  return (
    <figure class="chart">
      <figcaption>
        {title} {!series && <span class="hint">{words.sum(sumOf(columns.flatMap(({ counts }) => counts)))}</span>}
        {series && (
          <span class="legend">
            {series.map(each => (
              <span key={each.class} class={`badge ${each.class}`}>
                {each.name}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <Plot {...props} />
      {first && last && (
        <p class="ends hint">
          <span>{format(first.start)}</span>
          <span>{format(last.start)}</span>
        </p>
      )}
      <Details summary={words.table}>
        {() => (
          <Table
            heads={bySeries(({ name }) => name)}
            columns={{ time: ({ start }) => format(start), ...bySeries((_, i) => cellOf(i)) }}
            classes={bySeries(() => 'number')}
            rows={columns.toReversed()}
            keyOf={({ start }) => start}
          />
        )}
      </Details>
    </figure>
  );
}

const cellOf =
  (series: number) =>
  ({ counts }: ColumnChartProps['columns'][number]) =>
    grouped(counts[series] ?? 0);

/** The columns. The highest one fills the height. */
function Plot({ title, columns, series = [], format }: ColumnChartProps) {
  const most = Math.max(0, ...columns.map(({ counts }) => sumOf(counts)));
  const heightOf = (counts: readonly number[]) => (most ? (sumOf(counts) / most) * unit.height : 0);
  const width = Math.max(LEAST, columns.length) * unit.column;
  const pointed = useSignal<number | null>(null);
  const column = columns[pointed.value ?? -1];
  const pathOf = (series: number) =>
    columns
      .map(({ counts }, i) => {
        const [low, high] = [heightOf(counts.slice(0, series)), heightOf(counts.slice(0, series + 1))];
        return high > low
          ? `M${i * unit.column} ${unit.height - low}V${unit.height - high}h${unit.column - unit.gap}V${unit.height - low}`
          : '';
      })
      .join('');
  return (
    <div class="plot">
      <span class="most">{grouped(most)}</span>
      <svg
        viewBox={`0 0 ${width} ${unit.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={title}
        onPointerMove={({ currentTarget, clientX }) => {
          const { left, width: shown } = currentTarget.getBoundingClientRect();
          pointed.value = Math.floor((((clientX - left) / shown) * width) / unit.column);
        }}
        onPointerLeave={() => (pointed.value = null)}
      >
        {columns[0]?.counts.map((_, i) => (
          <path key={series[i]?.class} class={series[i]?.class} d={pathOf(i)} />
        ))}
        {column && (
          <rect class="hit" x={(pointed.value ?? 0) * unit.column} width={unit.column} height={unit.height}>
            <title>{`${format(column.start)}: ${column.counts.map((count, i) => `${grouped(count)} ${series[i]?.name ?? ''}`).join(', ')}`}</title>
          </rect>
        )}
      </svg>
    </div>
  );
}
