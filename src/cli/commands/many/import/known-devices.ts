/**
 * Rows whose serial number is registered in another form: a SIM card with the filler of its number, a key in other letters or with other
 * leading zeros. The registry compares whole serial numbers, so the command finds them.
 */
import { Code } from '../../../../contract/codes.ts';
import { cardNumber, formsOf } from '../../../../contract/iccid.ts';
import { existsWords } from '../../../../enrollment/import/plan.ts';
import type { Row } from '../../../../enrollment/import/row.ts';
import { serialKey } from '../../../../tables/values.ts';
import type { Context } from '../../../framework/context.ts';
import { exportedDevices } from '../../../framework/devices/export-stream.ts';

/** Devices of a registry in which each spelling is looked up. In a larger one only numbers of cards are. */
const MOST_COMPARED = 50_000;

interface Known {
  readonly serialNumber: string;
  readonly problem: string;
}

/**
 * The rows; one whose device is registered in another form is invalid: a person must say whether it is that device. With `skipExisting`
 * it has that form instead, so that it is compared with its device. With `asIs` only numbers of cards have other forms.
 */
export async function* withoutKnownDevices(
  context: Context,
  rows: AsyncIterable<Row>,
  { skipExisting, asIs }: { readonly skipExisting: boolean; readonly asIs: boolean },
): AsyncGenerator<Row> {
  let known: ReadonlyMap<string, Known> | null = null;
  let hasAll = false;
  for await (const row of rows) {
    if (!('device' in row)) {
      yield row;
      continue;
    }
    const { serialNumber, deviceType } = row.device;
    const isCard = deviceType === 'SIMKEY' && formsOf(serialNumber).length > 1;
    if (known === null && (!asIs || isCard)) {
      hasAll =
        !asIs && (await context.registry.call('listDevices', { query: { size: 1 } })).pagination.total <= MOST_COMPARED;
      known = hasAll || isCard ? await knownDevices(context, hasAll) : null;
    }
    const other = hasAll || isCard ? known?.get(keyOf(serialNumber)) : undefined;
    if (other === undefined || other.serialNumber === serialNumber) yield row;
    else if (skipExisting) yield { ...row, device: { ...row.device, serialNumber: other.serialNumber } };
    else {
      const { position, serialNumber: written } = row;
      const hint = isCard ? '' : '. If it is another key, register it with --as-is';
      const problem = `${other.problem}${hint}`;
      yield { position, serialNumber: written, field: 'serialNumber', problem, code: Code.serialDuplicated };
    }
  }
}

const keyOf = (serial: string): string => serialKey(cardNumber(serial));

/** The devices by the key of their serial numbers, and why each is not registered in another form; with `all` false the cards alone. */
async function knownDevices(context: Context, all: boolean): Promise<ReadonlyMap<string, Known>> {
  const found = new Map<string, Known>();
  for await (const device of exportedDevices(context, all ? {} : { deviceType: ['SIMKEY'] }, null)) {
    const { serialNumber } = device;
    const key = keyOf(serialNumber);
    // Two devices may differ in case alone: the row is one of them if it has its spelling.
    if (found.has(key)) found.delete(key);
    else found.set(key, { serialNumber, problem: `${existsWords(device)} as ${serialNumber}` });
  }
  return found;
}
