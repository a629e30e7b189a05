/**
 * The rows of an Excel workbook (ECMA-376): of its first visible sheet that has some. Values are read as they are stored, with the zeros of
 * a format like 00000000; dates are written out, so that a serial number that became one is recognized.
 */
import sax from 'sax';
import { InvalidInput } from './fault.ts';
import type { RawRow, RawRows } from './raw.ts';
import { localName, withoutParts } from './text.ts';
import { zipEntries, zipText } from './zip.ts';

const MiB = 2 ** 20;
/** Bytes of a workbook, of a sheet in it, and of its other parts. */
export const workbookBounds = {
  file: 64 * MiB,
  sheet: 512 * MiB,
  part: 64 * MiB,
  texts: 2_000_000,
  columns: 1_000,
} as const;
const MAX_DEPTH = 32;
const CELL_LENGTH = 32_767;
const CODE_LENGTH = 255;

/** Whether the parts are those of a workbook. */
export const isWorkbook = (bytes: Uint8Array): boolean => zipEntries(bytes).has('xl/workbook.xml');

/** The kind of a ZIP file that is not a workbook. */
export function archiveKind(bytes: Uint8Array): 'opendocument' | 'numbers' | 'zip' {
  const names = [...zipEntries(bytes).keys()];
  if (names.includes('content.xml') && names.includes('mimetype')) return 'opendocument';
  return names.some(name => name.endsWith('.iwa')) ? 'numbers' : 'zip';
}

type Attributes = Readonly<Record<string, string>>;

interface Handlers {
  readonly open: (name: string, attributes: Attributes) => void;
  readonly close?: (name: string) => void;
  readonly text?: (text: string) => void;
}

/** The text of a part is passed to the handlers; resolved after each piece. */
async function* parsed(text: AsyncIterable<string>, handlers: Handlers): AsyncGenerator<void> {
  const parser = sax.parser(true, {});
  const fail = (problem: string) => {
    throw new InvalidInput({ what: 'workbook', problem });
  };
  let depth = 0;
  parser.onerror = () => fail('its XML is damaged');
  parser.ondoctype = () => fail('it has a document type (DOCTYPE), which is not allowed');
  parser.onopentag = ({ name, attributes }) => {
    if (++depth > MAX_DEPTH) fail('its elements are nested too deep');
    handlers.open(localName(name), attributes as Attributes);
  };
  parser.onclosetag = name => {
    depth--;
    handlers.close?.(localName(name));
  };
  if (handlers.text) parser.ontext = handlers.text;
  for await (const piece of text) {
    parser.write(piece);
    yield;
  }
}

