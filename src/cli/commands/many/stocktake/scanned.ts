/** The numbers that a scanner has written. */
import type { StockRow, StockTake } from '../../../../fleet/stocktake.ts';
import { type ListField, listFields } from '../../../../tables/fields.ts';
import { withoutRanges } from '../../../../tables/ranges.ts';
import { judgedSerial } from '../../../../tables/serial-values.ts';
import { openTable } from '../../../../tables/table.ts';
import { usage } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { checkInput, nameOf } from '../../../jobs/input-file.ts';
import { bytesOf, encodingFault, readable, readableRows, type TableWords } from '../../../jobs/table-file.ts';
import { keepMap, type TableFlags, tableChoices } from '../../../jobs/table-flags.ts';

const words: TableWords = {
  none: 'has no numbers',
  needs: 'it needs one serial number on each line',
  flagOf: {},
};

/** The fields of a list, of which only the serial number counts. */
const fields = listFields.filter(({ field }) => field === 'serialNumber');

/** Adds the numbers to the stock-take. Yields a row for each line that is none. */
export async function* scannedNumbers(
  context: Context,
  file: string,
  flags: TableFlags,
  take: StockTake,
): AsyncGenerator<StockRow> {
  checkInput({ file, out: undefined, resume: false });
  const choices = tableChoices<ListField>(context, flags, fields);
  const table = await readable(file, words, () =>
    openTable(bytesOf({ file, stdin: context.io.stdin }), {
      ...{ ...choices, file, fields, plain: 'serialNumber' as const, required: [['serialNumber' as const]] },
    }),
  );
  await keepMap(context, flags);
  for await (const read of readableRows(file, words, table.rows))
    for (const { position, values, problem, hasSecrets } of withoutRanges(read, false)) {
      const serial = String(values.serialNumber ?? '').trim();
      const judged = judgedSerial(serial, { deviceType: null, column: '', hasSecrets, asIs: false });
      const fault =
        problem ??
        ('problem' in judged ? `the number ${judged.problem}` : serial === '' ? 'the line has no number' : null);
      if (fault === null) take.scan(serial, position.line);
      else
        yield {
          status: 'invalid',
          serialNumber: hasSecrets ? null : serial || null,
          line: position.line,
          message: fault,
        };
    }
  const fault = encodingFault(file, table);
  if (fault !== null) throw usage(fault.message, fault.hint ?? undefined);
  if (table.dropped.words !== null) notify(context, table.dropped.words);
  if (take.scanned === 0) notify(context, `${nameOf(file)}: no number could be read.`);
}
