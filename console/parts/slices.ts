/** Long work in slices: the page draws and answers between them. */

/** Milliseconds of work after which the page gets its turn. */
const SLICE_MS = 16;

let since = 0;

/** Gives the page its turn if the work has lasted for a slice. */
export async function rest(): Promise<void> {
  if (performance.now() - since < SLICE_MS) return;
  await nextTask();
  since = performance.now();
}

/** The items, a slice of work after the other. */
export async function* inSlices<T>(items: Iterable<T>): AsyncGenerator<T> {
  let count = 0;
  for (const item of items) {
    if (count++ % 100 === 0) await rest();
    yield item;
  }
}

/** A message, because browsers slow timers down in a tab that is not shown. */
function nextTask(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise(resolve => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
