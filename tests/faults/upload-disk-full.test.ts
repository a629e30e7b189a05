import { readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openBlobFolder } from '../../daemon/files/blob-folder.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { filesIn } from '../support/forms.ts';
import { beginUpload, KiB, MiB } from '../support/sending.ts';
import { mountSmallDisk, needsMount, type SmallDisk } from '../support/small-disk.ts';

needsMount('a full disk', () => {
  let disk: SmallDisk;
  let daemon: DaemonProcess;
  let home: string;
  beforeAll(async () => {
    disk = await mountSmallDisk(24 * MiB);
    home = join(disk.dir, 'home');
    daemon = await spawnDaemon({ home });
  });
  afterAll(async () => {
    try {
      await daemon.stop();
    } finally {
      await disk.unmount();
    }
  });
  const filler = () => join(disk.dir, 'filler');
  afterEach(() => rm(filler(), { force: true }));

  const free = async () => {
    const { bavail, bsize } = await statfs(disk.dir);
    return bavail * bsize;
  };
  const leaveFree = async (bytes: number) => writeFile(filler(), Buffer.alloc((await free()) - bytes));

  async function upload(version: string, size: number, announced: boolean) {
    const sending = beginUpload(daemon, version, announced ? { size } : {});
    await sending.file(size);
    sending.end();
    return sending.answered;
  }
  let serial = 0;
  const register = () =>
    daemon.call('POST', '/api/devices/register', {
      deviceType: 'UKEY',
      serialNumber: `FULL-${++serial}`,
      manufacturer: 'Feitian',
      model: 'K9',
    });

  it('refuses a file of unknown length with 4002; nothing stays, and the daemon keeps working', async () => {
    const before = await free();
    expect(await upload('1.0.0', 32 * MiB, false)).toMatchObject({ status: 400, code: 4002, data: null });
    expect(await filesIn({ home })).toEqual([]);
    expect(await free()).toBeGreaterThan(before - MiB);
    expect(await register()).toMatchObject({ code: 200 });
  });

  it('refuses an announced length with 4002 before the file arrives', async () => {
    const sending = beginUpload(daemon, '1.0.0', { size: 32 * MiB });
    await sending.file(64 * KiB);
    expect(await sending.answered).toMatchObject({ status: 400, code: 4002 });
    sending.request.destroy();
    expect(await filesIn({ home })).toEqual([]);
  });

  it('that has room for the file but not for its record: 4002, and the file is removed', async () => {
    const size = 256 * KiB;
    await leaveFree(size);
    expect(await upload('1.0.0', size, false)).toMatchObject({ status: 400, code: 4002, data: null });
    expect(await filesIn({ home })).toEqual([]);
  });

  it('is noticed in the last page of a file: a partial write is not a success', async () => {
    const dir = join(disk.dir, 'other');
    const blobs = await openBlobFolder(dir);
    await leaveFree(256 * KiB);
    const received = blobs.receive(Readable.from([Buffer.alloc(256 * KiB + 1, 7)]), MiB);
    await expect(received).rejects.toMatchObject({ problem: 'disk-full' });
    expect(await readdir(join(dir, 'incoming'))).toEqual([]);
  });

  it('accepts the same upload once there is room', async () => {
    expect(await upload('1.0.0', 4 * MiB, true)).toMatchObject({ code: 200, data: { fileSize: 4 * MiB } });
    expect(await filesIn({ home })).toHaveLength(1);
  });
});
