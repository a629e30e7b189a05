/** Labels in ZPL. Values are text only: no character of one reaches the printer as the start of a command. */
import { failure, usage } from '../../../fault.ts';
import type { resolutions } from './flags.ts';
import { type LabelDevice, type Placeholder, partsOf, textIn } from './placeholders.ts';

/** The label of a device, complete and ready to print. */
export type Label = (device: LabelDevice) => string;

/** Dots per millimeter of the printers with 203, 300 and 600 dots per inch. */
const dotsPerMm: Readonly<Record<string, number>> = { '203': 8, '300': 12, '600': 24 };

/** The built-in template: 50 x 25 mm, with a QR code of the deviceId; that of a letter has the PIN instead of the manufacturer. */
export function standardTemplate(dpi: (typeof resolutions)[number], { isLetter = false } = {}): string {
  const dots = (mm: number) => Math.round(mm * dotsPerMm[dpi]!);
  const text = (x: number, y: number, height: number, value: string) =>
    `^FO${dots(x)},${dots(y)}^A0N,${dots(height)}${value}^FS`;
  return [
    `^XA^CI28^PW${dots(50)}^LL${dots(25)}^LH0,0`,
    `^FO${dots(1.5)},${dots(1)}^BQN,2,${Math.min(10, dots(0.625))}^FDQA,{deviceId}^FS`,
    text(19, 2.25, 3, '^FD{deviceId}'),
    text(19, 6, 2.5, '^FD{type} {model,16}'),
    text(19, 9.25, 2.5, isLetter ? '^FDPIN {pin}' : '^FD{manufacturer,20}'),
    text(19, 12.5, 2.5, '^FD{userId,20}'),
    text(2, 19, 2.5, `^FB${dots(46)},2^FD{serialNumber}`),
    '^XZ\n',
  ].join('\n');
}

/** Commands of a field in which a character has a meaning even as text, and how that character is written. */
const quoted: readonly (readonly [command: RegExp, character: string, written: string])[] = [
  [/\^FB/i, '\\', '\\\\'],
  [/\^TB/i, '<', '<<>'],
  [/\^BC/i, '>', '><'],
];

/**
 * Data Matrix has an escape character, by default `~` or `_`, depending on the firmware. If the template states none, it is the
 * first of these that is not in the text.
 */
const dataMatrix = /\^BX([^^~]*)(~?)/i;
const escapes = [...'|!$%=?@#*+'];

