/** Numbers of devices by type, state and manufacturer, which lists and statistics read. */
import type { DeviceStatus, DeviceType } from '../../src/contract/values.ts';
import type { Part } from '../store/write/draft.ts';
import type { DeviceRecord } from './records.ts';

/** A number of devices of a kind. */
interface DeviceCount {
  readonly manufacturer: string;
  readonly deviceType: DeviceType;
  readonly status: DeviceStatus;
  by: number;
}

/** By how much a transaction changes them. */
export class DeviceCounts implements Part {
  readonly #counts = new Map<string, DeviceCount>();

  count({ manufacturer, deviceType, status }: DeviceRecord, by: 1 | -1): void {
    const key = `${deviceType} ${status} ${manufacturer}`;
    const count = this.#counts.get(key);
    if (count) count.by += by;
    else this.#counts.set(key, { manufacturer, deviceType, status, by });
  }

  get all(): readonly DeviceCount[] {
    return [...this.#counts.values()].filter(({ by }) => by !== 0);
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }
}
