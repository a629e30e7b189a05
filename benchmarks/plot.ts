/** A plot of figures over the size of the registry, both axes logarithmic, as one SVG that shows in light and dark. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

const width = 860;
const height = 520;
const left = 64;
const right = 300;
const top = 30;
const bottom = 48;

/** Lines that cross stay apart by colour and by dash. */
const colours = ['#1f77b4', '#d62728', '#2ca02c', '#ff7f0e', '#9467bd', '#8c564b', '#e377c2', '#17becf', '#bcbd22'];
const dashes = ['', '6 3', '2 3'];

const label = (value: number): string =>
  value >= 1e6 ? `${value / 1e6}M` : value >= 1000 ? `${value / 1000}k` : String(Number(value.toPrecision(1)));

export function plot(sizes: readonly number[], series: readonly Series[]): string {
  const all = series.flatMap(({ values }) => values).filter(value => value > 0);
  const [low, high] = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)))];
  const [from, to] = [Math.log10(sizes[0]!), Math.log10(sizes.at(-1)!)];
  const x = (size: number) => left + ((Math.log10(size) - from) / (to - from || 1)) * (width - left - right);
  const y = (value: number) => height - bottom - ((Math.log10(value) - low) / (high - low)) * (height - top - bottom);
  const lines: string[] = [];
  for (let power = low; power <= high; power++) {
    const at = y(10 ** power);
    lines.push(`<line x1="${left}" x2="${width - right}" y1="${at}" y2="${at}" class="grid"/>`);
    lines.push(`<text x="${left - 8}" y="${at + 4}" text-anchor="end">${label(10 ** power)}</text>`);
  }
  for (const size of sizes)
    lines.push(`<text x="${x(size)}" y="${height - bottom + 20}" text-anchor="middle">${label(size)}</text>`);
  const step = (height - top - bottom) / Math.max(series.length, 1);
  for (const [i, { name, values }] of series.entries()) {
    const colour = colours[i % colours.length]!;
    const dash = dashes[Math.floor(i / colours.length) % dashes.length]!;
    const points = values.map((value, place) => `${x(sizes[place]!).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    const style = `stroke="${colour}"${dash ? ` stroke-dasharray="${dash}"` : ''}`;
    const at = top + step * (i + 0.5);
    lines.push(`<polyline points="${points}" ${style}/>`);
    lines.push(`<line x1="${width - right + 12}" x2="${width - right + 36}" y1="${at}" y2="${at}" ${style}/>`);
    lines.push(`<text x="${width - right + 42}" y="${at + 4}">${name}</text>`);
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Figures over the number of devices">
<style>text{font:11px sans-serif;fill:#888}polyline,line{fill:none;stroke-width:1.6}.grid{stroke:#8884;stroke-width:1}</style>
${lines.join('\n')}
<text x="${(left + width - right) / 2}" y="${height - 8}" text-anchor="middle">devices registered</text>
</svg>
`;
}
