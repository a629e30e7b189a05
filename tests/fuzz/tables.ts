/** Files of every shape, changed at any byte: each is read or refused with a fault, and a secret in it reaches no output. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDevices } from '../../src/enrollment/import/rows.ts';
import { InvalidInput } from '../../src/tables/fault.ts';
import { presets } from '../../src/tables/presets.ts';
import { previewOf } from '../../src/tables/preview.ts';
import { mulberry } from '../support/mulberry.ts';

/** Keys that are in files with two columns of secrets: one change leaves at least one of the columns. */
const planted = ['000102030405060708090A0B0C0D0E0F', '0F0E0D0C0B0A09080706050403020100'];
const row = (serial: string, mark: string) => [serial, planted[0], 'Acme', planted[1], 'K1'].join(mark);
const shapes = [',', ';', '\t', '|'].flatMap(mark =>
  ['\n', '\r', '\r\n'].map(end => {
    const lines = [['ICCID', 'KI', 'Manufacturer', 'OPC', 'Model'].join(mark), row('8949440000000001012', mark)];
    return Buffer.from([...lines, row('8949440000000001020', mark), ''].join(end));
  }),
);
const object = { serialNumber: 'A-1', KI: planted[0], manufacturer: 'Acme', OPC: planted[1], model: 'K1' };
const objects = [JSON.stringify([object, object]), JSON.stringify({ rows: [object] }), `${JSON.stringify(object)}\n`];

/** What is read of a file, as texts that can be shown or sent. */
async function outputsOf(bytes: Uint8Array, choice: number): Promise<string> {
  const pieces = async function* () {
    const size = 1 + (choice % 50);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  const preset = [null, null, ...presets.filter(name => name !== 'pskc')][choice % 6] ?? null;
  const reading = {
    file: 'file',
    format: null,
    encoding: null,
    preset,
    map: [],
    where: [],
    columns: null,
    asIs: choice % 7 === 0,
  };
  const defaults = { deviceType: 'SIMKEY', manufacturer: 'A', model: 'B' } as const;
  const shown: unknown[] = [];
  try {
    const { table, rows } = await openDevices(pieces(), { ...reading, defaults, isDraft: choice % 3 === 0 });
    shown.push(table.columns, previewOf(table, defaults));
    for await (const read of rows) shown.push(read);
    shown.push(table.doubts, table.dropped.words);
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    shown.push(error.fault, error.message);
  }
  return JSON.stringify(shown);
}

function changed(bytes: Buffer, random: () => number): Buffer {
  const at = Math.floor(random() * bytes.length);
  const symbol = random() < 0.5 ? 0x09 + Math.floor(random() * 0x35) : Math.floor(random() * 256);
  const kind = Math.floor(random() * 3);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(kind === 0 ? at : at + 1)];
  return Buffer.concat([before, kind === 2 ? Buffer.alloc(0) : Buffer.from([symbol]), after]);
}

/** Returns the faults of `count` files, as texts. */
export async function tryTables({ seed, count }: { seed: number; count: number }): Promise<string[]> {
  const folder = join(import.meta.dirname, '../fixtures/files-of-systems');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name)));
  const withSecrets = [...shapes, ...objects.map(text => Buffer.from(text))];
  const random = mulberry(seed);
  const faults: string[] = [];
  for (let n = 0; n < count && faults.length < 5; n++) {
    const isPlanted = n % 2 === 0;
    const all = isPlanted ? withSecrets : files;
    const bytes = changed(all[Math.floor(random() * all.length)]!, random);
    const outputs = await outputsOf(bytes, n).catch(error => `fault: ${error instanceof Error ? error.stack : error}`);
    const leaked = isPlanted ? planted.find(secret => outputs.includes(secret)) : undefined;
    if (leaked || outputs.startsWith('fault'))
      faults.push(
        `table, seed ${seed}, file ${n}: ${leaked ? 'a secret is in the output' : outputs} of ${bytes.toString('hex')}`,
      );
  }
  return faults;
}
