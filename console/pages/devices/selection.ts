/** Which devices are selected. The selection outlasts a change of page and order; a change of the filters ends it. */
import { computed, type ReadonlySignal, signal, useSignalEffect } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { BatchOperation, DeviceStatus } from '../../../src/contract/values.ts';
import { type Device, type DeviceList, filterText } from './query.ts';

/** Operations for selected devices, in the order of their buttons. An activation needs the code of each device, so it is not among them. */
export const bulkNames = ['LOCK', 'UNLOCK', 'GENERATE_CODE', 'DEACTIVATE'] as const satisfies readonly BatchOperation[];
/** Name of an operation for selected devices. */
export type BulkName = (typeof bulkNames)[number];

/** What the page knows of a selected device. */
export interface Selected {
  readonly deviceId: string;
  readonly status: DeviceStatus;
}

/** The selection of a list. */
export class DeviceSelection {
  readonly #picked = signal<ReadonlyMap<string, Selected>>(new Map());
  /** Whether every device that matches the filters is selected, on any page. */
  readonly all = signal(false);
  /** Number of devices that were selected one by one or by page. */
  readonly size = computed(() => this.#picked.value.size);

  has(deviceId: string): boolean {
    return this.all.value || this.#picked.value.has(deviceId);
  }

  /** Selects devices or takes them out. Taking one out of all matching devices leaves those of `shown`. */
  set(devices: readonly Device[], isSelected: boolean, shown: readonly Device[]): void {
    const next = new Map(this.all.value ? shown.map(entryOf) : this.#picked.value);
    this.all.value = false;
    for (const device of devices)
      if (isSelected) next.set(...entryOf(device));
      else next.delete(device.deviceId);
    this.#picked.value = next;
  }

  /** Number of selected devices. */
  count({ pagination }: DeviceList): number {
    return this.all.value ? pagination.total : this.size.value;
  }

  selectAll(): void {
    this.all.value = true;
  }

  clear(): void {
    this.all.value = false;
    this.#picked.value = new Map();
  }

  /** The devices that were selected one by one or by page. */
  picked(): readonly Selected[] {
    return [...this.#picked.value.values()];
  }
}

const entryOf = ({ deviceId, status }: Device): [string, Selected] => [deviceId, { deviceId, status }];

/** The selection of the list that a query shows. */
export function useSelection(query: ReadonlySignal<URLSearchParams>): DeviceSelection {
  const { selection, filter } = useMemo(
    () => ({ selection: new DeviceSelection(), filter: computed(() => filterText(query.value)) }),
    [query],
  );
  useSignalEffect(() => {
    filter.value;
    selection.clear();
  });
  return selection;
}
