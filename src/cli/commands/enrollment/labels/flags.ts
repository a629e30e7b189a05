/** The flags of commands that print labels. The code that prints is not here: `enroll` loads it only with `--label`. */
import { type FlagShapes, fileFlag } from '../../../framework/flags.ts';

/** Resolutions of printers, in dots per inch. */
export const resolutions = ['203', '300', '600'] as const;

/** Flags that name a printer and a template. */
export const printerFlags = {
  printer: {
    value: 'HOST',
    conflicts: ['lp'],
    help: 'print on this printer, as HOST or HOST:PORT (default port: 9100)',
  },
  lp: {
    value: 'QUEUE',
    optional: true,
    help: 'print on this print queue of the system; without QUEUE, on the default queue',
  },
  template: {
    value: 'FILE',
    offer: 'file',
    help: 'ZPL with placeholders such as {serialNumber} (default: 50 x 25 mm)',
  },
  dpi: {
    value: 'DPI',
    choices: resolutions,
    conflicts: ['template'],
    help: 'dots per inch of the printer (default: 203)',
  },
} as const satisfies FlagShapes;

/** Seconds to wait for a printer, for the connection and for each label. */
export const printerSeconds = 10;

/** Flags of an enrollment that prints labels. */
export const keyLabelFlags = {
  label: {
    help: 'print a label for each key; see devmgr label',
  },
  printer: { ...printerFlags.printer, help: 'printer of the labels: HOST or HOST:PORT', needs: 'label' },
  lp: { ...printerFlags.lp, needs: 'label' },
  template: { ...printerFlags.template, needs: 'label' },
  dpi: { ...printerFlags.dpi, needs: 'label' },
} as const satisfies FlagShapes;

/** Flags that say where labels are on a page. */
export const sheetFlags = {
  paper: {
    value: 'SIZE',
    aliases: ['page'],
    needs: 'html',
    choices: ['A4', 'LETTER'],
    help: 'paper of the sheet (default: A4)',
  },
  'label-size': {
    value: 'WxH',
    aliases: ['size'],
    needs: 'html',
    help: 'width and height of a label of the sheet in mm (default: 50x25)',
  },
  grid: { value: 'RxC', needs: 'html', help: 'rows and columns of labels on a page (default: as many as fit)' },
  margin: { value: 'T,L', needs: 'html', help: 'mm above and left of the first label (default: 10,5)' },
  gap: { value: 'X,Y', needs: 'html', help: 'mm between columns and between rows (default: 0,0)' },
  skip: { value: 'N', needs: 'html', whole: { min: 0 }, help: 'leave the first N labels of the first page empty' },
  outline: { needs: 'html', help: 'draw the edges of the labels and a 100 mm ruler, to check the printer' },
} as const satisfies FlagShapes;

/** Flags that say where labels go. */
export const outputFlags = {
  ...printerFlags,
  timeout: {
    value: 'SECONDS',
    whole: { min: 1 },
    help: `how long to wait for the printer (default: ${printerSeconds})`,
  },
  'dry-run': {
    conflicts: ['printer', 'lp', 'out', 'html'],
    help: 'write the ZPL to standard output, and print nothing',
  },
  html: {
    ...fileFlag('write a sheet of labels for an office printer to this file'),
    conflicts: ['printer', 'lp', 'dpi', 'out'],
  },
  force: { needs: 'html', help: 'replace an existing file of --html without asking' },
  ...sheetFlags,
} as const satisfies FlagShapes;
