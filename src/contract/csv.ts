/** Cells of CSV for the command line, the daemon and the console. Plain functions: the command line always loads them. */

/**
 * A spreadsheet evaluates a cell that starts with one of these, here after any number of apostrophes. The full-width forms of the signs
 * count as the signs in some spreadsheets.
 */
const guarded = /^'*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;
const mustQuote = /[",\r\n]|^\s|\s$/;

/**
 * Writes a cell: quoted as in RFC 4180 if needed, and with an apostrophe before a text that a spreadsheet would evaluate. A text
 * that looks as if it had that apostrophe gets one more, so that `cellText` returns every text as it was.
 */
export function csvCell(text: string): string {
  const cell = guarded.test(text) ? `'${text}` : text;
  return mustQuote.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** The text of an unquoted cell: without the apostrophe of `csvCell`. Any other apostrophe is part of the text. */
export function cellText(cell: string): string {
  return cell.startsWith("'") && guarded.test(cell) ? cell.slice(1) : cell;
}
