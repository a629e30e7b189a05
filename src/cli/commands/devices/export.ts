import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { QueryOf } from '../../../contract/define.ts';
import type { Routes } from '../../../contract/routes.ts';
import { type ExportFormat, exportFormats } from '../../../contract/values.ts';
import { Unreachable } from '../../client/failures.ts';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { Fault, interrupted } from '../../fault.ts';
import { harmless } from '../../terminal/text.ts';
import { filterFlags, filterOf } from './filter.ts';

/** Exports devices: `GET /api/devices/export`. */
export const exportDevices = command({
  description:
    'Writes every matching device in one request, as of one moment. NDJSON has one device in each line. CSV is for spreadsheets, and register --file reads it.\nWith --out, the file is complete or not written at all.',
  flags: {
    ...filterFlags,
    format: { value: 'FORMAT', choices: exportFormats, default: exportFormats[0], help: 'format of the export' },
    out: { value: 'FILE', short: 'o', help: 'write to this file instead of standard output', offer: 'file' },
  },
  examples: [
    { does: 'all devices for a program', line: 'export > devices.ndjson' },
    { does: 'locked devices for a spreadsheet', line: 'export --status LOCKED --format csv --out locked.csv' },
  ],
  async run({ flags }, context) {
    const query = { ...filterOf(flags), format: flags.format };
    if (flags.out === undefined) return toOutput(context, query);
    return toFile(context, query, flags.out);
  },
});

type Query = Partial<QueryOf<Routes['exportDevices']>> & { readonly format: ExportFormat };

async function toOutput(context: Context, query: Query): Promise<void> {
  for await (const text of exported(context, query)) await context.out.text(text);
}

/** Under another name until it is complete: a file with the name is a whole export. */
async function toFile(context: Context, query: Query, path: string): Promise<void> {
  const partial = `${path}.partial-${process.pid}`;
  try {
    const file = createWriteStream(partial, { flags: 'wx', mode: 0o600 });
    await pipeline(exported(context, query), file, { signal: context.io.interrupt });
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    if (context.io.interrupt.aborted) throw interrupted();
    throw error;
  }
  context.out.notice(`Wrote ${path}.`);
}

/** The text of the export; without the last line of NDJSON, whose count is compared. Throws a fault if it is incomplete. */
async function* exported({ registry, out, io }: Context, query: Query): AsyncGenerator<string> {
  const lines = new Lines();
  try {
    const response = await registry.download('exportDevices', { query });
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      const text = lines.take(chunk, query.format === 'ndjson');
      if (text) yield safeLines(text);
      if (!io.stdoutIsTerminal) out.progress.show('Exporting', lines.count, null);
    }
  } catch (error) {
    if (io.interrupt.aborted || error instanceof Fault) throw error;
    throw new Unreachable('the connection was lost during the export', false, 'try again');
  } finally {
    out.progress.clear();
  }
  const rest = lines.finish(query.format === 'ndjson');
  if (rest) yield safeLines(rest);
}

/** Lines end with a line feed, like those of `list --csv`, and have no control characters. */
const safeLines = (text: string): string => harmless(text.replaceAll('\r\n', '\n'), false);

/** Divides the bytes of an export into whole lines. */
class Lines {
  /** Number of complete lines. */
  count = 0;
  readonly #decoder = new TextDecoder();
  #rest = '';
  #last = '';

  /** The lines that are complete; of NDJSON the last one is kept back, because it may be the end. */
  take(chunk: Buffer, keepsLast: boolean): string {
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf('\n') + 1;
    this.#rest = text.slice(end);
    const complete = text.slice(0, end);
    for (let at = complete.indexOf('\n'); at >= 0; at = complete.indexOf('\n', at + 1)) this.count++;
    if (!keepsLast || complete === '') return complete;
    const start = complete.lastIndexOf('\n', end - 2) + 1;
    const ready = this.#last + complete.slice(0, start);
    this.#last = complete.slice(start);
    return ready;
  }

  /** What is left. Throws a fault if NDJSON does not end with the number of its lines. */
  finish(isNdjson: boolean): string {
    if (!isNdjson) return this.#rest;
    if (this.#rest === '' && isEnd(this.#last, this.count - 1)) return '';
    throw new Fault('failure', 'the export is incomplete: its last line is missing', 'try again');
  }
}

function isEnd(line: string, count: number): boolean {
  try {
    const last = JSON.parse(line) as { end?: unknown; count?: unknown };
    return last.end === true && last.count === count;
  } catch {
    return false;
  }
}
