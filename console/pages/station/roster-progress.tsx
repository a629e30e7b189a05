/** How far a roster is. */

import { dictionary } from '../../text/text.ts';
import type { Bench } from './bench.ts';

const runWords = dictionary('benchRun');
const benchWords = dictionary('bench');

/** The rows that are done, and the people who are next. */
export function RosterProgress({ run }: { readonly run: Bench }) {
  const words = runWords.value.roster;
  const { roster, waiting } = run.view.value;
  if (!roster) return null;
  const more = waiting.count - waiting.first.length;
  const parts = [
    words.progress(roster.finished, roster.rows),
    roster.skipped ? words.skipped(roster.skipped) : '',
  ].filter(Boolean);
  return (
    <>
      <p>{parts.join(', ')}</p>
      <progress max={roster.rows} value={roster.finished} aria-label={benchWords.value.roster.title} />
      {waiting.count > 0 && (
        <p>
          {words.waiting}: {waiting.first.map(({ userId, name }) => name ?? userId).join(', ')}
          {more > 0 && ` ${words.more(more)}`}
        </p>
      )}
    </>
  );
}
