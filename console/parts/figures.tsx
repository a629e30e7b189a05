/** Numbers of devices that lead to their lists. */
import { linkTo } from '../router.ts';
import { grouped } from '../text/numbers.ts';
import { text } from '../text/words.ts';
import { Table } from './table.tsx';

/** A number with its words. */
export type FigureProps = Readonly<{ count: number; words: string; to: string }>;

/** For a list of the class `figures`. */
export const Figure = ({ count, words, to }: FigureProps) => (
  <li>
    <a href={to}>
      <strong>{grouped(count)}</strong> <span>{words}</span>
    </a>
  </li>
);

interface CountRow {
  readonly name: string;
  readonly count: number;
  /** The filter of their list. Absent: no filter selects them. */
  readonly to?: Readonly<Record<string, string>>;
}

type CountTableProps = Readonly<{ title: string; rows: readonly CountRow[]; total: number }>;

const MOST = 6;

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
            {grouped(count)} <meter min={0} max={total} value={count} aria-hidden="true" />
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
