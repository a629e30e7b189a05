/**
 * A strict reader of DER (ITU-T X.690): definite minimal lengths, low tag numbers, no trailing bytes. It reads one level at a time
 * and never calls itself, so that nesting costs nothing. Every function throws MalformedError and nothing else.
 */
import { MalformedError } from './malformed.ts';

/** Identifier octets of the types that certificates use. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** One DER element. */
export interface DerElement {
  /** The identifier octet. */
  readonly tag: number;
  readonly contents: Uint8Array;
  /** Identifier, length and contents. */
  readonly whole: Uint8Array;
}

/** Largest input in bytes. Certificates of this field have 300 to 2,000. */
const MAX_INPUT = 64 * 1024;
/** Most elements in one sequence or set. */
const MAX_CHILDREN = 256;

const malformed = (problem: string) => new MalformedError('DER', problem);

/** The element at the beginning of `bytes`; what follows it is not read. */
export function firstDer(bytes: Uint8Array): DerElement {
  if (bytes.length > MAX_INPUT) throw malformed(`more than ${MAX_INPUT} bytes`);
  const tag = bytes[0];
  if (tag === undefined || bytes.length < 2) throw malformed('the bytes end before the length');
  if ((tag & 0x1f) === 0x1f) throw malformed('tag numbers above 30 are not supported');
  const { length, header } = lengthAt(bytes);
  if (length > bytes.length - header) throw malformed('the length is more than what follows');
  return { tag, contents: bytes.subarray(header, header + length), whole: bytes.subarray(0, header + length) };
}

function lengthAt(bytes: Uint8Array): { length: number; header: number } {
  const first = bytes[1]!;
  if (first < 0x80) return { length: first, header: 2 };
  const count = first & 0x7f;
  if (count === 0) throw malformed('indefinite lengths are not DER');
  if (count > 3) throw malformed('the length has more than 3 bytes');
  if (bytes.length < 2 + count) throw malformed('the bytes end in a length');
  let length = 0;
  for (let at = 2; at < 2 + count; at++) length = length * 256 + bytes[at]!;
  if (length < 0x80 || length < 256 ** (count - 1)) throw malformed('the length is not minimal');
  return { length, header: 2 + count };
}

/** The only element of `bytes`; of this type if `tag` is given. */
export function readDer(bytes: Uint8Array, tag?: number): DerElement {
  const element = firstDer(bytes);
  if (element.whole.length !== bytes.length) throw malformed('bytes follow the element');
  return tag === undefined ? element : expectTag(element, tag);
}

/** The element if it has this tag. */
export function expectTag(element: DerElement | undefined, tag: number): DerElement {
  if (!element) throw malformed(`an element with tag ${hex(tag)} is missing`);
  if (element.tag !== tag) throw malformed(`tag ${hex(element.tag)} instead of ${hex(tag)}`);
  return element;
}

const hex = (tag: number): string => tag.toString(16).padStart(2, '0');

/** The elements in a sequence, a set or a constructed context tag. */
export function childrenOf(element: DerElement): DerElement[] {
  if ((element.tag & 0x20) === 0) throw malformed(`tag ${hex(element.tag)} has no elements in it`);
  const found: DerElement[] = [];
  for (let rest = element.contents; rest.length > 0; ) {
    if (found.length === MAX_CHILDREN) throw malformed(`more than ${MAX_CHILDREN} elements in one`);
    const child = firstDer(rest);
    found.push(child);
    rest = rest.subarray(child.whole.length);
  }
  return found;
}

/** An OBJECT IDENTIFIER in dotted form. */
export function oidOf(element: DerElement | undefined): string {
  const { contents } = expectTag(element, TAG.oid);
  if (contents.length === 0 || contents.length > 32) throw malformed('an object identifier of this length');
  const arcs: number[] = [];
  let arc = 0;
  let begins = true;
  for (const byte of contents) {
    if (begins && byte === 0x80) throw malformed('an arc of an object identifier is not minimal');
    arc = arc * 128 + (byte & 0x7f);
    if (arc > Number.MAX_SAFE_INTEGER / 256) throw malformed('an arc of an object identifier is too large');
    begins = byte < 0x80;
    if (!begins) continue;
    arcs.push(arc);
    arc = 0;
  }
  if (!begins) throw malformed('an object identifier ends in an arc');
  const first = arcs[0]!;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - root * 40, ...arcs.slice(1)].join('.');
}

/** An INTEGER that is not negative. */
export function unsignedOf(element: DerElement | undefined): bigint {
  const contents = integerBytes(element);
  if (contents[0]! >= 0x80) throw malformed('a negative integer');
  return BigInt(`0x${Buffer.from(contents).toString('hex')}`);
}

/** The bytes of any INTEGER in two's complement. */
export function integerBytes(element: DerElement | undefined): Uint8Array {
  const { contents } = expectTag(element, TAG.integer);
  const [first, second] = contents;
  if (first === undefined) throw malformed('an integer without bytes');
  if (second !== undefined && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80)))
    throw malformed('an integer is not minimal');
  return contents;
}

/** A BOOLEAN. */
export function booleanOf(element: DerElement | undefined): boolean {
  const { contents } = expectTag(element, TAG.boolean);
  if (contents.length !== 1 || (contents[0] !== 0 && contents[0] !== 0xff)) throw malformed('a boolean of this value');
  return contents[0] === 0xff;
}

/** A BIT STRING: its bytes, and how many bits of the last one are unused. Unused bits are zero. */
export function bitsOf(element: DerElement | undefined): { bytes: Uint8Array; unused: number } {
  const { contents } = expectTag(element, TAG.bitString);
  const unused = contents[0];
  if (unused === undefined || unused > 7 || (unused > 0 && contents.length === 1)) throw malformed('a bit string');
  const bytes = contents.subarray(1);
  if (unused > 0 && bytes.at(-1)! & ((1 << unused) - 1)) throw malformed('unused bits of a bit string are set');
  return { bytes, unused };
}

/** The contents of an OCTET STRING. */
export function octetsOf(element: DerElement | undefined): Uint8Array {
  return expectTag(element, TAG.octetString).contents;
}

const utcTime = /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/;
const generalizedTime = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/;

/** A UTCTime or GeneralizedTime as RFC 5280 allows them: seconds, and UTC. */
export function timeOf(element: DerElement | undefined): Date {
  if (element?.tag !== TAG.utcTime && element?.tag !== TAG.generalizedTime) throw malformed('a time of this type');
  const short = element.tag === TAG.utcTime;
  const match = (short ? utcTime : generalizedTime).exec(Buffer.from(element.contents).toString('latin1'));
  if (!match) throw malformed('a time of this form');
  const [, year, month, day, hour, minute, second] = match;
  const century = short ? (Number(year) < 50 ? '20' : '19') : '';
  const text = `${century}${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const time = new Date(text);
  // A day that its month does not have becomes one of the next month.
  if (Number.isNaN(time.getTime()) || time.toISOString() !== text) throw malformed('a time that does not exist');
  return time;
}
