/** Where the labels of a run go: to a printer, to standard output, or to a page. */
import { usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import type { FlagValues } from '../../../framework/flags.ts';
import { smallTextIn, writeWhole } from '../../../settings/files.ts';
import { type outputFlags, type printerFlags, printerSeconds, resolutions } from './flags.ts';
import type { LabelDevice } from './placeholders.ts';
import { namedPrinter, networkPrinter, type Printer, queuePrinter } from './printer.ts';
import { layoutOf, sheetOf, sheetTemplate, standardSheet } from './sheet.ts';
import { type Label, standardTemplate, zplTemplate } from './zpl.ts';

/** The values of `outputFlags`. */
type OutputValues = FlagValues<typeof outputFlags>;

/** Takes labels one after the other. */
export interface LabelOutput {
  /** As in "3 labels printed on …". */
  readonly done: string;
  /** Returns when the label is printed; the ZPL only if it is the result. Throws a fault of kind `hardware` if the printer has failed. */
  add(device: LabelDevice): Promise<string | null>;
  /** Whether labels exist only after `finish`. */
  readonly isWritten: 'at once' | 'at the end';
  /** After the last label. Returns why labels are not printed yet, and what to do; null if no reason is known. */
  finish(): Promise<string | null>;
}

/** The output that the flags name. Throws a usage fault if they name none, or if the template is not valid. */
export function outputOf(context: Context, flags: OutputValues): LabelOutput {
  if (flags.html !== undefined) return sheetOutput(context, flags.html, flags);
  if (flags.dryRun) return dryOutput(context, labelOf(flags));
  const printer = printerOf(context, flags, flags.timeout ?? printerSeconds);
  if (printer === null)
    throw usage(
      'no printer is named',
      'use --printer HOST, --lp, --html FILE, or --dry-run to see the ZPL; for each run: devmgr config set printer HOST',
    );
  return printerOutput(printer, labelOf(flags));
}

/** The printer that the flags name, else that of the environment or the profile; null if none is named. */
export function printerOf(
  { settings }: Context,
  { printer, lp }: Pick<FlagValues<typeof printerFlags>, 'printer' | 'lp'>,
  seconds: number,
): Printer | null {
  if (printer !== undefined) return networkPrinter(printer, seconds);
  if (lp === undefined || lp === false)
    return settings.printer === null ? null : namedPrinter(settings.printer, 'the printer of the settings', seconds);
  return queuePrinter(typeof lp === 'string' ? lp : null, seconds);
}

type TemplateValues = Pick<FlagValues<typeof printerFlags>, 'template' | 'dpi'>;

/** The template that the flags name, or the built-in one. */
export function labelOf({ template, dpi }: TemplateValues, isLetter = false): Label {
  return template === undefined
    ? zplTemplate(standardTemplate(dpi ?? resolutions[0], { isLetter }), 'the built-in template')
    : zplTemplate(textOf(template), template);
}

/** The label of the letter of a PIN. Throws a usage fault for a template without the PIN. */
export function pinLabelOf(flags: TemplateValues): Label {
  if (flags.template !== undefined && !textOf(flags.template).includes('{pin}'))
    throw usage(`the template ${flags.template} does not print the PIN`, 'write {pin} where it belongs');
  return labelOf(flags, true);
}

const printerOutput = (printer: Printer, label: Label): LabelOutput => ({
  done: printer.done,
  isWritten: 'at once',
  add: async device => {
    await printer.print(label(device));
    return null;
  },
  finish: () => printer.waits(),
});

const dryOutput = ({ out, globals }: Context, label: Label): LabelOutput => ({
  done: 'written',
  isWritten: 'at once',
  add: async device => {
    const zpl = label(device);
    if (!globals.json) await out.text(zpl.endsWith('\n') ? zpl : `${zpl}\n`);
    return zpl;
  },
  finish: async () => null,
});

function sheetOutput({ out }: Context, file: string, flags: OutputValues): LabelOutput {
  const layout = layoutOf(flags);
  const cell = sheetTemplate(flags.template === undefined ? standardSheet : textOf(flags.template));
  const cells: string[] = [];
  return {
    done: `in ${file}`,
    isWritten: 'at the end',
    add: async device => {
      cells.push(await cell(device));
      return null;
    },
    finish: async () => {
      writeWhole(file, sheetOf(layout, cells));
      out.trace(`wrote ${file}`);
      return null;
    },
  };
}

/** Bytes. A label with a picture has some ten thousand. */
const largestTemplate = 2 ** 20;

const textOf = (file: string): string => smallTextIn(file, 'the template', largestTemplate);
