import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { file, filesIn, formBytes, needed, type Part, sendForm, uploadPath } from '../support/forms.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon.stop());

let minor = 0;
/** A version that no other test has uploaded. */
const fresh = () => `7.${++minor}.0`;

const send = (parts: readonly Part[] | Buffer, options: Parameters<typeof sendForm>[3] = {}) =>
  sendForm(daemon, uploadPath, parts, options);

/** Expects the error, and that nothing of the upload remains. */
async function refused(parts: readonly Part[] | Buffer, code: number, words: RegExp, type?: string) {
  const before = await filesIn(daemon);
  const response = await send(parts, type === undefined ? {} : { type });
  expect({ code: response.code, status: response.status, data: response.data }).toEqual({
    code,
    status: 400,
    data: null,
  });
  expect(response.message).toMatch(words);
  expect(await filesIn(daemon)).toEqual(before);
}

describe('4002, and nothing remains:', () => {
  it.each(['a.exe', 'a.ipa', 'a.apk.zip', 'noextension', '.apk', 'a.', ''])(
    'extension of %j for ANDROID',
    async name => {
      await refused([...needed('ANDROID', fresh()), file(name)], 4002, /extension of ANDROID \(\.apk, \.aab\)/);
      await refused([file(name), ...needed('ANDROID', fresh())], 4002, /extension of ANDROID \(\.apk, \.aab\)/);
    },
  );

  it('a file without a name has no extension', async () => {
    await refused([...needed(), file(undefined)], 4002, /extension/);
  });

  it('an empty file', async () => {
    await refused([...needed('ANDROID', fresh()), file('a.apk', '')], 4002, /empty/);
  });

  it('the same platform, version and extension again, in upper or lower case', async () => {
    const version = fresh();
    const first = await send([...needed('ANDROID', version), file('a.apk', 'one')]);
    const again = new RegExp(`${first.data.versionId}`);
    await refused([...needed('ANDROID', version), file('b.apk', 'two')], 4002, again);
    await refused([file('c.APK', 'two'), ...needed('Android', version)], 4002, again);
  });

  it('all but one of the same uploads at once', async () => {
    const before = (await filesIn(daemon)).length;
    const version = fresh();
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, i) => send([...needed('ANDROID', version), file('a.apk', `content ${i}`)])),
    );
    expect(responses.map(({ code }) => code).sort()).toEqual([200, ...Array(7).fill(4002)]);
    expect(await filesIn(daemon)).toHaveLength(before + 1);
  });

  const whole = formBytes([...needed('ANDROID', '90.0.0'), file('a.apk', 'x'.repeat(1000))]);
  it.each([
    ['that ends in the file', whole.subarray(0, -200)],
    ['that ends in its last boundary', whole.subarray(0, -6)],
    ['that ends in a header', whole.subarray(0, 60)],
    ['that is empty', Buffer.alloc(0)],
    ['without any boundary', Buffer.from('platform=ANDROID&version=1.0.0')],
  ])('a form %s', async (_how, bytes) => {
    await refused(bytes, 4002, /form is broken/);
  });

  it('a form whose Content-Type has no boundary', async () => {
    await refused(whole, 4002, /boundary/, 'multipart/form-data');
    await refused(whole, 4002, /boundary/, `multipart/form-data; boundary=${'x'.repeat(300)}`);
  });

  it('but a .deb and a .rpm of the same version are accepted', async () => {
    const version = fresh();
    expect((await send([...needed('LINUX', version), file('a.deb')])).code).toBe(200);
    expect((await send([...needed('LINUX', version), file('a.rpm')])).code).toBe(200);
    expect((await send([...needed('WINDOWS', version), file('a.msi')])).code).toBe(200);
  });
});

describe('1001 that names the field, and nothing remains:', () => {
  it('a body that is not multipart', async () => {
    await refused(Buffer.from('{"platform":"ANDROID"}'), 1001, /multipart\/form-data/, 'application/json');
    await refused(Buffer.from('a=b'), 1001, /multipart\/form-data/, 'application/x-www-form-urlencoded');
    await refused(formBytes([...needed(), file('a.apk')]), 1001, /multipart\/form-data/, 'multipart/mixed; boundary=x');
    const bare = await daemon.call('POST', uploadPath);
    expect(bare).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining('multipart/form-data') });
  });

  it('no file', async () => {
    await refused(needed(), 1001, /^file is required$/);
    await refused([...needed(), ['package', { fileName: 'a.apk', content: 'x' }]], 1001, /^file is required$/);
  });

  it('a form without a chosen file, as a browser sends it', async () => {
    await refused([file('', ''), ...needed('ANDROID', fresh())], 1001, /^file is required$/);
  });

  it('no platform, no version, whether the file comes first or last', async () => {
    await refused([['version', '1.0.0'], file('a.apk')], 1001, /^platform is required$/);
    await refused([file('a.apk'), ['platform', 'ANDROID']], 1001, /^version is required$/);
    await refused([['platform', 'ANDROID'], ['version', '  '], file('a.apk')], 1001, /^version is required$/);
  });

  it.each<[string, string]>([
    ['platform', 'BEOS'],
    ['platform', 'ANDROID2'],
    ['version', 'one'],
    ['version', '1.2.3.4.5'],
    ['version', 'v1.0.0'],
    ['version', '1..0'],
    ['version', '1.0.0-'],
    ['version', '1.0.0-a..b'],
    ['version', '1.0.0-+x'],
    ['version', '1.0.0+a+b'],
    ['__proto__', 'x'],
    ['version', '1.0 beta'],
    ['version', `1.0.0-${'x'.repeat(60)}`],
    ['forceUpdate', 'yes'],
    ['forceUpdate', '1'],
    ['minSupportVersion', 'x'],
    ['versionName', 'n'.repeat(201)],
    ['versionName', 'a\u0007b'],
    ['versionName', 'a\nb'],
    ['changelog', 'c'.repeat(10_001)],
    ['changelog', 'a\u202eb'],
    ['changelog', 'c'.repeat(400_000)],
  ])('%s %j', async (field, value) => {
    const fields = new Map<string, string>([
      ['platform', 'ANDROID'],
      ['version', fresh()],
      [field, value],
    ]);
    await refused([...fields, file('a.apk')], 1001, new RegExp(`^${field} `));
    await refused([file('a.apk'), ...fields], 1001, new RegExp(`^${field} `));
  });

  it('a field, or the file, given twice', async () => {
    await refused([...needed(), ['version', '2.0.0'], file('a.apk')], 1001, /^version is given twice$/);
    await refused([...needed('ANDROID', fresh()), file('a.apk'), file('b.apk')], 1001, /^file is given twice$/);
  });

  it('a text that is too long, measured in characters', async () => {
    const { data } = await send([
      ...needed('ANDROID', fresh()),
      ['versionName', '😀'.repeat(200)],
      ['changelog', '字'.repeat(10_000)],
      file('a.apk'),
    ]);
    expect([...data.versionName]).toHaveLength(200);
    expect(data.changelog).toHaveLength(10_000);
  });
});
