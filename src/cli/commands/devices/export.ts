import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { exportFormats } from '../../../contract/values.ts';
import { interrupted } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { type ExportQuery, exportedText } from '../../framework/devices/export-stream.ts';
import { filterFlags, filterOf } from '../../framework/devices/filter.ts';
import { harmless } from '../../terminal/text.ts';

/** Exports devices: `GET /api/devices/export`. */
export const exportDevices = command({
  isPaged: true,
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

async function toOutput(context: Context, query: ExportQuery): Promise<void> {
  for await (const text of exported(context, query)) await context.out.text(text);
}

/** Under another name until it is complete: a file with the name is a whole export. */
async function toFile(context: Context, query: ExportQuery, path: string): Promise<void> {
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

/** Whole lines, which end with a line feed, like those of `list --csv`, and have no control characters. */
async function* exported(context: Context, query: ExportQuery): AsyncGenerator<string> {
  for await (const text of exportedText(context, query, context.io.stdoutIsTerminal ? null : 'Exporting'))
    yield harmless(text.replaceAll('\r\n', '\n'), false);
}
