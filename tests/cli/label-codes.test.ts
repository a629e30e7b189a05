/** Labels in ZPL, drawn by a renderer and read by a barcode reader: they say what they should. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { ready, type ZplApi } from 'zpl-renderer-js';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { resolutions } from '../../src/cli/commands/enrollment/labels/flags.ts';
import type { LabelDevice } from '../../src/cli/commands/enrollment/labels/placeholders.ts';
import { standardTemplate, zplTemplate } from '../../src/cli/commands/enrollment/labels/zpl.ts';

let renderer: ZplApi;
beforeAll(async () => {
  const file = fileURLToPath(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm'));
  // From a file: by default it is loaded from a network.
  prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(readFileSync(file)).buffer } });
  renderer = (await ready).api;
});

const device: LabelDevice = {
  deviceId: 'DEV-123456' as LabelDevice['deviceId'],
  deviceType: 'UKEY',
  serialNumber: 'UK-2026-000001',
  manufacturer: 'Müller & Söhne',
  model: 'K1',
  status: 'INACTIVE',
  userId: 'alice',
  activationCode: 'SHZ6-8LHB-NJMG-T9RA',
  tags: { lot: '7' },
};

/** Dots per millimeter of a resolution. */
const dots = { '203': 8, '300': 12, '600': 24 };

const png = async (zpl: string, perMm = 8): Promise<Buffer> =>
  Buffer.from(await renderer.zplToBase64Async(zpl, 50, 25, perMm), 'base64');

/** The texts of all codes on a label. */
async function codesOn(template: string, values: Partial<LabelDevice> = {}, perMm = 8): Promise<string[]> {
  const zpl = zplTemplate(template, 'a template')({ ...device, ...values });
  return (await readBarcodes(await png(zpl, perMm))).map(({ text }) => text);
}

test.each(resolutions)('the built-in label has a QR code of the deviceId at %s dpi', async dpi => {
  expect(await codesOn(standardTemplate(dpi), {}, dots[dpi])).toEqual(['DEV-123456']);
});

test('the built-in label does not have the activation code', () => {
  const zpl = zplTemplate(standardTemplate('203'), 'built-in')(device);
  expect(zpl).not.toContain('SHZ6');
  expect(zpl).toContain('UK-2026-000001');
});

const hostile = [
  '^XZ~HS',
  '^FS^XZ^XA^FDx',
  '_5EXZ',
  '\\&\\\\',
  '~1_1|1_d065',
  '"<>&\'`{serialNumber}',
  'Müller',
  'a\nb',
];

describe.each(hostile)('the text %j', text => {
  test.each([
    ['QR code', '^XA^FO20,20^BQN,2,4^FDQA,{model}^FS^XZ', text],
    ['Data Matrix code', '^XA^FO20,20^BXN,6,200^FD{model}^FS^XZ', text],
    ['field that has ^FH', '^XA^FO20,20^BQN,2,4^FH^FDQA,_41{model}^FS^XZ', `A${text}`],
  ])('is that text in a %s', async (_, template, expected) => {
    expect(await codesOn(template, { model: text })).toEqual([expected]);
  });

  test('prints no command, and what follows it is printed', async () => {
    const template = '^XA^FO1,1^A0N,20^FD{model}^FS^FO20,60^BQN,2,4^FDQA,{deviceId}^FS^XZ';
    const label = zplTemplate(template, 'a template');
    const commands = (zpl: string) => zpl.match(/[\^~][A-Z]./g);
    expect(commands(label({ ...device, model: text }))).toEqual(commands(label(device)));
    expect(await codesOn(template, { model: text })).toEqual(['DEV-123456']);
  });
});

test('a text of Code 128 cannot choose another code set', async () => {
  const template = '^XA^FO20,20^BY2^BCN,60,N,N,N^FD{model}^FS^XZ';
  expect(await codesOn(template, { model: 'a-b' })).toEqual(['a-b']);
  const zpl = zplTemplate(template, 'a template')({ ...device, model: 'a>:b' });
  expect(zpl).toContain('^FDa_3E_3C:b^FS');
});

test('all fields and tags', async () => {
  const names = [
    'serialNumber',
    'deviceId',
    'activationCode',
    'userId',
    'name',
    'type',
    'manufacturer',
    'status',
    'tag:lot',
    'tag:x',
  ];
  const text = names.map(name => `{${name}}`).join('|');
  expect(await codesOn(`^XA^FO10,10^BQN,2,3^FDQA,${text}^FS^XZ`)).toEqual([
    'UK-2026-000001|DEV-123456|SHZ6-8LHB-NJMG-T9RA|alice|alice|UKEY|Müller & Söhne|INACTIVE|7|',
  ]);
});

describe('the name of the person', () => {
  const qr = '^XA^FO20,20^BQN,2,4^FDQA,{name}^FS^XZ';
  const dataMatrix = '^XA^FO20,20^BXN,5,200^FD{name}^FS^XZ';

  test.each(['Zoë Müller-Åkesson', '^XZ~HS', 'O\'Neill, "Bo" _5E'])('%j is that text in both codes', async name => {
    expect([await codesOn(qr, { name }), await codesOn(dataMatrix, { name })]).toEqual([[name], [name]]);
  });

  test.each([null, undefined, ''])('is the user id if it is %j', async name => {
    expect(await codesOn(qr, { name })).toEqual(['alice']);
  });

  test('is empty without a person', () => {
    const label = zplTemplate('^XA^FD{name}^FS^XZ', 'a template');
    expect(label({ ...device, userId: null })).toContain('^FD^FS');
  });
});

test('a length cuts the text', () => {
  const label = zplTemplate('^XA^FD{model,6}^FS^XZ', 'a template');
  expect(label({ ...device, model: '123456' })).toContain('^FD123456^FS');
  expect(label({ ...device, model: '1234567' })).toContain('^FD123...^FS');
});

test('a longer text than any of the interface is refused', () => {
  const label = zplTemplate('^XA^FD{model}^FS^XZ', 'a template');
  expect(() => label({ ...device, model: 'x'.repeat(201) })).toThrow('model has more than 200 characters');
});

test('an underscore of the template is printed as it is', () => {
  expect(zplTemplate('^XA^FDa_5E {model}^FS^FDa_b^FS^XZ', 'a template')(device)).toBe(
    '^XA^CI28^FH_^FDa_5F5E K1^FS^FDa_b^FS^XZ',
  );
});

test('a character set of the template stays', () => {
  expect(zplTemplate('^XA^CI27^FD{model}^FS^XZ', 'a template')(device)).toBe('^XA^CI27^FH_^FDK1^FS^XZ');
});

test.each([
  ['hello', 'it starts with ^XA'],
  ['^XA^FD{model}^FS', 'ends with ^XZ'],
  ['^XA^FO{model}^FDx^FS^XZ', 'outside of a field'],
  ['^XA^CC+^FD{model}^FS^XZ', '^CC'],
  ['^XA^FD{serial}^FS^XZ', '{serial}'],
  ['^XA^FD{tag:No Name}^FS^XZ', '{tag:No Name}'],
  ['^XA^FD{qr:model}^FS^XZ', '{qr:…}'],
  ['^XA^FH|^FD{model}^FS^XZ', '^FH|'],
  ['^XA^BXN,6,200,,,,~^FD{model}^FS^XZ', '^BX'],
])('the template %s is refused', (template, words) => {
  expect.assertions(1);
  try {
    zplTemplate(template, 'label.zpl');
  } catch (error) {
    const { message, hint } = error as { message: string; hint: string };
    expect(`${message} ${hint}`).toContain(words);
  }
});
