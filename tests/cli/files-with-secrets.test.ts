/** Files with keys and codes of SIM cards, tokens and IoT devices: nothing of them is registered, shown or stored. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const ki = '000102030405060708090A0B0C0D0E0F';
const opc = '0F0E0D0C0B0A09080706050403020100';
const secrets = new RegExp([ki, opc, '12345678', '4821', '9931'].join('|'), 'i');
const simFlags = ['--map', 'ICCID=serialNumber', '--type', 'SIMKEY', '--manufacturer', 'Acme', '--model', 'S1'];

const fileOf = (text: string, name = 'cards.csv') => {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, text);
  return file;
};

/** Runs with results in a file. Nothing that is written has a secret, and neither has the registry. */
async function registered(file: string, flags: readonly string[]) {
  const out = `${file}.out.jsonl`;
  const preview = await daemon.run(['register', '--file', file, ...flags, '--dry-run']);
  const { code, stdout, stderr } = await daemon.run(['register', '--file', file, ...flags, '--out', out]);
  const written = readFileSync(out, 'utf8');
  const devices = JSON.stringify(await daemon.call('GET', '/api/devices/list?size=100'));
  const events = JSON.stringify(await daemon.call('GET', '/api/events?limit=1000'));
  expect([preview.stdout, preview.stderr, stdout, stderr, written, devices, events].join('\n')).not.toMatch(secrets);
  const rows = written
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  return { code, stderr, rows };
}

test('a short line of a file of SIM cards is refused, and its neighbors are registered', async () => {
  const file = fileOf(
    `IMSI,ICCID,KI,OPC\n999700000000103,8949440000000001038,${ki},${opc}\n999700000000104,${ki},${opc}\n8949440000000001046,999,${ki},${opc},\n`,
  );
  const { code, stderr, rows } = await registered(file, simFlags);
  expect(code).toBe(7);
  expect(rows).toMatchObject([
    { status: 'success', serialNumber: '8949440000000001038' },
    { status: 'failed', serialNumber: null, message: expect.stringContaining('3 cells') },
    { status: 'failed', serialNumber: null, message: expect.stringContaining('5 cells') },
  ]);
  expect(stderr).toContain('KI (3 values), OPC (2 values)');
});

test('a key in the place of a serial number is refused if the line has all cells', async () => {
  const file = fileOf(
    `KI,OPC,ADM1,ICCID\n${ki},${opc},12345678,8949440000000001053\nx,12345678,${opc},${ki}\nx,${ki},${opc},12345678F\n`,
  );
  const { rows } = await registered(file, [...simFlags, '--as-is']);
  expect(rows).toMatchObject([
    { status: 'success' },
    { status: 'failed', serialNumber: null, message: expect.stringContaining('may be a key') },
    { status: 'failed', serialNumber: null, message: expect.stringContaining('may be a code') },
  ]);
});

test('secrets of JSON are dropped, and a key in the place of a serial number is refused', async () => {
  const rows = [
    { serialNumber: 'IOT-1', symmetricKey: { primaryKey: opc }, PIN1: '4821' },
    { serialNumber: ki, primaryKey: opc },
    { serialNumber: { x: ki }, seed: opc },
  ];
  const flags = ['--type', 'UKEY', '--manufacturer', 'Acme', '--model', 'S1'];
  const run = await registered(fileOf(JSON.stringify(rows), 'devices.json'), flags);
  expect(run.rows.map(row => [row.status, row.serialNumber])).toEqual([
    ['success', 'IOT-1'],
    ['failed', null],
    ['failed', null],
  ]);
});

