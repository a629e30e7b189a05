/** Reads CSV from a stream. */
import { CsvReader, type CsvRecord } from '../../contract/csv-reader.ts';
import { checkLength } from './text.ts';

const problems = {
  'open quote': 'a quote is opened and never closed',
  'text after quote': 'text follows a closing quote',
} as const;

/** The records of a text that arrives in chunks of any size, in constant memory. Problems are in words. Throws `TooLong`. */
export async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<CsvRecord<string>> {
  const reader = new CsvReader();
  for await (const chunk of chunks) {
    yield* inWords(reader.read(chunk, false));
    const { line, text } = reader.unfinished;
    checkLength(text, `line ${line}`);
  }
  yield* inWords(reader.read('\n', true));
}

function* inWords(records: Iterable<CsvRecord>): Generator<CsvRecord<string>> {
  for (const record of records)
    yield 'cells' in record ? record : { line: record.line, problem: problems[record.problem] };
}
