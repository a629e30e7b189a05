/** A report as text, for a terminal or a file. */
import { type BarScreen, bars } from '../../terminal/bars.ts';
import { wrapped } from '../../terminal/card.ts';
import { statusStyle } from '../../terminal/style.ts';
import { safe } from '../../terminal/text.ts';
import type { Figures } from './figures.ts';
import { criteriaWords, factsOf, sectionsOf, timeOf } from './sections.ts';

/** Lines that fit the screen. */
export function reportText(screen: BarScreen, figures: Figures): string {
  const title = wrapped(`Report: ${safe(criteriaWords(figures))}`, screen.columns).map(line =>
    screen.paint('bold', line),
  );
  const facts = factsOf(figures);
  const widest = Math.max(...facts.map(({ label }) => label.length));
  const lines = facts.map(({ label, words }) => `  ${label.padEnd(widest)}  ${words}`);
  const sections = sectionsOf(figures).map(({ id, title, rows }) =>
    bars(screen, title, rows, id === 'state' ? statusStyle : undefined),
  );
  const made = `made ${timeOf(figures.generatedAt)}; all times are in UTC`;
  return `${title.join('\n')}\n${made}\n\n${lines.join('\n')}\n${sections.join('')}`;
}
