/** The rows of `people import`: what is sent of each, or why it is not sent; and its result. */
import { cellText } from '../../../contract/csv.ts';
import { namesIn } from '../../../contract/names.ts';
import type { ImportResult } from '../../../contract/people-import.ts';
import { personKey } from '../../../contract/person-key.ts';
import { type ImportOutcome, importOutcomes } from '../../../contract/person-values.ts';
import type { PersonRow } from '../../../tables/persons.ts';
import { type Position, positionText } from '../../../tables/raw.ts';
import { Repeats } from '../../../tables/repeats.ts';
import type { Context } from '../../framework/context.ts';
import { ResultWriter } from '../../jobs/result-writer.ts';
import { safe } from '../../terminal/text.ts';

/** `skipped`: the file marks the person as gone. */
export type RowStatus = ImportOutcome | 'skipped' | 'repeated' | 'failed';

/** The result for a row; the names are those of the output. */
export interface PersonResult extends Position {
  readonly status: RowStatus;
  readonly userName: string;
  readonly personId?: string | null;
  /** `name: Ada Lovelace -> Ada King`. */
  readonly changes?: string;
  /** ACTIVE devices that are locked or wait. */
  readonly devices?: number;
  /** Business code of a failure. */
  readonly code?: number;
  readonly message: string;
}

/** The columns of the results as CSV. */
export const resultColumns = (): readonly (keyof PersonResult)[] =>
  namesIn('line status userName personId changes devices code message');

/** A row, and what is sent of it or its result. */
export interface ImportRow {
  readonly position: Position;
  readonly userName: string;
  readonly sent: PersonResult | { readonly item: object };
}

/** The items that are sent for the rows of a file. A person who is there twice counts once, in the spelling of the first row. */
export async function* importRows(rows: AsyncIterable<PersonRow>): AsyncGenerator<ImportRow> {
  const repeats = new Repeats();
  for await (const row of rows) {
    const { position } = row;
    const userName = row.problem === null ? row.userId : '';
    yield { position, userName, sent: sentOf(row, userName, repeats) };
  }
}

function sentOf(row: PersonRow, userName: string, repeats: Repeats): ImportRow['sent'] {
  const { position, name, email, isLeaver, gone } = row;
  const own = (status: RowStatus, message: string) => ({ ...position, status, userName, message });
  if (row.problem !== null) return own('failed', row.problem);
  if (userName === '') return own('failed', 'the row has no user name');
  if ([userName, name, email].some(text => text?.includes('\ufffd')))
    return own('failed', 'it has bytes that are not valid in the encoding of the file');
  const mark = isLeaver ? 'leaver' : '';
  const earlier = repeats.earlier(personKey(userName), position, [mark]);
  if (earlier !== null && !earlier.isSame)
    return own('failed', `one of this line and ${positionText(earlier.position)} marks the person as a leaver`);
  if (earlier !== null) return own('repeated', `${positionText(position)} repeats ${positionText(earlier.position)}`);
  if (isLeaver) return { item: { userName, left: true } };
  if (gone !== null) return own('skipped', `the file marks the person as gone (${gone}): see --leavers`);
  return { item: { userName, ...(name === null ? {} : { name }), ...(email === null ? {} : { email }) } };
}

/** The result for a row that was sent. A server can leave out any value. */
export function resultOf({ position, userName }: ImportRow, result: Partial<ImportResult>): PersonResult {
  const { outcome, code, message = '', personId = null, devices, changes = [] } = result;
  const status = importOutcomes.find(known => known === outcome);
  if (status === undefined)
    return { ...position, status: 'failed', userName, personId, ...(code === undefined ? {} : { code }), message };
  const texts = changes.map(({ field, before, after }) => `${field}: ${before ?? '-'} -> ${after ?? '-'}`).join(', ');
  const words = status === 'unchanged' && personId === null ? 'the registry has no such person' : message;
  return { ...position, status, userName, personId, changes: texts, devices: devices ?? 0, message: words };
}

/** Whether a stored result is that of the row. */
export const isResultOf = (stored: Readonly<Record<string, unknown>>, { position, userName }: ImportRow): boolean =>
  Number(stored.line ?? Number.NaN) === position.line &&
  cellText(String(stored.userName ?? '')) === cellText(safe(userName));

const signs = {
  created: ['green', '+'],
  updated: ['cyan', '~'],
  back: ['cyan', '~'],
  unchanged: ['dim', '='],
  repeated: ['dim', '='],
  left: ['yellow', '-'],
  held: ['yellow', '-'],
  due: ['yellow', '-'],
  skipped: ['yellow', '!'],
  failed: ['red', '✗'],
} as const satisfies Readonly<Record<RowStatus, readonly [string, string]>>;

/** Writes results to standard output. With `toFile`, people see only the failures. */
export const writerOf = (context: Context, toFile: boolean, mostEach?: number): ResultWriter<PersonResult> =>
  new ResultWriter(context, {
    toFile,
    ...(mostEach === undefined ? {} : { mostEach }),
    line: result => lineOf(context.out.paint, result),
  });

function lineOf(paint: Context['out']['paint'], result: PersonResult): string {
  const { status, userName, changes, devices = 0, message } = result;
  const [color, sign] = signs[status];
  const keys = devices > 0 ? `keys: ${devices}` : '';
  const more = [changes, keys, message === 'success' ? '' : message].filter(Boolean).join('  ');
  return `${positionText(result).padEnd(10)} ${paint(color, sign)} ${status.padEnd(9)} ${safe(userName)}  ${safe(more)}`.trimEnd();
}
