/** The entry of the console: takes the session of this tab, then shows the page that the address names. */
import { render } from 'preact';
import { startSession } from './api/offer.ts';
import { App } from './app.tsx';
import { startPage } from './pages.tsx';
import { wordsLoaded } from './text/text.ts';

const root = document.getElementById('console');
if (!root) throw new Error('the page has no element #console');
void startSession();
// With the words of the frame, not after them.
startPage();
wordsLoaded().then(
  () => render(<App />, root),
  () => root.append('devmgr: reload this page'),
);
