/** A plot of counts as SVG. Its colors are the variables of the page. */
import { count } from '../../count.ts';
import { escaped } from '../../terminal/html.ts';
import type { Section } from './sections.ts';

const width = 640;
const height = 240;
const left = 52;
const right = 8;
const top = 12;
const bottom = 30;
const innerHeight = height - top - bottom;
/** Labels below the columns that fit beside each other. */
const mostLabels = 6;
const ticks = 4;

/** A column for each row. The table beside it has the numbers. */
export function plotOf({ id, title, rows }: Section): string {
  const most = roundLimit(Math.max(1, ...rows.map(row => row.count)));
  const step = (width - left - right) / rows.length;
  const every = Math.ceil(rows.length / mostLabels);
  const columns = rows.map(({ name, count: value }, at) => {
    const tall = (value / most) * innerHeight;
    const x = left + at * step;
    const hint = `<title>${escaped(`${name}: ${count(value)}`)}</title>`;
    const label =
      at % every === 0
        ? `<text class="x" x="${fixed(x + step / 2)}" y="${height - 10}">${escaped(shortName(name))}</text>`
        : '';
    return `<rect class="column" x="${fixed(x + step * 0.1)}" y="${fixed(top + innerHeight - tall)}" width="${fixed(step * 0.8)}" height="${fixed(tall)}">${hint}</rect>${label}`;
  });
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-plot"><title id="${id}-plot">${escaped(`${title}: ${rows.length} columns, at most ${count(Math.max(...rows.map(row => row.count)))}. The table has the numbers.`)}</title>
${gridOf(most)}
${columns.join('\n')}
</svg>`;
}

function gridOf(most: number): string {
  return Array.from({ length: ticks + 1 }, (_, at) => {
    const y = fixed(top + innerHeight * (1 - at / ticks));
    return `<line class="grid" x1="${left}" x2="${width - right}" y1="${y}" y2="${y}"/><text class="y" x="${left - 6}" y="${y}">${count((most / ticks) * at)}</text>`;
  }).join('');
}

/** A limit that the ticks divide into whole numbers. */
function roundLimit(most: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(most / ticks)));
  const step = [1, 2, 3, 4, 5, 6, 8, 10].find(factor => factor * unit * ticks >= most)!;
  return step * unit * ticks;
}

/** Of a time of a day only the time: the table has the day. */
const shortName = (name: string): string => name.replace(/^\d{4}-\d{2}-\d{2} (?=\d)/, '');

const fixed = (value: number): string => String(Math.round(value * 100) / 100);
