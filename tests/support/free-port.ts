import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * The first of `count` consecutive ports of 127.0.0.1 that no one listens on. They lie above the range that Linux gives to
 * connections (32768 to 60999): a server that ends and starts again frees its port, and a connection of another test could
 * take it in between.
 */
export async function freePort(count = 1): Promise<number> {
  for (;;) {
    const first = randomInt(61_000, 65_536 - count);
    const ports = Array.from({ length: count }, (_, i) => first + i);
    if ((await Promise.all(ports.map(isFree))).every(free => free)) return first;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  const free = await new Promise<boolean>(resolve => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (free) await once(probe.close(), 'close');
  return free;
}
