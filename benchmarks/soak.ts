/**
 * `npm run soak`: a daemon under mixed load for a while, with a line for each minute: does memory stay flat, do answers stay quick,
 * does the write-ahead log stay bounded?
 *   --minutes N    how long (default 30)
 *   --watchers N   notification streams that are open all the time (default 1000)
 *   --devices N    size of the registry at the beginning (default 10000)
 *   --json         a JSON document for each minute instead of the table
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { homeFiles } from '../src/contract/local.ts';
import { type Answer, Client } from './connection.ts';
import { fill, sample } from './fill.ts';
import { type BenchDaemon, Dialogue, residentMiB, runJson, startDaemon } from './processes.ts';
import { markdown, median } from './report.ts';
import type { UploadOrder, UploadResult } from './uploader.ts';
import type { Watch, Watched } from './watchers.ts';

const MiB = 1024 * 1024;
const readers = 8;
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    watchers: { type: 'string', default: '1000' },
    devices: { type: 'string', default: '10000' },
    json: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const devices = Number(values.devices);

interface Minute {
  readonly minute: number;
  readonly requests: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  readonly residentMiB: number;
  readonly walMiB: number;
  readonly watchers: number;
}

/** The answers since the last look. */
let latencies: number[] = [];
const took = ({ ms }: Answer) => void latencies.push(ms);
let over = false;

async function read(daemon: BenchDaemon, seed: number): Promise<void> {
  const client = new Client(daemon.url, daemon.token);
  for (let n = seed; !over; n += readers) {
    const number = 1 + ((n * 7919) % devices);
    const paths = [
      `/api/devices/DEV-${number}`,
      `/api/devices/list?page=${1 + (number % 50)}`,
      `/api/devices/list?status=ACTIVE&sortBy=lastUsedAt`,
      `/api/devices/list?keyword=${sample(number).serialNumber.slice(8)}`,
    ];
    took(await client.get(paths[n % paths.length]!));
    await pause(5);
  }
  client.end();
}

/** Registers a device, and takes it through its states. */
async function write(daemon: BenchDaemon): Promise<void> {
  const client = new Client(daemon.url, daemon.token);
  const post = async (path: string, body: object) => {
    const answer = await client.send(client.requests.post(path, JSON.stringify(body)), true);
    took(answer);
    await pause(50);
    return (JSON.parse(answer.body) as { data: Record<string, string> }).data;
  };
  for (let n = 0; !over; n++) {
    const device = { deviceType: 'UKEY', serialNumber: `soak-${n}`, manufacturer: 'Soak', model: 'M1' };
    const { deviceId, activationCode } = await post('/api/devices/register', device);
    await post('/api/devices/activate', { deviceId, activationCode, userId: `user-${n % 100}` });
    await post(`/api/devices/${deviceId}/usage`, { durationSeconds: 60 });
    await post(`/api/devices/${deviceId}/lock`, { reason: 'lost' });
    await post(`/api/devices/${deviceId}/unlock`, {});
  }
  client.end();
}

async function upload(daemon: BenchDaemon): Promise<void> {
  for (let n = 0; !over; n++) {
    const order: UploadOrder = { url: daemon.url, token: daemon.token, bytes: 4 * MiB, version: `1.${n}` };
    const { status } = await runJson<UploadResult>('uploader.ts', JSON.stringify(order));
    if (status !== 200) throw new Error(`an upload was refused: ${status}`);
    await pause(5000);
  }
}

async function look(daemon: BenchDaemon, watchers: Dialogue, minute: number): Promise<Minute> {
  const sorted = Float64Array.from(latencies).sort();
  latencies = [];
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  const { open } = await watchers.ask<Watched>('');
  const wal = await stat(`${join(daemon.home, homeFiles.database)}-wal`);
  return {
    minute,
    requests: sorted.length,
    p50: at(0.5),
    p99: at(0.99),
    longest: at(1),
    residentMiB: await residentMiB(daemon.pid),
    walMiB: wal.size / MiB,
    watchers: open,
  };
}

async function soak(daemon: BenchDaemon): Promise<Minute[]> {
  const watch: Watch = {
    url: daemon.url,
    stream: `/api/ws/notifications?token=${daemon.token}`,
    sockets: Number(values.watchers),
  };
  const watchers = new Dialogue('watchers.ts', JSON.stringify(watch));
  await watchers.next();
  const work = [...Array.from({ length: readers }, (_, seed) => read(daemon, seed)), write(daemon), upload(daemon)];
  const failed = Promise.all(work);
  const all: Minute[] = [];
  for (let minute = 1; minute <= minutes; minute++) {
    await Promise.race([pause(60_000), failed]);
    const line = await look(daemon, watchers, minute);
    all.push(line);
    process.stderr.write(`${JSON.stringify(line)}\n`);
  }
  over = true;
  await failed;
  await sameForAll(watchers);
  return all;
}

/** The entries of the listeners, once nothing is on its way any more: all have the same. */
async function sameForAll(watchers: Dialogue): Promise<void> {
  let { most, least } = await watchers.ask<Watched>('');
  for (let i = 0; i < 50 && most !== least; i++) {
    await pause(100);
    ({ most, least } = await watchers.ask<Watched>(''));
  }
  await watchers.end();
  process.stderr.write(
    `each listener received ${most} bytes of notifications${most === least ? '' : `, one ${least}`}\n`,
  );
}

/** How far memory and the slowest answers moved after the first five minutes. */
function verdict(all: readonly Minute[]): string {
  const later = all.slice(5);
  if (later.length < 4) return 'too short to say anything about drift: it takes ten minutes at least';
  const half = later.length >> 1;
  const [first, second] = [later.slice(0, half), later.slice(half)];
  const moved = (pick: (minute: Minute) => number) =>
    `${median(first.map(pick)).toFixed(1)} → ${median(second.map(pick)).toFixed(1)}`;
  return `after the first five minutes, first half → second half: memory ${moved(minute => minute.residentMiB)} MiB, p99 ${moved(minute => minute.p99)} ms; write-ahead log at most ${Math.max(...all.map(minute => minute.walMiB)).toFixed(1)} MiB`;
}

const home = await mkdtemp(join(tmpdir(), 'devmgr-soak-'));
await fill(home, devices);
const daemon = await startDaemon(home);
try {
  const all = await soak(daemon);
  const cells = all.map(line => Object.values(line).map(value => String(Math.round(Number(value) * 100) / 100)));
  const head = ['minute', 'requests', 'p50 ms', 'p99 ms', 'longest ms', 'memory MiB', 'WAL MiB', 'listeners'];
  process.stdout.write(
    values.json ? all.map(line => `${JSON.stringify(line)}\n`).join('') : `${markdown(head, cells)}\n\n`,
  );
  process.stdout.write(values.json ? '' : `${verdict(all)}\n`);
} finally {
  await daemon.stop();
  await rm(home, { recursive: true, force: true });
}
