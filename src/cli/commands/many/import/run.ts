/** `register --file`: reads rows, sends batches, writes one result per row. */
import type { DeviceType } from '../../../../contract/values.ts';
import type { Defaults } from '../../../../enrollment/import/row.ts';
import type { FileFormat } from '../../../../enrollment/import/rows.ts';
import { usage } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { definedFields } from '../../../framework/define.ts';
import { encodingOf } from '../../../jobs/encoding.ts';
import { checkInput } from '../../../jobs/input-file.ts';
import { JobFiles } from '../../../jobs/job-files.ts';
import { type ImportFiles, jobOf } from './checkpoint.ts';
import { DryRun } from './dry-run.ts';
import { type FileFlags, FileRun } from './file-run.ts';
import { type Input, openInput } from './input.ts';
import { mappingOf } from './map-flag.ts';
import { writerOf } from './results.ts';

/** Registers every device in a file. The exit code; throws a fault of kind `partial` if some rows failed. */
export async function registerFile(flags: FileFlags, context: Context): Promise<number> {
  if (context.globals.json && flags.csv) throw usage('--json and --csv cannot be combined');
  if (flags.resume && flags.force)
    throw usage('--resume and --force cannot be combined', '--resume continues an earlier run, --force starts over');
  if (flags.dryRun && flags.force)
    throw usage('--dry-run and --force cannot be combined', 'write the plan to another file: --out FILE');
  const defaults = await defaultsOf(flags);
  const mapping = mappingOf(flags.map);
  if (mapping.preset === 'pskc' && flags.format !== undefined)
    throw usage('--map pskc and --format cannot be combined', 'a PSKC file is XML: omit --format');
  checkInput(flags);
  const input = openInput({
    file: flags.file,
    stdin: context.io.stdin,
    encoding: encodingOf(flags.encoding),
    format: (flags.format as FileFormat | undefined) ?? null,
    mapping,
    defaults,
    explain: text => (flags.dryRun ? notify(context, text) : undefined),
    notice: text => notify(context, text),
  });
  const files: ImportFiles = new JobFiles(jobOf(context, flags.file, flags.out));
  try {
    if (!flags.force && (!flags.resume || flags.dryRun)) files.demandUnused();
    return await (flags.dryRun
      ? planFile(flags, context, input, files)
      : new FileRun(flags, context, input, files).run());
  } finally {
    files.close();
    if (input.dropped.words !== null) notify(context, input.dropped.words);
  }
}

/** Lines of each kind that a dry run shows at a terminal. */
const shownOfPlan = 20;

function planFile(flags: FileFlags, context: Context, input: Input, files: ImportFiles): Promise<number> {
  files.open();
  const writer = writerOf(context, flags.csv, flags.out !== undefined, shownOfPlan);
  return new DryRun(context, writer, files, flags.skipExisting).run(input);
}

/** The values for rows that lack them. Throws a usage fault that names the flag of an invalid one. */
async function defaultsOf({ type, manufacturer, model, tags }: FileFlags): Promise<Defaults> {
  const { faultOf } = await import('../../../../contract/readers.ts');
  for (const [field, value] of Object.entries({ manufacturer, model } as const)) {
    const fault = value === undefined ? null : faultOf(field as 'manufacturer' | 'model', value);
    if (fault !== null) throw usage(`--${field} ${fault}`);
  }
  const deviceType = type?.toUpperCase() as DeviceType | undefined;
  const hasTags = Object.keys(tags).length > 0;
  return definedFields({ deviceType, manufacturer, model, tags: hasTags ? tags : undefined });
}
