/** SIM cards that are registered with the filler of their number. The registry compares whole serial numbers, so the command finds them. */
import { Code } from '../../../../contract/codes.ts';
import { cardNumber, formsOf } from '../../../../contract/iccid.ts';
import { existsWords } from '../../../../enrollment/import/plan.ts';
import type { Row } from '../../../../enrollment/import/row.ts';
import type { Context } from '../../../framework/context.ts';
import { exportedDevices } from '../../../framework/devices/export-stream.ts';

/** The rows; one of a card that is registered in another form is invalid. The registered cards are read once, if the rows have cards. */
export async function* withoutKnownCards(context: Context, rows: AsyncIterable<Row>): AsyncGenerator<Row> {
  let known: ReadonlyMap<string, string> | null = null;
  for await (const row of rows) {
    const serial = 'device' in row && row.device.deviceType === 'SIMKEY' ? row.device.serialNumber : null;
    if (serial === null || formsOf(serial).length === 1) {
      yield row;
      continue;
    }
    known ??= await filledCards(context);
    const problem = known.get(serial);
    yield problem === undefined
      ? row
      : {
          position: row.position,
          serialNumber: row.serialNumber,
          field: 'serialNumber',
          problem,
          code: Code.serialDuplicated,
        };
  }
}

/** Why a number without its filler is not registered, by number. */
async function filledCards(context: Context): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for await (const device of exportedDevices(context, { deviceType: ['SIMKEY'] }, null)) {
    const bare = cardNumber(device.serialNumber);
    if (bare !== device.serialNumber) found.set(bare, `${existsWords(device)} as ${device.serialNumber}`);
  }
  return found;
}
