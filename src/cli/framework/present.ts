import { card } from '../terminal/card.ts';
import { statusStyle } from '../terminal/style.ts';
import { safe } from '../terminal/text.ts';
import type { Context } from './context.ts';

/** A line of a card. A value of null leaves the line out. */
export type CardRow = readonly [label: string, value: string | null];

/** The result of a command in every form in which it can be written. */
export interface Result {
  /** `data` of the response; what --json writes. */
  readonly data: unknown;
  /** Output of --quiet. */
  readonly id: string;
  readonly title: string;
  readonly rows: readonly CardRow[];
  /** An address in the rows that a browser can open without a login. */
  readonly page?: string;
  /** Next command to type; null for none. Not shown with --json and --quiet. */
  readonly next?: string | null | undefined;
}

/** Writes the result of a command as JSON, as its id, or as a card. */
export async function present({ out, globals }: Context, result: Result): Promise<void> {
  if (globals.json) return out.document(result.data);
  if (globals.quiet) return out.text(`${safe(result.id)}\n`);
  const rows = result.rows.filter((row): row is readonly [string, string] => row[1] !== null);
  const text = `${out.paint('bold', result.title)}\n${indent(card(rows, out.io.columns - 2))}`;
  await (result.page === undefined ? out.text(text) : out.linkedText(text, result.page));
  if (result.next) out.notice(`${out.tint('cyan', 'Next:')} ${result.next}`);
}

/** Writes several results: as one JSON list, as ids, or as cards. One result is written as it is. */
export async function presentSeveral(context: Context, results: readonly Result[]): Promise<void> {
  if (context.globals.json && results.length > 1)
    return context.out.document({ list: results.map(({ data }) => data) });
  for (const result of results) await present(context, result);
}

/** The title of a device whose state has changed. */
export const stateTitle = (
  { out }: Context,
  { deviceId, status }: { readonly deviceId: string; readonly status: string },
): string => `${safe(deviceId)} is ${out.paint(statusStyle(status), safe(status))}`;

/** Indents every line that is not empty by two spaces. */
export const indent = (text: string): string => text.replace(/^(?=.)/gm, '  ');
