/** Uploads of the maximum size, to a daemon in its own process, so that its memory can be measured. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { filesIn } from '../support/forms.ts';
import { beginUpload, GiB, MiB } from '../support/sending.ts';

let home: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  // On a disk: 2 GiB are too much for the folder in memory, which also takes them faster than any disk of an operator.
  home = await mkdtemp('/var/tmp/devmgr-large-');
  daemon = await spawnDaemon({ home });
  idleMemory = bytesOf(await status(), 'VmRSS');
  // Resets the peak: the password hash of the login alone takes 32 MiB for a moment.
  await writeFile(`/proc/${daemon.pid}/clear_refs`, '5');
});
afterAll(async () => {
  await daemon.stop();
  await rm(home, { recursive: true, force: true });
});

const status = async () => readFile(`/proc/${daemon.pid}/status`, 'utf8');
const bytesOf = (text: string, field: string) => Number(new RegExp(`${field}:\\s*(\\d+) kB`).exec(text)![1]) * 1024;
let idleMemory: number;

/** SHA-256 of 2 GiB of the repeated block, computed with another program (Python's hashlib). */
const digestOf2GiB = 'd317fc8a5d2ae8df7b62897cbfe88ad8ef237cb0f7e5ad522105cf02f67ce66a';

describe('an upload of 2 GiB', () => {
  it('leaves no file if the client disconnects at 1 GiB', async () => {
    const upload = beginUpload(daemon, '1.0.0', { size: 2 * GiB });
    await upload.file(GiB);
    expect(await filesIn({ home })).toHaveLength(1);
    upload.request.destroy();
    await expect.poll(() => filesIn({ home }), { timeout: 20_000 }).toEqual([]);
  });

  it('plus one byte is refused with 4002 and leaves no file', async () => {
    const upload = beginUpload(daemon, '1.0.0', { size: 2 * GiB + 1 });
    await upload.file(2 * GiB + 1);
    upload.end();
    expect(await upload.answered).toMatchObject({ status: 400, code: 4002, data: null });
    expect(await filesIn({ home })).toEqual([]);
  });

  it('is stored completely, with the right digest', async () => {
    const upload = beginUpload(daemon, '1.0.0', { size: 2 * GiB });
    await upload.file(2 * GiB);
    upload.end();
    const { code, data } = await upload.answered;
    expect({ code, data }).toMatchObject({ code: 200, data: { fileSize: 2 ** 31, sha256: digestOf2GiB } });
    const [stored, ...others] = await filesIn({ home });
    expect(others).toEqual([]);
    expect((await stat(stored!)).size).toBe(2 ** 31);
  });

  // With the memory of an idle daemon (at most 110 MiB when built), this stays well below 160 MiB.
  it('never takes more than 32 MiB of memory', async () => {
    expect(bytesOf(await status(), 'VmHWM') - idleMemory).toBeLessThan(32 * MiB);
  });
});
