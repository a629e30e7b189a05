/**
 * Reads the payload of a FIDO metadata BLOB entry by entry. JSON.parse of all 10 MB would hold the event loop for 50 ms and more;
 * here the bytes are split first, and each entry is parsed alone.
 */
import { MalformedError } from './malformed.ts';

/** How long work may hold the event loop: `over` when other work is due, `pass` lets it run. */
export interface TimeBudget {
  readonly over: boolean;
  pass(): Promise<void>;
}

/** The payload: its members but `entries`, and the entries one by one. */
interface Payload {
  readonly members: ReadonlyMap<string, unknown>;
  readonly entries: AsyncIterable<unknown>;
}

/** Largest member or entry in bytes. Entries have at most some 200 KB, most of it an icon. */
const MAX_PART = 1024 * 1024;
/** Most members and entries. */
const MAX_PARTS = 20_000;

/** The error of metadata that cannot be read. */
export const malformed = (problem: string, cause?: unknown) =>
  new MalformedError('metadata', problem, cause === undefined ? undefined : { cause });

const CHAR = { space: 0x20, quote: 0x22, comma: 0x2c, backslash: 0x5c } as const;
/** The brackets of objects and arrays. */
const OBJECT = [0x7b, 0x7d] as const;
const ARRAY = [0x5b, 0x5d] as const;

/** From the first byte to before the last one. */
type Span = readonly [start: number, end: number];

/** Beginning of the member with the entries, and the bytes in which it is looked for. */
const ENTRIES = /^\s*"entries"\s*:/;
const HEAD = 1024;

/** Splits a JSON object into its members, and the array `entries` into its elements. Throws MalformedError. */
export async function readPayload(bytes: Buffer, budget: TimeBudget): Promise<Payload> {
  const members = new Map<string, unknown>();
  let entries: readonly Span[] | null = null;
  for (const [start, end] of await partsOf(bytes, [0, bytes.length], OBJECT, budget)) {
    const head = ENTRIES.exec(bytes.toString('latin1', start, Math.min(start + HEAD, end)))?.[0];
    const [name, value] = head === undefined ? memberIn(bytes, [start, end]) : ['entries', null];
    if (members.has(name)) throw malformed('a member without a unique name');
    members.set(name, value);
    if (head !== undefined) entries = await partsOf(bytes, [start + head.length, end], ARRAY, budget);
  }
  if (entries === null) throw malformed('it has no entries');
  members.delete('entries');
  return { members, entries: parsed(bytes, entries, budget) };
}

async function* parsed(bytes: Buffer, spans: readonly Span[], budget: TimeBudget) {
  for (const span of spans) {
    if (budget.over) await budget.pass();
    yield parse(textOf(bytes, span));
  }
}

function memberIn(bytes: Buffer, span: Span): readonly [string, unknown] {
  const [member] = Object.entries(parse(`{${textOf(bytes, span)}}`) as object);
  if (!member) throw malformed('a member without a name');
  return member;
}

function textOf(bytes: Buffer, [start, end]: Span): string {
  if (end - start > MAX_PART) throw malformed(`a part of more than ${MAX_PART} bytes`);
  return bytes.toString('utf8', start, end);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw malformed('it is not JSON', cause);
  }
}

/** Characters and texts between two looks at the clock. */
const STEP = 4096;

/** Parts between the commas of the object or array in a span; none if it is empty. Whether a part is JSON is not looked at. */
async function partsOf(
  bytes: Buffer,
  [start, end]: Span,
  [opening, closing]: readonly [number, number],
  budget: TimeBudget,
): Promise<Span[]> {
  const parts: Span[] = [];
  let depth = 0;
  /** Where the present part begins; null before the first one. */
  let from: number | null = null;
  const add = (to: number) => {
    if (parts.length >= MAX_PARTS) throw malformed(`more than ${MAX_PARTS} members or entries`);
    parts.push([from!, to]);
  };
  for (let at = start, steps = 1; at < end; at++, steps++) {
    if (steps % STEP === 0 && budget.over) await budget.pass();
    const char = bytes[at]!;
    const isOutside = depth === 0 && char > CHAR.space;
    if (isOutside && (char !== opening || from !== null)) throw malformed('bytes around an object or an array');
    if (char === CHAR.quote) at = endOfText(bytes, at);
    else if (char === OBJECT[0] || char === ARRAY[0]) {
      if (++depth === 1) from = at + 1;
    } else if (char === OBJECT[1] || char === ARRAY[1]) {
      if (--depth > 0) continue;
      if (char !== closing) throw malformed('it closes what it did not open');
      if (parts.length > 0 || !isBlank(bytes, [from!, at])) add(at);
    } else if (char === CHAR.comma && depth === 1) {
      add(at);
      from = at + 1;
    }
  }
  if (depth !== 0 || from === null) throw malformed('it ends early');
  return parts;
}

const isBlank = (bytes: Buffer, span: Span): boolean =>
  span[1] - span[0] < MAX_PART && textOf(bytes, span).trim() === '';

/** The position of the quote that ends a text. */
function endOfText(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(CHAR.quote, start + 1); end >= 0; end = bytes.indexOf(CHAR.quote, end + 1)) {
    let before = end;
    while (bytes[before - 1] === CHAR.backslash && before - 1 > start) before--;
    if ((end - before) % 2 === 0) return end;
  }
  throw malformed('a text does not end');
}
