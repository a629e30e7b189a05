/** Lists in every form in which they can be written. */

import { count } from '../count.ts';
import type { Column } from '../terminal/column.ts';
import { fieldOf, type Output } from '../terminal/output.ts';
import { statusStyle } from '../terminal/style.ts';
import { safe, safeJson } from '../terminal/text.ts';
import { localTime } from '../terminal/when.ts';
import type { Context } from './context.ts';
import { definedFields } from './define.ts';

/** How the rows of a list are written. */
export interface ListLayout<Row extends object> {
  /** Names of the fields, for CSV: replaced by those of --fields. */
  readonly fields: readonly string[];
  /** The columns of CSV, if they depend on the rows. */
  readonly csv?: readonly string[];
  readonly columns: readonly Column<Row>[];
  /** The field that --quiet writes. */
  readonly id: keyof Row & string;
}

/** A page of a list, as the server sends it. */
export interface ListPage<Row> {
  readonly list: readonly Row[];
  readonly pagination: { readonly page: number; readonly totalPages: number; readonly total: number };
}

/** The page that flags name, as a query. */
export const pageQuery = ({ page, limit }: { readonly page: number | undefined; readonly limit: number | undefined }) =>
  definedFields({ page, size: limit });

/** Writes a list that has no pages. `none` reports that it is empty. */
export async function presentList<Row extends object>(
  context: Context,
  data: { readonly list: readonly Row[] },
  listing: ListLayout<Row>,
  none: string,
): Promise<void> {
  const { out } = context;
  if (out.json) return out.document(data);
  if (data.list.length === 0 && !out.quiet && out.format !== 'csv') return out.notice(none);
  await presentRows(context, data.list, listing);
}

/** Writes one page of a list. `what` names the rows, `none` reports that there are none. */
export async function presentPage<Row extends object>(
  context: Context,
  page: ListPage<Row>,
  listing: ListLayout<Row>,
  { what, none, all }: { readonly what: string; readonly none?: string; readonly all?: string },
): Promise<void> {
  const { out } = context;
  if (out.json) return out.document(page);
  if (page.list.length > 0 || none === undefined || out.quiet || out.format === 'csv') {
    const hidden = await presentRows(context, page.list, listing);
    if (hidden.length > 0) await out.prose(`Not shown: ${hidden.join(', ')}. All columns: -o wide`);
  }
  const { page: number, totalPages, total } = page.pagination;
  if (out.quiet || out.format === 'csv') return;
  if (page.list.length === 0 && total > 0)
    return out.notice(`Page ${number} is past the last one (${count(totalPages)}).`);
  if (page.list.length === 0 && none !== undefined) return out.notice(none);
  if (number < totalPages)
    await out.prose(
      `Page ${count(number)} of ${count(totalPages)} (${count(total)} ${what}). More: --page ${number + 1}${all ? `, or ${all}` : ''}`,
    );
}

/** Writes the rows of all pages, as they are read. `none` reports that there are none. */
export async function presentAll<Row extends object>(
  context: Context,
  pages: AsyncIterable<Pick<ListPage<Row>, 'list'> & { readonly pagination: { readonly total: number } }>,
  listing: ListLayout<Row>,
  none: string,
): Promise<void> {
  const { out } = context;
  let listed = 0;
  for await (const { list, pagination } of pages) {
    if (listed === 0 && list.length === 0 && !out.json && !out.quiet && out.format !== 'csv') return out.notice(none);
    await presentRows(context, list, listing, listed === 0);
    listed += list.length;
    // On a terminal the rows themselves show the progress of the list.
    if (!out.io.stdoutIsTerminal) out.progress.show('Listing', listed, pagination.total);
  }
}

/**
 * Writes rows of a list without the page around them. The header of a table or of CSV belongs to the first ones. Resolves to the
 * columns that have no room.
 */
export async function presentRows<Row extends object>(
  { out }: Pick<Context, 'out'>,
  rows: readonly Row[],
  listing: ListLayout<Row>,
  isFirst = true,
): Promise<readonly string[]> {
  const { fields, csv, id } = listing;
  if (out.json) await out.rows(rows);
  else if (out.format === 'csv')
    await out.csv(csv ?? (out.fields.length > 0 ? out.fields : fields), rows.map(flat), isFirst);
  else if (out.quiet) await out.text(rows.map(row => `${safe(String(row[id] ?? ''))}\n`).join(''));
  else if (rows.length > 0 || isFirst) return out.table(columnsOf(out, listing), rows, isFirst);
  return [];
}

/** The columns of the table: those of the chosen fields, or the usual ones. */
export const columnsOf = <Row extends object>(
  { fields }: Output,
  { columns }: ListLayout<Row>,
): readonly Column<Row>[] => (fields.length > 0 ? fields.map(columnOf<Row>) : columns);

/** The row with every value in one cell of CSV: a list as its words, an object as JSON. */
const flat = (row: object): object =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : cellOf(value)]));

const cellOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.join(' ');
  return typeof value === 'object' ? safeJson(value) : String(value);
};

/** An object for people, `lot=7 box=14`; null if it is empty. */
const pairsOf = (value: object): string | null =>
  Object.entries(value)
    .map(([name, part]) => `${name}=${part}`)
    .join(' ') || null;

/** A column of a field that --fields names. */
const columnOf = <Row extends object>(name: string): Column<Row> => ({
  title: name.replace(/[A-Z]/g, letter => ` ${letter}`).toUpperCase(),
  value: row => {
    const value = fieldOf(row, name) ?? null;
    if (value === null) return null;
    if (name.endsWith('At')) return localTime(String(value));
    if (name === 'proof' && typeof value === 'object') return String((value as { readonly grade?: unknown }).grade);
    return typeof value === 'object' && !Array.isArray(value) ? pairsOf(value) : cellOf(value);
  },
  ...(name === 'status' ? { style: (row: Row) => statusStyle(String(fieldOf(row, name))) } : {}),
  ...(name === 'deviceId' || name === 'status' ? {} : { shorten: name === 'serialNumber' ? 'middle' : 'end' }),
});
