/** The result of one row of an input. */

import { Code } from '../../contract/codes.ts';
import type { BatchItem, BatchRegistration } from '../../contract/devices.ts';
import { namesIn } from '../../contract/names.ts';
import type { Position } from '../../tables/raw.ts';
import type { Row } from './row.ts';

/** The result of one line, or of one element of a JSON array; the names are those of the output. */
export interface LineResult extends Position {
  readonly serialNumber: string | null;
  /** `repeated`: the row repeats an earlier one. */
  readonly status: 'success' | 'failed' | 'new' | 'registered' | 'repeated' | 'invalid';
  readonly deviceId?: string;
  /** Absent for a device that is bound to its holder: no one enters it. */
  readonly activationCode?: string;
  /** Present if the device is bound. */
  readonly deviceStatus?: 'ACTIVE';
  /** The holder. */
  readonly userId?: string;
  /** Business code of a failure. */
  readonly code?: number;
  readonly field?: string;
  readonly message: string;
}

const resultFields = namesIn(
  'line serialNumber status deviceId activationCode code field message',
) satisfies readonly (keyof LineResult)[];

/** The columns of results: of an array with the number of the item, and of devices that are bound with whom they are bound to. */
export const columnsOf =
  (binds: boolean) =>
  ([first]: readonly LineResult[]): readonly (keyof LineResult)[] => [
    ...resultFields,
    ...(binds ? (['deviceStatus', 'userId'] as const) : []),
    ...(first?.item === undefined ? [] : (['item'] as const)),
  ];

/** The code of a device that must still be activated, or whom it is bound to. */
export const bindingOf = (
  { userId }: BatchRegistration,
  { activationCode, deviceStatus }: Pick<BatchItem, 'activationCode' | 'deviceStatus'>,
): Pick<LineResult, 'activationCode' | 'deviceStatus' | 'userId'> =>
  deviceStatus && userId ? { deviceStatus, userId } : activationCode ? { activationCode } : {};

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
