import { existsSync } from 'node:fs';
import { deviceStatuses } from '../../../../contract/values.ts';
import { usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { deviceArg, resolveDevice } from '../../../framework/devices/device.ts';
import { type FlagValues, pluggedFlag } from '../../../framework/flags.ts';
import { checkInput } from '../../../jobs/input-file.ts';
import { demandYes } from '../../../terminal/prompt.ts';
import { bulkFlags } from '../../many/bulk/flags.ts';
import { checkNames } from '../../many/bulk/source.ts';
import { outputFlags } from './flags.ts';
import { outputOf } from './outputs.ts';
import { fieldNames } from './placeholders.ts';

const { file, encoding, map, where, columns, 'save-map': saveMap, filter, out } = bulkFlags;
const selectionFlags = {
  file,
  encoding,
  map,
  where,
  columns,
  'save-map': saveMap,
  filter,
  out,
  resume: { needs: 'out', help: 'skip the devices whose labels an earlier run with the same --out has printed' },
  ...pluggedFlag,
} as const;

/** Prints the labels of devices. Exit code 10 if the printer fails, 7 if some labels cannot be made. */
export const label = command({
  description: `Prints a label for each device, in ZPL. The printer draws QR and Data Matrix codes.\nA template is a ZPL file. Each field ^FD…^FS can contain placeholders: ${fieldNames.map(name => `{${name}}`).join(' ')} {tag:NAME}. {model,16} prints at most 16 characters. {name} is the name of the person, from the registry or the column name of --file, or else the user id. The built-in template does not print the activation code. With --html, a template is the HTML of one label, and {qr:deviceId} draws a QR code.\nIf the printer fails, the command ends and reports how many labels were printed. With --out, you can continue with --resume.`,
  args: [{ ...deviceArg, rest: true }],
  flags: { ...outputFlags, ...selectionFlags },
  examples: {
    'the label of a device': 'label UK-2026-000001 --printer 10.0.0.9',
    'a lot, on a queue of the system': 'label --filter tag=lot=7 --lp zebra --out lot.csv',
    'the ZPL, without a printer': 'label DEV-1 --dry-run',
    'a sheet for an office printer': 'label --filter tag=lot=7 --html lot.html',
  },
  async run({ args, flags }, context) {
    check(args, flags);
    await confirmFile(context, flags);
    const output = outputOf(context, flags);
    const { printLabels } = await import('./run.ts');
    const names = await namesOf(context, args, flags);
    const { filter, file, out, resume, dryRun } = flags;
    await printLabels(context, { names, filter, file, reading: flags, out, resume, output, isDry: dryRun });
  },
});

type SelectionValues = FlagValues<typeof selectionFlags>;

function check(names: readonly string[], { file, filter, out, resume, plugged }: SelectionValues): void {
  checkNames(names, filter.length > 0 ? '--filter' : null);
  if (plugged && names.length > 0) throw usage(`both "${names[0]}" and --plugged name a device`, 'omit one of them');
  if (file !== undefined) checkInput({ file, out, resume });
}

/** A sheet is not replaced unasked. */
async function confirmFile(context: Context, { html, force }: FlagValues<typeof outputFlags>): Promise<void> {
  if (html === undefined || force || !existsSync(html)) return;
  if (!context.canAsk) throw usage(`${html} already exists`, 'name another file, or add --force');
  await demandYes(context.out, `Replace ${html}?`);
}

/** The devices that the command line names; if it names none, those that are marked in a list at the terminal. */
async function namesOf(context: Context, args: readonly string[], flags: SelectionValues): Promise<readonly string[]> {
  if (flags.plugged) return [await resolveDevice(context, undefined, true)];
  if (args.length > 0 || flags.file !== undefined || flags.filter.length > 0) return args;
  if (!context.canAsk) throw usage('no device is named', 'name devices, or use --file or --filter');
  const { pickDevices } = await import('../../../framework/pickers/devices.ts');
  return pickDevices(context, deviceStatuses);
}