/** The bytes that are printed as they are; all others are hexadecimal. */
const plain = /[^A-Za-z0-9 .:/-]/gu;
const hex = (character: string): string =>
  [...Buffer.from(character)].map(byte => `_${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** A field with values. */
interface Field {
  /** Its commands, up to `^FD`. */
  readonly head: string;
  readonly parts: readonly (string | Placeholder)[];
  readonly quotes: readonly (readonly [character: string, written: string])[];
  /** Whether the escape character of Data Matrix is chosen for each label. */
  readonly needsEscape: boolean;
}

/** Reads a template of ZPL. Throws a usage fault that explains what is wrong with it; `name` is its file. */
export function zplTemplate(text: string, name: string): Label {
  const zpl = text.replaceAll('\r\n', '\n');
  check(zpl, name);
  const pieces = piecesOf(zpl, name);
  return device => pieces.map(piece => (typeof piece === 'string' ? piece : filled(piece, device))).join('');
}

function check(zpl: string, name: string): void {
  if (!/\^XA/i.test(zpl) || !/\^XZ\s*$/i.test(zpl))
    throw usage(`${name} is not a template in ZPL`, 'it starts with ^XA and ends with ^XZ');
  const changed = /[\^~]C[CDT]/i.exec(zpl);
  if (changed) throw usage(`${name} changes a control character of ZPL with ${changed[0]}`, 'use ^, ~ and the comma');
}

/** The template as fixed text and fields with values. */
function piecesOf(zpl: string, name: string): (string | Field)[] {
  // Values are UTF-8.
  const source = /\^CI/i.test(zpl) ? zpl : zpl.replace(/\^XA/i, start => `${start}^CI28`);
  const pieces: (string | Field)[] = [];
  for (const field of source.split(/(?<=\^FS)/i)) {
    const { head, data, tail } = sections(field);
    const parts = partsOf(data);
    if ([...partsOf(head), ...partsOf(tail)].some(isValue))
      throw usage(`a placeholder in ${name} is outside of a field`, 'a field is ^FD{serialNumber}^FS');
    if (!parts.some(isValue)) pieces.push(field);
    else pieces.push(withValues(head, parts, name), tail);
  }
  return pieces;
}

/** A field, divided into its commands, its data, and the command that ends it. */
function sections(field: string): { readonly head: string; readonly data: string; readonly tail: string } {
  const start = field.search(/\^F[DV]/i);
  if (start < 0) return { head: field, data: '', tail: '' };
  const rest = field.slice(start + 3);
  const end = rest.search(/[\^~]/);
  const length = end < 0 ? rest.length : end;
  return { head: field.slice(0, start + 3), data: rest.slice(0, length), tail: rest.slice(length) };
}

function withValues(head: string, parts: readonly (string | Placeholder)[], name: string): Field {
  if (parts.some(part => isValue(part) && part.isQr))
    throw usage(`{qr:…} in ${name} is for HTML`, 'a printer draws a QR code with ^BQN,2,4^FDQA,{deviceId}^FS');
  const [, indicator] = /\^FH([^^~]?)/i.exec(head) ?? [];
  if (indicator !== undefined && indicator !== '' && indicator !== '_')
    throw usage(`a field in ${name} has ^FH${indicator}`, 'the character for ^FH is the underscore');
  const hasHex = indicator !== undefined;
  const matrix = matrixOf(head, name);
  const quotes = quoted.filter(([command]) => command.test(head)).map(([, from, to]) => [from, to] as const);
  return {
    head: hasHex ? head : `${head.slice(0, -3)}^FH_${head.slice(-3)}`,
    // Without ^FH, an underscore in the template is an underscore on the label.
    parts: parts.map(part => (isValue(part) || hasHex ? part : part.replaceAll('_', hex))),
    quotes: matrix?.escape ? [...quotes, [matrix.escape, matrix.escape.repeat(2)]] : quotes,
    needsEscape: matrix !== null && matrix.escape === null,
  };
}

/** The escape character that a field states for Data Matrix. Null if the field is something else. */
function matrixOf(head: string, name: string): { readonly escape: string | null } | null {
  const [, list, tilde] = dataMatrix.exec(head) ?? [];
  if (list === undefined) return null;
  if (tilde) throw usage(`${name} has ~ as the escape character of ^BX`, 'state another one, such as ^BXN,6,200,,,,_');
  return { escape: list.trim().split(',')[6]?.charAt(0) || null };
}

const isValue = (part: string | Placeholder): part is Placeholder => typeof part !== 'string';

function filled({ head, parts, quotes, needsEscape }: Field, device: LabelDevice): string {
  const texts = parts.map(part => (isValue(part) ? textIn(device, part) : null));
  const data = parts.map((part, at) => (isValue(part) ? escaped(texts[at]!, quotes) : part)).join('');
  return (needsEscape ? withEscape(head, parts.map((part, at) => texts[at] ?? String(part)).join('')) : head) + data;
}

/** States an escape character that is not in the text. */
function withEscape(head: string, text: string): string {
  const free = escapes.find(character => !text.includes(character));
  if (free === undefined) throw failure(`a Data Matrix code cannot have all of ${escapes.join('')}`);
  return head.replace(dataMatrix, (_, list: string) => {
    const values = list.trim().split(',');
    while (values.length < 7) values.push('');
    values[6] = free;
    return `^BX${values.join(',')}`;
  });
}

const escaped = (text: string, quotes: Field['quotes']): string =>
  quotes.reduce((value, [from, to]) => value.replaceAll(from, () => to), text).replace(plain, hex);
