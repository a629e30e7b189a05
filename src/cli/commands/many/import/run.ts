/** `register --file`: checks its flags, reads `--map`, and starts the run or its dry run. */
import { faultOf, registrationFields } from '../../../../contract/readers.ts';
import type { DeviceType } from '../../../../contract/values.ts';
import { fieldOf, type RegistrationField } from '../../../../enrollment/import/columns.ts';
import { type Mapping, noMapping, presetMapping, presets } from '../../../../enrollment/import/mapping.ts';
import type { Defaults } from '../../../../enrollment/import/row.ts';
import { isSecretName } from '../../../../enrollment/import/secret-names.ts';
import { usage } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { definedFields } from '../../../framework/define.ts';
import { tagsOf } from '../../../framework/devices/tags.ts';
import { checkInput, encodingOf } from '../../../jobs/input-file.ts';
import { JobFiles } from '../../../jobs/job-files.ts';
import { type ImportFiles, jobOf } from './checkpoint.ts';
import { planFile } from './dry-run.ts';
import { FileRun } from './file-run.ts';
import type { FileValues } from './flags.ts';
import { openInput } from './input.ts';
import { withoutKnownCards } from './known-cards.ts';

/** Registers every device in a file. Resolves to the exit code; throws a fault of kind `partial` if some rows failed. */
export async function registerFile(flags: FileValues, context: Context): Promise<number> {
  if (context.globals.json && flags.csv) throw usage('--json and --csv cannot be combined');
  if (flags.resume && flags.force)
    throw usage('--resume and --force cannot be combined', '--resume continues an earlier run, --force starts over');
  if (flags.dryRun && flags.force)
    throw usage('--dry-run and --force cannot be combined', 'write the plan to another file: --out FILE');
  const defaults = defaultsOf(flags);
  const mapping = mappingOf(flags.map);
  if (mapping.preset === 'pskc' && flags.format !== undefined)
    throw usage('--map pskc and --format cannot be combined', 'a PSKC file is XML: omit --format');
  checkInput(flags);
  const input = openInput({
    file: flags.file,
    stdin: context.io.stdin,
    encoding: encodingOf(flags.encoding),
    format: flags.format ?? null,
    mapping,
    defaults,
    asIs: flags.asIs,
    explain: text => (flags.dryRun ? notify(context, text) : undefined),
    notice: text => notify(context, text),
  });
  const files: ImportFiles = new JobFiles(jobOf(context, flags.file, flags.out));
  try {
    if (!flags.force && (!flags.resume || flags.dryRun)) files.demandUnused();
    return await (flags.dryRun
      ? planFile(context, flags, input, files)
      : new FileRun(
          flags,
          context,
          { ...input, rows: withoutKnownCards(context, input.rows, flags.skipExisting) },
          files,
        ).run());
  } finally {
    files.close();
    if (input.dropped.words !== null) notify(context, input.dropped.words);
  }
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

/** Reads `--map`: the name of a preset, or `COLUMN=FIELD` pairs. Throws a usage fault. */
export function mappingOf(text: string | undefined): Mapping {
  if (text === undefined) return noMapping;
  const preset = presets.find(name => name === text.trim().toLowerCase());
  if (preset !== undefined) return presetMapping(preset);
  if (!text.includes('='))
    throw usage(
      `--map "${text}" is not a preset`,
      `presets are ${presets.join(', ')}; or name columns: --map COLUMN=FIELD,…`,
    );
  const columns: Partial<Record<RegistrationField, readonly string[]>> = {};
  for (const pair of text.split(',')) {
    const [column, field] = pairOf(pair);
    if (columns[field] !== undefined) throw usage(`--map names two columns for ${field}`);
    columns[field] = [column];
  }
  return { ...noMapping, columns, isStrict: true };
}

function pairOf(pair: string): readonly [column: string, field: RegistrationField] {
  const at = pair.lastIndexOf('=');
  const [column, name] = at < 0 ? [pair.trim(), ''] : [pair.slice(0, at).trim(), pair.slice(at + 1)];
  if (column === '' || at < 0) throw usage(`--map "${pair.trim()}" is not COLUMN=FIELD`);
  const field = fieldOf(name);
  if (field === null || field === 'tags') {
    const others = registrationFields.filter(other => other !== 'tags');
    throw usage(`--map: "${name.trim()}" is not a field`, `fields are ${others.join(', ')}`);
  }
  if (isSecretName(column))
    throw usage(
      `--map: column "${column}" holds secrets, which are never sent`,
      'if it holds none, rename the column in the file',
    );
  return [column, field];
}
