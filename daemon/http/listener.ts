/** The TLS files, the listeners and the end of the HTTP server. */
import { readFile, stat } from 'node:fs/promises';
import type { AddressInfo, Server } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from '../base/logger.ts';
import { LOOPBACK } from '../base/loopback.ts';
import { thisPlatform } from '../base/platform.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { DaemonSettings } from '../home/settings.ts';
import { closeExtra, listenOnAddress, listenOnSocket, otherLoopback } from './extra-listeners.ts';

/** Seconds that a stop waits for running requests. */
const GRACE_SECONDS = 10;

/** Certificate and key in PEM. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Ciphers of TLS 1.2 with forward secrecy; those of TLS 1.3 all have it. */
const FORWARD_SECRET = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':');

/**
 * Settings of TLS, at the start and after each reload. Only forward-secret ciphers: recorded traffic cannot be decrypted with a
 * key that leaks later.
 */
export const tlsOptions = (files: TlsFiles) => ({ ...files, ciphers: FORWARD_SECRET, minVersion: 'TLSv1.2' }) as const;

/** Reads certificate and key; undefined if none are set. Throws `StartRefused` if they are missing, not PEM, or do not belong together. */
export async function readTls({ tlsCert, tlsKey }: DaemonSettings, log: Logger): Promise<TlsFiles | undefined> {
  if (!tlsCert || !tlsKey) return undefined;
  const { createSecureContext } = await import('node:tls');
  try {
    const tls = { cert: await readFile(tlsCert), key: await readFile(tlsKey) };
    createSecureContext(tlsOptions(tls));
    await warnOfReaders(tlsKey, log);
    return tls;
  } catch (error) {
    throw new StartRefused(
      1,
      `the certificate ${tlsCert} or its key ${tlsKey} cannot be used: ${(error as Error).message}`,
      'both must be PEM files that belong together',
    );
  }
}

/** Logs a warning if others than its owner can read the key of the certificate. */
async function warnOfReaders(key: string, log: Logger): Promise<void> {
  if (!thisPlatform.fileModes) return;
  const { mode } = await stat(key);
  if (mode & 0o004)
    log.warn({ key, fix: `chmod go-r ${key}` }, 'every user of this machine can read the key of the certificate');
  else if (mode & 0o040)
    log.warn({ key, fix: `chmod g-r ${key}` }, 'the group of the file can read the key of the certificate');
}

/** Where a daemon accepts requests. */
interface Addresses {
  readonly url: string;
  /** Path of the Unix socket; null if there is none. */
  readonly socket: string | null;
  /** Listeners beside the server's own. */
  readonly extra: readonly Server[];
}

/** How often another port is tried if `--port 0` takes one whose twin on the other loopback address is in use. */
const FREE_PORT_TRIES = 10;

/** Opens the port and the Unix socket. Throws `StartRefused` if the port is not available. */
export async function listen(
  app: FastifyInstance,
  settings: DaemonSettings,
  socketPath: string,
  log: Logger,
): Promise<Addresses> {
  await app.ready();
  const twin = await openPort(app, settings);
  const local = await listenOnSocket(app, socketPath);
  if (local.server === null) log.warn({ reason: local.reason }, 'no Unix socket: commands of this user use the port');
  const { port } = app.server.address() as AddressInfo;
  const host = settings.host.includes(':') && !settings.host.startsWith('[') ? `[${settings.host}]` : settings.host;
  return {
    url: `${settings.tlsCert ? 'https' : 'http'}://${host}:${port}`,
    socket: local.server === null ? null : local.path,
    extra: [twin, local.server].filter(server => server !== null),
  };
}

/**
 * Opens the port on the host and, for a loopback host, on the other loopback address as well: a client that is given the name `localhost`
 * takes either. Returns the listener of the other address; null if there is none.
 */
async function openPort(app: FastifyInstance, { host, port }: DaemonSettings): Promise<Server | null> {
  const other = otherLoopback(host);
  // Fastify would open a second server for `localhost`, past the bounds on connections.
  const own = host === 'localhost' ? LOOPBACK.ipv4 : host;
  for (let left = port === 0 ? FREE_PORT_TRIES : 1; ; left--) {
    const twin = other === null ? null : await listenOnAddress(app, other, port).catch(e => refuse(e, other, port));
    const shared = twin ? (twin.address() as AddressInfo).port : port;
    try {
      await app.listen({ host: own, port: shared, listenTextResolver: () => 'the port is open' });
      return twin;
    } catch (error) {
      twin?.close();
      if (left <= 1 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') refuse(error, own, port);
    }
  }
}

function refuse(error: unknown, host: string, port: number): never {
  const { code } = error as NodeJS.ErrnoException;
  const where = `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
  if (code === 'EADDRINUSE')
    throw new StartRefused(
      1,
      `${where} is in use by another program`,
      'name another port with --port, or 0 for a free one',
      'PORT_IN_USE',
    );
  throw new StartRefused(1, `cannot listen on ${where} (${code})`, 'check --host and --port');
}

/** Finishes running requests; closes the connections of those that take longer than the grace period. */
export async function closeServer(app: FastifyInstance, extra: readonly Server[], log: Logger): Promise<void> {
  const timer = setTimeout(() => {
    log.warn('closing the connections of requests that are still running');
    app.server.closeAllConnections();
  }, GRACE_SECONDS * 1000);
  try {
    await Promise.all([app.close(), closeExtra(app, extra)]);
  } finally {
    clearTimeout(timer);
  }
}
