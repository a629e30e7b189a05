/** Uploads that are interrupted by the client, the store or another request. */
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { Conflict, OutcomeUnknown, StoreFailure } from '../../daemon/store/commit.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { filesIn, partHead } from '../support/forms.ts';
import { beginUpload, block, formStart, MiB } from '../support/sending.ts';
import { startUploadServer, type UploadServerOptions } from '../support/upload-server.ts';

type Server = Awaited<ReturnType<typeof startUploadServer>>;

async function withServer(options: UploadServerOptions, test: (server: Server) => Promise<void>): Promise<void> {
  const server = await startUploadServer(options);
  try {
    await test(server);
  } finally {
    await server.stop();
  }
}

it('a client that stalls gets 4002, and its file is removed', () =>
  withServer({ formTimes: { stall: 50, drain: 60_000 } }, async server => {
    const upload = beginUpload(server, '1.0.0', { size: MiB });
    await upload.file(block.length);
    expect(await upload.answered).toMatchObject({
      status: 400,
      code: 4002,
      message: expect.stringContaining('stalled'),
    });
    expect(await filesIn(server)).toEqual([]);
    upload.request.destroy();
  }));

it('a form that ends early after its file is refused with 4002, and the file is removed', () =>
  withServer({}, async server => {
    const upload = beginUpload(server, '1.0.0');
    await upload.file(MiB);
    upload.request.write(`\r\n${partHead('changelog', '')}never end`);
    await expect.poll(async () => (await stat((await filesIn(server))[0]!)).size).toBe(MiB);
    upload.request.end();
    expect(await upload.answered).toMatchObject({ code: 4002, message: expect.stringContaining('broken') });
    expect(await filesIn(server)).toEqual([]);
  }));

it('a refused client that never sends the rest is disconnected', () =>
  withServer({ formTimes: { stall: 60_000, drain: 50 } }, async server => {
    const headers = { connection: 'keep-alive' };
    const upload = beginUpload(server, '1.0.0', { size: MiB, start: formStart('1.0.0', 'a.exe'), headers });
    await upload.file(block.length);
    expect(await upload.answered).toMatchObject({ code: 4002 });
    const { socket } = upload.request;
    if (!socket!.closed) await once(socket!, 'close');
    expect(socket!.destroyed).toBe(true);
  }));

it.each([
  ['cannot record it', () => new StoreFailure('no'), 500],
  ['reports a conflict', () => new Conflict('no'), 500],
] as const)('a file is removed if the store %s', (_how, error, code) =>
  withServer({ between: () => ({ commit: () => Promise.reject(error()) }) }, async server => {
    const upload = beginUpload(server, '1.0.0', { size: MiB });
    await upload.file(MiB);
    upload.end();
    expect(await upload.answered).toMatchObject({ status: code, code });
    expect(await filesIn(server)).toEqual([]);
  }),
);

it('a file is kept if its record may have been written', () =>
  withServer({ between: () => ({ commit: () => Promise.reject(new OutcomeUnknown('no answer')) }) }, async server => {
    const upload = beginUpload(server, '1.0.0', { size: MiB });
    await upload.file(MiB);
    upload.end();
    expect(await upload.answered).toMatchObject({ status: 503, code: 500 });
    expect(await filesIn(server)).toHaveLength(1);
  }));

it('a duplicate recorded while the file arrives is refused with 4002, and the file is removed', () =>
  withServer(
    { between: () => ({ commit: async () => [{ kind: 'duplicate', number: 7, status: null }] }) },
    async server => {
      const upload = beginUpload(server, '1.0.0', { size: MiB });
      await upload.file(MiB);
      upload.end();
      expect(await upload.answered).toMatchObject({ code: 4002, message: expect.stringContaining('APP-7') });
      expect(await filesIn(server)).toEqual([]);
    },
  ));

it('a backup of a device that is locked during the upload is refused with 2004, and the file is removed', async () => {
  const daemon = await startTestDaemon();
  try {
    const device = { deviceType: 'UKEY', serialNumber: 'LATE-1', manufacturer: 'Feitian', model: 'K9' };
    const { deviceId, activationCode } = (await daemon.call('POST', '/api/devices/register', device)).data;
    await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
    const target = { url: daemon.url, token: daemon.adminToken };
    const backup = beginUpload(target, '1.0.0', { size: MiB, path: `/api/devices/${deviceId}/backups` });
    await backup.file(block.length);
    await expect.poll(() => filesIn(daemon)).toHaveLength(1);
    expect((await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' })).code).toBe(200);
    await backup.file(MiB - block.length);
    backup.end();
    expect(await backup.answered).toMatchObject({ status: 400, code: 2004 });
    expect(await filesIn(daemon)).toEqual([]);
  } finally {
    await daemon.stop();
  }
});
