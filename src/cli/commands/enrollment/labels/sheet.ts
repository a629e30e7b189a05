/** Labels as an HTML page for an office printer: all lengths are millimeters, and nothing is loaded from a network. */
import { usage } from '../../../fault.ts';
import type { FlagValues } from '../../../framework/flags.ts';
import { emptyPolicy, escaped } from '../../../terminal/html.ts';
import type { sheetFlags } from './flags.ts';
import { type LabelDevice, type Placeholder, partsOf, textIn } from './placeholders.ts';

const pages = { A4: { width: 210, height: 297 }, LETTER: { width: 215.9, height: 279.4 } } as const;

/** Where labels are on a page; lengths in mm. */
interface Layout {
  readonly page: keyof typeof pages;
  readonly width: number;
  readonly height: number;
  readonly top: number;
  readonly left: number;
  readonly gapX: number;
  readonly gapY: number;
  readonly rows: number;
  readonly columns: number;
  readonly skip: number;
  readonly outline: boolean;
}

/** The layout of the flags. Throws a usage fault if the labels are not on the page. */
export function layoutOf(flags: FlagValues<typeof sheetFlags>): Layout {
  const page = flags.paper ?? 'A4';
  const [width, height] = pair('--label-size', flags.labelSize ?? '50x25', 'x', 5);
  const [top, left] = pair('--margin', flags.margin ?? '10,5', ',', 0);
  const [gapX, gapY] = pair('--gap', flags.gap ?? '0,0', ',', 0);
  const fits = (space: number, size: number, gap: number) => Math.floor((space + gap) / (size + gap) + 1e-9);
  const most = [fits(pages[page].height - top, height, gapY), fits(pages[page].width - left, width, gapX)] as const;
  const [rows, columns] = flags.grid === undefined ? most : pair('--grid', flags.grid, 'x', 1);
  if (rows % 1 || columns % 1) throw usage(`--grid ${flags.grid} is not a number of rows and of columns`);
  if (rows < 1 || columns < 1 || rows > most[0] || columns > most[1])
    throw usage(
      `the labels are larger than the page: ${page} has ${pages[page].width} x ${pages[page].height} mm`,
      `${Math.max(0, most[0])} rows and ${Math.max(0, most[1])} columns fit with this size, margin and gap`,
    );
  const skip = flags.skip ?? 0;
  if (skip >= rows * columns) throw usage(`--skip ${skip} leaves no room for a label on a page of ${rows * columns}`);
  return { page, width, height, top, left, gapX, gapY, rows, columns, skip, outline: flags.outline };
}

function pair(flag: string, text: string, between: 'x' | ',', least: number): readonly [number, number] {
  const texts = text.toLowerCase().split(between);
  const values = texts.map(value => (/^\d{1,3}(\.\d{1,2})?$/.test(value.trim()) ? Number(value) : Number.NaN));
  if (values.length !== 2 || !values.every(value => value >= least))
    throw usage(
      `${flag} ${text} is not two numbers`,
      `such as ${between === 'x' ? '50x25' : '10,5'}, each at least ${least}`,
    );
  return values as unknown as readonly [number, number];
}

/** The built-in content of a label. */
export const standardSheet =
  '<div class="qr">{qr:deviceId}</div><div><b>{deviceId}</b><br>{serialNumber}<br>{type} {model,40}<br>{userId,40}</div>';

/** The content of the label of a device. */
type Cell = (device: LabelDevice) => Promise<string>;

/** Reads a template of HTML: the content of one label. Throws a usage fault for an unknown placeholder. */
export function sheetTemplate(text: string): Cell {
  const parts = partsOf(text);
  return async device => {
    const texts = parts.map(part => (typeof part === 'string' ? part : shown(device, part)));
    return (await Promise.all(texts)).join('');
  };
}

async function shown(device: LabelDevice, part: Placeholder): Promise<string> {
  const value = textIn(device, part);
  if (!part.isQr) return escaped(value);
  return value === '' ? '' : (await import('uqr')).renderSVG(value, { border: 2, pixelSize: 1 });
}

/** The page with these labels. */
export function sheetOf(layout: Layout, cells: readonly string[]): string {
  const perPage = layout.rows * layout.columns;
  const sheets: string[] = [];
  for (let start = -layout.skip; start < cells.length; start += perPage) sheets.push(pageOf(layout, cells, start));
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
${emptyPolicy}
<title>Labels</title>
<style>${styleOf(layout)}</style>
</head>
<body>
<p class="hint">Print at 100 %, without margins and without “fit to page”.</p>
${sheets.join('\n')}
</body>
</html>
`;
}

function pageOf(layout: Layout, cells: readonly string[], start: number): string {
  const labels: string[] = [];
  for (let at = 0; at < layout.rows * layout.columns; at++) {
    const cell = cells[start + at];
    if (cell === undefined && !layout.outline) continue;
    const left = layout.left + (at % layout.columns) * (layout.width + layout.gapX);
    const top = layout.top + Math.floor(at / layout.columns) * (layout.height + layout.gapY);
    labels.push(`<div class="label" style="left:${mm(left)};top:${mm(top)}">${cell ?? ''}</div>`);
  }
  const rule = layout.outline ? '<div class="rule">100 mm</div>\n' : '';
  return `<section>\n${rule}${labels.join('\n')}\n</section>`;
}

const mm = (length: number): string => `${Number(length.toFixed(2))}mm`;

function styleOf({ page, width, height, outline }: Layout): string {
  const { width: pageWidth, height: pageHeight } = pages[page];
  return `
@page { size: ${mm(pageWidth)} ${mm(pageHeight)}; margin: 0 }
body { margin: 0; font: 2.6mm/1.25 sans-serif }
section { position: relative; width: ${mm(pageWidth)}; height: ${mm(pageHeight)}; overflow: hidden; break-after: page }
.label { position: absolute; box-sizing: border-box; width: ${mm(width)}; height: ${mm(height)}; padding: 1mm; overflow: hidden; display: flex; gap: 1mm; overflow-wrap: anywhere${outline ? '; outline: 0.1mm solid' : ''} }
.qr { flex: none; height: 100%; max-width: 50% }
.qr svg { display: block; height: 100%; max-width: 100% }
.rule { position: absolute; top: 2mm; left: 20mm; width: 100mm; box-sizing: border-box; border: solid; border-width: 0 0.1mm 0.1mm; text-align: center }
@media print { .hint { display: none } }
`;
}
