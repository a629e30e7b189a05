/** What sorts a list: the heads of its columns; on phones, where a table has none, a list of the orders. The address has the order. */
import { go, place } from '../router.ts';
import { text } from '../text/words.ts';
import { Choice } from './inputs.tsx';

/** An order of a list. */
export interface Order {
  /** Its name in the address; empty: that of the daemon. */
  readonly sortBy: string;
  readonly descending: boolean;
}

/** The order in the query of an address. */
export type OrderQuery = Readonly<Record<'sortBy' | 'sortOrder', string>>;

/** The orders of a list. */
export interface Sort {
  /** Name of the order that the head of each column sets; by other columns nothing is sorted. */
  readonly names: Readonly<Partial<Record<string, string>>>;
  /** Whether a column begins with its last values: times with the newest, counts with the largest. */
  readonly isLastFirst: (column: string) => boolean;
  readonly order: Order;
  /** The address of the list in an order. */
  readonly to: (order: OrderQuery) => string;
}

const written = (sortBy: string, descending: boolean): OrderQuery => ({
  sortBy,
  sortOrder: descending ? 'desc' : 'asc',
});

/** The order in a query as texts, empty where the query has none. */
export const orderTexts = (query: URLSearchParams): OrderQuery => ({
  sortBy: query.get('sortBy') ?? '',
  sortOrder: query.get('sortOrder') ?? '',
});

/** The order in a query. One without a name is that of the daemon. */
export function orderIn(query: URLSearchParams, usual = ''): Order {
  const { sortBy, sortOrder } = orderTexts(query);
  return { sortBy: sortBy || usual, descending: sortOrder !== 'asc' };
}

/** The attribute of the head of a column whose order the list has. */
export const sortedBy = ({ names, order }: Sort, column: string) =>
  names[column] !== undefined &&
  names[column] === order.sortBy && {
    'aria-sort': order.descending ? ('descending' as const) : ('ascending' as const),
  };

type SortHeadProps = Readonly<{ sort: Sort; column: string; title: string }>;

/** The head of a column that sorts. The second press turns the order. */
export function SortHead({ sort: { names, isLastFirst, order, to }, column, title }: SortHeadProps) {
  const sortBy = names[column] ?? '';
  const isPresent = sortBy === order.sortBy;
  const next = isPresent ? !order.descending : isLastFirst(column);
  return (
    <button type="button" class="sort" onClick={() => go(to(written(sortBy, next)))}>
      {title}
      <span aria-hidden="true">{isPresent ? (order.descending ? ' ↓' : ' ↑') : ''}</span>
    </button>
  );
}

type OrderChoiceProps = Readonly<{ sort: Sort; heads: Readonly<Record<string, string>> }>;

/** The orders as a list to choose from, for phones. */
export function OrderChoice({ sort: { names, order, to }, heads }: OrderChoiceProps) {
  const orders = Object.entries(names).flatMap(([column, by]) => [
    [`${by} asc`, `${heads[column]} ↑`],
    [`${by} desc`, `${heads[column]} ↓`],
  ]);
  // The order of the daemon has no column here.
  const isNamed = Object.values(names).includes(order.sortBy);
  if (!orders.length) return null;
  const words = Object.fromEntries([...(isNamed ? [] : [['', text.common.order]]), ...orders]);
  const choose = (chosen: string) => {
    const [by = '', direction] = chosen.split(' ');
    go(to(written(by, direction === 'desc')));
  };
  return (
    <div class="order">
      <Choice
        isInline
        label={text.common.order}
        values={Object.keys(words)}
        words={words}
        value={isNamed ? `${order.sortBy} ${order.descending ? 'desc' : 'asc'}` : ''}
        onChange={choose}
      />
    </div>
  );
}

/** What rows are sorted by, for each column that can be. Rows without a value are last. */
export type SortValues<R, C extends string = string> = Readonly<Partial<Record<C, (row: R) => string | number | null>>>;

/** Rows in the order of the address, and what sorts them. Unless they are all there, the daemon has sorted them, by `usual` alone. */
export function sorted<R>(rows: readonly R[], values: SortValues<R>, to: Sort['to'], usual = '', isWhole = true) {
  const order = orderIn(place.value.query, usual);
  const offered = Object.keys(values).filter(column => isWhole || column === usual);
  const sort: Sort = {
    names: Object.fromEntries(offered.map(column => [column, column])),
    isLastFirst: column => rows.some(row => typeof values[column]?.(row) === 'number'),
    order,
    to,
  };
  const read = isWhole && offered.includes(order.sortBy) ? values[order.sortBy] : undefined;
  if (!read) return { rows, sort };
  const { compare } = new Intl.Collator(document.documentElement.lang, { numeric: true });
  const keyed = rows.map(row => ({ row, value: read(row) }));
  keyed.sort(({ value: a }, { value: b }) => {
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const difference = typeof a === 'number' && typeof b === 'number' ? a - b : compare(`${a}`, `${b}`);
    return order.descending ? -difference : difference;
  });
  return { rows: keyed.map(({ row }) => row), sort };
}
