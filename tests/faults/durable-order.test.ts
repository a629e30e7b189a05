/** Acknowledged means on disk, as seen in the system calls: a response is sent after the data was written and synced. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signingKeys } from '../../daemon/accounts/signing-keys.ts';
import { Home } from '../../daemon/home/home.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { type DiskTrace, type TracedCall, traceDisk } from '../support/disk-trace.ts';
import { needs } from '../support/needs.ts';
import { beginUpload, KiB } from '../support/sending.ts';

/** Only root may trace a process that is not its child. */
const needsTracing =
  process.getuid?.() === 0
    ? needs('strace')
    : (name: string, body: () => void) => describe.skip(`${name} (skipped: only root may trace the daemon)`, body);

needsTracing('the order of system calls', () => {
  let home: string;
  let daemon: DaemonProcess;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'devmgr-order-'));
    daemon = await spawnDaemon({ home });
  });
  afterEach(async () => {
    await daemon.stop();
    await rm(home, { recursive: true, force: true });
  });

  /** A call may be reported after its effect, but before the next call of the same thread: another request causes that call. */
  const endOf = async (trace: DiskTrace) => {
    await daemon.call('GET', '/api/health');
    return trace.end();
  };
  const isSync = ({ name }: TracedCall) => name === 'fsync' || name === 'fdatasync';
  const isAnswer = ({ name, args }: TracedCall) => /^write|^sendto/.test(name) && args.includes('"HTTP/1.1 200');
  const isSyncOf = (path: string) => (call: TracedCall) => isSync(call) && call.args.includes(`<${path}>`);

  it('a registration is answered after the write-ahead log was synced', async () => {
    const trace = await traceDisk(daemon.pid);
    const device = { deviceType: 'UKEY', serialNumber: 'ORDER-1', manufacturer: 'Feitian', model: 'K9' };
    expect((await daemon.call('POST', '/api/devices/register', device)).code).toBe(200);
    const calls = await endOf(trace);
    const synced = calls.findLastIndex(isSyncOf(join(home, 'devmgr.db-wal')));
    expect(synced).toBeGreaterThanOrEqual(0);
    expect(calls.findIndex(isAnswer)).toBeGreaterThan(synced);
  });

  it('a key is durable in its folder before anything is signed with it', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'devmgr-key-'));
    const home = await Home.open(dir);
    const trace = await traceDisk(process.pid);
    await home.secretKey('journalKey');
    await signingKeys(home, 0);
    const calls = await trace.end();
    for (const key of ['journal-key', 'signing-key']) {
      const named = calls.findIndex(({ name, args }) => name.startsWith('link') && args.endsWith(`${key}"`));
      expect(named).toBeGreaterThan(0);
      expect(calls.slice(0, named).some(call => isSync(call) && call.args.includes(join(dir, key)))).toBe(true);
      expect(calls.slice(named).some(isSyncOf(dir))).toBe(true);
    }
    await rm(dir, { recursive: true, force: true });
  });

  it('an upload is synced, then named, then its folder synced, then recorded, then answered', async () => {
    const trace = await traceDisk(daemon.pid);
    const upload = beginUpload(daemon, '1.0.0', { size: 64 * KiB });
    await upload.file(64 * KiB);
    upload.end();
    expect(await upload.answered).toMatchObject({ code: 200 });
    const calls = await endOf(trace);
    const blobs = join(home, 'blobs');
    const steps = [
      calls.findIndex(call => isSync(call) && call.args.includes(`<${join(blobs, 'incoming')}/`)),
      calls.findIndex(({ name, args }) => name.startsWith('rename') && args.includes(join(blobs, 'incoming'))),
      calls.findIndex(isSyncOf(blobs)),
      calls.findLastIndex(isSyncOf(join(home, 'devmgr.db-wal'))),
      calls.findIndex(isAnswer),
    ];
    expect(steps).not.toContain(-1);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
  });
});
