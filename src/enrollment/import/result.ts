/** The result of one row of an input. */
import { namesIn } from '../../contract/names.ts';
import type { Position, Row } from './row.ts';

/** The result of one line, or of one element of a JSON array; the names are those of the output. */
export interface LineResult extends Position {
  readonly serialNumber: string | null;
  readonly status: 'success' | 'failed' | 'new' | 'registered' | 'invalid';
  readonly deviceId?: string;
  readonly activationCode?: string;
  /** Business code of a failure. */
  readonly code?: number;
  readonly field?: string;
  readonly message: string;
}

const resultFields = namesIn(
  'line serialNumber status deviceId activationCode code field message',
) satisfies readonly (keyof LineResult)[];

/** The results of an array have a column for the number of the item. */
export const fieldsOf = ([first]: readonly LineResult[]): readonly (keyof LineResult)[] =>
  first?.item === undefined ? resultFields : [...resultFields, 'item'];

/** The result of a row that cannot be sent. `code` is omitted for a dry run. */
export function invalidResult(
  { position, serialNumber, field, problem }: Exclude<Row, { device: unknown }>,
  status: 'failed' | 'invalid',
  code?: number,
): LineResult {
  return {
    ...position,
    serialNumber,
    status,
    ...(code === undefined ? {} : { code }),
    ...(field ? { field } : {}),
    message: problem,
  };
}
