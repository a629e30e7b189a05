/** Why an input as a whole cannot be read. The words are those of the command line and of the console. */

/** A file of a program that writes something else than rows of text. */
export type ForeignKind =
  | 'html'
  | 'xls'
  | 'xml workbook'
  | 'locked workbook'
  | 'opendocument'
  | 'numbers'
  | 'zip'
  | 'gzip'
  | 'pdf'
  | 'binary';

/** The fault of an input as a whole. */
export type InputFault =
  | { readonly what: 'empty' }
  /** It has a header row and nothing after it, or an array without elements. `names`: of its columns. */
  | { readonly what: 'no rows'; readonly names: readonly string[] }
  /** `--where` has left out all rows. */
  | { readonly what: 'all left out'; readonly count: number }
  /** The first line is not a header row. */
  | { readonly what: 'header'; readonly line: number; readonly problem: string }
  /** A person has named columns that the file does not have. */
  | { readonly what: 'columns absent'; readonly columns: readonly string[]; readonly names: readonly string[] }
  /** No column and no default for these fields. */
  | {
      readonly what: 'fields missing';
      readonly fields: readonly string[];
      /** Names of the columns; empty if the first line is not a header row: it may hold secrets. */
      readonly names: readonly string[];
      /** The preset that the file seems to be for. */
      readonly looksLike: string | null;
      /** Columns that a person may mean, and why they are not taken. */
      readonly rejected: readonly { readonly column: string; readonly why: 'opaque' | 'values' | 'ambiguous' }[];
    }
  /** `columns`: their names in the file. */
  | { readonly what: 'column twice'; readonly column: string; readonly columns: readonly string[] }
  | { readonly what: 'tag name'; readonly column: string }
  | { readonly what: 'array'; readonly line: number; readonly problem: string }
  | { readonly what: 'too long'; readonly problem: string }
  /** A program wrote something else than rows of text: the message names what to do there. */
  | { readonly what: 'foreign'; readonly kind: ForeignKind }
  /** XML that is not a PSKC file. */
  | { readonly what: 'xml' }
  | { readonly what: 'pskc'; readonly line: number; readonly problem: string }
  | { readonly what: 'workbook'; readonly problem: string }
  | { readonly what: 'no packages' };

/** The input as a whole cannot be read. */
export class InvalidInput extends Error {
  readonly fault: InputFault;
  constructor(fault: InputFault) {
    super('problem' in fault ? fault.problem : fault.what);
    this.fault = fault;
  }
}
