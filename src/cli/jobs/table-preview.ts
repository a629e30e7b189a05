/** Shows how a file is read, before the first write: at a terminal in at most one screen, to a script as JSON. */
import { countedTags } from '../../contract/values.ts';
import { nameKey } from '../../tables/fields.ts';
import { type Preview, previewOf } from '../../tables/preview.ts';
import type { Table } from '../../tables/table.ts';
import type { Doubt } from '../../tables/table-row.ts';
import { fewOf } from '../../tables/text.ts';
import { type Context, notify } from '../framework/context.ts';
import { safe, safeJson } from '../terminal/text.ts';
import { shorten, width } from '../terminal/width.ts';

/** Lines of a part of the preview. */
const MOST_COLUMNS = 10;
const MOST_DOUBTS = 4;

/** How a preview is shown. */
interface PreviewOptions {
  /** The values of flags and presets. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly dryRun?: boolean;
  /** A list of devices has columns that do not matter: they are named at a terminal alone. */
  readonly isList?: boolean;
}

/**
 * Shows the preview of a table. A dry run writes all of it, as JSON with `--json`; a run at a terminal, too. Otherwise it is named which
 * columns are ignored and what is doubtful.
 */
export function previewTable<Field extends string>(
  context: Context,
  file: string,
  table: Table<Field>,
  { given, dryRun = false, isList = false }: PreviewOptions,
): void {
  const preview = previewOf(table, given);
  if (context.globals.json) {
    if (dryRun) context.out.notice(safeJson({ preview: { file, ...preview } }));
    return;
  }
  if (dryRun) notify(context, `${columnWords(preview)}.`);
  if (context.io.stderrIsTerminal) for (const line of rowLines(preview, context.io.columns)) context.out.notice(line);
  if (preview.ignored.length > 0 && (!isList || context.io.stderrIsTerminal))
    notify(context, `ignored columns: ${safe(fewOf(preview.ignored))}${tagHint(preview.ignored)}`);
  noteDoubts(context, file, preview.doubts.slice(0, MOST_DOUBTS));
}

/** Reports what is doubtful. */
export function noteDoubts(context: Context, file: string, doubts: readonly Doubt[]): void {
  for (const { line, column, message } of doubts) {
    const place = [
      file,
      ...(line === undefined ? [] : [`line ${line}`]),
      ...(column === undefined ? [] : [`column ${column}`]),
    ];
    notify(context, safe(`${place.join(', ')}: ${message}`));
  }
}

const tagHint = (ignored: readonly string[]): string =>
  countedTags
    .filter(tag => ignored.some(name => nameKey(name) === tag))
    .map(tag => `; to store ${tag} as a tag, name its column tag:${tag}`)
    .join('');

/** How the columns are read: `Columns: serial number=serialNumber, manufacturer=manufacturer; where empty, deviceType is UKEY`. */
function columnWords({ columns, given }: Preview): string {
  const read = columns.map(({ column, field }) =>
    column === field ? field : `${column}=${field.replace(/^tag:/, 'tag ')}`,
  );
  const values = Object.entries(given).map(([field, value]) => `${field} is ${value}`);
  return safe(`Columns: ${fewOf(read)}${values.length > 0 ? `; where empty, ${values.join(', ')}` : ''}`);
}

/** A line for each field: its column, and the values of the first rows. */
function rowLines({ columns }: Preview, room: number): string[] {
  const shown = columns
    .slice(0, MOST_COLUMNS)
    .map(({ field, column, values }) => [field, column, ...values].map(text => safe(text)));
  const widths = (shown[0] ?? []).map((_, at) => Math.min(24, Math.max(...shown.map(cells => width(cells[at]!)))));
  const lines = shown.map(cells =>
    cells
      .map((cell, at) => shorten(cell, widths[at]!, 'end').padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  );
  return [...lines.map(line => shorten(line, room, 'end')), ...(columns.length > MOST_COLUMNS ? ['…'] : [])];
}
