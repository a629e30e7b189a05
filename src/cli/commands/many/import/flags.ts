/** The flags of `register`: those of one device, and those of a file of devices. */
import { describedTexts, type OptionalText, optionalTexts } from '../../../../contract/device-description.ts';
import { sizes } from '../../../../contract/limits.ts';
import { deviceTypes } from '../../../../contract/values.ts';
import { tagFlag } from '../../../framework/devices/tags.ts';
import { type FlagShapes, type FlagValues, fileFlag, type Hyphens, hyphens } from '../../../framework/flags.ts';
import { csvFlags } from '../../../framework/format.ts';
import { tableFlags } from '../../../jobs/table-flags.ts';

/** A flag that describes the one device. */
const single = { conflicts: ['file'] } as const;
/** A flag that is about the file. */
const withFile = { needs: 'file' } as const;

/** A device may lack these texts; an empty value is none. */
const textFlags = Object.fromEntries(
  optionalTexts.map(name => {
    const { label, flag } = describedTexts[name];
    return [hyphens(name), { ...flag, empty: true, ...single, help: label }];
  }),
) as Readonly<
  Record<Hyphens<OptionalText>, typeof single & { readonly value: string; readonly empty: true; readonly help: string }>
>;

/** Flags of a file need `--file`; flags of one device conflict with it. */
export const registerFlags = {
  type: { value: 'TYPE', field: 'deviceType', choices: deviceTypes, help: 'type of the device' },
  serial: {
    value: 'SERIAL',
    field: 'serialNumber',
    aliases: ['serial-number'],
    ...single,
    help: 'serial number',
  },
  manufacturer: { value: 'NAME', offer: 'manufacturer', help: 'manufacturer' },
  model: { value: 'NAME', help: 'model' },
  ...textFlags,
  tag: tagFlag('tag of the device, or of every line that lacks it; can be repeated'),
  file: { ...fileFlag('register every device in this file; - is standard input'), short: 'f' },
  format: {
    value: 'FORMAT',
    choices: ['csv', 'json', 'jsonl'],
    ...withFile,
    help: 'format of the file, if its name does not show it',
  },
  ...tableFlags('file'),
  map: {
    ...tableFlags('file').map,
    help: 'column that a field is read from; or the format of the file: yubico, entra-oath, privacyidea, snipe-it, pskc, or a saved map',
  },
  activate: {
    ...withFile,
    help: 'bind each device to the user who has it already, without an activation code; the file needs a column of logins',
  },
  out: { ...fileFlag('write the results to this file'), ...withFile },
  'dry-run': { ...withFile, help: 'report which lines are new, registered or invalid, and change nothing' },
  'as-is': { help: 'register serial numbers as they are, also those that a spreadsheet seems to have changed' },
  'skip-existing': { ...withFile, help: 'count devices that are already registered as done' },
  resume: { ...withFile, help: 'continue where an earlier run stopped' },
  force: { ...withFile, help: 'start over; existing results are kept as FILE.before' },
  'batch-size': {
    value: 'N',
    whole: { min: 1, max: sizes.batchItems },
    ...withFile,
    help: 'devices per request (default: 2000)',
  },
  output: csvFlags.output,
  csv: { ...csvFlags.csv, ...withFile },
} as const satisfies FlagShapes;
/** Values of these flags. */
export type RegisterValues = FlagValues<typeof registerFlags>;
/** Values of a run with `--file`. */
export type FileValues = RegisterValues & { readonly file: string };
