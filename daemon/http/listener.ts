/** The TLS files, the port and the end of the HTTP server. */
import { readFile, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type DaemonSettings, StartRefused } from '../home/settings.ts';
import type { Logger } from '../logger.ts';

/** Seconds that a stop waits for running requests. */
const GRACE_SECONDS = 10;

/** Reads certificate and key; undefined if none are set. Throws `StartRefused` if they are missing, not PEM, or do not belong together. */
export async function readTls(
  { tlsCert, tlsKey }: DaemonSettings,
  log: Logger,
): Promise<{ cert: Buffer; key: Buffer } | undefined> {
  if (!tlsCert || !tlsKey) return undefined;
  const { createSecureContext } = await import('node:tls');
  try {
    const tls = { cert: await readFile(tlsCert), key: await readFile(tlsKey) };
    createSecureContext(tls);
    if (process.platform !== 'win32' && (await stat(tlsKey)).mode & 0o004)
      log.warn(
        { key: tlsKey, fix: `chmod o-r ${tlsKey}` },
        'every user of this machine can read the key of the certificate',
      );
    return tls;
  } catch (error) {
    throw new StartRefused(
      1,
      `the certificate ${tlsCert} or its key ${tlsKey} cannot be used: ${(error as Error).message}`,
      'both must be PEM files that belong together',
    );
  }
}

/** Opens the port and returns the URL of the daemon. Throws `StartRefused` if the port is not available. */
export async function listen(app: FastifyInstance, settings: DaemonSettings): Promise<string> {
  try {
    await app.listen({ host: settings.host, port: settings.port, listenTextResolver: () => 'the port is open' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const where = `${settings.host}:${settings.port}`;
    if (code === 'EADDRINUSE')
      throw new StartRefused(
        1,
        `${where} is in use by another program`,
        'name another port with --port, or 0 for a free one',
        'PORT_IN_USE',
      );
    throw new StartRefused(1, `cannot listen on ${where} (${code})`, 'check --host and --port');
  }
  const { port } = app.server.address() as AddressInfo;
  const host = settings.host.includes(':') && !settings.host.startsWith('[') ? `[${settings.host}]` : settings.host;
  return `${settings.tlsCert ? 'https' : 'http'}://${host}:${port}`;
}

/** Finishes running requests; closes the connections of those that take longer than the grace period. */
export async function closeServer(app: FastifyInstance, log: Logger): Promise<void> {
  const timer = setTimeout(() => {
    log.warn('closing the connections of requests that are still running');
    app.server.closeAllConnections();
  }, GRACE_SECONDS * 1000);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
