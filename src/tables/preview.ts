/** The preview before the first write: how a file was read, and its first rows. Has no value of a secret column. */
import type { Table } from './table.ts';
import type { Doubt } from './table-row.ts';

/** How a file is read. The names are those of the JSON that scripts get. */
export interface Preview {
  readonly format: string;
  readonly encoding: string | null;
  readonly separator: string | null;
  /** Line of the header row; null if there is none. */
  readonly headerLine: number | null;
  /** The columns that are read. */
  readonly columns: readonly { readonly field: string; readonly column: string; readonly values: readonly string[] }[];
  /** Values for all rows that have none. */
  readonly given: Readonly<Record<string, string>>;
  readonly ignored: readonly string[];
  /** Columns whose values are dropped. */
  readonly secrets: readonly string[];
  readonly doubts: readonly Doubt[];
}

const ROWS = 3;
const LONGEST = 60;

/** The preview of a table. `given`: the values of flags and presets. */
export function previewOf<Field extends string>(
  table: Table<Field>,
  given: Readonly<Record<string, unknown>>,
): Preview {
  const { shape, columns, sample, doubts } = table;
  const rows = sample.filter(({ problem }) => problem === null).slice(0, ROWS);
  const read = columns.flatMap(({ name, field, also, tag }) =>
    [field, also, tag === null ? null : `tag:${tag}`].flatMap(each =>
      each === null ? [] : [{ field: each as string, column: name }],
    ),
  );
  return {
    ...shape,
    columns: read.map(({ field, column }) => ({ field, column, values: rows.map(row => textOf(row, field, column)) })),
    given: givenTexts(given),
    ignored: columns.flatMap(({ name, field, tag, isSecret }) =>
      field === null && tag === null && !isSecret && name !== '' ? [name] : [],
    ),
    secrets: columns.flatMap(({ name, isSecret }) => (isSecret ? [name] : [])),
    doubts,
  };
}

function textOf(
  { values, tags }: { readonly values: object; readonly tags: Readonly<Record<string, string>> },
  field: string,
  column: string,
): string {
  const found = field.startsWith('tag:') ? tags[field.slice(4)] : (values as Record<string, unknown>)[field];
  const value = Array.isArray(found) ? found.find(each => each[0] === column)?.[1] : found;
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
  return text.slice(0, LONGEST);
}

/** Tags are shown one by one. */
const givenTexts = ({ tags = {}, ...given }: Readonly<Record<string, unknown>>): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(given).map(([field, value]) => [field, String(value)])),
  ...Object.fromEntries(Object.entries(tags as object).map(([tag, value]) => [`tag ${tag}`, String(value)])),
});
