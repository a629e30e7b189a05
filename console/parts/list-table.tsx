/** The table of a page that lists records. */
import type { ComponentChildren } from 'preact';
import { text } from '../text/text.ts';

interface ListTableProps<C extends string> {
  /** What the table lists, for those who do not see it. */
  readonly title: string;
  /** Words of each column, in order. The last column of a row has its actions. */
  readonly columns: Readonly<Record<C, string>>;
  /** The columns of numbers. */
  readonly numbers?: readonly C[];
  /** The columns that a narrow page leaves out. */
  readonly minor?: readonly C[];
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A table with a head and a hidden caption, which scrolls if it is wider than the page. */
export function ListTable<C extends string>({ title, columns, numbers = [], minor = [], children }: ListTableProps<C>) {
  const classOf = (name: C) => (numbers.includes(name) ? 'number' : minor.includes(name) ? 'minor' : undefined);
  return (
    <div class="scroll">
      <table class="dense">
        <caption class="hidden">{title}</caption>
        <thead>
          <tr>
            {(Object.entries(columns) as [C, string][]).map(([name, words]) => (
              <th key={name} scope="col" class={classOf(name)}>
                {words}
              </th>
            ))}
            <th scope="col">{text.value.common.actions}</th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
