/** Milliseconds of work after which others get their turn; what Node does after each write comes on top, about as much again. */
const BUDGET = 4;
const STRIDE = 16;

/** Does something for each item in pieces, so that the event loop is never held for the whole of it. */
export async function inSlices<T>(items: Iterable<T>, each: (item: T) => void): Promise<void> {
  let since = performance.now();
  let count = 0;
  for (const item of items) {
    each(item);
    if (++count % STRIDE !== 0 || performance.now() - since < BUDGET) continue;
    await new Promise(setImmediate);
    since = performance.now();
  }
}
