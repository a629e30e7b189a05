/** `register --file --map`: files of others, and their secrets, which go nowhere. */
import { createWriteStream, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, discard, type Finished, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

let serials = 70_000;
const serial = () => String(++serials);

function fileOf(name: string, content: string | Buffer): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, content);
  return file;
}

const run = (file: string, map: string, ...flags: string[]) =>
  daemon.run(['register', '--file', file, '--map', map, ...flags]);
const device = (serialNumber: string) =>
  daemon.call('GET', `/api/devices/list?serialNumber=${serialNumber}`).then(({ list }) => list[0]);

function textsIn(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name));
  return names.flatMap(name => (statSync(name).isFile() ? [readFileSync(name, 'latin1')] : [])).join('\n');
}

/** Registers a file and expects its secrets in no output, no results and no file of the daemon. */
async function expectDropped(
  file: string,
  map: string,
  secrets: readonly string[],
  flags: string[] = [],
): Promise<Finished> {
  const out = join(temporaryFolder(), 'codes.csv');
  const finished = await run(file, map, '--out', out, '--verbose', ...flags);
  const everything = [finished.stdout, finished.stderr, readFileSync(out, 'utf8'), textsIn(daemon.home)].join('\n');
  for (const secret of secrets) expect(everything.toLowerCase()).not.toContain(secret.toLowerCase());
  return finished;
}

describe('yubico', () => {
  const aesKey = 'ecde18dbe76fbd0c33330f1c354871db';
  const line = (number: string) => `${number},dlcfffckrcde,ca62baca62ba,${aesKey},be70aeca62ba,2009-01-22T00:25:11,`;

  test('reads key provisioning files and drops their keys', async () => {
    const [one, two] = [serial(), serial()];
    const file = fileOf('keys.csv', `# ykksm 1\n${line(one)}\n# a comment\n${line(two)}\n# the end\n`);
    const { code, stderr } = await expectDropped(
      file,
      'yubico',
      [aesKey, 'be70aeca62ba', 'ca62baca62ba'],
      ['--model', 'YubiKey 5 NFC'],
    );
    expect(code).toBe(0);
    expect(stderr).toContain(
      'Secrets were dropped while reading, not sent and not stored: private id (2 values), AES key (2 values), lock code (2 values).',
    );
    expect(await device(one)).toMatchObject({ deviceType: 'UKEY', manufacturer: 'Yubico', model: 'YubiKey 5 NFC' });
    expect(await device(two)).toBeDefined();
  });

  test('reads a list of serial numbers, and a CSV with a header row', async () => {
    const [one, two] = [serial(), serial()];
    expect((await run(fileOf('serials.txt', `${one}\n`), 'yubico', '--model', 'K')).code).toBe(0);
    expect((await run(fileOf('order.csv', `Order,Serial,Product\n9,${two},YubiKey 5C\n`), 'yubico')).code).toBe(0);
    expect(await device(two)).toMatchObject({ manufacturer: 'Yubico', model: 'YubiKey 5C' });
  });

  test('names the flag for a value that the file lacks', async () => {
    const { code, stderr } = await run(fileOf('serials.csv', `${serial()}\n`), 'yubico');
    expect({ code, hinted: stderr.includes('for all lines: --model …') }).toEqual({ code: 2, hinted: true });
  });

  test('is suggested for such a file, whose keys are not quoted in the error', async () => {
    const { code, stderr } = await daemon.run(['register', '--file', fileOf('keys.csv', `${line(serial())}\n`)]);
    expect(code).toBe(2);
    expect(stderr).toContain('add --map yubico');
    expect(stderr).not.toContain(aesKey);
  });
});

describe('entra-oath', () => {
  const header = 'upn,serial number,secret key,time interval,manufacturer,model';
  const secret = '2234567abcdef2234567abcdef';

  test('reads serial number, manufacturer and model, and drops the secret key', async () => {
    const number = serial();
    const file = fileOf('tokens.csv', `${header}\nhelga@contoso.com,${number},${secret},60,Contoso,HardwareKey\n`);
    const { code, stderr } = await expectDropped(file, 'entra-oath', [secret]);
    expect(code).toBe(0);
    expect(stderr).toContain('secret key (1 value)');
    expect(stderr).toContain('ignored columns: upn, time interval');
    expect(await device(number)).toMatchObject({ deviceType: 'UKEY', manufacturer: 'Contoso', model: 'HardwareKey' });
  });

  test('a line with a missing or an extra cell is invalid, and no cell of it is shown', async () => {
    const file = fileOf(
      'tokens.csv',
      `${header}\n1234567,${secret},60,Contoso,HardwareKey\nDoe, Helga,${secret},7654321,60,Contoso,Key\n"x"y,${secret}\n`,
    );
    const { code, stderr } = await expectDropped(file, 'entra-oath', [secret]);
    expect(code).toBe(7);
    expect(stderr).toContain('3 of 3 lines failed');
    expect(stderr).toContain('the line has 5 cells, the header row 6');
  });

  test('is suggested for such a file; its secrets are dropped without the preset as well', async () => {
    const number = serial();
    const content = `${header}\n,${number},${secret},30,Contoso,Key\n`;
    const plain = await daemon.run(['register', '--file', fileOf('tokens.csv', content)]);
    expect({ code: plain.code, hinted: plain.stderr.includes('add --map entra-oath') }).toEqual({
      code: 2,
      hinted: true,
    });
    const typed = await daemon.run(['register', '--file', fileOf('tokens.csv', content), '--type', 'SIMKEY']);
    expect({ code: typed.code, said: typed.stderr.includes('secret key (1 value)') }).toEqual({ code: 0, said: true });
  });
});

