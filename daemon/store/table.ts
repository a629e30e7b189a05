/** A table: its fields with the types of their columns, and how rows are found. Both engines make their statements from it. */
/** `json`: a value that is stored as its JSON text, null as null. `tags`: see the engine. */
export type ColumnType = 'integer' | 'text' | 'boolean' | 'json' | 'tags' | 'bytes';

export type Field<R> = keyof R & string;

interface TableOptions<R> {
  /** The field that identifies a row; `number` if absent. */
  readonly key?: Field<R>;
  /** Fields that never change, beside the key. */
  readonly fixed?: readonly Field<R>[];
  /** Values that most new records have. */
  readonly initial?: Partial<R>;
  /** Fields that no two records share beside the key, among those that have the values `among`. */
  readonly unique?: readonly Field<R>[];
  readonly among?: Partial<R>;
}

/** A table of rows with these fields; their columns have the same names in snake case. */
export class StoreTable<R extends object> {
  readonly name: string;
  readonly types: Readonly<Record<Field<R>, ColumnType>>;
  readonly fields: readonly Field<R>[];
  readonly key: Field<R>;
  /** The fields that can change. */
  readonly mutable: readonly Field<R>[];
  readonly initial: Partial<R>;
  /** The row with this key. */
  readonly byKey: Lookup<R>;
  /** Columns of `TableOptions`. Empty if there is nothing unique beside the key. */
  readonly unique: Lookup<R>;

  constructor(name: string, types: Readonly<Record<Field<R>, ColumnType>>, options: TableOptions<R> = {}) {
    const { key = 'number' as Field<R>, fixed = [], initial = {}, unique = [], among } = options;
    this.name = name;
    this.types = types;
    this.fields = Object.keys(types) as Field<R>[];
    this.key = key;
    this.mutable = this.fields.filter(field => field !== key && !fixed.includes(field));
    this.initial = initial;
    this.byKey = { table: this, by: [key] };
    this.unique = { table: this, by: unique, having: among };
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tables of all rows are in one list
export type AnyTable = StoreTable<any>;

/** The rows with certain values in the fields `by`, among those that have the constants `having`. */
export interface Lookup<R extends object, S extends Field<R> = Field<R>> {
  readonly table: StoreTable<R>;
  readonly by: readonly Field<R>[];
  readonly having?: Partial<R> | undefined;
  /** The fields that are read; all if absent. */
  readonly select?: readonly S[];
}

/** The values of `by`: one value, or several in one text. Fields that are looked up together contain no line break. */
export type LookupKey = string | number;
const joinKey = (values: readonly unknown[]): string => values.join('\n');
/** The values of `by`, one for each field. */
export const keyValues = ({ by }: Pick<Lookup<never>, 'by'>, key: LookupKey): readonly LookupKey[] =>
  by.length > 1 ? (key as string).split('\n') : by.length === 1 ? [key] : [];

/** The key under which the lookup finds the record; null if it does not find it. */
export function keyOf<R extends object>({ by, having }: Lookup<R>, record: R): LookupKey | null {
  if (having) for (const field in having) if (record[field] !== having[field]) return null;
  return by.length === 1 ? (record[by[0]!] as LookupKey) : joinKey(by.map(field => record[field]));
}

/** The unique value of the record; null if the record has nothing unique. */
export const uniqueKey = <R extends object>({ unique }: StoreTable<R>, record: R): LookupKey | null =>
  unique.by.length === 0 ? null : keyOf(unique, record);

const columns = new Map<string, string>();

/** The column of a field. */
export function columnOf(field: string): string {
  const known = columns.get(field);
  if (known !== undefined) return known;
  const column = field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
  columns.set(field, column);
  return column;
}

/** The select list that returns rows with exactly these fields, before they are decoded. */
export const selectList = (fields: readonly string[]): string =>
  fields.map(field => (columnOf(field) === field ? field : `${columnOf(field)} AS "${field}"`)).join(', ');