/** Reads parts of a workbook. */
class Workbook {
  readonly #bytes: Uint8Array;
  readonly #entries: ReturnType<typeof zipEntries>;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#entries = zipEntries(bytes);
  }

  async *part(name: string, most: number, handlers: Handlers): AsyncGenerator<void> {
    const entry = this.#entries.get(name);
    if (entry !== undefined) yield* parsed(zipText(this.#bytes, entry, most), handlers);
  }

  async read(name: string, handlers: Handlers): Promise<void> {
    for await (const _ of this.part(name, workbookBounds.part, handlers));
  }

  /** Name and file of each visible sheet, in the order of the workbook. */
  async sheets(): Promise<readonly { readonly name: string; readonly file: string }[]> {
    const targets = new Map<string, string>();
    await this.read('xl/_rels/workbook.xml.rels', {
      open: (_, { Id = '', Target = '' }) => targets.set(Id, Target.startsWith('/') ? Target.slice(1) : `xl/${Target}`),
    });
    const sheets: { name: string; file: string }[] = [];
    await this.read('xl/workbook.xml', {
      open: (element, { name = '', state = 'visible', 'r:id': id = '' }) => {
        if (element === 'sheet' && state === 'visible' && targets.has(id))
          sheets.push({ name, file: targets.get(id)! });
      },
    });
    return sheets;
  }

  async texts(): Promise<readonly string[]> {
    const texts: string[] = [];
    let [text, isText, isPhonetic] = ['', false, false];
    await this.read('xl/sharedStrings.xml', {
      open: name => {
        if (name === 'si') text = '';
        if (name === 'rPh') isPhonetic = true;
        isText = name === 't' && !isPhonetic;
      },
      close: name => {
        isText = false;
        if (name === 'rPh') isPhonetic = false;
        if (name === 'si' && texts.push(text.slice(0, CELL_LENGTH)) > workbookBounds.texts)
          throw new InvalidInput({ what: 'workbook', problem: 'it has too many texts: save the sheet as CSV' });
      },
      text: part => {
        if (isText) text += part;
      },
    });
    return texts;
  }

  /** How the numbers of each cell style are shown. */
  async styles(): Promise<readonly NumberStyle[]> {
    const codes = new Map<number, string>();
    const styles: NumberStyle[] = [];
    let isCells = false;
    await this.read('xl/styles.xml', {
      open: (name, { numFmtId = '0', formatCode = '' }) => {
        if (name === 'numFmt') codes.set(Number(numFmtId), formatCode);
        if (name === 'cellXfs') isCells = true;
        if (name === 'xf' && isCells) styles.push(styleOf(Number(numFmtId), codes.get(Number(numFmtId)) ?? ''));
      },
      close: name => {
        if (name === 'cellXfs') isCells = false;
      },
    });
    return styles;
  }
}

/** `date`, or the number of digits that a number is filled up to; null for any other. */
type NumberStyle = 'date' | number | null;

function styleOf(id: number, code: string): NumberStyle {
  if ((id >= 14 && id <= 22) || (id >= 45 && id <= 47)) return 'date';
  if (/^0{2,}$/.test(code)) return code.length;
  return /[dmyh]/i.test(withoutParts(code.slice(0, CODE_LENGTH), { '"': '"', '[': ']' })) ? 'date' : null;
}

const DAY = 86_400_000;
/** Day 0 of Excel, which takes 1900 for a leap year. */
const EPOCH = Date.UTC(1899, 11, 30);

function shownNumber(text: string, style: NumberStyle): string {
  const value = Number(text);
  if (style === null || !Number.isFinite(value)) return text;
  if (style !== 'date') return /^\d+$/.test(text) ? text.padStart(style, '0') : text;
  const date = new Date(EPOCH + value * DAY);
  return Number.isNaN(date.getTime()) ? text : date.toISOString().slice(0, 10);
}

/** The column of a cell reference such as `AB12`, counted from 0; -1 if there is none. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

/** The rows of a sheet, as its text arrives. */
class SheetRows implements Handlers {
  readonly #texts: readonly string[];
  readonly #styles: readonly NumberStyle[];
  #rows: RawRow[] = [];
  #line = 0;
  #cells: string[] = [];
  #column = -1;
  #type = '';
  #style = 0;
  #value = '';
  #isValue = false;

  constructor(texts: readonly string[], styles: readonly NumberStyle[]) {
    this.#texts = texts;
    this.#styles = styles;
  }

  /** The rows since the last call. */
  take(): readonly RawRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  readonly open = (name: string, { r = '', t = '', s = '0' }: Attributes): void => {
    if (name === 'row') {
      this.#line = Number(r) || this.#line + 1;
      this.#cells = [];
      this.#column = -1;
    } else if (name === 'c') {
      const column = columnOf(r);
      this.#column = column < 0 ? this.#column + 1 : column;
      [this.#type, this.#style, this.#value] = [t, Number(s), ''];
    } else this.#isValue = name === 'v' || name === 't';
  };

  readonly text = (text: string): void => {
    if (this.#isValue && this.#value.length < CELL_LENGTH) this.#value += text;
  };

  readonly close = (name: string): void => {
    this.#isValue = false;
    if (name === 'c' && this.#value !== '' && this.#column < workbookBounds.columns) {
      while (this.#cells.length < this.#column) this.#cells.push('');
      this.#cells[this.#column] = this.#shown();
    }
    if (name === 'row' && this.#cells.length > 0)
      this.#rows.push({ position: { line: this.#line }, cells: this.#cells });
  };

  #shown(): string {
    if (this.#type === 's') return this.#texts[Number(this.#value)] ?? '';
    if (this.#type === 'b') return this.#value === '1' ? 'TRUE' : 'FALSE';
    return this.#type === '' || this.#type === 'n'
      ? shownNumber(this.#value, this.#styles[this.#style] ?? null)
      : this.#value;
  }
}

/** The rows, and the names of the sheets that are not read. Throws `InvalidInput`. */
export async function readWorkbook(
  bytes: Uint8Array,
): Promise<{ readonly rows: RawRows; readonly unread: readonly string[] }> {
  const workbook = new Workbook(bytes);
  const [texts, styles, sheets] = [await workbook.texts(), await workbook.styles(), await workbook.sheets()];
  for (const { name, file } of sheets) {
    const rows = sheetRows(workbook, file, texts, styles);
    const first = await rows.next();
    if (!first.done)
      return {
        rows: continued(first.value, rows),
        unread: sheets.map(sheet => sheet.name).filter(other => other !== name),
      };
  }
  throw new InvalidInput({ what: 'empty' });
}

async function* sheetRows(
  workbook: Workbook,
  file: string,
  texts: readonly string[],
  styles: readonly NumberStyle[],
): RawRows {
  const sheet = new SheetRows(texts, styles);
  for await (const _ of workbook.part(file, workbookBounds.sheet, sheet)) {
    const rows = sheet.take();
    if (rows.length > 0) yield rows;
  }
}

async function* continued(first: readonly RawRow[], rest: RawRows): RawRows {
  yield first;
  yield* rest;
}
