import { optionalTexts } from '../../../contract/device-description.ts';
import { formsOf } from '../../../contract/iccid.ts';
import { type DeviceType, deviceTypes } from '../../../contract/values.ts';
import { failure, usage } from '../../fault.ts';
import { need } from '../../framework/ask.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields } from '../../framework/define.ts';
import { findBySerial } from '../../framework/devices/find-device.ts';
import { tagsOf } from '../../framework/devices/tags.ts';
import { present } from '../../framework/present.ts';
import { safe } from '../../terminal/text.ts';
import { type RegisterValues, registerFlags } from '../many/import/flags.ts';

/** Registers one device (`POST /api/devices/register`), or with --file many of them; see `commands/many/import`. */
export const register = command({
  description:
    'Registers one device, or with --file every device in a CSV file with a header row (columns in any order), a JSON array, or JSON lines. --type, --manufacturer, --model and --tag then apply to lines without a value of their own. Columns named tag:NAME are tags.\n--map reads other formats: yubico (serial numbers or the key provisioning format), entra-oath (Microsoft Entra OATH tokens), snipe-it (assets), pskc (RFC 6030, XML), or columns that you name. Secrets in a file are dropped, and the command reports how many.\nWith --skip-existing, a line whose device is already registered gets the status registered and no activation code. It fails if type, manufacturer or model differ.\nFor results, --out and --resume, see devmgr help batches.',
  flags: registerFlags,
  examples: {
    'one device': 'register --type UKEY --serial UK-2026-000001 --manufacturer Feitian --model "ePass K9"',
    'check a file first': 'register --file keys.csv --dry-run',
    'a file, with the activation codes in another one': 'register --file keys.csv --out codes.csv',
    'a list of serial numbers, which you can repeat at any time':
      'register --file serials.csv --type UKEY --manufacturer Yubico --model "YubiKey 5" --skip-existing',
    'tokens of a PSKC file, without their keys': 'register --file tokens.xml --map pskc --out codes.csv',
    'columns with other names': 'register --file box.csv --map "S/N=serialNumber,Brand=manufacturer" --dry-run',
    'keys that people have already': 'register --file held.csv --activate',
    'the output of another program': 'register --file - --format jsonl --json',
  },
  async run({ flags }, context) {
    if (flags.file === undefined) return registerOne(context, flags);
    const { registerFile } = await import('../many/import/run.ts');
    return registerFile({ ...flags, file: flags.file }, context);
  },
});

async function registerOne(context: Context, flags: RegisterValues): Promise<void> {
  const tags = tagsOf(flags.tag);
  const wanted = await completed(context, {
    '--type': flags.type,
    '--serial': flags.serial,
    '--manufacturer': flags.manufacturer,
    '--model': flags.model,
  });
  const deviceType = wanted['--type'].toUpperCase() as DeviceType;
  const serialNumber = await judgedOrRefused(wanted['--serial'].trim(), deviceType, flags.asIs);
  if (!flags.asIs) await demandNewCard(context, serialNumber);
  const data = await context.registry.call('registerDevice', {
    body: {
      deviceType,
      serialNumber,
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

/** Throws for a card that is registered with its filler: the registry compares whole serial numbers. */
async function demandNewCard({ registry }: Context, serial: string): Promise<void> {
  if (formsOf(serial).length === 1) return;
  const { exact } = await findBySerial(registry, serial);
  if (exact === null || exact.serialNumber === serial) return;
  const { deviceId, serialNumber } = exact;
  throw failure(`this card is already registered: ${deviceId} (${serialNumber})`, `show it: devmgr show ${deviceId}`);
}

/** Throws a usage fault for a number that a spreadsheet has changed, or that is not that of a SIM card. */
async function judgedOrRefused(serial: string, deviceType: DeviceType, asIs: boolean): Promise<string> {
  const { judgedSerial } = await import('../../../tables/serial-values.ts');
  const judged = judgedSerial(serial, { deviceType, column: '', hasSecrets: false, asIs });
  if ('serial' in judged) return judged.serial;
  throw usage(`--serial ${serial} ${judged.problem}`, 'to register it as it is, add --as-is');
}

const questions = {
  '--type': { question: 'Type', choices: deviceTypes },
  '--serial': { question: 'Serial number', field: 'serialNumber' },
  '--manufacturer': { question: 'Manufacturer', field: 'manufacturer' },
  '--model': { question: 'Model', field: 'model' },
} as const;
type QuestionFlag = keyof typeof questions;

/** Asks for the missing values; without prompts, an error names all of them. */
async function completed(
  context: Context,
  given: Readonly<Record<QuestionFlag, string | undefined>>,
): Promise<Record<QuestionFlag, string>> {
  const missing = Object.keys(given).filter(flag => given[flag as QuestionFlag] === undefined) as QuestionFlag[];
  if (missing.length && !context.canAsk)
    throw usage(`register needs ${missing.join(', ')}`, 'to register a file of devices: --file FILE');
  const values = { ...given } as Record<QuestionFlag, string>;
  for (const flag of missing) values[flag] = await need(context, undefined, { flag, ...questions[flag] });
  return values;
}
