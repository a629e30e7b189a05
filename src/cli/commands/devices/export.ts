import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exportFormats } from '../../../contract/values.ts';
import { interrupted, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { type ExportQuery, exportedDevices, exportedText } from '../../framework/devices/export-stream.ts';
import { filterFlags, filterOf } from '../../framework/devices/filter.ts';
import { deviceFields } from '../../framework/devices/tags.ts';
import { writeComplete } from '../../framework/files/download.ts';
import { fileFlag, globalFlags } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { harmless } from '../../terminal/text.ts';

/** Exports devices: `GET /api/devices/export`. */
export const exportDevices = command({
  description:
    'Writes all matching devices as of one moment: as NDJSON with one device on each line, or as CSV for spreadsheets, which register --file can read.\nWith --out, the file is complete or not written at all.',
  flags: {
    ...filterFlags,
    ...listFlags([...deviceFields, 'name']),
    names: { help: 'add the field name: the name of the person to whom the device belongs' },
    output: { ...globalFlags.output, choices: [...exportFormats, 'json', 'yaml'], aliases: ['format'] },
    out: fileFlag('write to this file instead of standard output; an existing file is replaced'),
  },
  examples: {
    'all devices for a program': 'export > devices.ndjson',
    'who has which key, for a spreadsheet': 'export --status ACTIVE --names --csv --out keys.csv',
    'locked devices for a spreadsheet': 'export --status LOCKED --csv --out locked.csv',
  },
  async run({ flags }, context) {
    const { out } = context;
    const names = flags.names || out.fields.includes('name') ? { names: true } : {};
    const query = { ...filterOf(flags), ...names, format: flags.csv ? exportFormats[1] : exportFormats[0] };
    const isWhole = !out.isSelective && out.format !== 'yaml';
    if (flags.out !== undefined && isWhole) return toFile(context, query, flags.out);
    if (flags.out !== undefined) throw usage('--out writes all fields of each device, as NDJSON or CSV', shellHint);
    if (flags.csv && !isWhole)
      throw usage('an export as CSV always has all fields', 'see: devmgr list --all --csv --fields');
    if (isWhole) return toOutput(context, query);
    for await (const device of exportedDevices(context, query)) await out.row(device);
    return undefined;
  },
});

const shellHint = 'to write some of the fields, omit --out and redirect standard output to a file';

async function toOutput(context: Context, query: ExportQuery): Promise<void> {
  for await (const text of exported(context, query)) await context.out.text(text);
}

async function toFile(context: Context, query: ExportQuery, path: string): Promise<void> {
  const { interrupt: signal } = context.io;
  const write = (file: Writable) =>
    pipeline(exported(context, query), file, { signal }).catch(error => {
      throw signal.aborted ? interrupted() : error;
    });
  await writeComplete(path, write);
  context.out.notice(`Wrote ${path}.`);
}

/** Whole lines, which end with a line feed, like those of `list --csv`, and have no control characters. */
async function* exported(context: Context, query: ExportQuery): AsyncGenerator<string> {
  for await (const text of exportedText(context, query, context.io.stdoutIsTerminal ? null : 'Exporting'))
    yield harmless(text.replaceAll('\r\n', '\n'), false);
}
