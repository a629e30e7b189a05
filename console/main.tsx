/** The entry of the console: takes the session of this tab, then shows the page that the address names. */
import { render } from 'preact';
import { startSession } from './api/offer.ts';
import { App } from './app.tsx';
import { wordsLoaded } from './text/text.ts';

const root = document.getElementById('console');
if (!root) throw new Error('the page has no element #console');
void startSession();
wordsLoaded().then(
  () => render(<App />, root),
  () => root.append('devmgr: reload this page'),
);
