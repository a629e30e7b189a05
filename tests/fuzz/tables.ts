/** Files of every shape, changed at any byte: each is read or refused with a fault, and a secret in it reaches no output. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openDevices } from '../../src/enrollment/import/rows.ts';
import { InvalidInput } from '../../src/tables/fault.ts';
import { openPersons } from '../../src/tables/persons.ts';
import { presets } from '../../src/tables/presets.ts';
import { previewOf } from '../../src/tables/preview.ts';
import { mulberry } from '../support/mulberry.ts';
import { workbook } from '../support/workbook.ts';

/** Keys that are in files with two columns of secrets: one change leaves at least one of the columns. */
const planted = ['000102030405060708090A0B0C0D0E0F', '0F0E0D0C0B0A09080706050403020100'] as const;
const heads = ['ICCID', 'KI', 'Manufacturer', 'OPC', 'Model'];
const cells = (serial: string) => [serial, planted[0], 'Acme', planted[1], 'K1'];
const serials = ['8949440000000001012', '8949440000000001020'];
const csv = (mark: string, end: string, quote = '') =>
  [heads, ...serials.map(cells), []].map(line => line.map(cell => `${quote}${cell}${quote}`).join(mark)).join(end);
const utf16 = (text: string, mark: string, isBig = false) => {
  const bytes = Buffer.from(mark + text, 'utf16le');
  return isBig ? bytes.swap16() : bytes;
};
const object = { serialNumber: 'A-1', KI: planted[0], manufacturer: 'Acme', OPC: planted[1], model: 'K1' };
const xmlRow = (line: readonly string[]) =>
  `<row>${line.map(cell => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`;
const pskcKey = (secret: string, serial: string) =>
  `<KeyPackage><DeviceInfo><Manufacturer>Acme</Manufacturer><SerialNo>${serial}</SerialNo></DeviceInfo><Key Id="${serial}"><Data><Secret><PlainValue>${secret}</PlainValue></Secret></Data></Key></KeyPackage>`;

const ofDevices: readonly Uint8Array[] = [
  ...[',', ';', '\t', '|'].flatMap(mark => ['\n', '\r', '\r\n'].map(end => Buffer.from(csv(mark, end)))),
  Buffer.from(csv(';', '\r\n', '"')),
  Buffer.from(`sep=;\r\n${csv(';', '\r\n')}`),
  Buffer.from(`Stock of Lyon\n\n${csv(',', '\n')}`),
  utf16(csv('\t', '\r\n'), '\ufeff'),
  utf16(csv('\t', '\r\n'), '\ufeff', true),
  utf16(csv(',', '\n'), ''),
  ...[JSON.stringify([object, object]), JSON.stringify({ rows: [object] }), `${JSON.stringify(object)}\n`].map(text =>
    Buffer.from(text),
  ),
  Buffer.from(
    `*\nBatch : 42\n*\nvar_out: ICCID/IMSI/KI/OPC\n${serials.map(one => `${one} 001010000000001 ${planted.join(' ')}\n`).join('')}`,
  ),
  Buffer.from(
    `<KeyContainer Version="1.0" xmlns="urn:ietf:params:xml:ns:keyprov:pskc">${planted.map((secret, index) => pskcKey(secret, `T-${index}`)).join('')}</KeyContainer>`,
  ),
  workbook({
    'xl/workbook.xml': '<workbook xmlns:r="x"><sheets><sheet name="Keys" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${[heads, ...serials.map(cells)].map(xmlRow).join('')}</sheetData></worksheet>`,
  }),
];
const ofPersons: readonly Uint8Array[] = [
  Buffer.from(`userName,password,Name,Secret key\nada,${planted[0]},Ada,${planted[1]}\n`),
  Buffer.from(
    `version: 1\n\ndn: uid=ada,dc=example\nuid: ada\ncn: Ada\nuserPassword: ${planted[0]}\nsecretKey:: ${Buffer.from(planted[1]).toString('base64')}\n\n`,
  ),
];

async function* pieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const choices = { file: 'file', format: null, encoding: null, map: [], where: [], columns: null };
const defaults = { deviceType: 'SIMKEY', manufacturer: 'A', model: 'B' } as const;

function opened(bytes: Uint8Array, choice: number, isOfPersons: boolean) {
  const source = pieces(bytes, 1 + (choice % 50));
  if (isOfPersons) return openPersons(source, choices);
  const preset = [null, null, ...presets.filter(name => name !== 'pskc')][choice % 6] ?? null;
  return openDevices(source, { ...choices, preset, asIs: choice % 7 === 0, defaults, isDraft: choice % 3 === 0 });
}

