/** The import of a file of devices in the console. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { button, consoleTests, status, tabTo, violationsOn } from './browser.ts';

const header = 'serialNumber,type,manufacturer,model,tag:lot\n';
const fileOf = (name: string, text: string | Buffer) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
/** A file of new devices with serial numbers PREFIX-00000 and so on. */
const many = (prefix: string, count: number) =>
  header + Array.from({ length: count }, (_, i) => `${prefix}-${`${i}`.padStart(5, '0')},UKEY,Acme,One,7\n`).join('');
const choose = (page: Page, name: string, text: string | Buffer) =>
  page.getByLabel('File', { exact: true }).setInputFiles(fileOf(name, text));
const check = async (page: Page) => {
  await button(page, 'Check the file').click();
  await page.getByRole('heading', { name: 'What would happen' }).waitFor();
};
/** The number of lines of each kind. */
const counts = async (page: Page): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await page.locator('.counts li').allInnerTexts()).map(line => {
      const [, count, kind] = /^(\S+)\s+(.*)$/.exec(line)!;
      return [kind, count];
    }),
  );
const results = async (page: Page): Promise<Record<string, string>[]> => {
  const download = page.waitForEvent('download');
  await button(page, 'Download results (CSV)').click();
  const text = await new Response(await (await download).createReadStream()).text();
  const [names, ...lines] = text
    .trim()
    .split('\r\n')
    .map(line => line.split(','));
  return lines.map(cells => Object.fromEntries(names!.map((name, i) => [name, cells[i] ?? ''])));
};

