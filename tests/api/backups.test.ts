import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { download } from '../support/downloads.ts';
import { file, filesIn, formBytes, type Part, sendForm, sha256 } from '../support/forms.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon.stop());

type State = 'INACTIVE' | 'ACTIVE' | 'LOCKED' | 'DEACTIVATED';
let serial = 0;

/** Creates a device in this state. */
async function device(state: State = 'ACTIVE'): Promise<string> {
  const made = await daemon.call('POST', '/api/devices/register', {
    deviceType: 'UKEY',
    serialNumber: `BK-${++serial}`,
    manufacturer: 'Feitian',
    model: 'K9',
  });
  const { deviceId, activationCode } = made.data;
  if (state === 'INACTIVE') return deviceId;
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
  await move(deviceId, state);
  return deviceId;
}

async function move(deviceId: string, state: State): Promise<void> {
  if (state === 'LOCKED') await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'test' });
  if (state === 'DEACTIVATED')
    await daemon.call('POST', `/api/devices/${deviceId}/deactivate`, {
      reason: 'test',
      confirmPassword: adminPassword,
    });
}

const pathOf = (deviceId: string) => `/api/devices/${deviceId}/backups`;

const create = (deviceId: string, parts: readonly Part[] | Buffer = [file('key.bak', 'sealed')], token?: string) =>
  sendForm(daemon, pathOf(deviceId), parts, token === undefined ? {} : { token });

const call = (method: string, path: string, token?: string) =>
  daemon.call(method, path, undefined, token === undefined ? {} : { token });

/** Uploads a backup and returns it with the path of its file. */
async function backup(deviceId: string, content = 'sealed') {
  const before = new Set(await filesIn(daemon));
  const { data } = await create(deviceId, [file('key.bak', content)]);
  const [stored] = (await filesIn(daemon)).filter(name => !before.has(name));
  return {
    path: `${pathOf(deviceId)}/${data.backupId}`,
    backupId: data.backupId as string,
    record: data,
    stored: stored!,
  };
}

describe('a backup', () => {
  it('returns its record and updates the statistics of its device', async () => {
    const deviceId = await device();
    const content = Buffer.from([0, 255, 1, 254]);
    const { data, code } = await create(deviceId, [file('key.bak', content), ['note', ' before the move\nsecond ']]);
    expect(code).toBe(200);
    expect(data).toEqual({
      backupId: expect.stringMatching(/^BKP-[1-9]\d*$/),
      deviceId,
      fileName: 'key.bak',
      fileSize: 4,
      sha256: sha256(content),
      note: 'before the move\nsecond',
      createdAt: expect.stringMatching(/Z$/),
      version: 3,
    });
    const { statistics } = (await call('GET', `/api/devices/${deviceId}`)).data;
    expect(statistics).toMatchObject({ backupCount: 1, lastBackupAt: data.createdAt });
  });

  it('needs no note, no name and no extension', async () => {
    const { data } = await create(await device(), [file(undefined, 'x')]);
    expect(data).toMatchObject({ note: null, fileName: 'backup.bin', fileSize: 1 });
  });

  it.each([
    ['INACTIVE', 1001],
    ['LOCKED', 2004],
    ['DEACTIVATED', 2005],
  ] as const)('of a device that is %s is refused with %i, before its file is read', async (state, code) => {
    const deviceId = await device(state);
    const before = await filesIn(daemon);
    expect((await create(deviceId)).code).toBe(code);
    expect(await filesIn(daemon)).toEqual(before);
  });

  it('of a device that does not exist is 2001', async () => {
    for (const id of ['DEV-99999', 'DEV-0', 'x']) expect(await create(id)).toMatchObject({ status: 404, code: 2001 });
  });

  it.each([
    ['without a file', [['note', 'x']]],
    ['with a note that is too long', [['note', 'n'.repeat(1001)], file('a.bak')]],
  ] as const)('%s is 1001, also for a device that does not exist', async (_what, parts) => {
    expect(await create('DEV-99999', parts)).toMatchObject({ status: 400, code: 1001 });
  });

  it.each<[string, readonly Part[] | Buffer, number]>([
    ['an empty file', [file('a.bak', '')], 4002],
    ['a broken form', formBytes([file('a.bak', 'x'.repeat(100))]).subarray(0, -30), 4002],
    ['no file', [['note', 'x']], 1001],
    ['a note that is too long', [file('a.bak'), ['note', 'n'.repeat(1001)]], 1001],
    ['two files', [file('a.bak'), file('b.bak')], 1001],
  ])('with %s is refused and nothing of it remains', async (_what, parts, code) => {
    const deviceId = await device();
    const before = await filesIn(daemon);
    expect(await create(deviceId, parts)).toMatchObject({ status: 400, code });
    expect(await filesIn(daemon)).toEqual(before);
    expect((await call('GET', `/api/devices/${deviceId}`)).data.statistics.backupCount).toBe(0);
  });

  it('that is not multipart is 1001', async () => {
    const deviceId = await device();
    const response = await daemon.call('POST', pathOf(deviceId), { note: 'x' });
    expect(response).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining('multipart') });
  });

  it('may have 64 MiB but not one byte more', async () => {
    const deviceId = await device();
    const before = await filesIn(daemon);
    const most = Buffer.alloc(64 * 1024 * 1024, 7);
    const tooMuch = await create(deviceId, [file('a.bak', Buffer.concat([most, Buffer.from('x')]))]);
    expect(tooMuch).toMatchObject({ status: 400, code: 4002, message: expect.stringContaining('larger') });
    expect(await filesIn(daemon)).toEqual(before);
    expect((await create(deviceId, [file('a.bak', most)])).data).toMatchObject({
      fileSize: most.length,
      sha256: sha256(most),
    });
  });
});

