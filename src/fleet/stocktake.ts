/** A stock-take: serial numbers that were scanned, compared with the devices that should be there. No I/O. */
import type { DeviceListItem } from '../contract/device-shapes.ts';
import { formsOf } from '../contract/iccid.ts';

/** The finding of a stock-take about a device or a number. `elsewhere`: registered, not expected here. `unclear`: a person must look. */
export const stockStates = ['present', 'missing', 'elsewhere', 'unclear', 'unknown', 'invalid'] as const;
export type StockState = (typeof stockStates)[number];

/** One device or number of the report. */
export interface StockRow {
  readonly status: StockState;
  readonly serialNumber: string | null;
  readonly deviceId?: string;
  readonly deviceStatus?: string;
  readonly userId?: string;
  /** The line of the file on which the number was scanned first. */
  readonly line?: number;
  readonly message: string;
}

/** A device as the report needs it. */
type StockDevice = Pick<DeviceListItem, 'deviceId' | 'serialNumber' | 'status' | 'userId' | 'tags'>;

/** How a stock-take judges. */
interface StockRules {
  /** Whether a number in another case or with other leading zeros is that of the device. */
  readonly acceptsSimilar: boolean;
  /** Equal for numbers that differ only in case or leading zeros. */
  readonly keyOf: (serial: string) => string;
  /** Why a device should not be here, in words. */
  readonly placeOf: (device: StockDevice) => string;
}

/** Compares numbers with devices, which pass by one by one: only the numbers, and devices whose number is unclear, are kept. */
export class StockTake {
  readonly #rules: StockRules;
  /** Numbers that no device has had, with their first lines. */
  readonly #open = new Map<string, number>();
  readonly #seen = new Set<string>();
  readonly #byKey = new Map<string, string[]>();
  /** Devices whose number is similar to one that was scanned. */
  readonly #similar: { readonly device: StockDevice; readonly isExpected: boolean }[] = [];

  constructor(rules: StockRules) {
    this.#rules = rules;
  }

  /** Adds a number. A repeated one counts once. */
  scan(serial: string, line: number): void {
    if (this.#seen.has(serial)) return;
    this.#seen.add(serial);
    this.#open.set(serial, line);
    const key = this.#rules.keyOf(serial);
    this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), serial]);
  }

  get scanned(): number {
    return this.#seen.size;
  }

  /** Whether numbers are left that no device has had. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** A device that should be here. Null if its number is unclear until all devices have passed. */
  expected(device: StockDevice): StockRow | null {
    const line = this.#take(device);
    if (line !== null) return rowOf('present', device, 'present', line);
    if (this.#isSimilar(device, true)) return null;
    return rowOf('missing', device, 'not scanned');
  }

  /** Another device of the registry; null if it was not scanned. */
  other(device: StockDevice): StockRow | null {
    const line = this.#take(device);
    if (line !== null) return rowOf('elsewhere', device, this.#rules.placeOf(device), line);
    this.#isSimilar(device, false);
    return null;
  }

  /** The rest when all devices have passed. */
  *rest(): Generator<StockRow> {
    for (const { device, isExpected } of this.#similar) {
      const [serial] = (this.#byKey.get(this.#rules.keyOf(device.serialNumber)) ?? []).filter(one =>
        this.#open.has(one),
      );
      if (serial === undefined) {
        if (isExpected) yield rowOf('missing', device, 'not scanned');
        continue;
      }
      const line = this.#open.get(serial)!;
      this.#open.delete(serial);
      if (!this.#rules.acceptsSimilar)
        yield rowOf(
          'unclear',
          device,
          `${serial} was scanned, which differs in case or leading zeros. If it is this key: --similar`,
          line,
        );
      else if (isExpected) yield rowOf('present', device, `present, scanned as ${serial}`, line);
      else yield rowOf('elsewhere', device, this.#rules.placeOf(device), line);
    }
    for (const [serialNumber, line] of this.#open)
      yield { status: 'unknown', serialNumber, line, message: 'no device has this serial number' };
  }

  /** The line of the number of the device; null if it was not scanned. */
  #take({ serialNumber }: StockDevice): number | null {
    let found: number | null = null;
    for (const form of formsOf(serialNumber)) {
      found ??= this.#open.get(form) ?? null;
      this.#open.delete(form);
    }
    return found;
  }

  #isSimilar(device: StockDevice, isExpected: boolean): boolean {
    const numbers = this.#byKey.get(this.#rules.keyOf(device.serialNumber)) ?? [];
    if (!numbers.some(serial => this.#open.has(serial))) return false;
    this.#similar.push({ device, isExpected });
    return true;
  }
}

function rowOf(
  status: StockState,
  { serialNumber, deviceId, status: deviceStatus, userId }: StockDevice,
  message: string,
  line?: number,
): StockRow {
  return {
    ...{ status, serialNumber, deviceId, deviceStatus },
    ...(userId === null ? {} : { userId }),
    ...(line === undefined ? {} : { line }),
    message,
  };
}

/** The reasons that keep a device out of a filter, as far as single fields show them: `tag site is paris, status is LOCKED`. */
export function placeWords(
  filter: { readonly status?: readonly string[] | undefined; readonly tag?: readonly string[] | undefined },
  { status, tags }: Pick<StockDevice, 'status' | 'tags'>,
): string {
  const words = (filter.tag ?? []).flatMap(pair => {
    const at = pair.indexOf(':');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    return tags[name] === value ? [] : [`tag ${name} is ${tags[name] ?? 'absent'}`];
  });
  if (filter.status && !filter.status.includes(status)) words.push(`status is ${status}`);
  return words.join(', ') || 'the filter does not match it';
}