test('snipe-it reads an export of assets and a file for the importer', async () => {
  const [one, two] = [serial(), serial()];
  const exported = `Asset Tag,Serial,Model,Model No.,Category,Manufacturer\nA-1,${one},YubiKey 5,5NFC,Tokens,Yubico\n`;
  const imported = `Company,Asset Tag,Model name,Manufacturer,Serial number\nAcme,A-2,K1,Acme,${two}\n`;
  for (const content of [exported, imported])
    expect((await run(fileOf('assets.csv', content), 'snipe-it', '--type', 'UKEY')).code).toBe(0);
  expect(await device(one)).toMatchObject({ model: 'YubiKey 5', manufacturer: 'Yubico' });
  expect(await device(two)).toMatchObject({ model: 'K1', manufacturer: 'Acme' });
  const { code, stderr } = await run(fileOf('assets.csv', exported), 'snipe-it');
  expect({ code, hinted: stderr.includes('--type …') }).toEqual({ code: 2, hinted: true });
});

describe('COLUMN=FIELD', () => {
  const flags = ['--type', 'UKEY', '--model', 'K'];

  test('reads the named columns; they take precedence over columns with the name of a field', async () => {
    const number = serial();
    const file = fileOf('box.csv', `S/N,serial,Marke\n${number},other,Acme\n`);
    const { code, stderr } = await run(file, 'S/N=serialNumber,Marke=manufacturer', ...flags);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('ignored columns: serial') });
    expect(await device(number)).toMatchObject({ manufacturer: 'Acme' });
  });

  test('names properties of JSON as well', async () => {
    const number = serial();
    const file = fileOf('box.json', JSON.stringify([{ Nr: number, vendor: 'Acme', pin: '4711' }]));
    const { code, stderr } = await run(file, 'Nr=serial', ...flags);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('pin (1 value)') });
    expect(await device(number)).toMatchObject({ manufacturer: 'Acme' });
  });

  test.each([
    ['yubikey', 'presets are yubico, entra-oath, snipe-it, pskc'],
    ['a=nothing', '"nothing" is not a field'],
    ['=serial', 'is not COLUMN=FIELD'],
    ['a=serial,b', 'is not COLUMN=FIELD'],
    ['a=serial,b=serialNumber', 'two columns for serialNumber'],
    ['Secret Key=serial', 'holds secrets'],
    ['Nummer=serial', 'has no column Nummer'],
  ])('--map %s is a usage error', async (map, words) => {
    const file = fileOf('box.csv', 'serial,manufacturer\n1,Acme\n');
    const { code, stderr } = await run(file, map, ...flags);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  });
});

test('--dry-run shows how columns are read', async () => {
  const file = fileOf(
    'box.csv',
    `upn,serial number,secret key,time interval,manufacturer,model\n,${serial()},abc,30,A,B\n`,
  );
  const { code, stderr } = await run(file, 'entra-oath', '--dry-run');
  expect(code).toBe(0);
  expect(stderr).toContain(
    'Columns: serial number=serialNumber, manufacturer, model; where empty, deviceType is UKEY.',
  );
});

test('a UTF-16 file of Excel is read, with tabs', async () => {
  const number = serial();
  const text = `\ufeffType\tSerial\tManufacturer\tModel\r\nUKEY\t${number}\tMüller\tK\r\n`;
  const little = Buffer.from(text, 'utf16le');
  expect((await daemon.run(['register', '--file', fileOf('excel.txt', little)])).code).toBe(0);
  expect(await device(number)).toMatchObject({ manufacturer: 'Müller' });
});

