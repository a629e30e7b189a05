/** The entry of the console: takes the session of this tab, then shows the page that the address names. */
import { render } from 'preact';
import { startSession } from './api/offer.ts';
import { App } from './app.tsx';
import { startPage } from './pages.tsx';
import { keepFocus } from './parts/kept-focus.ts';

/** Milliseconds that the frame waits for the page: to draw both at once takes less time than one after the other. */
const PAGE_MS = 250;

/** Resolves when the page has nothing else to do, after two seconds at the latest. Safari has no `requestIdleCallback`. */
const idle = (): Promise<void> =>
  new Promise(resolve =>
    'requestIdleCallback' in window ? requestIdleCallback(() => resolve(), { timeout: 2000 }) : setTimeout(resolve),
  );

const root = document.getElementById('console');
if (!root) throw new Error('the page has no element #console');
void startSession();
keepFocus(root);
void Promise.race([startPage(), new Promise(resolve => setTimeout(resolve, PAGE_MS))]).then(() =>
  render(<App />, root),
);
// The first text that people read does not wait for the font. Its change draws the whole page again: not in a task that draws rows as well.
const useFont = () => (document.documentElement.dataset.font = '');
new PerformanceObserver(list => {
  if (list.getEntriesByName('first-contentful-paint').length)
    document.fonts
      .load('1rem Inter')
      .then(idle)
      .then(useFont, () => {});
}).observe({ type: 'paint', buffered: true });
