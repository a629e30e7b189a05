/** Tables. Their columns are data, so that all tables of the console are drawn in one place. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { WholeText } from './whole-text.tsx';

interface TableProps<R> {
  /** What the table lists, for those who do not see it. */
  readonly title?: string;
  /** The head of each column. */
  readonly heads: Readonly<Record<string, ComponentChildren>>;
  /** What each column shows of a row, in the order of the columns. */
  readonly columns: Readonly<Record<string, (row: R) => ComponentChildren>>;
  /** The column that names the row. */
  readonly rowHead?: string;
  /** `number`: on the right; `minor`: left out on a narrow page; `keep`: without a line break; `free`: as high as it needs. */
  readonly classes?: Readonly<Record<string, string>>;
  readonly sorted?: { readonly column: string | undefined; readonly order: 'ascending' | 'descending' };
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string | number;
  readonly isSelected?: (row: R) => boolean;
  /** Whether the table scrolls rather than become narrower than its columns need. */
  readonly isWide?: boolean;
  /** Whether each row is one line, whatever it holds. */
  readonly isOneLine?: boolean;
}

/** A table with a head, which scrolls if it is wider than the page. Text of the registry is shown as text, never as markup. */
export function Table<R>(props: TableProps<R>) {
  const { title, heads, columns, classes = {}, sorted, rows, keyOf, isSelected, isWide, isOneLine } = props;
  const table = useRef<HTMLTableElement>(null);
  return (
    <div class="scroll">
      <table ref={table} class={`dense ${isWide ? 'wide' : ''} ${isOneLine ? 'one-line' : ''}`}>
        {title && <caption class="hidden">{title}</caption>}
        <thead>
          <tr>
            {Object.keys(columns).map(name => (
              <th
                key={name}
                scope="col"
                class={classes[name]}
                {...(sorted?.column === name && { 'aria-sort': sorted.order })}
              >
                {heads[name]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={keyOf(row)} class={isSelected?.(row) ? 'selected' : undefined}>
              {cellsOf(row, props)}
            </tr>
          ))}
        </tbody>
      </table>
      {isOneLine && <WholeText of={table} />}
    </div>
  );
}

const cellsOf = <R,>(row: R, { columns, rowHead, classes = {} }: TableProps<R>) =>
  Object.entries(columns).map(([name, cell]) =>
    name === rowHead ? (
      <th key={name} scope="row" class={classes[name]}>
        {cell(row)}
      </th>
    ) : (
      <td key={name} class={classes[name]}>
        {cell(row)}
      </td>
    ),
  );
