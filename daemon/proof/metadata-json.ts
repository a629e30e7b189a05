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

const malformed = (problem: string, cause?: unknown) =>
  new MalformedError('metadata', problem, cause === undefined ? undefined : { cause });

const CHAR = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  open: 0x7b,
  close: 0x7d,
} as const;

/** From the first byte to before the last one. */
type Span = readonly [start: number, end: number];

/** Splits a JSON object into its members, and the array `entries` into its elements. Throws MalformedError. */
export async function readPayload(bytes: Buffer, budget: TimeBudget): Promise<Payload> {
  const { members, elements } = await new Splitter(bytes).split(budget);
  const values = new Map<string, unknown>();
  for (const { key, value } of members) {
    const name = parse(bytes, key);
    if (typeof name !== 'string' || values.has(name)) throw malformed('a member without a unique name');
    values.set(name, name === 'entries' ? null : parse(bytes, value));
  }
  if (!values.delete('entries')) throw malformed('it has no entries');
  return { members: values, entries: parsed(bytes, elements, budget) };
}

async function* parsed(bytes: Buffer, spans: readonly Span[], budget: TimeBudget) {
  for (const span of spans) {
    if (budget.over) await budget.pass();
    yield parse(bytes, span);
  }
}

function parse(bytes: Buffer, [start, end]: Span): unknown {
  if (end - start > MAX_PART) throw malformed(`a part of more than ${MAX_PART} bytes`);
  try {
    return JSON.parse(bytes.toString('utf8', start, end));
  } catch (cause) {
    throw malformed('it is not JSON', cause);
  }
}

/** Structural characters between two looks at the clock. */
const STEP = 4096;

class Splitter {
  readonly #bytes: Buffer;
  readonly #members: { key: Span; value: Span }[] = [];
  #elements: Span[] = [];
  #depth = 0;
  #key: Span | null = null;
  /** Where the current key or value begins, and the current element of an array on the second level. */
  #start = 0;
  #elementStart: number | null = null;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  async split(
    budget: TimeBudget,
  ): Promise<{ members: readonly { key: Span; value: Span }[]; elements: readonly Span[] }> {
    let steps = 0;
    let at = 0;
    while (at < this.#bytes.length) {
      if (++steps % STEP === 0 && budget.over) await budget.pass();
      at = this.#step(at);
    }
    if (this.#depth !== 0 || this.#members.length === 0) throw malformed('it ends early');
    return { members: this.#members, elements: this.#elements };
  }

  /** Handles the character at `at` and returns where the next one is. */
  #step(at: number): number {
    const char = this.#bytes[at]!;
    if (char === CHAR.quote) return this.#afterString(at);
    if (char === CHAR.open || char === CHAR.openArray) this.#opened(char, at);
    else if (char === CHAR.close || char === CHAR.closeArray) this.#closed(at);
    else if (char === CHAR.colon && this.#depth === 1) this.#keyEnded(at);
    else if (char === CHAR.comma) this.#separated(at);
    return at + 1;
  }

  #afterString(at: number): number {
    for (let end = this.#bytes.indexOf(CHAR.quote, at + 1); end >= 0; end = this.#bytes.indexOf(CHAR.quote, end + 1)) {
      let before = end;
      while (this.#bytes[before - 1] === CHAR.backslash && before - 1 > at) before--;
      if ((end - before) % 2 === 0) return end + 1;
    }
    throw malformed('a text does not end');
  }

  #opened(char: number, at: number): void {
    this.#depth++;
    if (this.#depth === 1) {
      if (char !== CHAR.open || this.#members.length > 0) throw malformed('it is not an object');
      this.#start = at + 1;
    } else if (this.#depth === 2 && char === CHAR.openArray && this.#isEntries()) this.#elementStart = at + 1;
  }

  #isEntries(): boolean {
    return this.#key !== null && this.#bytes.toString('latin1', ...this.#key).trim() === '"entries"';
  }

  #closed(at: number): void {
    if (this.#depth === 2 && this.#elementStart !== null) {
      if (this.#elements.length > 0 || !this.#isBlank(this.#elementStart, at)) this.#elementEnded(at);
      this.#elementStart = null;
    }
    if (this.#depth === 1) this.#memberEnded(at);
    this.#depth--;
    if (this.#depth < 0) throw malformed('it closes what it did not open');
  }

  #isBlank(start: number, end: number): boolean {
    return end - start < MAX_PART && this.#bytes.toString('latin1', start, end).trim() === '';
  }

  #keyEnded(at: number): void {
    if (this.#key) throw malformed('two colons in one member');
    this.#key = [this.#start, at];
    this.#start = at + 1;
  }

  #separated(at: number): void {
    if (this.#depth === 1) this.#memberEnded(at);
    else if (this.#depth === 2 && this.#elementStart !== null) {
      this.#elementEnded(at);
      this.#elementStart = at + 1;
    }
  }

  #memberEnded(at: number): void {
    if (!this.#key || this.#members.length >= MAX_PARTS) throw malformed('a member without a name');
    this.#members.push({ key: this.#key, value: [this.#start, at] });
    this.#key = null;
    this.#start = at + 1;
  }

  #elementEnded(at: number): void {
    if (this.#elements.length >= MAX_PARTS) throw malformed(`more than ${MAX_PARTS} entries`);
    this.#elements.push([this.#elementStart!, at]);
  }
}