describe('the list of backups', () => {
  it('has the backups of its device only, paged, newest first', async () => {
    const [one, other] = [await device(), await device()];
    const ids = [];
    for (const content of ['1', '2', '3']) ids.unshift((await backup(one, content)).backupId);
    await backup(other);
    const { data } = await call('GET', `${pathOf(one)}/list?size=2`);
    expect(data.list.map((each: { backupId: string }) => each.backupId)).toEqual(ids.slice(0, 2));
    expect(data.pagination).toEqual({ page: 1, size: 2, total: 3, totalPages: 2 });
    const ascending = await call('GET', `${pathOf(one)}/list?sortOrder=asc`);
    expect(ascending.data.list.map((each: { backupId: string }) => each.backupId)).toEqual(ids.toReversed());
  });

  it('of a device that does not exist is 2001; an invalid page is 1001', async () => {
    expect(await call('GET', `${pathOf('DEV-99999')}/list`)).toMatchObject({ status: 404, code: 2001 });
    expect(await call('GET', `${pathOf(await device())}/list?size=101`)).toMatchObject({ status: 400, code: 1001 });
  });
});

describe('the download of a backup', () => {
  it('is the file or a part of it, with its digest as ETag', async () => {
    const { path, record } = await backup(await device(), 'sealed bytes');
    const whole = await download(daemon, `${path}/download`);
    expect([whole.status, whole.bytes.toString()]).toEqual([200, 'sealed bytes']);
    expect(whole.headers.get('etag')).toBe(`"${record.sha256}"`);
    expect(whole.headers.get('content-disposition')).toContain('attachment; filename="key.bak"');
    const part = await download(daemon, `${path}/download`, { range: 'bytes=-5' });
    expect([part.status, part.bytes.toString()]).toEqual([206, 'bytes']);
    expect((await download(daemon, `${path}/download`, { range: 'bytes=12-' })).status).toBe(416);
  });

  it('is possible in every state of the device', async () => {
    const deviceId = await device();
    const { path } = await backup(deviceId);
    await move(deviceId, 'DEACTIVATED');
    expect((await download(daemon, `${path}/download`)).status).toBe(200);
  });
});

