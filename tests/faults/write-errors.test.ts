/** A disk that is full or fails: changes are refused, nothing is lost, and the daemon recovers automatically. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Home } from '../../daemon/home/home.ts';
import { subjects } from '../../daemon/start/subjects.ts';
import { checkDatabase } from '../../daemon/store/sqlite/check.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { filesIn } from '../support/forms.ts';
import { needs } from '../support/needs.ts';
import { beginUpload, KiB, MiB } from '../support/sending.ts';
import { mountSmallDisk, needsMount, type SmallDisk } from '../support/small-disk.ts';

let daemon: DaemonProcess;
let home: string;
/** Serial numbers of acknowledged registrations. */
let acknowledged: string[];
let tried = 0;

const register = async () => {
  const serialNumber = `DISK-${++tried}`;
  const device = { deviceType: 'UKEY', serialNumber, manufacturer: 'Feitian', model: 'K9' };
  const answer = await daemon.call('POST', '/api/devices/register', device);
  if (answer.code === 200) acknowledged.push(serialNumber);
  return answer;
};
const registerBatch = async (size: number) => {
  const serials = Array.from({ length: size }, () => `DISK-${++tried}`);
  const devices = serials.map(serialNumber => ({
    deviceType: 'UKEY',
    serialNumber,
    manufacturer: 'Feitian',
    model: 'K9',
  }));
  const answer = await daemon.call('POST', '/api/devices/batch-register', { devices });
  if (answer.code === 200) acknowledged.push(...serials);
  return answer;
};
const health = async () => (await daemon.call('GET', '/api/health')) as { status: number; data: { status: string } };
const total = async () => {
  const { data } = await daemon.call('GET', '/api/devices/list?size=1');
  return (data as { pagination: { total: number } }).pagination.total;
};

/** Eight clients register until one is refused; returns the refusals. */
async function registerUntilRefused(): Promise<{ status: number; code: number; message: string; data: unknown }[]> {
  const refusals: Awaited<ReturnType<typeof register>>[] = [];
  const client = async (send: () => ReturnType<typeof register>) => {
    while (refusals.length === 0) {
      const answer = await send();
      if (answer.code !== 200) refusals.push(answer);
    }
  };
  await Promise.all([...Array(7).fill(register), () => registerBatch(500)].map(client));
  return refusals;
}

const refusal = {
  status: 500,
  code: 500,
  data: null,
  message: expect.stringMatching(/the store failed; nothing was changed/),
};

/** Refusal, degraded health and recovery, whatever is wrong with the disk. */
async function failsAndRecovers(repair: () => Promise<void> | void): Promise<void> {
  // Large changes are refused first; in the end there is no room for any.
  do for (const answer of await registerUntilRefused()) expect(answer).toMatchObject(refusal);
  while ((await health()).data.status === 'ok');
  expect(await health()).toMatchObject({ status: 503, code: 500, data: { status: 'degraded', ready: false } });
  expect(await total()).toBe(acknowledged.length);
  expect(daemon.output()).toMatch(/"level":"error".*StoreFailure/);
  await repair();
  expect(await health()).toMatchObject({ data: { status: 'ok', ready: true } });
  expect(await register()).toMatchObject({ code: 200 });
  expect(await registerBatch(100)).toMatchObject({ code: 200 });
  await daemon.kill();
  daemon = await spawnDaemon({ home });
  expect(await total()).toBe(acknowledged.length);
  for (const serial of [acknowledged[0], acknowledged.at(-1)])
    expect((await daemon.call('GET', `/api/devices/list?keyword=${serial}`)).code).toBe(200);
  expect(await daemon.stop()).toBe(0);
  const key = await (await Home.open(home)).secretKey('journalKey');
  const report = await checkDatabase(subjects, join(home, 'devmgr.db'), key);
  expect(report).toMatchObject({ problems: [], devices: acknowledged.length });
}

