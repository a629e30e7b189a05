/** Why an input as a whole cannot be read. The words are those of the command line and of the console. */
import type { RegistrationField } from './columns.ts';
import type { Preset } from './mapping.ts';

/** The fault of an input as a whole. */
export type InputFault =
  | { readonly what: 'empty' }
  /** It has a header row and nothing after it, or an array without elements. `names`: of its columns. */
  | { readonly what: 'no rows'; readonly names: readonly string[] }
  /** The first line is not a header row. */
  | { readonly what: 'header'; readonly line: number; readonly problem: string }
  /** The mapping names columns that the file does not have. */
  | { readonly what: 'columns absent'; readonly columns: readonly string[]; readonly names: readonly string[] }
  /** No column and no default for these fields. */
  | {
      readonly what: 'fields missing';
      readonly fields: readonly RegistrationField[];
      readonly names: readonly string[];
      /** The preset that the file seems to be for. */
      readonly looksLike: Preset | null;
    }
  | { readonly what: 'column twice'; readonly column: string }
  | { readonly what: 'tag name'; readonly column: string }
  | { readonly what: 'array'; readonly line: number; readonly problem: string }
  | { readonly what: 'too long'; readonly problem: string }
  /** It is XML, and the mapping is not that of key packages. */
  | { readonly what: 'xml'; readonly isPskc: boolean }
  | { readonly what: 'pskc'; readonly line: number; readonly problem: string }
  | { readonly what: 'no packages' };

/** The input as a whole cannot be read. */
export class InvalidInput extends Error {
  readonly fault: InputFault;
  constructor(fault: InputFault) {
    super('problem' in fault ? fault.problem : fault.what);
    this.fault = fault;
  }
}
