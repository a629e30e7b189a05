/** Where a time is in the journal. */

/** An event as a search by time sees it. */
interface TimedEvent {
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Id of the last event before a time, 0 if there is none. Times never descend in the journal, so about 20 reads find the place among
 * a million events. `next` reads the first event after an id; `head` is the id of the last one.
 */
export async function lastIdBefore(
  time: number,
  head: number,
  next: (after: number) => Promise<TimedEvent | undefined>,
): Promise<number> {
  let low = 0;
  let high = head;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const event = await next(middle);
    if (event !== undefined && event.at < time) low = event.id;
    else high = middle;
  }
  return low;
}
