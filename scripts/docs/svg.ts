/** A terminal's screen, as `tmux capture-pane -e` gives it, as a picture. */

const cell = { width: 8.4, height: 18, font: 14 };
const margin = 14;
const colors: Readonly<Record<number, string>> = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  36: '#76e3ea',
};

interface Style {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly color: number | null;
}

const plain: Style = { bold: false, dim: false, color: null };

interface Run {
  readonly column: number;
  readonly text: string;
  readonly style: Style;
}

/** The screen as an SVG. Its text can be searched; `title` replaces the picture for readers who cannot see it. */
export function screenAsSvg(screen: string, title: string): string {
  const lines = runsOfLines(screen.trimEnd());
  const columns = Math.max(...lines.flat().map(({ column, text }) => column + text.length));
  const width = Math.ceil(columns * cell.width + 2 * margin);
  const height = lines.length * cell.height + 2 * margin;
  const rows = lines.flatMap((runs, row) => {
    const y = margin + row * cell.height + cell.font;
    return runs.map(run => `<text x="${place(run.column)}" y="${y}"${look(run)}>${escaped(run.text)}</text>`);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="${cell.font}" fill="#e6edf3" xml:space="preserve">`,
    ...rows,
    '</g>',
    '</svg>\n',
  ].join('\n');
}

const place = (column: number): string => (margin + column * cell.width).toFixed(1);

/** The length is given so that columns stand below each other in any font. */
function look({ text, style }: Run): string {
  const parts = [` textLength="${(text.length * cell.width).toFixed(1)}"`];
  if (style.bold) parts.push(' font-weight="bold"');
  if (style.dim) parts.push(' opacity="0.6"');
  if (style.color !== null && colors[style.color]) parts.push(` fill="${colors[style.color]}"`);
  return parts.join('');
}

/** A style holds until the next one, beyond the end of a line as well. */
function runsOfLines(screen: string): Run[][] {
  let style = plain;
  return screen.split('\n').map(line => {
    const runs: Run[] = [];
    let column = 0;
    for (const [, numbers, text] of line.matchAll(/\x1b\[([\d;]*)m|([^\x1b]+)/g)) {
      if (text === undefined) style = (numbers || '0').split(';').map(Number).reduce(restyled, style);
      else {
        // Spaces at the ends of a text are dropped where SVG is shown, and would be stretched with it.
        const kept = text.trim();
        if (kept !== '') runs.push({ column: column + text.indexOf(kept), text: kept, style });
        column += text.length;
      }
    }
    return runs;
  });
}

function restyled(style: Style, code: number): Style {
  if (code === 0) return plain;
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 39) return { ...style, color: null };
  return colors[code] ? { ...style, color: code } : style;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
