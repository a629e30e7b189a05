/**
 * The devices of a PSKC file (RFC 6030): Manufacturer, SerialNo, Model and UserId. Its keys, in plain text or encrypted, are counted
 * and never kept. The file is read as a stream in constant memory. A document type is refused, so no entity can be defined.
 */
import sax from 'sax';
import { InvalidInput } from './fault.ts';
import type { RawRow, RawRows } from './raw.ts';
import type { DroppedSecrets } from './secrets.ts';
import { localName } from './text.ts';

/** RFC 6030 needs eight levels, with XML encryption and signature a few more. */
const maxDepth = 64;
const maxAttributes = 64;
/** UTF-16 units of a value. A longer one is cut, and then refused as too long. */
const maxValueLength = 1_024;

const captured: Readonly<Record<string, 'manufacturer' | 'serialNumber' | 'model' | 'userId'>> = {
  Manufacturer: 'manufacturer',
  SerialNo: 'serialNumber',
  Model: 'model',
  UserId: 'userId',
};

type Package = Extract<RawRow, { readonly object: unknown }> & { readonly object: Record<string, string> };

/** The key packages, in the order of the file. Throws `InvalidInput` if it is not a valid PSKC file. */
export async function* readPskc(chunks: AsyncIterable<string>, dropped: DroppedSecrets): RawRows {
  const reader = new Reader(dropped);
  let previous: string | undefined;
  for await (const chunk of chunks)
    yield reader.read(chunk).filter(({ object: { serialNumber } }) => {
      // A device with several keys has a package for each of them.
      const isNew = serialNumber === undefined || serialNumber !== previous;
      previous = serialNumber;
      return isNew;
    });
  reader.end();
}

class Reader {
  readonly #dropped: DroppedSecrets;
  readonly #parser: sax.SAXParser;
  /** Local names of the open elements. */
  readonly #path: string[] = [];
  #done: Package[] = [];
  #open: Package | null = null;
  #text: string | null = null;
  #packages = 0;
  #attributes = 0;

  constructor(dropped: DroppedSecrets) {
    this.#dropped = dropped;
    this.#parser = this.#createParser();
  }

  #createParser(): sax.SAXParser {
    // Strict: errors are reported, and only the five entities of XML are known.
    const parser = sax.parser(true, { position: true });
    parser.onerror = error => this.#fail(error.message.split('\n')[0]!.toLowerCase());
    parser.ondoctype = () => this.#fail('it has a document type (DOCTYPE), which is not allowed');
    parser.onopentagstart = () => {
      this.#attributes = 0;
    };
    parser.onattribute = () => {
      if (++this.#attributes > maxAttributes) this.#fail(`an element has more than ${maxAttributes} attributes`);
    };
    parser.onopentag = ({ name }) => this.#opened(localName(name));
    parser.onclosetag = () => this.#closed();
    parser.ontext = text => this.#append(text);
    parser.oncdata = text => this.#append(text);
    return parser;
  }

  /** The packages that end in this chunk. */
  read(chunk: string): readonly Package[] {
    this.#done = [];
    this.#parser.write(chunk);
    return this.#done;
  }

  /** Throws `InvalidInput` if the document is incomplete. */
  end(): void {
    this.#parser.close();
    if (this.#packages === 0) throw new InvalidInput({ what: 'no packages' });
  }

  #opened(name: string): void {
    const { length } = this.#path;
    if (length >= maxDepth) this.#fail(`elements are nested more than ${maxDepth} deep`);
    if (length === 0 && name !== 'KeyContainer') this.#fail(`not a PSKC file: its root is ${name.slice(0, 40)}`);
    const parent = this.#path.at(-1);
    this.#path.push(name);
    if (name === 'KeyPackage' && length === 1)
      this.#open = { position: { line: this.#parser.line + 1, item: ++this.#packages }, object: {} };
    // Data/Secret has a PlainValue or an EncryptedValue.
    if (name === 'Secret' && parent === 'Data') this.#dropped.note('Secret');
    this.#text = this.#isCaptured(name, parent) ? '' : null;
  }

  #isCaptured(name: string, parent: string | undefined): boolean {
    const isOfDevice = parent === 'DeviceInfo' || (parent === 'Key' && name === 'UserId');
    return this.#open !== null && isOfDevice && this.#path.length === 4 && Object.hasOwn(captured, name);
  }

  #closed(): void {
    const name = this.#path.pop()!;
    const field = captured[name];
    if (this.#text !== null && this.#open !== null && field !== undefined)
      this.#open.object[field] = field === 'manufacturer' ? organization(this.#text) : this.#text.trim();
    this.#text = null;
    if (name !== 'KeyPackage' || this.#path.length !== 1 || this.#open === null) return;
    this.#done.push(this.#open);
    this.#open = null;
  }

  #append(text: string): void {
    if (this.#text !== null) this.#text = (this.#text + text).slice(0, maxValueLength);
  }

  #fail(problem: string): never {
    throw new InvalidInput({ what: 'pskc', line: this.#parser.line + 1, problem });
  }
}

/** RFC 6030 puts `iana.` before names of the registry of enterprise numbers, `oath.` before prefixes of OATH. */
const organization = (text: string): string => text.trim().replace(/^iana\./, '');
