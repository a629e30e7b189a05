/** SIM cards that are registered with the filler of their number. The registry compares whole serial numbers, so the command finds them. */
import { Code } from '../../../../contract/codes.ts';
import { cardNumber, formsOf } from '../../../../contract/iccid.ts';
import { existsWords } from '../../../../enrollment/import/plan.ts';
import type { Row } from '../../../../enrollment/import/row.ts';
import type { Context } from '../../../framework/context.ts';
import { exportedDevices } from '../../../framework/devices/export-stream.ts';

/**
 * The rows; one of a card that is registered in another form is invalid. With `skipExisting` it has that form instead, so that it
 * is compared with its device. The registered cards are read once, if the rows have cards.
 */
export async function* withoutKnownCards(
  context: Context,
  rows: AsyncIterable<Row>,
  skipExisting: boolean,
): AsyncGenerator<Row> {
  let known: Awaited<ReturnType<typeof filledCards>> | null = null;
  for await (const row of rows) {
    const serial = 'device' in row && row.device.deviceType === 'SIMKEY' ? row.device.serialNumber : null;
    if (serial === null || formsOf(serial).length === 1) {
      yield row;
      continue;
    }
    known ??= await filledCards(context);
    const card = known.get(serial);
    const { position, serialNumber } = row;
    if (card === undefined || !('device' in row)) yield row;
    else if (skipExisting) yield { ...row, device: { ...row.device, serialNumber: card.serialNumber } };
    else yield { position, serialNumber, field: 'serialNumber', problem: card.problem, code: Code.serialDuplicated };
  }
}

/** The cards that are registered with the filler, by the number without it, and why that is not registered. */
async function filledCards(context: Context) {
  const found = new Map<string, { readonly serialNumber: string; readonly problem: string }>();
  for await (const device of exportedDevices(context, { deviceType: ['SIMKEY'] }, null)) {
    const { serialNumber } = device;
    const bare = cardNumber(serialNumber);
    if (bare !== serialNumber) found.set(bare, { serialNumber, problem: `${existsWords(device)} as ${serialNumber}` });
  }
  return found;
}
