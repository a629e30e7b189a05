/** The lists that were loaded last, and what has changed since: Back shows them at once, without a request. */
import { effect, type ReadonlySignal, signal, useComputed } from '@preact/signals';
import { useRefresh } from '../../api/live.ts';
import { token } from '../../api/request.ts';
import { onEvents, streamState } from '../../api/stream.ts';
import type { DeviceList } from './query.ts';

/** Devices that are counted; a larger number is of no use. */
const COUNTED = 10_000;
/** Milliseconds for which a list is shown without being loaded again: no event reports the use of a device. */
const FRESH_MS = 60_000;
const mostLists = 5;

class RecentList {
  readonly data: DeviceList;
  readonly #loadedAt = performance.now();
  readonly #shown: ReadonlySet<unknown>;
  readonly #others = new Set<string>();
  #isTouched = false;
  /** Number of devices that have changed since and are not shown. */
  readonly others = signal(0);

  constructor(data: DeviceList) {
    this.data = data;
    this.#shown = new Set(data.list.map(({ deviceId }) => deviceId));
  }

  get isFresh(): boolean {
    return !this.#isTouched && streamState.peek() === 'live' && performance.now() - this.#loadedAt < FRESH_MS;
  }

  shows = (deviceId: unknown): boolean => this.#shown.has(deviceId);

  add(deviceId: string): void {
    if (this.shows(deviceId)) this.#isTouched = true;
    else if (this.#others.size < COUNTED) this.#others.add(deviceId);
  }

  count(): void {
    this.others.value = this.#others.size;
  }
}

/** The columns do not change what is loaded. */
function nameOf(query: URLSearchParams): string {
  const loaded = new URLSearchParams(query);
  loaded.delete('columns');
  return loaded.toString();
}

/** By `nameOf`. */
const lists = new Map<string, RecentList>();
const loads = signal(0);

onEvents(events => {
  for (const list of lists.values()) {
    for (const { id, data } of events)
      if (id !== undefined && typeof data.deviceId === 'string') list.add(data.deviceId);
    list.count();
  }
});
effect(() => {
  // The next person in this tab sees nothing of this one.
  if (token.value === null) lists.clear();
});

/** State of the list of a query, for `useResource`. */
export function recallList(query: URLSearchParams) {
  const name = nameOf(query);
  const list = lists.get(name);
  const keep = (data: DeviceList) => {
    lists.delete(name);
    lists.set(name, new RecentList(data));
    loads.value++;
    for (const oldest of lists.keys()) if (lists.size > mostLists) lists.delete(oldest);
  };
  return { data: list?.data, isFresh: list?.isFresh ?? false, keep };
}

/**
 * Loads the list again when devices that it shows have changed. Changes of others, which can make rows appear and move, are
 * counted until the person asks for them. Returns their number.
 */
export function useChanges(query: ReadonlySignal<URLSearchParams>, reload: () => void): ReadonlySignal<number> {
  const present = () => lists.get(nameOf(query.peek()));
  useRefresh(reload, events => events.some(({ data }) => present()?.shows(data.deviceId)));
  return useComputed(() => {
    loads.value;
    return lists.get(nameOf(query.value))?.others.value ?? 0;
  });
}