test('a primary key of a database is an ordinary column, and one of an IoT device a secret, also if it is chosen', async () => {
  const numbers = fileOf(`Internal ID,Primary Key,serialNumber\n7,17,${'ab'.repeat(16)}\n8,18\n`);
  const flags = ['--type', 'UKEY', '--manufacturer', 'Acme', '--model', 'S1'];
  const plain = await registered(numbers, [...flags, '--map', 'serialNumber=serialNumber']);
  expect(plain.rows).toMatchObject([{ status: 'success', serialNumber: 'ab'.repeat(16) }, { status: 'failed' }]);
  expect(plain.stderr).not.toContain('Secrets');
  const keys = fileOf(`Primary Key,serialNumber\n${ki},IOT-7\n,${opc}\n${opc}\nIOT-8,IOT-9\n`);
  const dropped = await registered(keys, flags);
  expect(dropped.rows.map(row => row.serialNumber)).toEqual(['IOT-7', null, null, 'IOT-9']);
  expect(dropped.stderr).toContain('Primary Key (2 values)');
  const chosen = await registered(fileOf(`Primary Key,serialNumber\n${ki},IOT-10\nM-1,IOT-11\n`), [
    ...flags.slice(0, 4),
    '--map',
    'Primary Key=model',
  ]);
  expect(chosen.rows.map(row => [row.status, row.serialNumber])).toEqual([
    ['failed', null],
    ['success', 'IOT-11'],
  ]);
  const json = [
    { serialNumber: 'IOT-20', primaryKey: 20, internalId: 'x' },
    { serialNumber: 'IOT-21', primaryKey: opc },
  ];
  const objects = await registered(fileOf(JSON.stringify(json), 'rows.json'), flags);
  expect(objects.rows.map(row => row.serialNumber)).toEqual(['IOT-20', 'IOT-21']);
  expect(objects.stderr).toContain('primaryKey (1 value)');
});

describe('other files', () => {
  const lists = [
    ['a short line', `serialNumber,KI,OPC\n${ki},${opc}\n`],
    ['a key in the place of a serial number', `serialNumber,KI,OPC\n${ki},${opc},x\n`],
    ['no header', `OATH00012345,${ki},HOTP,6\n`],
    ['a long line', `deviceId,PIN\n4821,9931,DEV-1\n`],
  ] as const;
  test.each(lists)('a list of devices with %s shows and sends no secret', async (_, text) => {
    const out = join(temporaryFolder(), 'out.csv');
    const { code, stdout, stderr } = await daemon.run([
      'lock',
      '--file',
      fileOf(text),
      '--reason',
      'r',
      '--yes',
      '--out',
      out,
    ]);
    expect([2, 7]).toContain(code);
    expect([stdout, stderr, code === 7 ? readFileSync(out, 'utf8') : ''].join('\n')).not.toMatch(secrets);
  });

  test('a roster with a column of keys and a short line is refused', async () => {
    const roster = fileOf(`userId,Primary Key\nada,${ki}\n${opc}\n`);
    const { code, stdout, stderr } = await daemon.run(['enroll', '--roster', roster]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('line 3')]);
    expect(stdout + stderr).not.toMatch(secrets);
  });

  test('a roster with a column of secrets and a short line is refused', async () => {
    const roster = fileOf('userId,serialNumber,PIN\nada,20458801,48210377\n48210377\n');
    const { code, stdout, stderr } = await daemon.run(['enroll', '--roster', roster]);
    expect(code).toBe(2);
    expect(stderr).toContain('line 3');
    expect(stdout + stderr).not.toMatch(secrets);
  });
});

describe('numbers that a spreadsheet has changed', () => {
  const single = (serial: string, ...more: string[]) =>
    daemon.run(['register', '--type', 'SIMKEY', '--serial', serial, '--manufacturer', 'A', '--model', 'B', ...more]);

  test('are refused by name in a file, with --as-is they are not', async () => {
    const text =
      'ICCID;IMSI;Price\n8,94944E+18;9,997E+14;1,20\n8949440000000000000;999700000000105;1,20\n8949440000000002010;999700000000106;1,20\n';
    const run = await daemon.run(['register', '--file', fileOf(text), ...simFlags, '--dry-run', '--json']);
    expect(run.rows.map(row => row.status)).toEqual(['invalid', 'invalid', 'new']);
    expect(run.rows[0].message).toContain('scientific notation');
    expect(run.rows[1].message).toContain('15 digits');
    const asIs = await daemon.run(['register', '--file', fileOf(text), ...simFlags, '--as-is', '--dry-run', '--json']);
    expect(asIs.rows.map(row => row.status)).toEqual(['invalid', 'new', 'new']);
  });

  test('are refused on the command line', async () => {
    const refused = await single('8986012345669450000');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/15 digits.*--as-is/s);
    expect((await single('8986012345669450000', '--as-is')).code).toBe(0);
  });

  test('and HTTP takes the serial numbers of the published interface', async () => {
    const device = { deviceType: 'SIMKEY', serialNumber: '8949440000000001012F', manufacturer: 'A', model: 'B' };
    expect(await daemon.call('POST', '/api/devices/register', device)).toMatchObject({
      serialNumber: device.serialNumber,
    });
    expect((await daemon.run(['show', '8949440000000001012', '--json'])).json.serialNumber).toBe(device.serialNumber);
  });
});