describe('a restore', () => {
  it('returns the record and when it was verified', async () => {
    const { path, record } = await backup(await device());
    const { code, data } = await call('POST', `${path}/restore`);
    expect(code).toBe(200);
    expect(data).toEqual({ ...record, restoredAt: expect.stringMatching(/Z$/) });
  });

  it.each(['ACTIVE', 'LOCKED'] as const)('is possible for a device that is %s', async state => {
    const deviceId = await device();
    const { path } = await backup(deviceId);
    await move(deviceId, state);
    expect((await call('POST', `${path}/restore`)).code).toBe(200);
  });

  it('for a device that is DEACTIVATED is 2005', async () => {
    const deviceId = await device();
    const { path } = await backup(deviceId);
    await move(deviceId, 'DEACTIVATED');
    expect(await call('POST', `${path}/restore`)).toMatchObject({ status: 400, code: 2005 });
  });
});

describe.each(['download', 'restore'] as const)('3001 and 3002 at %s:', what => {
  const method = what === 'restore' ? 'POST' : 'GET';

  it('a backup that does not exist, or that belongs to another device: 3001', async () => {
    const [one, other] = [await device(), await device()];
    const { backupId } = await backup(other);
    for (const id of ['BKP-99999', 'BKP-0', 'bkp-1', 'x', backupId])
      expect(await call(method, `${pathOf(one)}/${id}/${what}`)).toMatchObject({ status: 404, code: 3001 });
    expect(await call(method, `${pathOf('DEV-99999')}/${backupId}/${what}`)).toMatchObject({ code: 2001 });
  });

  it('a file with one byte changed: 3002', async () => {
    const { path, stored } = await backup(await device());
    const bytes = await readFile(stored);
    bytes[0]! ^= 1;
    await writeFile(stored, bytes);
    expect(await call(method, `${path}/${what}`)).toMatchObject({ status: 400, code: 3002, data: null });
  });

  it('a truncated file: 3002', async () => {
    const { path, stored } = await backup(await device());
    await truncate(stored, 2);
    expect(await call(method, `${path}/${what}`)).toMatchObject({ status: 400, code: 3002 });
  });

  it('a file that is missing: 3002', async () => {
    const { path, stored } = await backup(await device());
    await rm(stored);
    expect(await call(method, `${path}/${what}`)).toMatchObject({ status: 400, code: 3002 });
  });
});

describe('the permission for backups', () => {
  it('is that of ADMIN and DEALER; a VIEWER may only read', async () => {
    const deviceId = await device();
    const [dealer, viewer] = [await daemon.user('bk-dealer', 'DEALER'), await daemon.user('bk-viewer', 'VIEWER')];
    const made = await create(deviceId, undefined, dealer.token);
    expect(made.code).toBe(200);
    const path = `${pathOf(deviceId)}/${made.data.backupId}`;
    expect((await call('POST', `${path}/restore`, dealer.token)).code).toBe(200);
    expect(await create(deviceId, undefined, viewer.token)).toMatchObject({ status: 403, code: 2007 });
    expect(await call('POST', `${path}/restore`, viewer.token)).toMatchObject({ status: 403, code: 2007 });
    expect((await call('GET', `${pathOf(deviceId)}/list`, viewer.token)).code).toBe(200);
  });

  it('a backup and a restore count as modifications; lists and downloads as queries', async () => {
    const limits = { login: null, query: { count: 5, seconds: 60 }, modify: { count: 2, seconds: 60 }, upload: null };
    const limited = await startTestDaemon({ limits });
    try {
      const left = async (method: string, path: string) =>
        (await limited.call(method, path)).headers.get('x-ratelimit-remaining');
      expect(await left('POST', '/api/devices/DEV-1/backups')).toBe('1');
      expect(await left('POST', '/api/devices/DEV-1/backups/BKP-1/restore')).toBe('0');
      expect((await limited.call('POST', '/api/devices/DEV-1/backups')).code).toBe(429);
      expect(await left('GET', '/api/devices/DEV-1/backups/list')).toBe('4');
      expect(await left('GET', '/api/devices/DEV-1/backups/BKP-1/download')).toBe('3');
    } finally {
      await limited.stop();
    }
  });
});