describe('pskc', () => {
  const xmlns = 'xmlns="urn:ietf:params:xml:ns:keyprov:pskc"';
  const container = (packages: string) =>
    `<?xml version="1.0"?>\n<KeyContainer Version="1.0" ${xmlns}>${packages}</KeyContainer>`;
  const key = '<Key Id="k"><Data><Secret><PlainValue>MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=</PlainValue></Secret></Data></Key>';
  const info = (number: string) =>
    `<DeviceInfo><Manufacturer>iana.Acme</Manufacturer><SerialNo>${number}</SerialNo><Model>T1</Model></DeviceInfo>`;
  const packageOf = (number: string) => `\n<KeyPackage>${info(number)}${key}</KeyPackage>`;

  test('reads devices once each and drops their keys, plain and encrypted', async () => {
    const [one, two] = [serial(), serial()];
    const encrypted = `<pskc:KeyPackage><pskc:DeviceInfo><pskc:Manufacturer>Acme &amp; Co</pskc:Manufacturer><pskc:SerialNo>${two}</pskc:SerialNo></pskc:DeviceInfo><pskc:Key><pskc:Data><pskc:Secret><pskc:EncryptedValue><xenc:CipherData><xenc:CipherValue>pgznhXdDh4LJ</xenc:CipherValue></xenc:CipherData></pskc:EncryptedValue></pskc:Secret></pskc:Data></pskc:Key></pskc:KeyPackage>`;
    const file = fileOf('tokens.xml', container(packageOf(one) + packageOf(one) + encrypted));
    const { code, stderr } = await expectDropped(
      file,
      'pskc',
      ['MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=', 'pgznhXdDh4LJ'],
      ['--model', 'T2'],
    );
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('Secret (3 values)') });
    expect(await device(one)).toMatchObject({ deviceType: 'UKEY', manufacturer: 'Acme', model: 'T1' });
    expect(await device(two)).toMatchObject({ manufacturer: 'Acme & Co', model: 'T2' });
  });

  test('numbers its packages, and reports one without a serial number', async () => {
    const number = serial();
    const file = fileOf('tokens.xml', container(`${packageOf(number)}<KeyPackage>${key}</KeyPackage>`));
    const { code, rows } = await run(file, 'pskc', '--json', '--manufacturer', 'A', '--model', 'B');
    expect(code).toBe(7);
    expect(rows).toMatchObject([
      { line: 3, item: 1, status: 'success', serialNumber: number },
      { line: 3, item: 2, status: 'failed', field: 'serialNumber', serialNumber: null },
    ]);
  });

  test('is suggested for such a file', async () => {
    const { code, stderr } = await daemon.run(['register', '--file', fileOf('tokens.xml', container(packageOf('1')))]);
    expect({ code, hinted: stderr.includes('it looks like a PSKC file: add --map pskc') }).toEqual({
      code: 2,
      hinted: true,
    });
  });

  const laughs = `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>${container(packageOf('&b;')).slice(22)}`;
  test.each([
    ['with a document type', laughs, 'document type'],
    ['with an external entity', `<!DOCTYPE x SYSTEM "file:///etc/passwd"><KeyContainer/>`, 'document type'],
    ['with an endless document type', `<!DOCTYPE x [${'<!ENTITY a "b">'.repeat(50_000)}`, 'line 1'],
    ['with an unknown entity', container(packageOf('&b;')), 'invalid character entity'],
    ['nested without end', container('<a>'.repeat(100_000)), 'nested more than 64 deep'],
    [
      'with endless attributes',
      `<KeyContainer ${Array.from({ length: 1_000 }, (_, n) => `a${n}="x"`).join(' ')}>`,
      'more than 64 attributes',
    ],
    ['with an endless name', `<KeyContainer><${'a'.repeat(2_000_000)}`, 'line 1'],
    ['that is another document', '<html></html>', 'its root is html'],
    ['that is cut off', container(packageOf('1')).slice(0, -20), 'unclosed root tag'],
    ['that is not XML', 'serial,model\n1,2\n', 'line 1'],
    ['without packages', container(''), 'has no KeyPackage'],
  ])('a file %s is a usage error', async (_, content, words) => {
    const { code, stdout, stderr } = await run(fileOf('tokens.xml', content), 'pskc', '--dry-run');
    expect({ code, stdout, stderr }).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(words) });
  });

  test('a large file with a huge comment-free text is read in constant memory', async () => {
    const file = join(temporaryFolder(), 'large.xml');
    const filler = `<Extension>${'x'.repeat(1024 * 1024)}</Extension>`;
    const [head, tail] = container(`${packageOf(serial())}@`).split('@') as [string, string];
    const parts = function* () {
      yield head;
      for (let part = 0; part < 60; part++) yield filler;
      yield tail;
    };
    await pipeline(Readable.from(parts()), createWriteStream(file));
    const { code } = await daemon.run(['register', '--file', file, '--map', 'pskc'], {
      env: { NODE_OPTIONS: '--max-old-space-size=40' },
    });
    expect(code).toBe(0);
  });
});
