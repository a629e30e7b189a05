/** The label of each key that an enrollment registers or binds. A printer that fails loses no enrollment: the row has the reason. */
import { type EnrollmentOutcome, remarked } from '../../../../enrollment/outcome.ts';
import { errorWords, usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import type { FlagValues } from '../../../framework/flags.ts';
import { personsOf } from '../../../framework/persons.ts';
import { shellWord } from '../../../terminal/text.ts';
import { digitsOf } from '../../issuing/sealed-pin.ts';
import { type keyLabelFlags, printerSeconds } from './flags.ts';
import { labelOf, pinLabelOf, printerOf } from './outputs.ts';
import type { LabelDevice } from './placeholders.ts';

/** Prints the labels of keys that have a device. */
export interface KeyLabel {
  /** Returns the row of the key, which shows whether the label is printed, and if not why. `pin`: prints the letter of this PIN instead. */
  print(key: EnrollmentOutcome, pin?: string | null): Promise<EnrollmentOutcome>;
  /** The command that prints the labels of these devices. `results`: the file with their rows in CSV, which has the names of persons. */
  again(deviceIds: readonly string[], results: string | null): string;
}

type Flags = FlagValues<typeof keyLabelFlags>;

/** The labels that `--label` and its flags describe, and `--pin`. Throws a usage fault if neither they nor the settings name a printer. */
export function keyLabelOf(context: Context, flags: Flags & { readonly pin?: string | undefined }): KeyLabel {
  const letter = digitsOf(flags.pin) === null ? null : pinLabelOf(flags);
  if (letter !== null && flags.printer === undefined)
    throw usage('a print queue would store the PINs', 'name the printer: --printer HOST');
  const printer = printerOf(context, flags, printerSeconds);
  if (printer === null)
    throw usage(
      'no printer is named',
      '--label needs --printer HOST or --lp; for each run: devmgr config set printer HOST',
    );
  const label = labelOf(flags);
  const names = new Map<string, Promise<string | null>>();
  const nameOf = (userId: string): Promise<string | null> => {
    const name = names.get(userId) ?? personsOf(context.registry, [userId]).then(([found]) => found?.[1].name ?? null);
    names.set(userId, name);
    return name;
  };
  const letterLater = (deviceId: string): string =>
    ['devmgr keys letter', deviceId, '--identity-file FILE', ...flagWords(flags)].join(' ');
  return {
    print: async (key, pin = null) => {
      try {
        const name = key.name ?? (key.userId === null ? null : await nameOf(key.userId));
        const device = deviceOf({ ...key, name });
        await printer.print(letter !== null && pin !== null ? letter({ ...device, pin }) : label(device));
        const waits = await printer.waits();
        return { ...(waits === null ? key : remarked(key, `label: ${waits}`)), label: 'printed' };
      } catch (error) {
        const why = errorWords(error);
        return withoutLabel(key, pin === null ? why : `${why}. Print it later: ${letterLater(key.deviceId!)}`);
      }
    },
    again: (deviceIds, results) => {
      if (letter !== null) return deviceIds.map(letterLater).join('; ');
      // Only a template can have the name of the person.
      const rows = results === null || flags.template === undefined ? [] : ['--file', shellWord(results)];
      return ['devmgr label', ...deviceIds, ...rows, ...flagWords(flags)].join(' ');
    },
  };
}

/** The row of a key whose label is not printed. */
export function withoutLabel(key: EnrollmentOutcome, why: string): EnrollmentOutcome {
  return { ...remarked(key, `label: failed: ${why}`), label: 'failed' };
}

function flagWords({ printer, lp, template, dpi }: Flags): readonly string[] {
  const queue = typeof lp === 'string' ? ['--lp', shellWord(lp)] : lp ? ['--lp'] : [];
  return [
    ...(printer === undefined ? [] : ['--printer', shellWord(printer)]),
    ...queue,
    ...(template === undefined ? [] : ['--template', shellWord(template)]),
    ...(dpi === undefined ? [] : ['--dpi', dpi]),
  ];
}

const deviceOf = (key: EnrollmentOutcome): LabelDevice => ({
  deviceId: key.deviceId as LabelDevice['deviceId'],
  deviceType: key.deviceType,
  serialNumber: key.serialNumber ?? '',
  manufacturer: key.manufacturer,
  model: key.model,
  status: key.status ?? 'INACTIVE',
  userId: key.userId,
  name: key.name,
  activationCode: key.activationCode as LabelDevice['activationCode'],
  tags: key.tags ?? {},
});
