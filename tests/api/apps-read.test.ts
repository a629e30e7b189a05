import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { youngGrowth } from '../../daemon/base/streamed-memory.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { download } from '../support/downloads.ts';
import { file, filesIn, needed, type Part, sendForm, sha256, uploadPath } from '../support/forms.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon.stop());

const get = (path: string, token?: string) => daemon.call('GET', path, undefined, token === undefined ? {} : { token });

async function upload(platform: string, version: string, fileName: string, ...more: Part[]) {
  const content =
    more.length && more[0]![0] === 'file' ? more.shift()! : file(fileName, `${platform} ${version} ${fileName}`);
  const { code, message, data } = await sendForm(daemon, uploadPath, [...needed(platform, version), ...more, content]);
  if (code !== 200) throw new Error(message);
  return data as { versionId: string; sha256: string };
}

describe('the list of versions', () => {
  it('is empty before the first upload, with 0 pages', async () => {
    expect((await get('/api/app-versions/list')).data).toEqual({
      list: [],
      pagination: { page: 1, size: 20, total: 0, totalPages: 0 },
    });
  });

  it('is paged, newest first, and filtered by platform, case-insensitive', async () => {
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) await upload('IOS', version, 'a.ipa');
    await upload('MACOS', '5.0.0', 'a.dmg');
    const versions = async (query: string) => {
      const { data } = await get(`/api/app-versions/list?${query}`);
      return [data.list.map((each: { version: string }) => each.version), data.pagination] as const;
    };
    expect(await versions('')).toEqual([
      ['5.0.0', '1.2.0', '1.1.0', '1.0.0'],
      { page: 1, size: 20, total: 4, totalPages: 1 },
    ]);
    expect(await versions('platform=ios&size=2&page=2')).toEqual([
      ['1.0.0'],
      { page: 2, size: 2, total: 3, totalPages: 2 },
    ]);
    expect((await versions('platform=IOS&sortOrder=asc&sortBy=createdAt'))[0]).toEqual(['1.0.0', '1.1.0', '1.2.0']);
    expect((await versions('page=9'))[0]).toEqual([]);
  });

  it.each(['platform=BEOS', 'size=101', 'size=0', 'page=0', 'sortBy=version', 'sortOrder=up'])(
    'rejects %s with 1001',
    async query => {
      expect(await get(`/api/app-versions/list?${query}`)).toMatchObject({ status: 400, code: 1001 });
    },
  );
});

describe('the latest version', () => {
  beforeAll(async () => {
    await upload('LINUX', '1.9.0', 'a.deb');
    await upload('LINUX', '1.10.0', 'a.deb', ['forceUpdate', 'true']);
    await upload('LINUX', '2.0.0-rc.1', 'a.rpm', ['minSupportVersion', '1.5']);
  });
  const latest = async (query: string) => (await get(`/api/app-versions/latest?${query}`)).data;

  it('compares as numbers; the pre-release of a higher version is higher', async () => {
    expect((await latest('platform=linux')).latest.version).toBe('2.0.0-rc.1');
    expect((await latest('platform=linux&extension=deb')).latest.version).toBe('1.10.0');
  });

  it('accepts the extension with or without the dot, case-insensitive', async () => {
    for (const extension of ['deb', '.deb', 'DEB', '.Deb'])
      expect((await latest(`platform=linux&extension=${extension}`)).latest.fileName).toBe('a.deb');
  });

  it('reports no update without currentVersion', async () => {
    expect(await latest('platform=linux')).toMatchObject({ updateAvailable: false, forceUpdate: false });
  });

  it.each([
    ['1.0.0', true, true],
    ['1.9.0', true, true],
    ['1.10.0', true, false],
    ['2.0.0-rc.1', false, false],
    ['2.0', false, false],
    ['3', false, false],
  ])('for %s: update %s, forced %s', async (current, updateAvailable, forceUpdate) => {
    expect(await latest(`platform=LINUX&currentVersion=${current}`)).toMatchObject({ updateAvailable, forceUpdate });
  });

  it('is 4001 if the platform or the extension has no version yet', async () => {
    for (const query of ['platform=ANDROID', 'platform=LINUX&extension=appimage'])
      expect(await get(`/api/app-versions/latest?${query}`)).toMatchObject({ status: 404, code: 4001, data: null });
  });

  it.each(['', 'platform=BEOS', 'platform=LINUX&extension=exe', 'platform=LINUX&currentVersion=one'])(
    'rejects %j with 1001',
    async query => {
      expect(await get(`/api/app-versions/latest?${query}`)).toMatchObject({ status: 400, code: 1001 });
    },
  );
});