needs('chromium')('the import of a file in the console', () => {
  const { daemon, openTab } = consoleTests();
  const total = async (keyword: string) =>
    data(await daemon.call('GET', `/api/devices/list?keyword=${keyword}`)).pagination.total;

  it('reads a file without a header row by the names of its columns, and only the lines that are wanted', async () => {
    const { page, complaints, context } = await openTab({ place: 'import' });
    await choose(
      page,
      'list.csv',
      'WHERE-1,key,UKEY,Acme,One\nWHERE-2,mouse,UKEY,Acme,One\nWHERE-3,key,UKEY,Acme,One\nWHERE-4,key,UKEY,Other,One\n',
    );
    const names = page.getByLabel('Names of the columns, if the file has no header row');
    await names.fill('serialNumber,kind of thing,deviceType,manufacturer,model');
    await page.getByRole('row').filter({ hasText: 'WHERE-1' }).waitFor();
    await page.getByLabel('Only lines with COLUMN=VALUE').fill('kind of thing=key; manufacturer=Acme');
    await check(page);
    await status(page, '2 devices would be registered. Nothing has changed yet.');
    expect(await violationsOn(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('shows what would happen to each line, registers the new devices and saves their codes, by keyboard alone', async () => {
    const known = { deviceType: 'UKEY', manufacturer: 'Acme', model: 'One' };
    const devices = ['KEYB-1', 'KEYB-2'].map(serialNumber => ({ ...known, serialNumber }));
    data(await daemon.call('POST', '/api/devices/batch-register', { devices }));
    const { page, complaints, context } = await openTab({ place: 'devices' });
    // From now on choosers are answered here: the browser of the test cancels others at once.
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('link', { name: 'Import a file' }).waitFor();
    await tabTo(page, 'Import a file');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Import devices' }).waitFor();
    await tabTo(page, 'File');
    await page.keyboard.press('Space');
    const lines = [
      'KEYB-1,UKEY,Acme,One,',
      'KEYB-2,UKEY,Acme,Two,',
      'KEYB-3,UKEY,Acme,One,7',
      'KEYB-4,WRONG,Acme,One,',
    ];
    await (await chooser).setFiles(fileOf('keys.csv', header + lines.join('\n')));
    await page.getByRole('table', { name: 'Columns' }).waitFor();
    await tabTo(page, 'Check the file');
    await page.keyboard.press('Enter');
    await status(page, '1 device would be registered. Nothing has changed yet.');
    expect(await counts(page)).toEqual({
      new: '1',
      'already registered': '1',
      'differs from the registry': '1',
      refused: '1',
    });
    await page.getByText('Model: One ≠ Two').waitFor();
    await page.getByText(/Type: must be/).waitFor();
    expect(await total('KEYB-')).toBe(2);
    await page.locator('button:focus', { hasText: 'Register 1 device' }).waitFor();
    await page.keyboard.press('Enter');
    await status(page, '1 device registered.');
    const [first, second, third, fourth] = await results(page);
    const added = data(await daemon.call('GET', '/api/devices/list?serialNumber=KEYB-3')).list[0];
    expect(third).toMatchObject({ line: '4', status: 'success', activationCode: added.activationCode });
    expect([first, second, fourth].map(line => line?.activationCode)).toEqual(['', '', '']);
    expect(added.tags).toEqual({ lot: '7' });
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('reads columns as the person assigns them, and lines without a value as the person states', async () => {
    const { page, context } = await openTab({ place: 'import' });
    await choose(page, 'box.csv', 'Box;Origin;Ident\n7;Feitian;MAP-1\n7;;MAP-2\n');
    await page.getByLabel('Field for the column Origin').selectOption('Manufacturer');
    await button(page, 'Check the file').click();
    await page.getByRole('alert').getByText('Type, Serial number, Model').waitFor();
    await page.getByLabel('Field for the column Ident').selectOption('Serial number');
    await page.getByLabel('Type').selectOption('USB key');
    await page.getByLabel('Manufacturer', { exact: true }).last().fill('Acme');
    await page.getByLabel('Model', { exact: true }).last().fill('ePass K9');
    await check(page);
    await button(page, 'Register 2 devices').click();
    await status(page, '2 devices registered.');
    const list = data(
      await daemon.call('GET', '/api/devices/list?keyword=MAP-&sortBy=serialNumber&sortOrder=asc'),
    ).list;
    expect(list.map(({ manufacturer, model }: Record<string, string>) => [manufacturer, model])).toEqual([
      ['Feitian', 'ePass K9'],
      ['Acme', 'ePass K9'],
    ]);
    await context.close();
  });

  it('knows files of other programs, and sends none of their secrets', async () => {
    const { page, context } = await openTab({ place: 'import' });
    const bodies: string[] = [];
    page.on('request', request => bodies.push(request.postData() ?? ''));
    const secret = 'JBSWY3DPEHPK3PXP';
    await choose(
      page,
      'tokens.csv',
      `upn,serial number,secret key,time interval,manufacturer,model\nada@example.com,OATH-1,${secret},30,Token2,C202\n`,
    );
    await expect.poll(() => page.getByLabel('Source of the file').inputValue()).toBe('entra-oath');
    await page.getByText('contains secrets: not sent').waitFor();
    expect(await page.content()).not.toContain(secret);
    await check(page);
    await button(page, 'Register 1 device').click();
    await status(page, '1 device registered.');
    const key = `<KeyContainer Version="1.0" xmlns="urn:ietf:params:xml:ns:keyprov:pskc"><KeyPackage><DeviceInfo><Manufacturer>oath.AC</Manufacturer><SerialNo>PSKC-1</SerialNo><Model>M</Model></DeviceInfo><Key Id="1"><Data><Secret><PlainValue>${secret}</PlainValue></Secret></Data></Key></KeyPackage></KeyContainer>`;
    await choose(page, 'tokens.xml', key);
    await check(page);
    await button(page, 'Register 1 device').click();
    await expect.poll(() => total('PSKC-1')).toBe(1);
    expect(bodies.filter(body => body.includes(secret))).toEqual([]);
    await context.close();
  });

  it('continues after a lost response and after a reload, and has the codes of all devices in the end', async () => {
    const { page, context } = await openTab({ place: 'import' });
    let sent = 0;
    await page.route('**/api/devices/batch-register', async route => {
      sent++;
      // The second batch is carried out, and its response lost.
      if (sent === 2) await route.fetch();
      return sent === 2 || sent === 4 ? route.abort() : route.continue();
    });
    const text = many('RES', 6500);
    await choose(page, 'resume.csv', text);
    const modified = await page.evaluate("document.querySelector('input[type=file]').files[0].lastModified");
    await check(page);
    await button(page, 'Register 6,500 devices').click();
    await button(page, 'Try again').click();
    await button(page, 'Try again').waitFor();
    await status(page, '4,000 of 6,500 devices');
    await page.unroute('**/api/devices/batch-register');
    await page.reload();
    await page.getByText('The import of resume.csv was interrupted.').waitFor();
    // The time of a file that a test makes is that of the choice.
    await page.evaluate(`(() => {
      const files = new DataTransfer();
      files.items.add(new File([${JSON.stringify(text)}], 'resume.csv', { lastModified: ${modified} }));
      const input = document.querySelector('input[type=file]');
      input.files = files.files;
      input.dispatchEvent(new Event('change', { bubbles: true }));
    })()`);
    await check(page);
    expect(await counts(page)).toEqual({ new: '2,500', 'already registered': '4,000' });
    await button(page, 'Register 2,500 devices').click();
    await status(page, '6,500 devices registered.');
    const lines = await results(page);
    expect(new Set(lines.map(({ status: each }) => each))).toEqual(new Set(['success']));
    expect(new Set(lines.map(({ activationCode }) => activationCode)).size).toBe(6500);
    expect(await total('RES-')).toBe(6500);
    await context.close();
  });

  it('names the encoding and the line if a file is not UTF-8, and reads it in another one', async () => {
    const { page, context } = await openTab({ place: 'import' });
    const bytes = Buffer.from(`${header}ENC-1,UKEY,M\u00fcller,One,\n`, 'latin1');
    await choose(page, 'latin.csv', bytes);
    await page.getByRole('alert').getByText('Line 2: it is not valid UTF-8').waitFor();
    await page.getByLabel('Encoding of the file').selectOption('windows-1252');
    await check(page);
    await button(page, 'Register 1 device').click();
    await status(page, '1 device registered.');
    expect(data(await daemon.call('GET', '/api/devices/list?serialNumber=ENC-1')).list[0].manufacturer).toBe('Müller');
    await context.close();
  });

  it.each([
    ['light', 1440],
    ['dark', 1440],
    ['light', 360],
    ['dark', 360],
  ] as const)('is accessible in %s colors at %i pixels', async (colorScheme, width) => {
    const { page, context } = await openTab({ place: 'import', colorScheme, viewport: { width, height: 800 } });
    await page.getByRole('heading', { name: 'Import devices' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    const long = `${'S'.repeat(64)},UKEY,${'M'.repeat(200)},${'W'.repeat(200)},7`;
    await choose(page, 'long.csv', `${header}${long}\n${long}\nA,B,C,D,E\n${'X'.repeat(300)},UKEY,A,B,\n`);
    await check(page);
    expect(await violationsOn(page)).toEqual([]);
    await choose(page, 'bad.csv', 'a,b\n1,2\n');
    await button(page, 'Check the file').click();
    await page.getByRole('alert').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    await context.close();
  });

  it('shows no key or code of a file, and registers none that is in the place of a serial number', async () => {
    const { page, context } = await openTab({ place: 'import' });
    const ki = '000102030405060708090A0B0C0D0E0F';
    const seed = '3132333435363738393031323334353637383930';
    const shown = async () =>
      `${await page.locator('main').textContent()} ${JSON.stringify(await page.evaluate('({ ...sessionStorage, ...localStorage })'))}`;
    await choose(page, 'oath.csv', `OATH00012345,${seed},HOTP,6\nOATH00012346,${seed},TOTP,6\n`);
    await page.getByRole('table', { name: 'Columns' }).waitFor();
    expect(await shown()).not.toContain(seed);
    await choose(
      page,
      'cards.csv',
      `serialNumber,type,manufacturer,model,KI\nSECR-1,UKEY,A,B,${ki}\n${ki},UKEY,A,B\n${ki},UKEY,A,B,x\n`,
    );
    await page.getByText('SECR-1').first().waitFor();
    await check(page);
    expect(await counts(page)).toMatchObject({ new: '1', refused: '2' });
    await page.getByText(/may be a key/).waitFor();
    expect(await shown()).not.toContain(ki);
    await context.close();
  });

  it('refuses numbers that a spreadsheet has rounded, unless a person insists', async () => {
    const { page, context } = await openTab({ place: 'import' });
    await choose(page, 'rounded.csv', `${header}8986012345669450000,SIMKEY,A,B,\n`);
    await check(page);
    expect(await counts(page)).toMatchObject({ refused: '1' });
    await page.getByLabel(/Take numbers as they are/).check();
    await check(page);
    expect(await counts(page)).toMatchObject({ new: '1' });
    await context.close();
  });
});
