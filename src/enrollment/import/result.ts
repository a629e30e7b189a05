/** The result of one row of an input. */

import { Code } from '../../contract/codes.ts';
import { namesIn } from '../../contract/names.ts';
import type { Position } from '../../tables/raw.ts';
import type { Row } from './row.ts';

/** The result of one line, or of one element of a JSON array; the names are those of the output. */
export interface LineResult extends Position {
  readonly serialNumber: string | null;
  /** `repeated`: the row repeats an earlier one. */
  readonly status: 'success' | 'failed' | 'new' | 'registered' | 'repeated' | 'invalid';
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

/** The result of a row that is not sent. A dry run has no code. */
export function unsentResult(row: Exclude<Row, { device: unknown }>, status: 'failed' | 'invalid'): LineResult {
  const { position, serialNumber } = row;
  if ('repeats' in row) return { ...position, serialNumber, status: 'repeated', message: row.repeats };
  const { field, problem, code = Code.parameterError } = row;
  return {
    ...position,
    serialNumber,
    status,
    ...(status === 'invalid' ? {} : { code }),
    ...(field ? { field } : {}),
    message: problem,
  };
}
