/** Disks that are full or fail under a daemon: a clear refusal, nothing lost, and work goes on by itself when they are well again. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Home } from '../../daemon/home/home.ts';
import { checkDatabase } from '../../daemon/store/sqlite/index.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { filesIn } from '../support/forms.ts';
import { needs } from '../support/needs.ts';
import { beginUpload, KiB, MiB } from '../support/sending.ts';
import { mountSmallDisk, needsMount, type SmallDisk } from '../support/small-disk.ts';

let daemon: DaemonProcess;
let home: string;
/** Serials of acknowledged registrations. */
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

/** Eight clients register until one is refused; what they are told. */
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
  message: expect.stringMatching(/cannot store changes at present; nothing was changed/),
};

/** The whole story, however the disk is made ill. */
async function holdsThrough(makeWell: () => Promise<void> | void): Promise<void> {
  // What is refused at first is what is large; in the end there is no room for anything.
  do for (const answer of await registerUntilRefused()) expect(answer).toMatchObject(refusal);
  while ((await health()).data.status === 'ok');
  expect(await health()).toMatchObject({ status: 200, data: { status: 'degraded', ready: false } });
  expect(await total()).toBe(acknowledged.length);
  expect(daemon.output()).toMatch(/"level":"error".*StoreFailure/);
  await makeWell();
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
  const report = await checkDatabase(join(home, 'devmgr.db'), key);
  expect(report).toMatchObject({ problems: [], devices: acknowledged.length });
}

needsMount('a disk that becomes full', () => {
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

  it('refuses changes in words, stays up, says that it is degraded, and goes on by itself when there is room', async () => {
    await register();
    await fill(MiB);
    await holdsThrough(() => rm(filler()));
  });

  it('takes no more than it has room for, to the last byte', async () => {
    await fill(0);
    expect(await register()).toMatchObject(refusal);
    expect(await total()).toBe(0);
    await rm(filler());
    expect(await register()).toMatchObject({ code: 200 });
  });
});

needs('prlimit', 'util-linux')('a disk that fails to write', () => {
  beforeEach(async () => {
    acknowledged = [];
    home = await mkdtemp(join(tmpdir(), 'devmgr-disk-'));
    daemon = await spawnDaemon({ home });
  });
  afterEach(async () => {
    await daemon.kill();
    await rm(home, { recursive: true, force: true });
  });
  /** No file of the daemon may grow beyond this; a write beyond it fails with an error that is not "disk full". */
  const limit = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(daemon.pid), `--fsize=${bytes}:`]);

  it('refuses changes in words, stays up, says that it is degraded, and goes on by itself when it writes again', async () => {
    await register();
    limit(MiB);
    await holdsThrough(() => void limit('unlimited'));
  });

  it('leaves nothing of an upload, and takes it once it writes again', async () => {
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

/** Whoever is not root may not look into a process that is none of its own children. */
const needsTracing =
  process.getuid?.() === 0
    ? needs('strace')
    : (name: string, body: () => void) => describe.skip(`${name} (skipped: only root may trace the daemon)`, body);

needsTracing('a disk that does not confirm what was written', () => {
  beforeEach(async () => {
    acknowledged = [];
    home = await mkdtemp(join(tmpdir(), 'devmgr-disk-'));
    daemon = await spawnDaemon({ home });
  });
  afterEach(async () => {
    await daemon.kill();
    await rm(home, { recursive: true, force: true });
  });

  /** From now on every fsync of the daemon fails, until the returned function is called. */
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

  it('is no disk that something was written to: the change is refused, and is not there after the next start', async () => {
    await register();
    const heal = await failSync();
    expect(await register()).toMatchObject(refusal);
    expect(await registerBatch(100)).toMatchObject(refusal);
    await holdsThrough(heal);
  });
});
