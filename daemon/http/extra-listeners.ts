/**
 * Further sockets whose connections the HTTP server serves: the other loopback address, and the Unix socket in the home. Node's
 * server listens on one address only; it accepts connections of others through its event `connection`.
 */
import { chmod, lstat, rm } from 'node:fs/promises';
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { isLoopbackName } from '../../src/contract/local.ts';
import { LOOPBACK } from '../base/loopback.ts';
import { thisPlatform } from '../base/platform.ts';

/** Milliseconds between two looks for connections that became idle while the server stops. */
const IDLE_CHECK_MS = 50;

/** The loopback address that a daemon on this host also listens on, so that no other program gets it; null if there is none. */
export function otherLoopback(host: string): string | null {
  if (!isLoopbackName(host)) return null;
  if (host === '::1' || host === '[::1]') return LOOPBACK.ipv4;
  return host === 'localhost' || host === LOOPBACK.ipv4 ? LOOPBACK.ipv6 : null;
}

/** Accepts the connections of a further address; null if this machine does not have it. Rejects with the system's error. */
export async function listenOnAddress(app: FastifyInstance, host: string, port: number): Promise<Server | null> {
  const server = newServer(socket => app.server.emit('connection', socket));
  try {
    await opened(app, server, { host, port, exclusive: true });
    return server;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return null;
    throw error;
  }
}

/** A Unix socket that is open, or why there is none. */
type LocalSocket =
  | { readonly server: Server; readonly path: string }
  | { readonly server: null; readonly reason: string };

const ofUnixSocket = new WeakSet<object>();

/** Whether a connection came through the Unix socket of the home, which only its user can open. */
export const isOfUnixSocket = (socket: object): boolean => ofUnixSocket.has(socket);

/**
 * Opens the Unix socket in the home. The caller holds the lock of the home, so a socket that is there was left by a daemon that
 * was killed, and is replaced. The folder is 0700, so that no other user reaches the socket before its own mode is set.
 */
export async function listenOnSocket(app: FastifyInstance, path: string): Promise<LocalSocket> {
  const reason = await obstacle(path);
  if (reason !== null) return { server: null, reason };
  const isTls = 'setSecureContext' in app.server;
  const server = newServer(socket => {
    markAsLoopback(socket);
    // The file system protects the socket: requests on it are plain HTTP even if the port speaks HTTPS.
    if (!isTls) app.server.emit('connection', socket);
    else if (app.connections.add(socket)) app.server.emit('secureConnection', socket);
  });
  try {
    await rm(path, { force: true });
    await opened(app, server, { path });
    await chmod(path, 0o600);
    return { server, path };
  } catch (error) {
    server.close();
    return {
      server: null,
      reason: `the system refuses a socket at ${path} (${(error as NodeJS.ErrnoException).code})`,
    };
  }
}

async function obstacle(path: string): Promise<string | null> {
  if (!thisPlatform.unixSockets) return 'Node has no Unix sockets on Windows';
  if (Buffer.byteLength(path) > thisPlatform.socketPathBytes)
    return `the path ${path} is longer than the ${thisPlatform.socketPathBytes} bytes of a socket's name`;
  const [found, folder] = await Promise.all([lstat(path).catch(() => null), lstat(dirname(path))]);
  if (found && !found.isSocket()) return `${path} is not a socket; move it away`;
  return (folder.mode & 0o077) === 0 ? null : `other users can enter ${dirname(path)}`;
}

/** Like Node's HTTP server: a client may end its side of a connection before it has read the response. */
const newServer = (accept: (socket: Socket) => void): Server =>
  createServer({ allowHalfOpen: true, noDelay: true }, accept);

function opened(app: FastifyInstance, server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      // An error without a listener, such as that of a connection that cannot be accepted, would end the daemon.
      server.on('error', error => app.logger.warn({ err: error }, 'a listener reports an error'));
      resolve();
    });
  });
}

/** A peer on the Unix socket has no address. Limits, the check of proxies and the log treat it as this machine. */
function markAsLoopback(socket: Socket): void {
  Object.defineProperty(socket, 'remoteAddress', { value: LOOPBACK.ipv4 });
  ofUnixSocket.add(socket);
}

/** Accepts no more connections; resolves when all that were accepted have ended. The server must be closing, too. */
export async function closeExtra(app: FastifyInstance, servers: readonly Server[]): Promise<void> {
  const ended = servers.map(server => new Promise<void>(resolve => void server.close(() => resolve())));
  const timer = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
  await Promise.all(ended).finally(() => clearInterval(timer));
}
