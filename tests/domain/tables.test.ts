/** Files of rows in all their shapes: the files of other systems, other line ends and encodings, and what is not read. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ChoiceFault, parseMap, parseWhere } from '../../src/tables/choices.ts';
import { InvalidInput } from '../../src/tables/fault.ts';
import { deviceFields, listFields, nameKey, personFields } from '../../src/tables/fields.ts';
import { readLdif } from '../../src/tables/ldif.ts';
import { previewOf } from '../../src/tables/preview.ts';
import { Repeats } from '../../src/tables/repeats.ts';
import { openTable, type TableOptions } from '../../src/tables/table.ts';
import { workbook } from '../support/workbook.ts';

const folder = join(import.meta.dirname, '../fixtures/files-of-systems');

async function* chunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

type Given = Partial<Omit<TableOptions<string>, 'fields'>> & { readonly fields?: readonly unknown[] };

async function read(content: string | Uint8Array, given: Given = {}, size = 7) {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const options = { file: 'file.txt', fields: deviceFields, ...given } as TableOptions<string>;
  const table = await openTable(chunks(bytes, size), options);
  const rows: { line: number; values: Readonly<Record<string, unknown>>; problem: string | null }[] = [];
  for await (const { position, values, problem } of table.rows)
    rows.push({ line: position.line, values: values as Record<string, unknown>, problem });
  return { table, rows };
}

const values = async (content: string | Uint8Array, given: Given = {}) =>
  (await read(content, given)).rows.map(row => row.values);
const faultOf = async (content: string | Uint8Array, given: Given = {}) => {
  const fault = await read(content, given).then(
    () => null,
    error => error,
  );
  expect(fault).toBeInstanceOf(InvalidInput);
  return (fault as InvalidInput).fault;
};

describe('a text gives the same rows', () => {
  const lines = ['Seriennummer;Hersteller', 'A-1;Müller', 'A-2;"b;c"', ''];
  const expected = [
    { serialNumber: 'A-1', manufacturer: 'Müller' },
    { serialNumber: 'A-2', manufacturer: 'b;c' },
  ];
  const big = (text: string) => Buffer.from(text, 'utf16le').swap16();
  test.each([
    ['LF', Buffer.from(lines.join('\n'))],
    ['CRLF', Buffer.from(lines.join('\r\n'))],
    ['CR', Buffer.from(lines.join('\r'))],
    ['mixed line ends', Buffer.from('Seriennummer;Hersteller\r\nA-1;Müller\rA-2;"b;c"\n')],
    ['a mark of UTF-8', Buffer.from(`\ufeff${lines.join('\n')}`)],
    ['UTF-16LE', Buffer.from(`\ufeff${lines.join('\r\n')}`, 'utf16le')],
    ['UTF-16LE without a mark', Buffer.from(lines.join('\n'), 'utf16le')],
    ['UTF-16BE', big(`\ufeff${lines.join('\n')}`)],
    ['UTF-16BE without a mark', big(lines.join('\r\n'))],
    ['sep=', Buffer.from(`sep=;\r\n${lines.join('\r\n')}`)],
    ['title lines', Buffer.from(`Keys in stock\nLyon, 12/03/2026\n\n${lines.join('\n')}`)],
    ['lines of empty cells', Buffer.from(lines.join('\n;\n'))],
    [
      'a quoted header',
      Buffer.from(lines.join('\n').replace('Seriennummer;Hersteller', '"Seriennummer";"Hersteller"')),
    ],
    [
      'whole lines in quotes',
      Buffer.from(lines.map(line => (line ? `"${line.replaceAll('"', '""')}"` : '')).join('\n')),
    ],
    ['tabs', Buffer.from(lines.join('\n').replace('"b;c"', 'b,c').replaceAll(';', '\t').replace('b,c', 'b;c'))],
    ['bars', Buffer.from('Seriennummer|Hersteller\nA-1|Müller\nA-2|b;c\n')],
    ['a total below', Buffer.from(`${lines.join('\n')}Summe;2\n`)],
  ])('with %s', async (_, bytes) => {
    expect(await values(bytes)).toEqual(expected);
  });

  test('in windows-1252 by name, and with a fault without it', async () => {
    const bytes = Buffer.from('Seriennummer;Hersteller\nA-1;M\u00fcller\n', 'latin1');
    expect(await values(bytes, { encoding: 'windows-1252' })).toEqual([expected[0]]);
    const { table } = await read(bytes);
    expect(table.invalidLine).toBe(2);
  });

  test('with lines that are those of the file', async () => {
    const { rows, table } = await read('Title of it\n\nSerial,Model\r\n\r\n,\r\nA-1,M\r\n');
    expect(rows.map(({ line }) => line)).toEqual([6]);
    expect(table.shape).toMatchObject({ headerLine: 3, separator: ',', encoding: 'utf-8' });
  });
});

describe('JSON', () => {
  const expected = [{ serialNumber: 'A-1' }, { serialNumber: 'A-2' }];
  test.each([
    ['an array', '[{"serial":"A-1"},{"S/N":"A-2"}]'],
    ['lines', '{"serial":"A-1"}\n{"sn":"A-2"}'],
    ['an object with one array', '{"total":2,"ids":[1,2],"hosts":[{"serial":"A-1"},{"serial":"A-2"}],"next":null}'],
    ['an array within two objects', '{"data":{"items":[\n{"serial":"A-1"},{"serial":"A-2"}\n]}}'],
  ])('%s is read', async (_, text) => {
    expect(await values(text)).toEqual(expected);
  });
  test('two arrays of objects are refused', async () => {
    expect(await faultOf('{"a":[{"serial":"1"}],"b":[{"serial":"2"}]}')).toMatchObject({ what: 'array' });
  });
});

test('LDIF has a row for each entry, with continued lines and values in base64', async () => {
  const text =
    'version: 1\n\n# people\ndn: uid=ada,dc=x\nuid: ada\ncn:: QWRhIEzDtg==\nmail: ada@exa\n mple.com\n\ndn: uid=bo,dc=x\nuid: bo\n';
  expect(await values(text, { fields: personFields })).toEqual([
    { userId: 'ada', name: 'Ada Lö', email: 'ada@example.com' },
    { userId: 'bo' },
  ]);
});

test('LDIF leaves out a value of many lines, such as a photo, and reads what follows', async () => {
  const photo = `jpegPhoto:: AAAA\n${` ${'A'.repeat(76)}\n`.repeat(1000)}`;
  const rows = await Readable.from(readLdif(Readable.from([`dn: uid=ada,dc=x\n${photo}uid: ada\n`]))).toArray();
  expect(rows.flat()).toEqual([{ position: { line: 1 }, object: { dn: 'uid=ada,dc=x', uid: 'ada' } }]);
});

describe('names', () => {
  test.each([
    ['Numéro de série', 'serialNumber'],
    ['Número de serie', 'serialNumber'],
    ['Numero di serie', 'serialNumber'],
    ['S/N', 'serialNumber'],
    ['Serial number [required]', 'serialNumber'],
    ['ICCID', 'serialNumber'],
    ['Hersteller', 'manufacturer'],
    ['Fabricante', 'manufacturer'],
    ['Modèle', 'model'],
  ])('%s is %s', async (name, field) => {
    expect(await values(`${name},x\n89,1\n`)).toEqual([{ [field]: '89' }]);
  });

  test('a user id that a system has made is not a login', async () => {
    const given = { fields: personFields, required: [['userId']] } as const;
    for (const id of ['00u1abcd', '4711', '6F9619FF-8B86-D011-B42D-00CF4FC964FF']) {
      expect(await values(`User Id,Username\n${id},ada\n`, given)).toEqual([{ userId: 'ada' }]);
      expect(await faultOf(`User Id,Title\n${id},Dr\n`, given)).toMatchObject({
        rejected: [{ column: 'User Id', why: 'opaque' }],
      });
    }
    expect(await values('Mail,Id\nada@x,7\n', given)).toEqual([{ userId: 'ada@x', email: 'ada@x' }]);
  });

  test('a type that is of something else is not read, and two columns for one field are asked about', async () => {
    expect(await values('Serial,Type\nA,USB device\n')).toEqual([{ serialNumber: 'A' }]);
    expect(await values('Serial,Type\nA,ukey\n')).toEqual([{ serialNumber: 'A', deviceType: 'ukey' }]);
    expect(await faultOf('Serial,S/N\nA,B\n')).toEqual({
      what: 'column twice',
      column: 'serialNumber',
      columns: ['Serial', 'S/N'],
    });
  });

  test('words of one set of fields are not shared by two of its fields', () => {
    for (const fields of [deviceFields, personFields, listFields]) {
      const all = fields.flatMap(({ field, words, weak = [] }) => [
        ...new Set([nameKey(field), ...words.flat(), ...weak]),
      ]);
      expect(all.filter((word, at) => all.indexOf(word) !== at)).toEqual([]);
      expect(all.filter(word => nameKey(word) !== word)).toEqual([]);
    }
  });
});

describe('choices', () => {
  test.each([
    [['serialNumber=Nr'], [{ field: 'serialNumber', column: 'Nr' }]],
    [['Nr=serialNumber'], [{ field: 'serialNumber', column: 'Nr' }]],
    [['ICCID=serialNumber'], [{ field: 'serialNumber', column: 'ICCID' }]],
    [
      ['model=Last, First,serialNumber=Nr'],
      [
        { field: 'model', column: 'Last, First' },
        { field: 'serialNumber', column: 'Nr' },
      ],
    ],
    [['tag:asset=Asset Tag'], [{ field: 'tag:asset', column: 'Asset Tag' }]],
  ])('%j', (texts, expected) => {
    expect(parseMap(texts, deviceFields)).toEqual(expected);
  });
  test('two names of fields are FIELD=COLUMN, or COLUMN=FIELD if the file has only that column', async () => {
    const map = parseMap(['model=serialNumber'], deviceFields);
    expect(await values('serialNumber\nA\n', { map })).toEqual([{ model: 'A' }]);
    expect(await values('model\nA\n', { map })).toEqual([{ serialNumber: 'A' }]);
  });
  test('a column of secrets is never chosen', () => {
    expect(() => parseMap(['model=PIN'], deviceFields)).toThrow(ChoiceFault);
    expect(() => parseWhere(['PIN=1234'])).toThrow(ChoiceFault);
  });
  test('rows are read if each column of --where has one of its values', async () => {
    const where = parseWhere(['Kind=key', 'Kind=card', 'Place=Berlin']);
    const { rows, table } = await read('Serial,Kind,Place\nA,KEY,berlin\nB,card,Berlin\nC,mouse,Berlin\nD,key,Rome\n', {
      where,
    });
    expect(rows.map(row => row.values)).toEqual([{ serialNumber: 'A' }, { serialNumber: 'B' }]);
    expect(table.leftOut).toBe(2);
    expect(await faultOf('Serial,Kind,Place\nA,x,y\n', { where })).toEqual({ what: 'all left out', count: 1 });
  });
  test('--columns names the columns of a file without a header row', async () => {
    expect(await values('A-1,x,M\n', { columns: ['serialNumber', '', 'model'] })).toEqual([
      { serialNumber: 'A-1', model: 'M' },
    ]);
  });
});

describe('values', () => {
  test('="0012" keeps its zeros, and a number that may lack them is doubtful', async () => {
    const { rows, table } = await read('Serial\n="00123456"\n00123457\n123458\n00123459\n');
    expect(rows[0]!.values).toEqual({ serialNumber: '00123456' });
    expect(table.doubts).toMatchObject([{ line: 4, column: 'Serial' }]);
  });
  test('no value of a secret column is in the preview, also in a line without a header row', async () => {
    const secret = '3132333435363738393031323334353637383930';
    const { table } = await read(`Serial,Seed,Model\nA-1,${secret},M\n`);
    expect(JSON.stringify(previewOf(table, {}))).not.toContain(secret);
    expect(previewOf(table, {})).toMatchObject({
      secrets: ['Seed'],
      columns: [{ values: ['A-1'] }, { values: ['M'] }],
    });
    const draft = await read(`A-1,${secret},M\n`, { isDraft: true }).catch(error => error.fault);
    expect(
      JSON.stringify(draft.table?.columns.map(({ example }: { example: string }) => example) ?? draft),
    ).not.toContain(secret);
  });
});

test('a row that repeats another one is found among many, and remembered once', () => {
  const repeats = new Repeats();
  for (let line = 1; line <= 50_000; line++) expect(repeats.earlier(`key-${line}`, { line }, ['a'])).toBeNull();
  expect(repeats.earlier('key-7', { line: 60_000 }, ['a'])).toEqual({ position: { line: 7 }, isSame: true });
  expect(repeats.earlier('key-49999', { line: 60_001 }, ['b'])).toEqual({ position: { line: 49999 }, isSame: false });
});

describe('a file that is not read', () => {
  const zip = (name: string) => workbook({ [name]: 'x' });
  test.each([
    ['html', Buffer.from('<html><table><tr><th>Serial number</th></tr></table></html>')],
    ['xml workbook', Buffer.from('<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook/>')],
    ['xls', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])],
    [
      'locked workbook',
      Buffer.concat([Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), Buffer.from('EncryptedPackage', 'utf16le')]),
    ],
    ['zip', zip('notes.txt')],
    ['numbers', zip('Index/Document.iwa')],
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0, 0])],
    ['pdf', Buffer.from('%PDF-1.7\n')],
    ['binary', Buffer.from([1, 2, 0, 3, 0, 0, 0, 4, 5])],
  ])('%s', async (kind, bytes) => {
    expect(await faultOf(bytes)).toEqual({ what: 'foreign', kind });
  });
});

test('an entry of LDIF in which a secret is joined to another line is a problem without a value', async () => {
  const text =
    'dn: uid=a\nuid: a\ncn: AdauserPassword: 000102030405060708090A0B0C0D0E0F\n\ndn: uid=b\nuid: b\ncn: Bea: B\n';
  const { rows } = await read(text, { fields: personFields });
  expect(rows).toMatchObject([{ problem: expect.stringMatching(/joined/) }, { problem: null }]);
  expect(JSON.stringify(rows)).not.toContain('0001020304');
});

describe('an Excel workbook', () => {
  const sheetOf = (rows: string) => `<worksheet><sheetData>${rows}</sheetData></worksheet>`;
  const parts = (sheet: string, more = {}) => ({
    'xl/workbook.xml':
      '<workbook xmlns:r="x"><sheets><sheet name="Old" state="hidden" r:id="r2"/><sheet name="Keys" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Target="worksheets/sheet2.xml"/></Relationships>',
    'xl/sharedStrings.xml':
      '<sst><si><t>Serial number</t></si><si><r><t>Mo</t></r><r><t>del</t></r></si><si><t>K &amp; 1</t></si></sst>',
    'xl/styles.xml':
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="00000000"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    'xl/worksheets/sheet1.xml': sheet,
    'xl/worksheets/sheet2.xml': sheetOf('<row r="1"><c r="A1"><v>9</v></c></row>'),
    ...more,
  });
  const sheet = sheetOf(
    '<row r="1"><c r="A1" t="inlineStr"><is><t>Stock of Lyon</t></is></c></row>' +
      '<row r="3"><c r="A3" t="s"><v>0</v></c><c r="C3" t="s"><v>1</v></c></row>' +
      '<row r="4"><c r="A4" s="1"><v>20458</v></c><c r="C4" t="s"><v>2</v></c></row>' +
      '<row r="5"><c r="A5" s="2"><v>46093</v></c></row><row r="6"><c r="A6" s="1"/></row>',
  );

  test('has the rows of its first visible sheet, with zeros of a format and dates as such', async () => {
    const { rows, table } = await read(workbook(parts(sheet)), {}, 100);
    expect(table.shape).toEqual({ format: 'xlsx', encoding: null, separator: null, headerLine: 3 });
    expect(rows).toEqual([
      { line: 4, values: { serialNumber: '00020458', model: 'K & 1' }, problem: null },
      { line: 5, values: { serialNumber: '2026-03-12' }, problem: null },
    ]);
  });

  test('that inflates without end is refused, and so is one that is cut or has a document type', async () => {
    expect(await faultOf(workbook(parts(sheet, { 'xl/sharedStrings.xml': ' '.repeat(70 * 2 ** 20) })))).toMatchObject({
      what: 'workbook',
      problem: expect.stringContaining('MiB'),
    });
    const whole = workbook(parts(sheet));
    for (const length of [200, whole.length - 30])
      expect(await faultOf(whole.subarray(0, length))).toMatchObject({ what: 'workbook' });
    const typed = workbook(parts(`<!DOCTYPE x [<!ENTITY a "b">]>${sheet}`));
    expect(await faultOf(typed)).toMatchObject({ what: 'workbook', problem: expect.stringContaining('DOCTYPE') });
  }, 60_000);
});

describe('files of other systems', () => {
  const sets = { register: deviceFields, roster: personFields, lock: listFields } as const;
  const files = Object.keys(sets).flatMap(kind =>
    readdirSync(join(folder, kind)).flatMap(name =>
      /\.(csv|txt)$/.test(name) ? [{ kind: kind as keyof typeof sets, name }] : [],
    ),
  );
  test.each(files)('$kind/$name has the same rows with other line ends and encodings', async ({ kind, name }) => {
    const bytes = readFileSync(join(folder, kind, name));
    const encoding = name.includes('cp1252') ? 'windows-1252' : name.includes('utf16be') ? 'utf-16be' : 'utf-8';
    const text = new TextDecoder(encoding).decode(bytes);
    const given = { fields: sets[kind], isDraft: true };
    const expected = await values(text, given).catch(error => error.fault);
    for (const end of ['\n', '\r', '\r\n'])
      for (const mark of ['', '\ufeff'])
        for (const as of ['utf8', 'utf16le'] as const) {
          const written = Buffer.from(mark + text.replace(/\r\n|\r|\n/g, end), as);
          expect(await values(written, given).catch(error => error.fault)).toEqual(expected);
        }
  });
});
