/** Files of devices in the shapes of other systems: ranges of serial numbers, lots of SIM cards, and keys that people have already. */
import { expect, it } from 'vitest';
import type { Row } from '../../src/enrollment/import/row.ts';
import { type DeviceReading, openDevices } from '../../src/enrollment/import/rows.ts';
import { parseMap } from '../../src/tables/choices.ts';
import { boundFields, deviceFields } from '../../src/tables/fields.ts';

const defaults = { deviceType: 'UKEY', manufacturer: 'Yubico', model: 'YubiKey 5' } as const;

async function rowsOf(text: string, more: Partial<DeviceReading> = {}): Promise<Row[]> {
  const bytes = (async function* () {
    yield Buffer.from(text);
  })();
  const { rows } = await openDevices(bytes, {
    ...{
      file: 'keys.csv',
      format: null,
      encoding: null,
      preset: null,
      map: [],
      where: [],
      columns: null,
      defaults,
      asIs: false,
    },
    ...more,
  });
  const read: Row[] = [];
  for await (const row of rows) read.push(row);
  return read;
}

const shown = (row: Row) =>
  'device' in row ? row.device.serialNumber : 'problem' in row ? `! ${row.problem}` : `= ${row.repeats}`;
const serialsOf = async (text: string, more: Partial<DeviceReading> = {}) => (await rowsOf(text, more)).map(shown);
const holders = async (text: string, map: readonly string[] = [], more: Partial<DeviceReading> = {}) =>
  (await rowsOf(text, { binds: true, map: parseMap(map, boundFields), ...more })).map(row =>
    'device' in row ? (row.device.userId ?? null) : shown(row),
  );

it('registers each number of a range', async () => {
  expect(await serialsOf('serial\n20470001-20470003\n20470009\nUK0098-UK0101\n')).toEqual([
    ...['20470001', '20470002', '20470003', '20470009'],
    ...['UK0098', 'UK0099', 'UK0100', 'UK0101'],
  ]);
  expect(await serialsOf('serial\n20470001-20470500\n')).toHaveLength(500);
});

it('reads a shipment with the first and the last number in two columns', async () => {
  const map = parseMap(['model=Description'], deviceFields);
  const file =
    'Order,Description,First serial,Last serial,Qty\nSO-1,5C NFC,20458600,20458609,10\nSO-1,5 NFC,20458700,20458704,5\n';
  const rows = await rowsOf(file, { map, defaults: { deviceType: 'UKEY', manufacturer: 'Yubico' } });
  expect(rows).toHaveLength(15);
  expect(rows[10]).toMatchObject({ position: { line: 3 }, device: { serialNumber: '20458700', model: '5 NFC' } });
});

it.each([
  ['a number that is missing', '20458600,,', /a range needs a first and a last serial number/],
  ['another number of keys', '20458600,20458609,12', /are 10 serial numbers, and the line has 12/],
  ['numbers in another order', '20458609,20458600,', /another order/],
  ['numbers of other lengths', '99,100,', /other lengths/],
  ['texts that differ', 'UK1,SN5,', /the texts before the numbers differ/],
  ['more than 100,000 numbers', '1000000000000,1999999999999,', /a range has at most 100000/],
])('refuses a range with %s', async (_what, cells, problem) => {
  const rows = await serialsOf(`first serial,last serial,qty\n${cells}\n20470001,20470001,1\n`);
  expect(rows).toEqual([expect.stringMatching(problem), '20470001']);
});

it('takes what is not surely a range for one serial number, or asks', async () => {
  for (const serial of ['2026-000001', 'UK-2041', 'A-1-2', '20470500-20470001', '12-7', '1-2', 'OUT1-2', 'UK2001-2002'])
    expect(await serialsOf(`serial\n${serial}\n`)).toEqual([serial]);
  for (const serial of ['1234-5678', '1-1000000000000', '000000000001-999999999999'])
    expect(await serialsOf(`serial\n${serial}\n`)).toEqual([expect.stringMatching(/^! .*--as-is.*first serial/)]);
  expect(await serialsOf('serial\n1234-5678\n20470001-20470003\n', { asIs: true })).toEqual([
    '1234-5678',
    '20470001-20470003',
  ]);
});

it('counts the numbers of cards without their check digits', async () => {
  const simCards = { defaults: { ...defaults, deviceType: 'SIMKEY' } } as const;
  expect(await serialsOf('iccid\n8949440000000000014-8949440000000000030\n', simCards)).toEqual([
    '8949440000000000014',
    '8949440000000000022',
    '8949440000000000030',
  ]);
});

