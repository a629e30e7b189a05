import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Called for each request of interest: `forward` executes it, `answer` is the response that the program waits for. */
export type OnBatch = (forward: () => Promise<void>, answer: ServerResponse) => void;

/** A proxy before a daemon, with control over each request whose path matches `interest`: by default each batch. */
export async function relayTo(
  url: string,
  onBatch: OnBatch,
  interest: RegExp = /batch-(register|update)/,
): Promise<string> {
  const server = createServer((incoming: IncomingMessage, answer) => {
    const forward = () =>
      new Promise<void>((resolve, reject) => {
        const outgoing = request(
          url + incoming.url!,
          { method: incoming.method!, headers: incoming.headers },
          reply => {
            if (!answer.writableEnded && !answer.destroyed) answer.writeHead(reply.statusCode!, reply.headers);
            reply.on('data', chunk => answer.destroyed || answer.write(chunk));
            reply.on('end', () => {
              answer.end();
              resolve();
            });
          },
        );
        outgoing.on('error', reject);
        incoming.pipe(outgoing);
      });
    if (interest.test(incoming.url!)) onBatch(forward, answer);
    else void forward();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Executes the request; the program gets no response. */
export function loseResponse(forward: () => Promise<void>, answer: ServerResponse): Promise<void> {
  Object.defineProperty(answer, 'write', { value: () => true });
  Object.defineProperty(answer, 'writeHead', { value: () => answer });
  Object.defineProperty(answer, 'end', { value: () => answer });
  return forward();
}

/** A second address of a daemon. */
export interface Tunnel {
  readonly url: string;
  /** Number of connections that were opened. */
  readonly connections: () => number;
  /** Ends all connections and refuses further ones. */
  kill(): Promise<void>;
}

/** Passes the bytes of each connection on to a daemon, streams included. */
export async function tunnelTo(url: string): Promise<Tunnel> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createTcpServer(socket => {
    count++;
    const onward = connect(Number(port), hostname);
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined).on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const kill = async () => {
    const closed = new Promise<void>(resolve => void server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  onTestFinished(kill);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => count,
    kill,
  };
}
