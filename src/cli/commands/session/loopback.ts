/** A sign-in that ends at a port of this machine (RFC 8252): the browser brings the answer of the provider. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { failure, interrupted } from '../../fault.ts';

const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', connection: 'close' };
const page =
  '<!doctype html><meta charset="utf-8"><title>devmgr</title><p>You can close this window and return to the terminal.';

/** Where the browser is led. */
interface Loopback {
  readonly port: number;
  /** Resolves with the first answer that has this state; others get 404. Rejects when the time is over, or the signal is aborted. */
  answer(state: string, milliseconds: number, signal: AbortSignal): Promise<URLSearchParams>;
  close(): void;
}

/** Listens on a port that the system chooses, for this machine only. */
export async function listenOnLoopback(): Promise<Loopback> {
  let take: ((request: IncomingMessage) => boolean) | null = null;
  const server = createServer((request, response: ServerResponse) => {
    if (take?.(request)) response.writeHead(200, headers).end(page);
    else response.writeHead(404, { connection: 'close' }).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const answer = (state: string, milliseconds: number, signal: AbortSignal) =>
    new Promise<URLSearchParams>((resolve, reject) => {
      const stop = () => reject(interrupted());
      signal.addEventListener('abort', stop, { once: true });
      const late = () => reject(failure('the sign-in timed out', 'run the command again'));
      const timer = setTimeout(late, milliseconds);
      take = ({ method, url = '', headers: { host } }) => {
        // Another host: a page whose name leads to this machine.
        if (method !== 'GET' || host !== `127.0.0.1:${port}` || !url.startsWith('/?')) return false;
        const found = new URLSearchParams(url.slice(2));
        if (found.get('state') !== state) return false;
        take = null;
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        resolve(found);
        return true;
      };
    });
  return { port, answer, close: () => void server.close() };
}
