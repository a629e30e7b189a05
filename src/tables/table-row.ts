/** Rows with fields, as an import takes them. */
import type { Position } from './raw.ts';

/** A row as it was read. */
export interface TableRow<Field extends string = string> {
  readonly position: Position;
  /** Texts, or values of JSON. A field without a value is absent. */
  readonly values: Readonly<Partial<Record<Field, unknown>>>;
  /** Tags of columns `tag:NAME`. */
  readonly tags: Readonly<Record<string, string>>;
  /** Why the line as a whole cannot be read; null if it can. */
  readonly problem: string | null;
  /** The row has secrets, and one may be in the place of another value: a row that is refused shows none. */
  readonly hasSecrets: boolean;
}

/** Something that a person should look at. Contains no value of a secret column. */
export interface Doubt {
  /** Absent if it is about the file. */
  readonly line?: number;
  readonly column?: string;
  readonly message: string;
}
