/** The results of `register --file` at the terminal. */

import { columnsOf, type LineResult } from '../../../../enrollment/import/result.ts';
import { positionText } from '../../../../tables/raw.ts';
import type { Context } from '../../../framework/context.ts';
import { ResultWriter } from '../../../jobs/result-writer.ts';
import { safe } from '../../../terminal/text.ts';
import type { FileValues } from './flags.ts';

/** Writes results to standard output. With `toFile`, people see only the failures. */
export const writerOf = (
  context: Context,
  { csv, out, activate }: Pick<FileValues, 'csv' | 'out' | 'activate'>,
  mostEach?: number,
): ResultWriter<LineResult> =>
  new ResultWriter(context, {
    toFile: out !== undefined,
    ...(mostEach === undefined ? {} : { mostEach }),
    columns: csv ? columnsOf(activate) : null,
    line: result => lineOf(context.out.paint, result),
  });

function lineOf(paint: Context['out']['paint'], result: LineResult): string {
  const { serialNumber, status, deviceId, deviceStatus, activationCode = deviceStatus, userId, message } = result;
  const where = positionText(result).padEnd(10);
  const serial = safe(serialNumber ?? '-');
  if (status === 'success')
    return `${where} ${paint('green', '✓')} ${safe(deviceId ?? '')}  ${safe(activationCode ?? '')}  ${serial}${userId === undefined ? '' : `  ${safe(userId)}`}`;
  if (status === 'new') return `${where} ${paint('green', '+')} new         ${serial}`;
  if (status === 'registered' || status === 'repeated')
    return `${where} ${paint('yellow', '=')} ${status.padEnd(11)} ${serial}  ${safe(message)}`;
  return `${where} ${paint('red', '✗')} ${status.padEnd(11)} ${serial}  ${safe(message)}`;
}
