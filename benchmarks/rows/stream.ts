import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { type BenchDaemon, Dialogue, loopWatch, startDaemon, startFloor } from '../processes.ts';
import { bound, median, type Pair, type Row, ratio } from '../report.ts';
import type { Audience, Round } from '../stream-clients.ts';

const sockets = 10_000;
/** Notifications of one repetition. */
const rounds = 10;

/** One notification to 10,000 listeners beside a bare `ws` loop over as many. */
export async function* streamRows({ scratch, repetitions }: Bench): AsyncGenerator<Row> {
  const watch = loopWatch();
  const floorWatch = loopWatch();
  const daemon = await startDaemon(join(scratch, 'stream'), { preload: watch.preload });
  const stream = `/api/ws/notifications?token=${daemon.token}`;
  const ours = await audience({ url: daemon.url, token: daemon.token, stream, post: '/api/devices/register' });
  const { bytes } = await ours.ask<Round>(registration('warm', 0));
  const floor = await startFloor('stream.ts', [String(bytes)], floorWatch.preload);
  const theirs = await audience({ url: floor.url, token: null, stream: '/', post: '/' });
  const pairs: Pair[] = [];
  const held: number[] = [];
  const floorHeld: number[] = [];
  try {
    await repeat(ours, 'before');
    await repeat(theirs, 'before');
    for (let i = 0; i < repetitions; i++) {
      await watch.longestMs(daemon.pid);
      const figure = await repeat(ours, String(i));
      held.push(await watch.longestMs(daemon.pid));
      await floorWatch.longestMs(floor.pid);
      pairs.push([figure, await repeat(theirs, String(i))]);
      floorHeld.push(await floorWatch.longestMs(floor.pid));
    }
    await stillThere(daemon);
  } finally {
    await ours.end();
    await theirs.end();
    await floor.stop();
    await daemon.stop();
  }
  yield ratio(
    `notification of ${bytes} bytes to ${sockets} sockets, until the last has it`,
    'ms',
    pairs,
    'a bare ws loop',
    { atMost: 1.1 },
    "measured from the request, so the daemon's time includes the registration and its commit",
  );
  yield bound(
    'the same: the event loop held at most',
    'ms',
    held,
    20,
    `with the bare loop ${median(floorHeld).toFixed(0)} ms`,
  );
}

async function audience(who: Omit<Audience, 'sockets'>): Promise<Dialogue> {
  const clients = new Dialogue('stream-clients.ts', JSON.stringify({ ...who, sockets }));
  await clients.next();
  return clients;
}

async function repeat(clients: Dialogue, name: string): Promise<number> {
  const samples: number[] = [];
  for (let i = 0; i < rounds; i++) samples.push((await clients.ask<Round>(registration(name, i))).ms);
  return median(samples);
}

/** Of a length that makes the notification about 200 bytes long. */
function registration(name: string, round: number): string {
  const serialNumber = `stream-${name}-${round}`.padEnd(60, '-');
  return JSON.stringify({ deviceType: 'UKEY', serialNumber, manufacturer: 'Bench', model: 'M1' });
}

/** Throws unless every listener got the notification and none was lost. */
async function stillThere(daemon: BenchDaemon): Promise<void> {
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
  const open = /^devmgr_streams\{[^}]*\} (\d+)$/m.exec(metrics)?.[1];
  if (open !== String(sockets)) throw new Error('listeners were lost');
}