it('names the line that repeats a number of a range', async () => {
  expect(await serialsOf('serial\n20470001-20470002\n20470002\n')).toEqual([
    '20470001',
    '20470002',
    '= line 3 repeats line 2',
  ]);
});

const order = `*
* HEADER DESCRIPTION
***************************************
Customer        : EXAMPLE TELECOM
Quantity        : 3
Type            : PLUG-IN 2FF/3FF/4FF
Batch           : 00042
*
Transport_key   : 001
`;

it('reads the output file of a maker of SIM cards, without its keys', async () => {
  const cards = `${order}*\n* OUTPUT VARIABLES\n****\nvar_out: ICCID/IMSI/PIN1/KI
8949440000000000014 001010000000001 4711 000102030405060708090A0B0C0D0E0F
8949440000000000022 001010000000002 4712
8949440000000000030 001010000000003 4713 000102030405060708090A0B0C0D0E11
`;
  const rows = await rowsOf(cards, { file: 'lot.out', defaults: { manufacturer: 'Example', model: 'M' } });
  expect(rows.map(shown)).toEqual([
    '8949440000000000014',
    '! the line has 3 values, var_out names 4',
    '8949440000000000030',
  ]);
  expect(rows[0]).toMatchObject({ position: { line: 14 }, device: { deviceType: 'SIMKEY' } });
  expect(JSON.stringify(rows)).not.toMatch(/471|0A0B0C/);
});

it('reads the order file of a maker of SIM cards as a range', async () => {
  const file = `${order}*\n* INPUT VARIABLES\n****\nvar_in:\nIMSI: 001010000000001\nSer_nb: 8949440000000000014\n*\nvar_out: PIN1/PUK1/KI\n`;
  const more = { file: 'lot.inp', defaults: { manufacturer: 'Example', model: 'M' } };
  expect(await serialsOf(file, more)).toEqual(['8949440000000000014', '8949440000000000022', '8949440000000000030']);
  expect(await serialsOf(file.replace('Quantity        : 3', 'Quantity: 1000000'), more)).toEqual([
    expect.stringMatching(/a range has at most 100000/),
  ]);
  await expect(serialsOf(file.replace('Ser_nb', 'Other'), more)).rejects.toThrow('no rows');
});

it.each([
  ['serial,userId\n1,ada\n2,\n3, grace \n', ['ada', null, 'grace']],
  ['serial,Checked Out To\n1,Ada Lovelace (ada)\n2,\n3,-\n', ['ada', null, null]],
  ['UPN,serialNumber,PIN\nada@contoso.example,1,48210377\n', ['ada@contoso.example']],
  ['serial,user_id,username\n1,1000,ada\n2,,\n', ['ada', null]],
  ['serial,userId\n1,"DC=example,DC=net,UID=ada"\n', ['ada']],
])('finds the login of the holder: %s', async (text, expected) => {
  expect(await holders(text)).toEqual(expected);
});

it('asks about a holder that is not a login, unless a person has chosen the column', async () => {
  const file = 'serial,assigned_to\n1,Jürgen Müller\n2,Ada Lovelace (Sales)\n3,ada\n';
  const refused = expect.stringMatching(/^! userId: ".*" is not a login.*--map "userId=assigned_to"/);
  expect(await holders(file)).toEqual([refused, refused, 'ada']);
  expect(await holders(file, ['userId=assigned_to'])).toEqual(['Jürgen Müller', 'Ada Lovelace (Sales)', 'ada']);
});

it('needs a column of holders, and shows none beside secrets', async () => {
  await expect(holders('serial,model\n1,A\n')).rejects.toThrow('fields missing');
  const rows = await holders('upn,serial,PIN\n48210377,1,48210377\nada,2,1234\n');
  expect(rows).toEqual([expect.stringMatching(/^! userId: the text is not a login/), 'ada']);
});

it('reads the user of a PSKC file', async () => {
  const key = (serial: string, user: string) =>
    `<KeyPackage><DeviceInfo><Manufacturer>M</Manufacturer><SerialNo>${serial}</SerialNo><Model>c</Model></DeviceInfo><Key Id="1"><UserId>${user}</UserId></Key></KeyPackage>`;
  const file = `<?xml version="1.0"?><KeyContainer xmlns="urn:ietf:params:xml:ns:keyprov:pskc">${key('1', 'DC=net,UID=ada')}${key('2', '')}</KeyContainer>`;
  expect(await holders(file, [], { file: 'keys.xml', preset: 'pskc' })).toEqual(['ada', null]);
});
