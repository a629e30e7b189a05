/** How much clients may store: in total, of the disk, and each user in a day. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileBounds } from '../../daemon/home/bounds.ts';
import { readSetting } from '../../daemon/home/given-settings.ts';
import { noFileBounds, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { backUp, deviceIn, packageForm, register, upload } from '../support/fleet.ts';
import { filesIn } from '../support/forms.ts';
import { beginUpload, KiB, MiB } from '../support/sending.ts';

let daemon: TestDaemon;
beforeEach(async () => {
  daemon = await startTestDaemon();
});
afterEach(() => daemon?.stop());

const bounded = (bounds: Partial<FileBounds>) => daemon.restart({ fileBounds: { ...noFileBounds, ...bounds } });
const ofSize = (size: number) => packageForm({}, { content: new Uint8Array(size) });
const store = async (size: number) => (await upload(daemon, ofSize(size))).code;
/** Without an announced length. */
async function storeUnannounced(version: string, size: number) {
  const sending = beginUpload({ url: daemon.url, token: daemon.adminToken }, version);
  await sending.file(size);
  sending.end();
  return sending.answered;
}

describe('all files together', () => {
  it('have a bound, also after a restart; a file beyond it is 4002 and nothing of it stays', async () => {
    await bounded({ total: 10 * KiB });
    expect([await store(6 * KiB), await store(6 * KiB), await store(2 * KiB)]).toEqual([200, 4002, 200]);
    await bounded({ total: 10 * KiB });
    expect(await store(6 * KiB)).toBe(4002);
    expect(await filesIn(daemon)).toHaveLength(2);
  });

  it('have the bound also if the length of a file is not announced', async () => {
    await bounded({ total: 2 * MiB });
    expect(await storeUnannounced('7.0.0', 3 * MiB)).toMatchObject({ code: 4002, status: 400 });
    expect(await filesIn(daemon)).toEqual([]);
    expect(await storeUnannounced('7.0.1', MiB)).toMatchObject({ code: 200 });
  });

  it('have the bound for uploads at the same time', async () => {
    await bounded({ total: 5 * MiB });
    const target = { url: daemon.url, token: daemon.adminToken };
    const first = beginUpload(target, '8.0.0', { size: 3 * MiB });
    await first.file(64 * KiB);
    await expect.poll(() => filesIn(daemon)).toHaveLength(1);
    const second = beginUpload(target, '8.0.1', { size: 3 * MiB });
    await second.file(64 * KiB);
    expect(await second.answered).toMatchObject({ code: 4002 });
    second.request.destroy();
    await first.file(3 * MiB - 64 * KiB);
    first.end();
    expect(await first.answered).toMatchObject({ code: 200 });
  });

  it('count backups of devices as well', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    await bounded({ total: 1 });
    expect(await backUp(daemon, deviceId)).toMatchObject({ status: 400, code: 4002 });
  });
});

describe('the free space', () => {
  it('that is left for the registry is not used by uploads; changes continue', async () => {
    await bounded({ reserve: () => Number.MAX_SAFE_INTEGER });
    expect(await upload(daemon, ofSize(KiB))).toMatchObject({
      status: 400,
      code: 4002,
      message: 'the disk of the service is full; nothing was stored',
    });
    expect((await register(daemon)).deviceId).toMatch(/^DEV-/);
  });
});

describe('the day of a user', () => {
  it('has a number of files; then 429 with the time at which it ends, for this user only', async () => {
    const other = await daemon.user('other', 'ADMIN');
    await bounded({ daily: { count: 2, bytes: MiB } });
    expect([await store(KiB), await store(KiB)]).toEqual([200, 200]);
    const refused = await upload(daemon, ofSize(KiB));
    expect(refused).toMatchObject({
      status: 429,
      code: 429,
      message: expect.stringContaining('your daily upload limit is reached'),
    });
    const after = Number(refused.headers.get('retry-after'));
    expect(after).toBeGreaterThan(23 * 3600);
    expect(after).toBeLessThanOrEqual(24 * 3600);
    const raw = ofSize(KiB);
    expect((await daemon.call('POST', '/api/app-versions/upload', undefined, { raw, token: other.token })).code).toBe(
      200,
    );
  });

  it('has a number of bytes', async () => {
    await bounded({ daily: { count: 10, bytes: 10 * KiB } });
    expect([await store(6 * KiB), await store(6 * KiB), await store(2 * KiB)]).toEqual([200, 429, 200]);
    expect(await storeUnannounced('7.0.0', MiB)).toMatchObject({ status: 429, code: 429 });
  });

  it('does not count what was not stored', async () => {
    await bounded({ daily: { count: 2, bytes: MiB } });
    const form = () => packageForm({ version: '9.9.9' });
    expect((await upload(daemon, form())).code).toBe(200);
    expect((await upload(daemon, form())).code).toBe(4002);
    expect((await upload(daemon, packageForm({}, { content: '' }))).code).toBe(4002);
    expect(await store(KiB)).toBe(200);
  });
});

describe('the settings', () => {
  const read = (env: Readonly<Record<string, string>>) => readSetting('fileBounds', {}, env);
  const [GiB, TiB] = [2 ** 30, 2 ** 40];

  it('have defaults that leave 1 GiB, or 5 % of a small disk', () => {
    const { total, reserve, daily } = read({});
    expect({ total, daily }).toEqual({ total: 500 * GiB, daily: { count: 10_000, bytes: 100 * GiB } });
    expect([reserve(TiB), reserve(20 * MiB)]).toEqual([GiB, MiB]);
  });

  it('are read from the environment', () => {
    const { total, reserve, daily } = read({
      DEVMGR_FILES_TOTAL: '2T',
      DEVMGR_FILES_RESERVE: '512M',
      DEVMGR_FILES_DAILY: '5/1000',
    });
    expect({ total, daily }).toEqual({ total: 2 * TiB, daily: { count: 5, bytes: 1000 } });
    expect(reserve(TiB)).toBe(512 * MiB);
  });

  it('can be off', () => {
    const { total, reserve, daily } = read({
      DEVMGR_FILES_TOTAL: 'off',
      DEVMGR_FILES_RESERVE: 'off',
      DEVMGR_FILES_DAILY: 'off',
    });
    expect([total, reserve(TiB), daily]).toEqual([null, 0, null]);
  });

  it.each([
    ['DEVMGR_FILES_TOTAL', '5 GB'],
    ['DEVMGR_FILES_TOTAL', '-1'],
    ['DEVMGR_FILES_RESERVE', '5%'],
    ['DEVMGR_FILES_DAILY', '5'],
    ['DEVMGR_FILES_DAILY', '0/5G'],
    ['DEVMGR_FILES_DAILY', '5/5G/5'],
  ])('%s=%s ends a start with exit code 2', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(
      expect.objectContaining({ exitCode: 2, message: `${name} is malformed` }),
    );
  });
});
