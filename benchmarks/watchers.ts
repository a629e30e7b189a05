/**
 * Listeners that stay connected: opens the requested number of streams, writes a line when they are open and, for each line on stdin,
 * one about what they have received. Reads a `Watch` from argv.
 */
import { createInterface } from 'node:readline';
import { listen } from './listener.ts';

export interface Watch {
  readonly url: string;
  readonly stream: string;
  readonly sockets: number;
}

export interface Watched {
  readonly open: number;
  /** Bytes of notifications of the listener that has most, and of the one that has least. */
  readonly most: number;
  readonly least: number;
}

const watch = JSON.parse(process.argv[2]!) as Watch;
const received: number[] = [];
let open = 0;

async function join(): Promise<void> {
  const place = received.push(0) - 1;
  const socket = await listen(watch.url, watch.stream, bytes => {
    received[place]! += bytes;
  });
  open++;
  socket.on('close', () => {
    open--;
  });
}

for (let made = 0; made < watch.sockets; made += 100)
  await Promise.all(Array.from({ length: Math.min(100, watch.sockets - made) }, join));
const tell = () => {
  const what: Watched = { open, most: Math.max(...received), least: Math.min(...received) };
  process.stdout.write(`${JSON.stringify(what)}\n`);
};
tell();
for await (const _line of createInterface({ input: process.stdin })) tell();
process.exit(0);
