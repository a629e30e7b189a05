/** Which devices are selected. The selection outlasts a change of page and order; a change of the filters ends it. */
import { computed, type ReadonlySignal, signal, useSignalEffect } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import type { BatchOperation, DeviceStatus } from '../../../src/contract/values.ts';
import { kept, place } from '../../router.ts';
import { type Device, type DeviceList, filterText } from './query.ts';

/** Operations for selected devices, in the order of their buttons. An activation needs the code of each device, so it is not among them. */
export const bulkNames = [
  'LOCK',
  'UNLOCK',
  'UPDATE',
  'GENERATE_CODE',
  'DEACTIVATE',
] as const satisfies readonly BatchOperation[];
/** Name of an operation for selected devices. */
export type BulkName = (typeof bulkNames)[number];

/** Known fields of a selected device. */
export type SelectedDevice = Readonly<{ deviceId: string; status: DeviceStatus }>;

type StoredSelection = true | readonly SelectedDevice[];
const mostStored = 5000;

/** The selection of a list. */
export class DeviceSelection {
  readonly #picked = signal<ReadonlyMap<string, SelectedDevice>>(new Map());
  #last: string | null = null;
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

  /** Selects a device of `shown` or takes it out; with `isRange`, all devices from the last one that was chosen to this one. */
  choose(device: Device, isSelected: boolean, isRange: boolean, shown: readonly Device[]): void {
    const at = shown.indexOf(device);
    const from = isRange ? shown.findIndex(({ deviceId }) => deviceId === this.#last) : -1;
    const [first, end] = from < 0 ? [at, at] : [Math.min(at, from), Math.max(at, from)];
    this.set(shown.slice(first, end + 1), isSelected, shown);
    this.#last = device.deviceId;
  }

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

  /** Selection in a history entry: the devices, or true if all that match are selected. A part of the devices would mislead. */
  stored(): StoredSelection {
    return this.all.value || (this.size.value > mostStored ? [] : this.picked());
  }

  restore(stored: StoredSelection = []): void {
    this.all.value = stored === true;
    this.#picked.value = new Map(stored === true ? [] : stored.map(device => [device.deviceId, device]));
  }

  /** The devices that were selected one by one or by page. */
  picked(): readonly SelectedDevice[] {
    return [...this.#picked.value.values()];
  }
}

const entryOf = ({ deviceId, status }: Device): [string, SelectedDevice] => [deviceId, { deviceId, status }];

/** The selection of the list that a query shows. Each entry of the history keeps it, for Back and a reload. */
export function useSelection(query: ReadonlySignal<URLSearchParams>): DeviceSelection {
  const { selection, filter } = useMemo(
    () => ({ selection: new DeviceSelection(), filter: computed(() => filterText(query.value)) }),
    [query],
  );
  const last = useRef<string>(undefined);
  useSignalEffect(() => {
    // On the way to another page the entry is that of the other page.
    if (place.value.path.length > 1) return;
    if (filter.value !== last.current) selection.restore(kept().selection as StoredSelection | undefined);
    last.current = filter.value;
    kept().selection = selection.stored();
  });
  return selection;
}
