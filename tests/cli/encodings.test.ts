/** Files of people and devices in the encodings of spreadsheets, with a real registry. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

function fileOf(content: Buffer): string {
  const file = join(temporaryFolder(), 'people.csv');
  writeFileSync(file, content);
  return file;
}
const windows = (text: string) => Buffer.from(text, 'latin1');
const utf8Hint = 'name its encoding: --encoding windows-1252';

describe('a roster', () => {
  const people = 'userId;name\nm\u00fcller;M\u00fcller\nm\u00f6ller;M\u00f6ller\n';
  const enroll = (file: string, ...more: string[]) =>
    daemon.run(['enroll', '--roster', file, '--timeout', '1', '--dry-run', ...more]);

  test.each([
    ['windows-1252', windows(people), 2],
    ['a last character that is cut off', Buffer.concat([Buffer.from('userId\nann\nb'), Buffer.from([0xc3])]), 3],
    ['both encodings', Buffer.concat([Buffer.from(people), windows('j\u00f6rg;J\n')]), 4],
    [
      '100,000 lines, the last of them in windows-1252',
      windows(`userId\n${Array.from({ length: 99_999 }, (_, at) => `u${at}`).join('\n')}\n\u00fc\n`),
      100_001,
    ],
  ])('with %s is refused before the first key, with its line', async (_, content, line) => {
    const { code, stdout, stderr } = await enroll(fileOf(content));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`people.csv, line ${line}: it is not valid UTF-8`);
    expect(stderr).toContain(utf8Hint);
  });

  test.each([
    ['windows-1252', windows(people), ['--encoding', 'windows-1252']],
    ['UTF-8', Buffer.from(people), []],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${people}`), []],
    ['UTF-16LE with a mark', Buffer.from(`\ufeff${people}`, 'utf16le'), []],
    ['UTF-16BE with a mark', Buffer.from(`\ufeff${people}`, 'utf16le').swap16(), []],
  ])('in %s has its people', async (_, content, flags) => {
    const { code, stderr } = await enroll(fileOf(content), ...flags);
    expect(code).toBe(10);
    expect(stderr).toContain('M\u00fcller');
  });

  test('in an encoding that is not known is refused', async () => {
    const { code, stderr } = await enroll(fileOf(windows(people)), '--encoding', 'excel');
    expect(code).toBe(2);
    expect(stderr).toContain('--encoding "excel" is not a known encoding');
  });
});

test('register --file refuses the lines with such bytes and names the first one; --encoding reads them', async () => {
  const rows = ['UKEY,EN-1,Acme,One', 'UKEY,EN-2,M\u00fcller,One', 'UKEY,EN-3,M\u00f6ller,One'];
  const file = fileOf(windows(`type,serial,manufacturer,model\n${rows.join('\n')}\n`));
  const refused = await daemon.run(['register', '--file', file]);
  expect(refused.code).toBe(7);
  expect(refused.stderr).toContain(`people.csv, line 3: it is not valid UTF-8: save it as UTF-8`);
  expect(refused.stderr).toContain(utf8Hint);
  const args = ['register', '--file', file, '--encoding', 'latin1', '--skip-existing'];
  expect((await daemon.run(args)).code).toBe(0);
  expect((await daemon.run(['list', '--keyword', 'EN-', '--fields', 'manufacturer'])).stdout).toMatch(/M\u00fcller/);
});

test('a file for many devices and labels is read in the encoding that is named', async () => {
  const device = { deviceType: 'UKEY', serialNumber: 'MANY-1', manufacturer: 'Acme', model: 'One' };
  const { activationCode } = await daemon.call('POST', '/api/devices/register', device);
  const file = fileOf(
    windows(`serialNumber,name,activationCode,userId\nMANY-1,M\u00fcller,${activationCode},m\u00fcller\n`),
  );
  const template = join(temporaryFolder(), 'label.zpl');
  writeFileSync(template, '^XA^FD{name}^FS^XZ');
  const label = (...more: string[]) =>
    daemon.run(['label', '--file', file, '--dry-run', '--template', template, ...more]);
  const refused = await label();
  expect([refused.code, refused.stdout]).toEqual([7, expect.not.stringContaining('\ufffd')]);
  expect(refused.stderr).toContain(utf8Hint);
  expect((await label('--encoding', 'windows-1252')).code).toBe(0);
  const activate = (...more: string[]) => daemon.run(['activate', '--file', file, '--yes', '--json', ...more]);
  expect((await activate()).rows).toMatchObject([{ line: 2, status: 'failed', message: 'userId is not valid UTF-8' }]);
  expect((await activate('--encoding', 'windows-1252')).rows).toMatchObject([{ status: 'success' }]);
  expect((await daemon.run(['show', 'MANY-1', '--json'])).json).toMatchObject({ userId: 'm\u00fcller' });
});
