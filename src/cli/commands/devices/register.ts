import { type DescribedText, optionalTexts } from '../../../contract/device-description.ts';
import { sizes } from '../../../contract/limits.ts';
import { type DeviceType, deviceTypes } from '../../../contract/values.ts';
import { usage } from '../../fault.ts';
import { need } from '../../framework/ask.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields } from '../../framework/define.ts';
import { tagFlag, tagsOf } from '../../framework/devices/tags.ts';
import { fileFlag } from '../../framework/flags.ts';
import { csvFlags } from '../../framework/format.ts';
import { present } from '../../framework/present.ts';
import { encodingFlag } from '../../jobs/input-file.ts';
import { safe } from '../../terminal/text.ts';

/** A flag that describes the one device. */
const single = { conflicts: ['file'] } as const;
/** A flag that is about the file. */
const withFile = { needs: 'file' } as const;

/** Registers one device (`POST /api/devices/register`), or with --file many of them; see `commands/many/import`. */
export const register = command({
  description:
    'Registers one device, or with --file every device in a CSV file with a header row (columns in any order), a JSON array, or JSON lines. --type, --manufacturer, --model and --tag then apply to lines without a value of their own. Columns named tag:NAME are tags.\n--map reads other formats: yubico (serial numbers or the key provisioning format), entra-oath (Microsoft Entra OATH tokens), snipe-it (assets), pskc (RFC 6030, XML), or columns that you name. Secrets in a file are dropped, and the command reports how many.\nWith --skip-existing, a line whose device is already registered gets the status registered and no activation code. It fails if type, manufacturer or model differ.\nFor results, --out and --resume, see devmgr help batches.',
  flags: {
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
    'hardware-version': { value: 'VERSION', ...single, help: 'hardware version' },
    'firmware-version': { value: 'VERSION', aliases: ['firmware'], ...single, help: 'firmware version' },
    tag: tagFlag('tag of the device, or of every line that lacks it; can be repeated'),
    file: { ...fileFlag('register every device in this file; - is standard input'), short: 'f' },
    format: {
      value: 'FORMAT',
      choices: ['csv', 'json', 'jsonl'],
      ...withFile,
      help: 'format of the file, if its name does not show it',
    },
    encoding: { ...encodingFlag, ...withFile },
    map: {
      value: 'MAP',
      ...withFile,
      help: 'names of the columns: yubico, entra-oath, snipe-it, pskc, or COLUMN=FIELD,…',
    },
    out: { ...fileFlag('write the results to this file'), ...withFile },
    'dry-run': { ...withFile, help: 'report which lines are new, registered or invalid, and change nothing' },
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
  },
  examples: [
    {
      does: 'one device',
      line: 'register --type UKEY --serial UK-2026-000001 --manufacturer Feitian --model "ePass K9"',
    },
    { does: 'check a file first', line: 'register --file keys.csv --dry-run' },
    { does: 'a file, with the activation codes in another one', line: 'register --file keys.csv --out codes.csv' },
    {
      does: 'a list of serial numbers, which you can repeat at any time',
      line: 'register --file serials.csv --type UKEY --manufacturer Yubico --model "YubiKey 5" --skip-existing',
    },
    {
      does: 'tokens of a PSKC file, without their keys',
      line: 'register --file tokens.xml --map pskc --out codes.csv',
    },
    {
      does: 'columns with other names',
      line: 'register --file box.csv --map "S/N=serialNumber,Brand=manufacturer" --dry-run',
    },
    { does: 'the output of another program', line: 'register --file - --format jsonl --json' },
  ],
  async run({ flags }, context) {
    if (flags.file === undefined) return registerOne(context, flags);
    const { registerFile } = await import('../many/import/run.ts');
    return registerFile({ ...flags, file: flags.file, tags: tagsOf(flags.tag) }, context);
  },
});

interface OneFlags extends Readonly<Record<DescribedText, string | undefined>> {
  readonly type: DeviceType | undefined;
  readonly serial: string | undefined;
  readonly tag: readonly string[];
}

async function registerOne(context: Context, flags: OneFlags): Promise<void> {
  const tags = tagsOf(flags.tag);
  const wanted = await completed(context, {
    '--type': flags.type,
    '--serial': flags.serial,
    '--manufacturer': flags.manufacturer,
    '--model': flags.model,
  });
  const data = await context.registry.call('registerDevice', {
    body: {
      deviceType: wanted['--type'].toUpperCase() as DeviceType,
      serialNumber: wanted['--serial'],
      manufacturer: wanted['--manufacturer'],
      model: wanted['--model'],
      ...definedFields(Object.fromEntries(optionalTexts.map(name => [name, flags[name]]))),
      ...(flags.tag.length === 0 ? {} : { tags }),
    },
  });
  await present(context, {
    data,
    id: data.deviceId,
    title: `Registered ${safe(data.deviceId)} (${safe(data.status)})`,
    rows: [
      ['serial number', safe(data.serialNumber)],
      ['activation code', safe(data.activationCode)],
    ],
    next: `devmgr activate ${safe(data.deviceId)} --code ${safe(data.activationCode)} --user USER`,
  });
}

const questions = {
  '--type': { question: 'Type', choices: deviceTypes },
  '--serial': { question: 'Serial number', field: 'serialNumber' },
  '--manufacturer': { question: 'Manufacturer', field: 'manufacturer' },
  '--model': { question: 'Model', field: 'model' },
} as const;
type Needed = keyof typeof questions;

/** Asks for the missing values; without prompts, an error names all of them. */
async function completed(
  context: Context,
  given: Readonly<Record<Needed, string | undefined>>,
): Promise<Record<Needed, string>> {
  const missing = Object.keys(given).filter(flag => given[flag as Needed] === undefined) as Needed[];
  if (missing.length && !context.canAsk)
    throw usage(`register needs ${missing.join(', ')}`, 'to register a file of devices: --file FILE');
  const values = { ...given } as Record<Needed, string>;
  for (const flag of missing) values[flag] = await need(context, undefined, { flag, ...questions[flag] });
  return values;
}
