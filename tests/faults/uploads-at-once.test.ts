/** How many uploads arrive at the same time, and when one makes room for the next. */
import { expect, it, onTestFinished } from 'vitest';
import { uploadQuota } from '../../daemon/http/connections.ts';
import { uploadBounds } from '../../src/contract/limits.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { filesIn } from '../support/forms.ts';
import { beginUpload, block, MiB, type Sending, type Target } from '../support/sending.ts';
import { startUploadServer } from '../support/upload-server.ts';

/** Starts an upload that sends a part of its file and then nothing. */
async function slowUpload(target: Target, version: string, path?: string): Promise<Sending> {
  const upload = beginUpload(target, version, { size: MiB, ...(path === undefined ? {} : { path }) });
  onTestFinished(() => void upload.request.destroy());
  await upload.file(block.length);
  return upload;
}

/** The headers of the response to an upload. */
const headersOf = async ({ request }: Sending) =>
  new Promise<NodeJS.Dict<string | string[]>>(resolve => request.once('response', ({ headers }) => resolve(headers)));

const { each } = uploadBounds;

async function startDaemon(settings: Parameters<typeof startTestDaemon>[0] = {}) {
  const daemon = await startTestDaemon(settings);
  onTestFinished(() => daemon.stop());
  return daemon;
}

it('a user has a bounded number of uploads at a time, of packages and backups together; a further one is 429 with Retry-After before any of it is stored', async () => {
  const daemon = await startDaemon();
  const admin = { url: daemon.url, token: daemon.adminToken };
  const device = { deviceType: 'UKEY', serialNumber: 'SLOW-1', manufacturer: 'Feitian', model: 'K9' };
  const { deviceId, activationCode } = (await daemon.call('POST', '/api/devices/register', device)).data;
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
  const backups = `/api/devices/${deviceId}/backups`;
  const slow = [await slowUpload(admin, '1.0.0'), await slowUpload(admin, '1.0.1')];
  while (slow.length < each) slow.push(await slowUpload(admin, '1.0.0', backups));
  await expect.poll(() => filesIn(daemon)).toHaveLength(each);
  for (const path of [undefined, backups]) {
    const further = beginUpload(admin, '1.0.2', { size: MiB, ...(path === undefined ? {} : { path }) });
    onTestFinished(() => void further.request.destroy());
    const headers = headersOf(further);
    expect(await further.answered).toMatchObject({ status: 429, code: 429, data: null });
    expect(await headers).toMatchObject({ 'retry-after': '5' });
  }
  expect(await filesIn(daemon)).toHaveLength(each);
  const other = await slowUpload(
    { url: daemon.url, token: (await daemon.user('dealer', 'DEALER')).token },
    '',
    backups,
  );
  await expect.poll(() => filesIn(daemon)).toHaveLength(each + 1);
  for (const { request } of [...slow, other]) request.destroy();
  await expect.poll(() => filesIn(daemon)).toEqual([]);
  const next = await slowUpload(admin, '1.0.3');
  await next.file(MiB - block.length);
  next.end();
  expect(await next.answered).toMatchObject({ status: 200 });
});

it('an upload that is refused for those at the same time does not count in the window of the limit', async () => {
  const limits = { login: null, query: null, modify: null, upload: { count: each + 1, seconds: 3600 } };
  const daemon = await startDaemon({ limits });
  const admin = { url: daemon.url, token: daemon.adminToken };
  for (let n = 0; n < each; n++) await slowUpload(admin, `1.0.${n}`);
  await expect.poll(() => filesIn(daemon)).toHaveLength(each);
  for (let n = 0; n < 3; n++) {
    const refused = await slowUpload(admin, '2.0.0');
    expect((await refused.answered).message).toContain('too many uploads are running');
  }
});

it('an upload that stalls makes room for another, and its file is removed', async () => {
  const server = await startUploadServer({ formTimes: { stall: 300, drain: 60_000 }, uploads: { each: 1, all: 1 } });
  onTestFinished(() => server.stop());
  const stalled = await slowUpload(server, '1.0.0');
  const refused = await slowUpload(server, '1.0.1');
  expect(await refused.answered).toMatchObject({ status: 429 });
  expect(await stalled.answered).toMatchObject({ code: 4002 });
  expect(await filesIn(server)).toEqual([]);
  const next = await slowUpload(server, '1.0.2');
  await next.file(MiB - block.length);
  next.end();
  expect(await next.answered).toMatchObject({ status: 200 });
});

it('a daemon that may open few files receives fewer uploads', () => {
  expect(uploadQuota(1024)).toEqual({ each: 16, all: 64 });
  expect(uploadQuota(256)).toEqual({ each: 16, all: 24 });
  expect(uploadQuota(Number.POSITIVE_INFINITY)).toEqual({ each: 16, all: 64 });
});
