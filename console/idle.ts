/** Resolves when the page has nothing else to do, after two seconds at the latest. Safari has no `requestIdleCallback`. */
export const idle = (): Promise<void> =>
  new Promise(resolve =>
    'requestIdleCallback' in window ? requestIdleCallback(() => resolve(), { timeout: 2000 }) : setTimeout(resolve),
  );