needsMount('with a disk that becomes full', () => {
  let disk: SmallDisk;
  beforeEach(async () => {
    acknowledged = [];
    disk = await mountSmallDisk(12 * MiB);
    home = join(disk.dir, 'home');
    daemon = await spawnDaemon({ home });
  });
  afterEach(async () => {
    await daemon.kill();
    await disk.unmount();
  });
  const filler = () => join(disk.dir, 'filler');
  const fill = async (leave: number) => {
    const { bavail, bsize } = await statfs(disk.dir);
    await writeFile(filler(), Buffer.alloc(Math.max(0, bavail * bsize - leave)));
  };

  it('the daemon refuses changes, stays up, reports itself degraded, and recovers when there is room', async () => {
    await register();
    await fill(MiB);
    await failsAndRecovers(() => rm(filler()));
  });

  it('the daemon refuses a change that does not fit, and accepts it when there is room', async () => {
    await fill(0);
    expect(await register()).toMatchObject(refusal);
    expect(await total()).toBe(0);
    await rm(filler());
    expect(await register()).toMatchObject({ code: 200 });
  });
});

needs('prlimit', 'util-linux')('with a disk that fails to write', () => {
  beforeEach(async () => {
    acknowledged = [];
    home = await mkdtemp(join(tmpdir(), 'devmgr-disk-'));
    daemon = await spawnDaemon({ home });
  });
  afterEach(async () => {
    await daemon.kill();
    await rm(home, { recursive: true, force: true });
  });
  /** No file of the daemon may grow beyond this: a larger write fails with an error other than "disk full". */
  const limit = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(daemon.pid), `--fsize=${bytes}:`]);

  it('the daemon refuses changes, stays up, reports itself degraded, and recovers when writes succeed', async () => {
    await register();
    limit(MiB);
    await failsAndRecovers(() => void limit('unlimited'));
  });

  it('a failed upload leaves nothing, and succeeds once writes succeed', async () => {
    limit(MiB);
    const upload = async () => {
      const sending = beginUpload(daemon, '1.0.0', { size: 2 * MiB });
      await sending.file(2 * MiB);
      sending.end();
      return sending.answered;
    };
    expect(await upload()).toMatchObject({ status: 400, code: 4002, data: null });
    expect(await filesIn({ home })).toEqual([]);
    limit('unlimited');
    expect(await upload()).toMatchObject({ code: 200, data: { fileSize: 2048 * KiB } });
  });
});

/** Only root may trace a process that is not its child. */
const needsTracing =
  process.getuid?.() === 0
    ? needs('strace')
    : (name: string, body: () => void) => describe.skip(`${name} (skipped: only root may trace the daemon)`, body);

needsTracing('with a disk whose fsync fails', () => {
  beforeEach(async () => {
    acknowledged = [];
    home = await mkdtemp(join(tmpdir(), 'devmgr-disk-'));
    daemon = await spawnDaemon({ home });
  });
  afterEach(async () => {
    await daemon.kill();
    await rm(home, { recursive: true, force: true });
  });

  /** Makes every fsync of the daemon fail until the returned function is called. */
  async function failSync(): Promise<() => Promise<void>> {
    const calls = 'fsync,fdatasync,sync_file_range';
    const flags = ['-f', '-e', `trace=${calls}`, '-e', `inject=${calls}:error=EIO`, '-p', String(daemon.pid)];
    const tracer = spawn('strace', flags, { stdio: ['ignore', 'ignore', 'pipe'] });
    await once(tracer.stderr, 'data');
    tracer.stderr.resume();
    return async () => {
      tracer.kill('SIGINT');
      await once(tracer, 'exit');
    };
  }

  it('a change is refused, and absent after the next start', async () => {
    await register();
    const repair = await failSync();
    expect(await register()).toMatchObject(refusal);
    expect(await registerBatch(100)).toMatchObject(refusal);
    await failsAndRecovers(repair);
  });
});
