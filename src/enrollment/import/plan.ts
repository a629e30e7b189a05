/** A preview of an import, row by row. */
import type { BatchRegistration, DeviceListItem } from '../../contract/devices.ts';
import { formsOf } from '../../contract/iccid.ts';
import { isSameName } from '../../contract/person-key.ts';
import { differencesOf } from '../same-device.ts';
import { type LineResult, unsentResult } from './result.ts';
import type { Row, SentRow } from './row.ts';

/** A device that has the serial number of a row. */
export type ExistingDevice = Pick<
  DeviceListItem,
  'deviceId' | 'status' | 'deviceType' | 'manufacturer' | 'model' | 'activationCode' | 'userId'
>;

/** `already exists: DEV-1 (ACTIVE)`. */
export const existsWords = ({ deviceId, status }: Pick<ExistingDevice, 'deviceId' | 'status'>): string =>
  `already exists: ${deviceId} (${status})`;

/** The result of a row whose device exists: `registered`, or a failure with status `differing` that names the differences. */
export function existingResult(
  { position, serialNumber }: Row,
  device: BatchRegistration,
  existing: ExistingDevice,
  differing: { readonly status: 'failed'; readonly code: number } | { readonly status: 'invalid' },
): LineResult {
  const differences = differencesOf(device, existing);
  const known = { ...position, serialNumber, deviceId: existing.deviceId };
  if (differences.length === 0 && isOf(device, existing))
    return { ...known, status: 'registered', message: existsWords(existing) };
  const words = differences.map(([field, name]) => `${name} is ${existing[field]}, not ${device[field]}`);
  if (!isOf(device, existing)) words.push(`user is ${existing.userId ?? 'none'}, not ${device.userId}`);
  const message = `${existsWords(existing)} and differs: ${words.join('; ')}`;
  return { ...known, ...differing, field: differences[0]?.[0] ?? 'userId', message };
}

/** Whether the device is bound to the holder of the row, if it has one. */
export const isOf = (
  { userId }: Pick<BatchRegistration, 'userId'>,
  existing: Pick<DeviceListItem, 'userId'>,
): boolean => !userId || isSameName(userId, existing.userId);

/** Judges the rows of an input: which are new, registered or invalid. */
export class ImportPlan {
  readonly #skipExisting: boolean;
  /** The row of each serial number; null if it is not compared with the registered device. */
  readonly #rows = new Map<string, SentRow | null>();
  /** Serial numbers of rows that are registered in another form. */
  readonly #written = new Map<string, string>();

  /** With `skipExisting`, rows of registered devices that differ from them are invalid. */
  constructor(skipExisting: boolean) {
    this.#skipExisting = skipExisting;
  }

  /** The serial numbers under which the devices of the rows can be registered. */
  get serials(): ReadonlySet<string> {
    return new Set([...this.#rows.keys()].flatMap(formsOf));
  }

  /** Judges the row by the input alone. */
  add(row: Row): LineResult {
    if (!('device' in row)) return unsentResult(row, 'invalid');
    const { serialNumber } = row.device;
    this.#rows.set(serialNumber, this.#skipExisting ? row : null);
    if (serialNumber !== row.serialNumber) this.#written.set(row.serialNumber ?? '', serialNumber);
    const { userId } = row.device;
    const message = userId ? `would be registered and bound to ${userId}` : 'would be registered';
    return { ...row.position, serialNumber: row.serialNumber, status: 'new', message };
  }

  /** The result of `add` with what the registry has. */
  withDevice(result: LineResult, registered: ReadonlyMap<string, ExistingDevice>): LineResult {
    const written = result.serialNumber ?? '';
    const serial = this.#written.get(written) ?? written;
    const forms = result.status === 'new' ? formsOf(serial) : [];
    const existing = forms.map(form => registered.get(form)).find(device => device !== undefined);
    if (existing === undefined) return result;
    const row = this.#rows.get(serial);
    if (row) return existingResult(row, row.device, existing, { status: 'invalid' });
    return { ...result, status: 'registered', deviceId: existing.deviceId, message: existsWords(existing) };
  }
}
