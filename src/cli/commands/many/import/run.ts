/** `register --file`: checks its flags, opens the file, and starts the run or its dry run. */
import { faultOf } from '../../../../contract/readers.ts';
import type { DeviceType } from '../../../../contract/values.ts';
import type { Defaults } from '../../../../enrollment/import/row.ts';
import { type DeviceFile, openDevices } from '../../../../enrollment/import/rows.ts';
import { boundFields, deviceFields } from '../../../../tables/fields.ts';
import { type Preset, presetRules, presets } from '../../../../tables/presets.ts';
import { usage } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { definedFields } from '../../../framework/define.ts';
import { tagsOf } from '../../../framework/devices/tags.ts';
import { checkInput, nameOf, noticeOf } from '../../../jobs/input-file.ts';
import { JobFiles } from '../../../jobs/job-files.ts';
import { bytesOf, encodingFault, readable, readableRows, type TableWords } from '../../../jobs/table-file.ts';
import { keepMap, tableChoices } from '../../../jobs/table-flags.ts';
import { noteDoubts, previewTable } from '../../../jobs/table-preview.ts';
import { type ImportFiles, jobOf } from './checkpoint.ts';
import { planFile } from './dry-run.ts';
import { FileRun } from './file-run.ts';
import type { FileValues } from './flags.ts';
import { withoutKnownDevices } from './known-devices.ts';

/** A file of devices in words. */
const words: TableWords = {
  none: 'has no devices',
  needs: 'it needs one device on each line after the header row, or one in each element of an array',
  makerOf: preset => presetRules[preset as Preset].maker,
  flagOf: { deviceType: '--type', manufacturer: '--manufacturer', model: '--model' },
};

/** Registers every device in a file. Resolves to the exit code; throws a fault of kind `partial` if some rows failed. */
export async function registerFile(flags: FileValues, context: Context): Promise<number> {
  if (context.globals.json && flags.csv) throw usage('--json and --csv cannot be combined');
  if (flags.resume && flags.force)
    throw usage('--resume and --force cannot be combined', '--resume continues an earlier run, --force starts over');
  if (flags.dryRun && flags.force)
    throw usage('--dry-run and --force cannot be combined', 'write the plan to another file: --out FILE');
  checkInput(flags);
  const file = await opened(context, flags);
  const files: ImportFiles = new JobFiles(jobOf(context, flags));
  const { table } = file;
  try {
    if (!flags.force && (!flags.resume || flags.dryRun)) files.demandUnused();
    const name = nameOf(flags.file);
    previewTable(context, name, table, { given: file.defaults, dryRun: flags.dryRun });
    const before = table.doubts.length;
    const input = {
      consumed: () => table.consumed,
      rows: withoutKnownDevices(context, readableRows(flags.file, words, file.rows), flags),
    };
    try {
      return await (flags.dryRun
        ? planFile(context, flags, input, files)
        : new FileRun(flags, context, input, files).run());
    } finally {
      noteDoubts(context, name, table.doubts.slice(before));
    }
  } finally {
    files.close();
    const fault = encodingFault(flags.file, table);
    if (fault !== null) notify(context, noticeOf(fault));
    if (table.dropped.words !== null) notify(context, table.dropped.words);
  }
}

/** The file, as the flags describe it. Throws a usage fault. */
async function opened(context: Context, flags: FileValues): Promise<DeviceFile> {
  const choices = tableChoices(context, flags, flags.activate ? boundFields : deviceFields, presets);
  if (choices.preset === 'pskc' && flags.format !== undefined)
    throw usage('--map pskc and --format cannot be combined', 'a PSKC file is XML: omit --format');
  const source = { file: flags.file, stdin: context.io.stdin };
  const { activate: binds, asIs, format = null } = flags;
  const opened = await readable(flags.file, words, () =>
    openDevices(bytesOf(source), { ...choices, file: flags.file, format, defaults: defaultsOf(flags), asIs, binds }),
  );
  await keepMap(context, flags, presets);
  return opened;
}

/** The values for rows that lack them. Throws a usage fault that names the flag of an invalid one. */
function defaultsOf({ type, manufacturer, model, tag }: FileValues): Defaults {
  for (const [field, value] of Object.entries({ manufacturer, model } as const)) {
    const fault = value === undefined ? null : faultOf(field as 'manufacturer' | 'model', value);
    if (fault !== null) throw usage(`--${field} ${fault}`);
  }
  const deviceType = type?.toUpperCase() as DeviceType | undefined;
  const tags = tag.length > 0 ? tagsOf(tag) : undefined;
  return definedFields({ deviceType, manufacturer, model, tags });
}