test('a SIM card with and without the filler of its number is one card', async () => {
  const device = { deviceType: 'SIMKEY', serialNumber: '8949440000000007011F', manufacturer: 'Acme', model: 'S1' };
  await daemon.call('POST', '/api/devices/register', device);
  const file = fileOf('ICCID\n8986000000000001232F\n8986000000000001232\n8949440000000007011\n8949440000000007011f\n');
  const planned = await daemon.run(['register', '--file', file, ...simFlags, '--dry-run', '--json']);
  expect(planned.rows.map(row => row.status)).toEqual(['new', 'repeated', 'invalid', 'repeated']);
  const { rows } = await daemon.run(['register', '--file', file, ...simFlags, '--json']);
  const exists = { status: 'failed', code: 2006, message: expect.stringContaining('already exists') };
  const repeats = (line: number) => ({ status: 'repeated', message: expect.stringContaining(`repeats line ${line}`) });
  expect(rows).toMatchObject([
    { status: 'success', serialNumber: '8986000000000001232F' },
    repeats(2),
    exists,
    repeats(4),
  ]);
  expect((await daemon.run(['show', '8986000000000001232F', '--json'])).json.serialNumber).toBe('8986000000000001232');
});

describe('a SIM card that is registered with the filler of its number', () => {
  const bareOf = (index: number) => `8949440000000${80_101 + index}`;
  const register = (...more: string[]) =>
    daemon.run(['register', '--type', 'SIMKEY', '--manufacturer', 'Acme', '--model', 'S1', ...more]);
  const device = (index: number, model = 'S1') => ({
    ...{ deviceType: 'SIMKEY', manufacturer: 'Acme', model },
    serialNumber: `${bareOf(index)}FF`,
  });

  test('is not registered again without it, also alone', async () => {
    const { deviceId } = await daemon.call('POST', '/api/devices/register', device(0));
    const { code, stderr } = await register('--as-is', '--serial', bareOf(1));
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const refused = await register('--serial', bareOf(0));
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`already registered: ${deviceId}`)]);
  });

  test('is registered before for --skip-existing, if its other fields agree', async () => {
    await daemon.call('POST', '/api/devices/register', device(2));
    await daemon.call('POST', '/api/devices/register', device(3, 'other'));
    const file = fileOf(`ICCID\n${bareOf(2)}\n${bareOf(3)}\n`);
    const { rows } = await daemon.run(['register', '--file', file, ...simFlags, '--skip-existing', '--json']);
    expect(rows).toMatchObject([
      { status: 'registered' },
      { status: 'failed', message: expect.stringContaining('model') },
    ]);
  });

  test('is found in a list of any length by commands that change or label devices', async () => {
    const numbers = Array.from({ length: 22 }, (_, index) => 10 + index);
    for (const index of numbers) await daemon.call('POST', '/api/devices/register', device(index));
    const list = fileOf(`serialNumber\n${numbers.map(bareOf).join('\n')}\n`);
    const flags = ['update', '--file', list, '--note', 'n', '--yes', '--json'];
    const planned = await daemon.run([...flags, '--dry-run']);
    expect(planned.rows.map(row => row.status)).toEqual(numbers.map(() => 'planned'));
    const { code, rows } = await daemon.run(flags);
    expect([code, rows.map(row => row.serialNumber)]).toEqual([0, numbers.map(index => `${bareOf(index)}FF`)]);
  });
});
