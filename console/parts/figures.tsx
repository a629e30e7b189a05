/** Numbers of devices that lead to their lists. */
import { deviceStatuses } from '../../src/contract/values.ts';
import type { FleetFigures } from '../../src/fleet/figures.ts';
import { linkTo } from '../router.ts';
import { grouped } from '../text/numbers.ts';
import { text } from '../text/words.ts';
import { modelOf } from './device-columns.tsx';
import { Table } from './table.tsx';

/** A number with its words. */
export type FigureProps = Readonly<{ count: number; words: string; to: string }>;

/** Numbers side by side. */
export const Figures = ({ of, class: kind = '' }: { readonly of: readonly FigureProps[]; readonly class?: string }) => (
  <ul class={`figures ${kind}`}>
    {of.map(({ count, words, to }) => (
      <li key={to}>
        <a href={to}>
          <strong>{grouped(count)}</strong> <span>{words}</span>
        </a>
      </li>
    ))}
  </ul>
);

/** The number of all devices that a filter selects, and of those in each state. */
export const stateFigures = (
  { total, byStatus }: Pick<FleetFigures, 'total' | 'byStatus'>,
  filter: Readonly<Record<string, string>> = {},
): FigureProps[] => [
  { count: total, words: text.common.deviceCount, to: linkTo('devices', filter) },
  ...deviceStatuses.map(status => ({
    count: byStatus[status],
    words: text.status[status],
    to: linkTo('devices', { ...filter, status }),
  })),
];

/** The models, for a table of counts. */
export const modelRows = (
  byModel: readonly Readonly<{ manufacturer: string; model: string; count: number }>[],
  filter: Readonly<Record<string, string>> = {},
): CountRow[] =>
  byModel.map(({ manufacturer, model, count }) => ({
    name: modelOf(manufacturer, model),
    count,
    to: { ...filter, manufacturer, model },
  }));

interface CountRow {
  readonly name: string;
  readonly count: number;
  /** The filter of their list. Absent: no filter selects them. */
  readonly to?: Readonly<Record<string, string>>;
}

type CountTableProps = Readonly<{ title: string; rows: readonly CountRow[]; total: number }>;

const MOST = 6;

/** A part of all devices as a bar; the number stands beside it. */
const Share = ({ of }: { readonly of: number }) => <span class="share" style={{ backgroundSize: `${100 * of}%` }} />;

/** The most frequent values, each with its part of all devices; nothing if there is none. */
export const CountTable = ({ title, rows, total }: CountTableProps) =>
  rows.length > 0 && (
    <Table
      title={title}
      heads={{ name: title, count: text.nav.devices }}
      columns={{
        name: ({ name, to }) => (to ? <a href={linkTo('devices', to)}>{name}</a> : name),
        count: ({ count }) => (
          <>
            {grouped(count)} <Share of={count / total} />
          </>
        ),
      }}
      rowHead="name"
      classes={{ count: 'number' }}
      rows={rows.slice(0, MOST)}
      keyOf={({ name }) => name}
      isOneLine
    />
  );
