/** Servers for tests, on free ports of this machine; each is closed with all its connections when its test ends. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { onTestFinished } from 'vitest';

export const json = { 'content-type': 'application/json' };

/** An envelope with code 200. */
export const success = (data: unknown): string => JSON.stringify({ code: 200, message: 'success', data });

/** A server that listens, and its address. */
export interface Listening {
  readonly url: string;
  /** Number of connections that were opened. */
  readonly connections: () => number;
  /** Connections that are open. */
  readonly open: ReadonlySet<Socket>;
}

/** Has a server listen on `host`. */
export async function listening(
  server: Server | TcpServer,
  { scheme = 'http', host = '127.0.0.1' } = {},
): Promise<Listening> {
  const open = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
  });
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  await new Promise<void>(resolve => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `${scheme}://${name}:${port}`, connections: () => connections, open };
}

/** An HTTP server. */
export const answering = (listener: RequestListener, host = '127.0.0.1'): Promise<Listening> =>
  listening(createServer(listener), { host });

/** An HTTPS server. */
export const answeringTls = (
  options: ServerOptions,
  listener: RequestListener = () => undefined,
  host = '127.0.0.1',
): Promise<Listening> => listening(createTlsServer(options, listener), { scheme: 'https', host });

/** The address of a server that has been closed. */
export async function closedAddress(): Promise<string> {
  const server = createServer();
  const { url } = await listening(server);
  await new Promise(resolve => server.close(resolve));
  return url;
}

/** A TCP server. */
export const speaking = (talk: (socket: Socket) => void): Promise<Listening> => listening(createTcpServer(talk));

/** Writes a piece now and then until the connection ends. */
export function drip(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.on('close', () => clearInterval(timer));
}

/** Writes without end, as fast as it is read. */
export function flood(target: NodeJS.WritableStream & { readonly destroyed?: boolean }): void {
  const piece = Buffer.alloc(1024 * 1024, ' ');
  const go = () => {
    while (!target.destroyed && target.write(piece));
  };
  target.on('drain', go);
  go();
}
