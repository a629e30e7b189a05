import { readFile, stat } from 'node:fs/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { boundary, file, filesIn, needed, type Part, sendForm, sha256, uploadPath } from '../support/forms.ts';

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

describe('an upload', () => {
  it('returns the record of the version with every field', async () => {
    const content = Buffer.from('the package');
    const { status, code, message, data } = await send([
      ...needed('ANDROID', '1.2.0-rc.1'),
      ['versionName', ' First '],
      ['changelog', 'new:\r\n\tall'],
      ['forceUpdate', 'true'],
      ['minSupportVersion', '1.0'],
      file('devmgr-1.2.0.apk', content),
    ]);
    expect({ status, code, message }).toEqual({ status: 200, code: 200, message: 'success' });
    expect(data).toEqual({
      versionId: expect.stringMatching(/^APP-[1-9]\d*$/),
      platform: 'ANDROID',
      version: '1.2.0-rc.1',
      versionName: 'First',
      changelog: 'new:\r\n\tall',
      forceUpdate: true,
      minSupportVersion: '1.0',
      fileName: 'devmgr-1.2.0.apk',
      fileSize: content.length,
      sha256: sha256(content),
      uploadedBy: 'admin',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  it('returns null or false for absent fields', async () => {
    const { data } = await send([...needed('ANDROID', fresh()), ['versionName', ''], file('a.apk')]);
    expect(data).toMatchObject({ versionName: null, changelog: null, forceUpdate: false, minSupportVersion: null });
  });

  it.each([
    ['the file first', (version: string): Part[] => [file('a.apk'), ...needed('ANDROID', version)]],
    [
      'the file between',
      (version: string): Part[] => [['version', version], file('a.apk'), ['platform', 'ANDROID'], ['changelog', 'x']],
    ],
    ['the file last', (version: string): Part[] => [...needed('ANDROID', version), file('a.apk')]],
  ])('accepts its parts in any order: %s', async (_order, parts) => {
    expect(await send(parts(fresh()))).toMatchObject({ code: 200, data: { sha256: sha256('content') } });
  });

  it.each([
    ['windows', 'a.EXE', 'WINDOWS'],
    ['Windows', 'a.msi', 'WINDOWS'],
    ['macOS', 'a.dmg', 'MACOS'],
    ['MACOS', 'a.Pkg', 'MACOS'],
    ['Linux', 'a.deb', 'LINUX'],
    ['linux', 'a.rpm', 'LINUX'],
    ['LINUX', 'a.AppImage', 'LINUX'],
    ['android', 'a.apk', 'ANDROID'],
    ['ANDROID', 'a.AAB', 'ANDROID'],
    ['iOS', 'a.ipa', 'IOS'],
  ])('for %s accepts %s and returns the platform in capitals', async (platform, name, expected) => {
    const { code, data } = await send([...needed(platform, fresh()), file(name)]);
    expect(code).toBe(200);
    expect(data).toMatchObject({ platform: expected, fileName: name });
  });

  it.each(['true', 'TRUE', ' True ', 'false', 'FALSE'])('reads forceUpdate %s', async word => {
    const { data } = await send([...needed('ANDROID', fresh()), ['forceUpdate', word], file('a.apk')]);
    expect(data.forceUpdate).toBe(word.trim().toLowerCase() === 'true');
  });

  it.each([
    '1',
    '1.2',
    '1.2.3',
    '1.2.3.4',
    '999999999.0',
    '1.0.202611201234',
    '1.0.0-rc.1',
    '1.0.0+build-7',
    '1.0.0-rc.1+7',
  ])('accepts the version %s', async version => {
    expect(await send([...needed('IOS', version), file('a.ipa')])).toMatchObject({ code: 200, data: { version } });
  });

  it('ignores unknown fields, whatever their content', async () => {
    const unknown: Part[] = [
      ['comment', 'x'.repeat(500_000)],
      ['attachment', { fileName: 'other.bin', content: Buffer.alloc(300_000) }],
    ];
    expect((await send([...unknown, ...needed('ANDROID', fresh()), file('a.apk'), ...unknown])).code).toBe(200);
  });

  it('accepts fields of any declared type', async () => {
    const typed: Part[] = [
      ['platform', { content: 'ANDROID', headers: ['Content-Type: text/plain; charset=UTF-8'] }],
      ['version', { content: fresh(), headers: ['Content-Type: application/octet-stream'] }],
    ];
    expect((await send([...typed, file('a.apk')])).code).toBe(200);
  });

  it('stores file names of any script, without path and deceptive characters', async () => {
    const name = async (given: string) =>
      (await send([...needed('ANDROID', fresh()), file(given)])).data?.fileName as string;
    expect(await name('安装包.apk')).toBe('安装包.apk');
    expect(await name('../../evil.apk')).toBe('evil.apk');
    expect(await name('C:/x/\u202eevil.apk')).toBe('evil.apk');
    expect(await name(`${'n'.repeat(400)}.apk`)).toBe(`${'n'.repeat(251)}.apk`);
  });

  it('stores every byte, even if it resembles a boundary', async () => {
    const lookalike = fc.constantFrom(
      '\r\n--',
      '\r\n',
      '\r',
      '--',
      `\r\n--${boundary.slice(0, -1)}`,
      `--${boundary}`,
      'x',
    );
    const content = fc.oneof(
      fc.array(lookalike, { minLength: 1, maxLength: 40 }).map(pieces => Buffer.from(pieces.join(''))),
      fc.uint8Array({ minLength: 1, maxLength: 5000 }).map(bytes => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(content, fc.integer({ min: 0, max: 70_000 }), async (bytes, padding) => {
        const whole = Buffer.concat([Buffer.alloc(padding, '\r\n--'), bytes]);
        // At the start of the content too: the line break before it ends the headers of the part (RFC 2046, 5.1.1).
        fc.pre(!Buffer.concat([Buffer.from('\r\n'), whole]).includes(`\r\n--${boundary}`));
        const { data } = await send([...needed('ANDROID', fresh()), file('a.apk', whole)]);
        expect(data).toMatchObject({ fileSize: whole.length, sha256: sha256(whole) });
      }),
      { numRuns: 60 },
    );
  });

  it('has its file on disk before the response, readable only by the user of the daemon and with a generated name', async () => {
    const before = new Set(await filesIn(daemon));
    await send([...needed('ANDROID', fresh()), file('../incoming/x.apk', 'bytes of the package')]);
    const added = (await filesIn(daemon)).filter(path => !before.has(path));
    expect(added).toEqual([expect.stringMatching(/blobs\/[0-9a-f]{32}$/)]);
    expect(await readFile(added[0]!, 'utf8')).toBe('bytes of the package');
    expect((await stat(added[0]!)).mode & 0o777).toBe(0o600);
  });

  it('is in the journal and in the notifications', async () => {
    const version = fresh();
    const { data } = await send([...needed('ANDROID', version), file('a.apk')]);
    const socket = new WebSocket(
      `${daemon.url.replace('http', 'ws')}/api/ws/notifications?since=0&types=APP_VERSION_UPLOADED&token=${daemon.adminToken}`,
    );
    try {
      const found = await new Promise<unknown>((resolve, reject) => {
        socket.addEventListener('error', () => reject(new Error('the stream was refused')));
        socket.addEventListener('message', ({ data: text }) => {
          const event = JSON.parse(String(text));
          if (event.data.versionId === data.versionId) resolve(event);
        });
      });
      expect(found).toMatchObject({
        type: 'APP_VERSION_UPLOADED',
        data: { versionId: data.versionId, platform: 'ANDROID', version },
      });
    } finally {
      socket.close();
    }
  });
});

describe('before the body is read', () => {
  const parts = [...needed('ANDROID', '80.0.0'), file('a.apk')];

  it('a missing token is 1004', async () => {
    expect(await send(parts, { token: null })).toMatchObject({ status: 401, code: 1004 });
  });

  it.each(['DEALER', 'VIEWER'] as const)('the role %s is refused with 2007', async role => {
    const { token } = await daemon.user(`upload-${role.toLowerCase()}`, role);
    expect(await send(parts, { token })).toMatchObject({ status: 403, code: 2007 });
    expect(await send(Buffer.from('no form'), { token, type: 'text/plain' })).toMatchObject({ code: 2007 });
  });

  it('a multipart body has the wrong type for every other operation: 1001', async () => {
    const response = await sendForm(daemon, '/api/devices/register', parts);
    expect(response).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining('Content-Type') });
  });
});

describe('ten uploads an hour', () => {
  it('count whatever their result; the eleventh is 429 with the four headers', async () => {
    const limited = await startTestDaemon({
      limits: { login: null, query: null, modify: null, upload: { count: 10, seconds: 3600 } },
    });
    try {
      for (let left = 9; left >= 0; left--) {
        const response = await sendForm(limited, uploadPath, left % 2 ? needed() : Buffer.from('broken'));
        expect(response.headers.get('x-ratelimit-remaining')).toBe(String(left));
        expect(response.headers.get('x-ratelimit-limit')).toBe('10');
        expect([1001, 4002]).toContain(response.code);
      }
      const refusal = await sendForm(limited, uploadPath, [...needed(), file('a.apk')]);
      expect(refusal).toMatchObject({ status: 429, code: 429 });
      expect(Number(refusal.headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1000);
      expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(3500);
    } finally {
      await limited.stop();
    }
  });
});
