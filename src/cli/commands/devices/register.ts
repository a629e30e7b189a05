import type { DeviceType } from '../../../contract/device-fields.ts';
import { sizes } from '../../../contract/limits.ts';
import { types } from '../../choices.ts';
import type { Context } from '../../context.ts';
import { camel, command } from '../../define.ts';
import { usage } from '../../fault.ts';
import { csvFlag } from '../../globals.ts';
import { present } from '../../present.ts';
import { ask } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';

const fileFlags = ['dry-run', 'out', 'resume', 'force', 'format', 'batch-size', 'csv'] as const;

export const register = command({
  name: 'register',
  summary: 'register one device, or a file of them',
  description:
    'One device by its flags, or with --file a CSV with a header row (columns in any order), a JSON array, JSON lines, or - for standard input. A file is sent in batches, with one result per line. Each result names its line, in a JSON array the number of the item; exit code 7 says that some lines failed.\nWith --out the results go to a file, as CSV or as JSON lines by its name. What is in that file already is not written over: --resume goes on behind it, also where a run was interrupted; --force begins anew, and keeps it as FILE.before.',
  flags: {
    type: { value: 'TYPE', choices: types, help: 'type of the device' },
    serial: { value: 'SERIAL', aliases: ['serial-number'], help: 'serial number' },
    manufacturer: { value: 'NAME', help: 'manufacturer' },
    model: { value: 'NAME', help: 'model' },
    'hardware-version': { value: 'VERSION', help: 'hardware version' },
    'firmware-version': { value: 'VERSION', aliases: ['firmware'], help: 'firmware version' },
    file: { value: 'FILE', short: 'f', offer: 'file', help: 'register every device of a file; - is standard input' },
    format: {
      value: 'FORMAT',
      choices: ['csv', 'json', 'jsonl'],
      help: 'what the file holds, where its name does not say',
    },
    out: { value: 'FILE', short: 'o', offer: 'file', help: 'write the results to this file' },
    'dry-run': { help: 'tell new, registered and invalid lines apart, and change nothing' },
    resume: { help: 'go on behind what an earlier run of the same input has done' },
    force: { help: 'begin anew, though results or an interrupted run are there' },
    'batch-size': { value: 'N', whole: { min: 1, max: sizes.batchItems }, help: 'devices per request (2000)' },
    ...csvFlag,
  },
  examples: [
    {
      does: 'one device',
      line: 'register --type UKEY --serial UK-2026-000001 --manufacturer Feitian --model "ePass K9"',
    },
    { does: 'look before', line: 'register --file keys.csv --dry-run' },
    { does: 'a file, with the codes in another', line: 'register --file keys.csv --out codes.csv' },
    { does: 'what another program writes', line: 'register --file - --format jsonl --json' },
  ],
  async run({ flags }, context) {
    if (flags.file !== undefined) {
      const single = singleFlags(flags);
      if (single.length)
        throw usage(
          `--file and ${single.join(', ')} exclude each other`,
          'what the file lacks belongs into its columns',
        );
      const { registerFile } = await import('../import/run.ts');
      return registerFile({ ...flags, file: flags.file }, context);
    }
    const stray = fileFlags.filter(name => given(flags, name));
    if (stray.length) throw usage(`--${stray[0]} goes with --file`, 'name a file: --file FILE');
    await registerOne(context, flags);
    return 0;
  },
});

interface OneFlags {
  readonly type: string | undefined;
  readonly serial: string | undefined;
  readonly manufacturer: string | undefined;
  readonly model: string | undefined;
  readonly hardwareVersion: string | undefined;
  readonly firmwareVersion: string | undefined;
}

function singleFlags(flags: OneFlags): string[] {
  const { type, serial, manufacturer, model, hardwareVersion, firmwareVersion } = flags;
  const named = {
    type,
    serial,
    manufacturer,
    model,
    'hardware-version': hardwareVersion,
    'firmware-version': firmwareVersion,
  };
  return Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`]));
}

function given(flags: object, name: string): boolean {
  const value = (flags as Record<string, unknown>)[camel(name)];
  return value !== undefined && value !== false;
}

async function registerOne(context: Context, flags: OneFlags): Promise<void> {
  const wanted = await completed(context, {
    '--type': flags.type,
    '--serial': flags.serial,
    '--manufacturer': flags.manufacturer,
    '--model': flags.model,
  });
  const data = await context.registry.call('register', {
    body: {
      deviceType: wanted['--type']!.toUpperCase() as DeviceType,
      serialNumber: wanted['--serial']!,
      manufacturer: wanted['--manufacturer']!,
      model: wanted['--model']!,
      ...(flags.hardwareVersion === undefined ? {} : { hardwareVersion: flags.hardwareVersion }),
      ...(flags.firmwareVersion === undefined ? {} : { firmwareVersion: flags.firmwareVersion }),
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

/** Asks for what is missing, or names all of it at once. */
async function completed(
  context: Context,
  given: Readonly<Record<string, string | undefined>>,
): Promise<Record<string, string>> {
  const missing = Object.keys(given).filter(flag => given[flag] === undefined);
  if (missing.length && !context.canAsk)
    throw usage(`register needs ${missing.join(', ')}`, 'or a file of devices: --file FILE');
  const values = { ...given } as Record<string, string>;
  for (const flag of missing) {
    const choices = flag === '--type' ? ` (${types.join(', ')})` : '';
    while (!values[flag]) values[flag] = (await ask(context.io, { text: `${flag.slice(2)}${choices}: ` })).trim();
  }
  return values;
}