describe('one version', () => {
  it('is shown as its upload returned it', async () => {
    const uploaded = await upload('WINDOWS', '1.0.0', 'a.exe');
    expect((await get(`/api/app-versions/${uploaded.versionId}`)).data).toEqual(uploaded);
  });

  it.each(['APP-999', 'APP-0', 'APP-01', 'app-1', 'x', '%01', '1'])('%s does not exist: 4001', async id => {
    expect(await get(`/api/app-versions/${id}`)).toMatchObject({ status: 404, code: 4001, data: null });
    expect(await get(`/api/app-versions/${id}/download`)).toMatchObject({ status: 404, code: 4001, data: null });
  });

  it('may be read by every role, but not without a token', async () => {
    const { versionId } = await upload('WINDOWS', '1.0.1', 'a.exe');
    const paths = ['list', 'latest?platform=WINDOWS', versionId].map(path => `/api/app-versions/${path}`);
    for (const role of ['DEALER', 'VIEWER'] as const) {
      const { token } = await daemon.user(`reads-${role.toLowerCase()}`, role);
      for (const path of paths) expect((await get(path, token)).code).toBe(200);
      const response = await fetch(`${daemon.url}/api/app-versions/${versionId}/download`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    }
    const bare = await daemon.call('GET', `/api/app-versions/${versionId}/download`, undefined, { token: null });
    expect(bare).toMatchObject({ status: 401, code: 1004 });
  });
});

describe('a download', () => {
  const content = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251));
  let path: string;
  const etag = `"${sha256(content)}"`;
  beforeAll(async () => {
    const { versionId } = await upload('ANDROID', '1.0.0', '', file('Größe 1 %41.apk', content));
    path = `/api/app-versions/${versionId}/download`;
  });

  it('is the file, to be saved with its name and never shown', async () => {
    const { status, headers, bytes } = await download(daemon, path);
    expect(status).toBe(200);
    expect(bytes.equals(content)).toBe(true);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '1000',
      'content-disposition': `attachment; filename="Gr__e 1 _41.apk"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%201%20%2541.apk`,
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      etag,
      'x-request-id': expect.stringMatching(/./),
    });
  });

  it('counts the bytes that it sends, so that young objects get no more memory at the same time', async () => {
    const streamed = vi.spyOn(youngGrowth, 'streamed');
    onTestFinished(() => streamed.mockRestore());
    await download(daemon, path);
    await vi.waitFor(() => expect(streamed.mock.calls).toEqual([[1000]]));
  });

  it.each([
    ['bytes=0-99', 0, 99],
    ['bytes=900-', 900, 999],
    ['bytes=-1', 999, 999],
    ['bytes=-5000', 0, 999],
    ['bytes=500-5000', 500, 999],
  ])('answers %s with 206', async (range, start, end) => {
    const { status, headers, bytes } = await download(daemon, path, { range });
    expect(status).toBe(206);
    expect(headers.get('content-range')).toBe(`bytes ${start}-${end}/1000`);
    expect(headers.get('content-length')).toBe(String(end - start + 1));
    expect(bytes.equals(content.subarray(start, end + 1))).toBe(true);
  });

  it.each(['bytes=1000-', 'bytes=5000-6000', 'bytes=-0'])('answers %s with 416 in the envelope', async range => {
    const { status, headers, bytes } = await download(daemon, path, { range });
    expect(status).toBe(416);
    expect(headers.get('content-range')).toBe('bytes */1000');
    expect(headers.get('content-type')).toContain('application/json');
    expect(JSON.parse(bytes.toString())).toEqual({ code: 416, message: expect.any(String), data: null });
  });

  it.each(['bytes=0-1,5-6', 'bytes=9-1', 'lines=1-2', 'nonsense'])('answers %s with the whole file', async range => {
    const { status, bytes } = await download(daemon, path, { range });
    expect([status, bytes.length]).toEqual([200, 1000]);
  });

  it('is 304 for a client that has the file, whatever range it asks for', async () => {
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, headers, bytes } = await download(daemon, path, { 'if-none-match': known, range: 'bytes=0-1' });
      expect([status, bytes.length, headers.get('etag')]).toEqual([304, 0, etag]);
    }
    expect((await download(daemon, path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('resumes if If-Range still matches, else starts over', async () => {
    const resume = async (known: string) =>
      (await download(daemon, path, { range: 'bytes=500-', 'if-range': known })).status;
    expect(await resume(etag)).toBe(206);
    expect(await resume('"other"')).toBe(200);
    expect(await resume(`W/${etag}`)).toBe(200);
    expect(await resume(new Date().toUTCString())).toBe(200);
  });

  it('in parts yields the file', async () => {
    const parts = [];
    for (let at = 0; at < 1000; at += 333)
      parts.push((await download(daemon, path, { range: `bytes=${at}-${at + 332}` })).bytes);
    expect(sha256(Buffer.concat(parts))).toBe(sha256(content));
  });

  it('of a file with one byte changed is 500, as a whole and in parts, before and after an earlier download', async () => {
    const before = new Set(await filesIn(daemon));
    const { versionId } = await upload('ANDROID', '9.9.8', 'a.apk');
    const [stored] = (await filesIn(daemon)).filter(name => !before.has(name));
    const original = await readFile(stored!);
    const changed = Buffer.from(original);
    changed[changed.length - 1]! ^= 1;
    const status = async (headers = {}) =>
      (await download(daemon, `/api/app-versions/${versionId}/download`, headers)).status;
    await writeFile(stored!, changed);
    expect([await status(), await status({ range: 'bytes=0-0' })]).toEqual([500, 500]);
    await writeFile(stored!, original);
    expect([await status(), await status({ range: 'bytes=0-0' })]).toEqual([200, 206]);
    await writeFile(stored!, changed);
    expect([await status({ range: 'bytes=0-0' }), await status()]).toEqual([500, 500]);
    expect(daemon.logged()).toContain('another SHA-256');
  });

  it('of a missing or changed file is 500, with the details in the log only', async () => {
    const before = new Set(await filesIn(daemon));
    const { versionId } = await upload('ANDROID', '9.9.9', 'a.apk');
    const [stored] = (await filesIn(daemon)).filter(name => !before.has(name));
    await truncate(stored!, 3);
    const damaged = await get(`/api/app-versions/${versionId}/download`);
    expect(damaged).toMatchObject({ status: 500, code: 500, data: null });
    expect(damaged.message).toContain(`the file of ${versionId} has changed on the disk`);
    await rm(stored!);
    const missing = await get(`/api/app-versions/${versionId}/download`);
    expect(missing).toMatchObject({ status: 500, code: 500, data: null });
    expect(missing.message).toContain(`the file of ${versionId} is missing`);
    expect(missing.message).not.toMatch(/[0-9a-f]{32}|blobs/);
    expect(daemon.logged()).toContain('is missing');
  });
});

describe('queries of versions', () => {
  it('count as queries', async () => {
    const { headers } = await get('/api/app-versions/list');
    expect(headers.get('x-ratelimit-limit')).toBeNull();
    const limited = await startTestDaemon({
      limits: { login: null, query: { count: 2, seconds: 60 }, modify: null, upload: null },
    });
    try {
      const paths = [
        '/api/app-versions/list',
        '/api/app-versions/APP-1/download',
        '/api/app-versions/latest?platform=IOS',
      ];
      const codes = [];
      for (const path of paths) codes.push((await limited.call('GET', path)).code);
      expect(codes).toEqual([200, 4001, 429]);
    } finally {
      await limited.stop();
    }
  });
});

it('a file that is truncated while it is read ends the connection, and the log reports this', async () => {
  const size = 48 * 1024 * 1024;
  const before = await filesIn(daemon);
  const { versionId } = await upload('MACOS', '9.0.0', '', file('large.dmg', new Uint8Array(size)));
  const [stored] = (await filesIn(daemon)).filter(each => !before.includes(each));
  const response = await fetch(`${daemon.url}/api/app-versions/${versionId}/download`, {
    headers: { authorization: `Bearer ${daemon.adminToken}` },
  });
  expect(response.headers.get('content-length')).toBe(String(size));
  // More bytes are still in the file than the buffers on the way hold.
  await truncate(stored!, 1024 * 1024);
  await expect(response.arrayBuffer()).rejects.toThrow(/terminated/);
  expect(daemon.logged()).toMatch(/ended early.*a download was cut off/);
});
