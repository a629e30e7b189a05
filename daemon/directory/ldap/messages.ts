/**
 * Messages of LDAP (RFC 4511), as a server may send them. The library reads what it is given without end if a length within a
 * message is wrong, so that a malicious server could stop the daemon. So each message is checked here first: every length fits
 * exactly, and its parts are those that the kind of message has.
 */

/** A part of a message; `start` and `end` of its content. */
interface MessagePart {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

const tags = {
  boolean: 0x01,
  integer: 0x02,
  text: 0x04,
  enumerated: 0x0a,
  sequence: 0x30,
  set: 0x31,
  controls: 0xa0,
  referral: 0xa3,
  credentials: 0x87,
} as const;
const operations = { bound: 0x61, entry: 0x64, done: 0x65, reference: 0x73 } as const;
/** Name of the control with the position in paged results (RFC 2696). */
export const PAGED = '1.2.840.113556.1.4.319';

/** A message that breaks the rules. */
export class MalformedMessage extends Error {}

/** Kinds of a checked message. A reference leads to another server; it is not followed. */
interface LdapMessage {
  readonly kind: keyof typeof operations;
  /** Where paged results continue; empty at their end, null if the message has no such control. */
  readonly cookie: Buffer | null;
}

/** Bytes of the message at the start of `bytes`, with tag and length; null if more bytes are needed to know it. */
export function messageLength(bytes: Buffer): number | null {
  if (bytes.length >= 1 && bytes[0] !== tags.sequence) throw new MalformedMessage('not LDAP');
  const first = bytes[1];
  if (first === undefined) return null;
  if (first < 0x80) return 2 + first;
  const octets = first & 0x7f;
  if (octets === 0 || octets > 4) throw new MalformedMessage('a length of this form is not allowed');
  return bytes.length < 2 + octets ? null : 2 + octets + bytes.readUIntBE(2, octets);
}

/** Checks a whole message. Throws `MalformedMessage`. */
export function checkMessage(bytes: Buffer): LdapMessage {
  const [message] = partsOf(bytes, 0, bytes.length, 1);
  const [id, operation, controls] = childrenOf(bytes, message!, 3);
  if (!isInteger(id, tags.integer) || !operation) throw new MalformedMessage('no id or no operation');
  const kind = (Object.keys(operations) as (keyof typeof operations)[]).find(key => operations[key] === operation.tag);
  if (!kind) throw new MalformedMessage(`a message of kind 0x${operation.tag.toString(16)} is not expected`);
  if (kind === 'entry') checkEntry(bytes, operation);
  if (kind === 'bound' || kind === 'done') checkResult(bytes, operation);
  return { kind, cookie: controls ? cookieIn(bytes, controls) : null };
}

/** Attributes and values of an entry: more than a person has in any directory, and few enough that reading them holds no other request. */
const MAX_VALUES = 10_000;

function checkEntry(bytes: Buffer, operation: MessagePart): void {
  const [name, attributes] = childrenOf(bytes, operation, 2);
  if (!is(name, tags.text) || !is(attributes, tags.sequence)) throw new MalformedMessage('an entry without a name');
  let left = MAX_VALUES;
  for (const attribute of childrenOf(bytes, attributes, left)) {
    const [type, values] = is(attribute, tags.sequence) ? childrenOf(bytes, attribute, 2) : [];
    if (!is(type, tags.text) || !is(values, tags.set)) throw new MalformedMessage('an attribute without values');
    const found = childrenOf(bytes, values, left);
    if (!found.every(value => is(value, tags.text))) throw new MalformedMessage('a value of another type');
    left -= found.length;
  }
}

function checkResult(bytes: Buffer, operation: MessagePart): void {
  const [code, name, text, ...others] = childrenOf(bytes, operation, 5);
  if (!isInteger(code, tags.enumerated) || !is(name, tags.text) || !is(text, tags.text))
    throw new MalformedMessage('a result without a code');
  // The library takes others for controls.
  if (!others.every(({ tag }) => tag === tags.referral || tag === tags.credentials))
    throw new MalformedMessage('a result with an unknown part');
}

function cookieIn(bytes: Buffer, controls: MessagePart): Buffer | null {
  if (!is(controls, tags.controls)) throw new MalformedMessage('controls of another type');
  let cookie: Buffer | null = null;
  for (const control of childrenOf(bytes, controls, 16)) {
    const [name, ...others] = is(control, tags.sequence) ? childrenOf(bytes, control, 3) : [];
    const rest = is(others[0], tags.boolean) ? others.slice(1) : others;
    const [value] = rest;
    if (!is(name, tags.text) || rest.length > 1 || (value && !is(value, tags.text)))
      throw new MalformedMessage('a control without a name, or with an unknown part');
    if (bytes.toString('latin1', name.start, name.end) === PAGED) cookie = cookieOf(bytes, value);
  }
  return cookie;
}

function cookieOf(bytes: Buffer, value: MessagePart | undefined): Buffer {
  const [sequence] = value ? partsOf(bytes, value.start, value.end, 1) : [];
  const [size, cookie] = is(sequence, tags.sequence) ? childrenOf(bytes, sequence, 2) : [];
  if (!isInteger(size, tags.integer) || !is(cookie, tags.text)) throw new MalformedMessage('a page without a position');
  return bytes.subarray(cookie.start, cookie.end);
}

const is = (part: MessagePart | undefined, tag: number): part is MessagePart => part?.tag === tag;
const isInteger = (part: MessagePart | undefined, tag: number): part is MessagePart =>
  is(part, tag) && part.end - part.start >= 1 && part.end - part.start <= 4;

const childrenOf = (bytes: Buffer, { start, end }: MessagePart, most: number): MessagePart[] =>
  partsOf(bytes, start, end, most);

/** The parts that fill the bytes from `start` to `end` exactly; at most so many. */
function partsOf(bytes: Buffer, start: number, end: number, most: number): MessagePart[] {
  const found: MessagePart[] = [];
  for (let at = start; at < end; at = found.at(-1)!.end) {
    if (found.length === most) throw new MalformedMessage('more parts than expected');
    found.push(partAt(bytes, at, end));
  }
  return found;
}

function partAt(bytes: Buffer, at: number, end: number): MessagePart {
  const tag = bytes[at]!;
  const first = at + 1 < end ? bytes[at + 1]! : 0x80;
  const octets = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + octets;
  if (first === 0x80 || octets > 4 || start > end || (tag & 0x1f) === 0x1f)
    throw new MalformedMessage('a length of this form is not allowed');
  const length = octets === 0 ? first : bytes.readUIntBE(at + 2, octets);
  if (length > end - start) throw new MalformedMessage('a length beyond the end');
  return { tag, start, end: start + length };
}
