/** Counts over time as SVG columns, and the same counts as a table. */
import { grouped } from '../text/numbers.ts';
import { dictionary } from '../text/text.ts';
import { Table } from './table.tsx';

const overviewWords = dictionary('overview');

interface ColumnChartProps {
  readonly title: string;
  /** Intervals in ascending order, each with its count. */
  readonly columns: readonly { readonly start: string; readonly count: number }[];
  /** How the start of an interval is written. */
  readonly format: (start: string) => string;
}

/** Units of the drawing: width of a column with its gap, the gap, and the height. */
const unit = { column: 10, gap: 2, height: 100 };

/** The counts of intervals as columns, and as a table. */
export function ColumnChart({ title, columns, format }: ColumnChartProps) {
  const words = overviewWords.value.chart;
  const sum = columns.reduce((total, { count }) => total + count, 0);
  const first = columns[0];
  const last = columns.at(-1);
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="hint">{words.sum(sum)}</span>
      </figcaption>
      <Plot title={title} columns={columns} format={format} />
      {first && last && (
        <p class="ends hint">
          <span>{format(first.start)}</span>
          <span>{format(last.start)}</span>
        </p>
      )}
      <details>
        <summary>{words.table}</summary>
        <Table
          heads={{ time: words.time, count: words.count }}
          columns={{ time: ({ start }) => format(start), count: ({ count }) => grouped(count) }}
          classes={{ count: 'number' }}
          rows={columns.toReversed()}
          keyOf={({ start }) => start}
        />
      </details>
    </figure>
  );
}

/** The columns. The highest one fills the height. */
function Plot({ title, columns, format }: ColumnChartProps) {
  const most = Math.max(0, ...columns.map(({ count }) => count));
  return (
    <div class="plot">
      <span class="most">{grouped(most)}</span>
      <svg
        viewBox={`0 0 ${columns.length * unit.column} ${unit.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={title}
      >
        {columns.map(({ start, count }, index) => {
          const height = most ? (count / most) * unit.height : 0;
          return (
            <g key={start}>
              <title>{`${format(start)}: ${grouped(count)}`}</title>
              <rect class="hit" x={index * unit.column} y={0} width={unit.column} height={unit.height} />
              <rect x={index * unit.column} y={unit.height - height} width={unit.column - unit.gap} height={height} />
            </g>
          );
        })}
      </svg>
    </div>
  );
}
