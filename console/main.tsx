/** The entry of the console: takes the session of this tab, then shows the page that the address names. */
import { render } from 'preact';
import { startSession } from './api/offer.ts';
import { App } from './app.tsx';
import { startPage } from './pages.tsx';
import { keepFocus } from './parts/kept-focus.ts';

/** Safari has no `requestIdleCallback`. */
const whenIdle = (work: () => void): unknown =>
  'requestIdleCallback' in window ? requestIdleCallback(work, { timeout: 2000 }) : setTimeout(work);

const root = document.getElementById('console');
if (!root) throw new Error('the page has no element #console');
void startSession();
keepFocus(root);
startPage();
render(<App />, root);
// What people read first does not wait for the font. Its change draws the whole page again: not in a task that draws rows as well.
const useFont = () => (document.documentElement.dataset.font = '');
new PerformanceObserver(list => {
  if (list.getEntriesByName('first-contentful-paint').length)
    document.fonts.load('1rem Inter').then(
      () => whenIdle(useFont),
      () => {},
    );
}).observe({ type: 'paint', buffered: true });
