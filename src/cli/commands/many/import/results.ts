/** The result of one row of `register --file`. */
import type { Context } from '../../../framework/context.ts';
import { type Position, positionText } from '../../../jobs/line-number.ts';
import { ResultWriter } from '../../../jobs/result-writer.ts';
import { safe } from '../../../terminal/text.ts';

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

const resultFields = [
  'line',
  'serialNumber',
  'status',
  'deviceId',
  'activationCode',
  'code',
  'field',
  'message',
] as const satisfies readonly (keyof LineResult)[];

/** The results of an array have a column for the number of the item. */
export const fieldsOf = ([first]: readonly LineResult[]): readonly (keyof LineResult)[] =>
  first?.item === undefined ? resultFields : [...resultFields, 'item'];

/** Writes results to standard output. With `toFile`, people see only the failures. */
export const writerOf = (
  context: Context,
  asCsv: boolean,
  toFile: boolean,
  mostEach?: number,
): ResultWriter<LineResult> =>
  new ResultWriter(context, {
    toFile,
    ...(mostEach === undefined ? {} : { mostEach }),
    columns: asCsv ? fieldsOf : null,
    line: result => lineOf(context.out.paint, result),
  });

function lineOf(paint: Context['out']['paint'], result: LineResult): string {
  const { serialNumber, status, deviceId, activationCode, message } = result;
  const where = positionText(result).padEnd(10);
  const serial = safe(serialNumber ?? '-');
  if (status === 'success')
    return `${where} ${paint('green', '✓')} ${safe(deviceId ?? '')}  ${safe(activationCode ?? '')}  ${serial}`;
  if (status === 'new') return `${where} ${paint('green', '+')} new         ${serial}`;
  if (status === 'registered') return `${where} ${paint('yellow', '=')} registered  ${serial}  ${safe(message)}`;
  return `${where} ${paint('red', '✗')} ${status.padEnd(11)} ${serial}  ${safe(message)}`;
}
