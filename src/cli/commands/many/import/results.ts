/** The results of `register --file` at the terminal. */

import { fieldsOf, type LineResult } from '../../../../enrollment/import/result.ts';
import { positionText } from '../../../../tables/raw.ts';
import type { Context } from '../../../framework/context.ts';
import { ResultWriter } from '../../../jobs/result-writer.ts';
import { safe } from '../../../terminal/text.ts';

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
  if (status === 'registered' || status === 'repeated')
    return `${where} ${paint('yellow', '=')} ${status.padEnd(11)} ${serial}  ${safe(message)}`;
  return `${where} ${paint('red', '✗')} ${status.padEnd(11)} ${serial}  ${safe(message)}`;
}