/** What is read of a file, as texts that can be shown or sent. */
async function outputsOf(bytes: Uint8Array, choice: number, isOfPersons: boolean): Promise<string> {
  const shown: unknown[] = [];
  try {
    const { table, rows } = await opened(bytes, choice, isOfPersons);
    shown.push(table.columns, previewOf(table, defaults));
    for await (const read of rows) shown.push(read);
    shown.push(table.doubts, table.dropped.words);
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    shown.push(error.fault, error.message);
  }
  return JSON.stringify(shown);
}

/** One byte is preceded by another one, replaced or removed. */
function changed(bytes: Uint8Array, at: number, kind: number, random: () => number): Buffer {
  const symbol = random() < 0.5 ? 0x09 + Math.floor(random() * 0x35) : Math.floor(random() * 256);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(kind === 0 ? at : at + 1)];
  return Buffer.concat([before, kind === 2 ? Buffer.alloc(0) : Buffer.from([symbol]), after]);
}

interface Trial {
  readonly bytes: Buffer;
  readonly isOfPersons: boolean;
  readonly isPlanted: boolean;
}

/**
 * Each shape with planted secrets, changed in three ways at each of its bytes, as far as half of `count` allows; then files of systems and
 * these shapes, changed anywhere.
 */
function* trials(random: () => number, count: number): Generator<Trial> {
  const shapes = [
    ...ofDevices.map(bytes => ({ bytes, isOfPersons: false, isPlanted: true })),
    ...ofPersons.map(bytes => ({ bytes, isOfPersons: true, isPlanted: true })),
  ];
  const changes = shapes.reduce((sum, { bytes }) => sum + 3 * bytes.length, 0);
  const step = Math.max(1, Math.ceil((2 * changes) / count));
  for (const { bytes, ...kind } of shapes)
    for (let change = Math.floor(random() * step); change < 3 * bytes.length; change += step)
      yield { ...kind, bytes: changed(bytes, Math.floor(change / 3), change % 3, random) };
  const folder = join(import.meta.dirname, '../fixtures/files-of-systems');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => ({
      bytes: readFileSync(join(entry.parentPath, entry.name)),
      isOfPersons: entry.parentPath.endsWith('roster'),
      isPlanted: false,
    }));
  for (let n = 0; ; n++) {
    const all = n % 2 === 0 ? shapes : files;
    const { bytes, ...kind } = all[Math.floor(random() * all.length)]!;
    yield { ...kind, bytes: changed(bytes, Math.floor(random() * bytes.length), Math.floor(random() * 3), random) };
  }
}

/** Returns the faults of `count` files, and of files of 200 MB, as texts. */
export async function tryTables({ seed, count }: { seed: number; count: number }): Promise<string[]> {
  const faults: string[] = [];
  let n = 0;
  for (const { bytes, isOfPersons, isPlanted } of trials(mulberry(seed), count)) {
    if (n++ === count || faults.length === 5) break;
    const outputs = await outputsOf(bytes, n, isOfPersons).catch(
      error => `fault: ${error instanceof Error ? error.stack : error}`,
    );
    const leaked = isPlanted && planted.some(secret => outputs.includes(secret));
    if (leaked || outputs.startsWith('fault'))
      faults.push(
        `table, seed ${seed}, file ${n}: ${leaked ? 'a secret is in the output' : outputs} of ${bytes.toString('hex')}`,
      );
  }
  return [...faults, ...(await tryLargeTables())];
}

const LARGE = 200_000_000;
/** MiB that a file of 200 MB may hold at any time. */
const MOST_MEMORY = 30;
/** Bytes between two looks at the memory. */
const LOOK = 10_000_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
/** MiB that are held: on a busy machine, garbage waits for longer. */
function heldMiB(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

const note = 'x'.repeat(2000);
const large = {
  CSV: ['serialNumber,note\n', (n: number) => `A-${n},${note}\n`],
  'JSON lines': ['', (n: number) => `{"serialNumber":"A-${n}","note":"${note}"}\n`],
  'one line': ['serialNumber,note\nA-1,', () => note],
} as const;

async function tryLargeTables(): Promise<string[]> {
  const faults: string[] = [];
  for (const [name, [start, rowOf]] of Object.entries(large)) {
    const before = heldMiB();
    let most = before;
    const source = async function* () {
      yield Buffer.from(start);
      for (let [sent, n, looked] = [0, 0, 0]; sent < LARGE; ) {
        const rows = Buffer.from(Array.from({ length: 50 }, () => rowOf(n++)).join(''));
        sent += rows.length;
        if (sent - looked > LOOK) {
          looked = sent;
          most = Math.max(most, heldMiB());
        }
        yield rows;
      }
    };
    try {
      const { rows } = await openDevices(source(), { ...choices, preset: null, asIs: false, defaults });
      for await (const _ of rows);
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
    }
    const grown = most - before;
    if (grown > MOST_MEMORY) faults.push(`200 MB of ${name}: ${Math.round(grown)} MiB are held`);
  }
  return faults;
}
