/** A report as a page: one file without scripts, which loads nothing, for a screen and for A4 or Letter paper. */
import { count } from '../../count.ts';
import { emptyPolicy, escaped } from '../../terminal/html.ts';
import type { Figures } from './figures.ts';
import { plotOf } from './plot.ts';
import { criteriaWords, factsOf, type Section, sectionsOf, timeOf } from './sections.ts';

/** The whole page. */
export function reportHtml(figures: Figures): string {
  const title = `Report: ${criteriaWords(figures)}`;
  const facts = factsOf(figures).map(
    ({ label, words }) => `<tr><th scope="row">${escaped(label)}</th><td>${escaped(words)}</td></tr>`,
  );
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
${emptyPolicy}
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p>Made ${escaped(timeOf(figures.generatedAt))}. Times are in UTC.</p>
<section>
<table class="facts"><caption>Totals</caption><tbody>
${facts.join('\n')}
</tbody></table>
</section>
${sectionsOf(figures).map(sectionHtml).join('\n')}
</body>
</html>
`;
}

function sectionHtml(section: Section): string {
  const { id, title, what, rows, isPlot } = section;
  const most = Math.max(1, ...rows.map(row => row.count));
  const hasRate = rows.some(({ perHour }) => perHour !== undefined);
  const lines = rows.map(({ name, count: value, perHour }) => {
    const rate = hasRate ? `<td>${count(perHour ?? 0)}</td>` : '';
    const bar = isPlot ? '' : `<td class="bar">${barOf(value / most)}</td>`;
    return `<tr><th scope="row">${escaped(name)}</th><td>${count(value)}</td>${rate}${bar}</tr>`;
  });
  const heads = [what, 'Count', ...(hasRate ? ['Keys per hour'] : [])].map(
    head => `<th scope="col">${escaped(head)}</th>`,
  );
  const table = `<table><caption class="hidden">${escaped(title)}</caption><thead><tr>${heads.join('')}${isPlot ? '' : '<td></td>'}</tr></thead><tbody>
${lines.join('\n')}
</tbody></table>`;
  return `<section aria-labelledby="${id}"><h2 id="${id}">${escaped(title)}</h2>
<div class="${isPlot ? 'plot' : 'counts'}">${isPlot ? plotOf(section) : ''}${table}</div>
</section>`;
}

const barOf = (share: number): string =>
  `<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="column" width="${Math.round(share * 1000) / 10}" height="8"/></svg>`;

const style = `
:root { --text: #1b1b1b; --dim: #595959; --page: #fff; --line: #d0d0d0; --column: #1f5fa8 }
@media (prefers-color-scheme: dark) { :root { --text: #ececec; --dim: #b4b4b4; --page: #161616; --line: #444; --column: #7db3f0 } }
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 1rem/1.4 system-ui, sans-serif; color: var(--text); background: var(--page) }
h1 { font-size: 1.5rem; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 1.5rem 0 .5rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
caption { text-align: left; font-weight: bold }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
th, td { padding: .1rem .75rem .1rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
th { text-align: left; font-weight: normal; overflow-wrap: anywhere }
thead th { color: var(--dim) }
thead th + th { text-align: right }
td { text-align: right; white-space: nowrap }
.counts table, .facts { width: 100%; max-width: 40rem }
.counts th:first-child { width: 45% }
.bar { width: 40%; padding-right: 0 }
.bar svg { display: block; width: 100%; height: .8rem; margin-top: .3rem }
.plot { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start }
.plot > svg { flex: 1 1 24rem; min-width: 0; max-width: 100% }
.plot table { flex: none; font-size: .85rem }
.column { fill: var(--column) }
.grid { stroke: var(--line) }
svg text { font-size: 12px; fill: var(--text) }
.x { text-anchor: middle }
.y { text-anchor: end; dominant-baseline: middle }
@page { margin: 15mm }
@media print {
  :root { color-scheme: light; --text: #000; --dim: #333; --page: #fff; --line: #bbb; --column: #1f5fa8 }
  body { margin: 0; padding: 0; max-width: none; font-size: 10pt }
  h1, h2 { break-after: avoid }
  tr, .plot > svg { break-inside: avoid }
  thead { display: table-header-group }
}
`;
