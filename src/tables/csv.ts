/** The records of CSV that devmgr itself has written, as a stream. A file of another program is read by `openTable`. */
import { CsvReader, csvProblems } from './csv-reader.ts';
import { separationOf } from './header.ts';
import { checkLength, peek } from './text.ts';

/** A record, or in words why it is not valid. The line is counted from 1. */
export type CsvLine =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly problem: string };

/** The records of a text that arrives in chunks of any size, in constant memory. Throws `TooLong`. */
export async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<CsvLine> {
  const { start, text } = await peek(chunks, so => so.trimStart().includes('\n'));
  const firstLine = start.trimStart().split('\n', 1)[0]!;
  const reader = new CsvReader(
    separationOf(
      firstLine,
      () => false,
      () => false,
    ).mark,
  );
  for await (const chunk of text) {
    yield* inWords(reader, chunk, false);
    const { line, text: rest } = reader.unfinished;
    checkLength(rest, `line ${line}`);
  }
  yield* inWords(reader, '\n', true);
}

function* inWords(reader: CsvReader, chunk: string, isLast: boolean): Generator<CsvLine> {
  for (const record of reader.read(chunk, isLast))
    yield 'cells' in record ? record : { line: record.line, problem: csvProblems[record.problem] };
}
