/** Tables. Their columns are data, so that all tables of the console are drawn in one place. */
import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { capitalized } from '../text/text.ts';
import { text } from '../text/words.ts';
import { type Sort, SortHead, sortedBy } from './sort.tsx';
import { useSteps } from './steps.ts';
import { useReachableCells } from './whole-text.tsx';

interface TableProps<R> {
  /** Label of the table for screen readers. */
  readonly title?: string;
  /** The heads of columns that are not in the words of all pages. */
  readonly heads?: Readonly<Record<string, ComponentChildren>>;
  /** Cells of a row, in the order of the columns. */
  readonly columns: Readonly<Record<string, (row: R) => ComponentChildren>>;
  readonly rowHead?: string;
  /**
   * `select`: the box that selects; `number`: on the right; `minor`: left out where the table has little room; `keep`: without a
   * line break; `free`: as high as it needs; `whole`: on a line of its own in a card.
   */
  readonly classes?: Readonly<Record<string, string>>;
  /** Shares of the width, by the kind of column. */
  readonly shares?: Readonly<Record<string, number>>;
  readonly sort?: Sort;
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string | number;
  readonly isSelected?: (row: R) => boolean;
  /** Whether the row is also shown beside the table. Absent: no row is. */
  readonly isPresent?: (row: R) => boolean;
  /** Whether the table scrolls rather than become narrower than its columns need. */
  readonly isWide?: boolean;
  /** Whether each row is one line, whatever it holds. */
  readonly isOneLine?: boolean;
}

/** Rows that are drawn at once: few while the window of a phone fills, then more. */
const stepAfter = (drawn: number): number => (drawn < 9 ? 3 : 8);

/** A table with a head, which scrolls if it is wider than the page. On phones each row is a card. Text is never markup. */
export function Table<R>(props: TableProps<R>) {
  const { title, heads = {}, columns, classes = {}, shares = {}, sort, rows, keyOf, isWide, isOneLine } = props;
  const table = useRef<HTMLTableElement>(null);
  useReachableCells(table);
  // A step draws its own rows: those before it are the same.
  const all = useMemo(() => rows.map(row => <Row key={keyOf(row)} row={row} table={props} />), [props]);
  const drawn = useSteps(rows.length, stepAfter);
  const names = Object.keys(columns);
  const minor = names.filter(name => classes[name]?.includes('minor')).length;
  return (
    <div class="scroll" aria-busy={drawn < rows.length}>
      <table
        ref={table}
        data-peek={props.isPresent && ''}
        class={`${isWide ? 'wide' : ''} ${isOneLine ? 'one-line' : ''}`}
        style={{ '--columns': names.length, '--minor': minor }}
      >
        {title && <caption class="hidden">{title}</caption>}
        <thead>
          <tr>
            {names.map(name => (
              <th
                key={name}
                scope="col"
                class={classes[name]}
                {...(shares[name] && { style: { '--share': shares[name] } })}
                {...(sort && sortedBy(sort, name))}
              >
                {sort?.names[name] ? (
                  <SortHead sort={sort} column={name} title={`${headOf(name, heads)}`} />
                ) : (
                  headOf(name, heads)
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{all.slice(0, drawn)}</tbody>
      </table>
    </div>
  );
}

interface RowProps<R> {
  readonly row: R;
  readonly table: TableProps<R>;
}

/** The head of a column. Words that are also used in sentences begin with a capital here. */
function headOf(name: string, heads: Readonly<Record<string, ComponentChildren>>): ComponentChildren {
  const usual: Readonly<Record<string, string>> = text.column;
  const head = heads[name] ?? usual[name];
  return typeof head === 'string' ? capitalized(head) : head;
}

function Row<R>({ row, table: { columns, rowHead, classes = {}, heads = {}, isSelected, isPresent } }: RowProps<R>) {
  const cardHead = (name: string) => {
    const head = headOf(name, typeof heads[name] === 'string' ? heads : {});
    return typeof head === 'string' ? head : undefined;
  };
  const cells = Object.entries(columns).map(([name, cell]) =>
    name === rowHead ? (
      <th key={name} scope="row" class={classes[name]}>
        {cell(row)}
      </th>
    ) : (
      <td key={name} class={classes[name]} data-head={cardHead(name)}>
        {cell(row)}
      </td>
    ),
  );
  return (
    <tr class={isSelected?.(row) ? 'selected' : undefined} {...(isPresent?.(row) && { 'aria-current': true })}>
      {cells}
    </tr>
  );
}
